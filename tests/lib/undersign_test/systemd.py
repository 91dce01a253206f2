# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stands in for systemd where none runs: owns its name and runs commands as transient units say.

usage: systemd.py FOLDER     as root; keeps the properties of UNIT in FOLDER/UNIT, as JSON

It knows what undersign-launcher asks: Subscribe, StartTransientUnit, StopUnit, UnrefUnit, and three
properties.  A unit's command runs as its User=, on its TTYPath= where it has one; nothing of a sandbox is made, which
tests/systemd has to show.
"""

import fcntl
import json
import os
import pwd
import signal
import sys
import termios

import gi

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

NAME, PATH = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
EXIT_EXEC = 203
INTERFACES = Gio.DBusNodeInfo.new_for_xml("""<node>
  <interface name="org.freedesktop.systemd1.Manager">
    <method name="Subscribe"/>
    <method name="StartTransientUnit">
      <arg type="s" direction="in"/><arg type="s" direction="in"/>
      <arg type="a(sv)" direction="in"/><arg type="a(sa(sv))" direction="in"/>
      <arg type="o" direction="out"/>
    </method>
    <method name="StopUnit">
      <arg type="s" direction="in"/><arg type="s" direction="in"/>
      <arg type="o" direction="out"/>
    </method>
    <method name="UnrefUnit"><arg type="s" direction="in"/></method>
    <signal name="JobRemoved">
      <arg type="u"/><arg type="o"/><arg type="s"/><arg type="s"/>
    </signal>
  </interface>
  <interface name="org.freedesktop.systemd1.Unit">
    <property name="ActiveState" type="s" access="read"/>
  </interface>
  <interface name="org.freedesktop.systemd1.Service">
    <property name="ExecMainCode" type="i" access="read"/>
    <property name="ExecMainStatus" type="i" access="read"/>
  </interface>
</node>""")


def unit_path(name):
    return PATH + "/unit/" + "".join(c if c.isalnum() and c.isascii() else f"_{ord(c):02x}"
                                     for c in name)


class Unit:
    def __init__(self, name, properties):
        self.name, self.properties = name, properties
        self.state, self.code, self.status = "activating", 0, 0
        self.pid = 0
        self.objects = []

    def start(self):
        """Returns whether the command could be executed."""
        path, argv, _ = self.properties["ExecStartEx"][0]
        entry = pwd.getpwnam(self.properties["User"])
        failed, done = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = EXIT_EXEC
            try:
                os.setsid()
                if "TTYPath" in self.properties:
                    self.take_terminal(entry)
                os.initgroups(entry.pw_name, entry.pw_gid)
                os.setgid(entry.pw_gid)
                os.setuid(entry.pw_uid)
                variables = dict(pair.split("=", 1) for pair in self.properties.get("Environment", ()))
                variables["PATH"] = ":".join(self.properties.get("ExecSearchPath", ["/usr/bin"]))
                os.execvpe(path, argv, variables)
            except OSError:
                os.write(done, b"x")
            finally:
                os._exit(status)
        os.close(done)
        good = not os.read(failed, 1)
        os.close(failed)
        self.state = "active"
        return good

    def take_terminal(self, entry):
        terminal = os.open(self.properties["TTYPath"], os.O_RDWR)
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(terminal, fd)
        os.fchown(terminal, entry.pw_uid, -1)

    def ended(self, status):
        self.state = "inactive"
        if os.WIFEXITED(status):
            self.code, self.status = os.CLD_EXITED, os.WEXITSTATUS(status)
        else:
            self.code, self.status = os.CLD_KILLED, os.WTERMSIG(status)


class Systemd:
    def __init__(self, bus, folder):
        self.bus, self.folder = bus, folder
        self.units, self.job = {}, 0

    def call(self, bus, sender, path, interface, member, body, invocation):
        try:
            result = getattr(self, "do_" + member)(body, *body.unpack())
            invocation.return_value(GLib.Variant(*result) if result else None)
        except KeyError as error:
            invocation.return_dbus_error(f"{NAME}.NoSuchUnit", str(error))

    def get(self, bus, sender, path, interface, key):
        unit = next(unit for unit in self.units.values() if unit_path(unit.name) == path)
        return {"ActiveState": GLib.Variant("s", unit.state),
                "ExecMainCode": GLib.Variant("i", unit.code),
                "ExecMainStatus": GLib.Variant("i", unit.status)}[key]

    def do_Subscribe(self, body):
        pass

    def do_StartTransientUnit(self, body, name, mode, properties, auxiliary):
        with open(f"{self.folder}/.new", "w", encoding="utf-8") as file:
            json.dump(properties, file)
        os.rename(f"{self.folder}/.new", f"{self.folder}/{name}")
        unit = self.units[name] = Unit(name, dict(properties))
        for interface in INTERFACES.interfaces[1:]:
            unit.objects.append(self.bus.register_object(unit_path(name), interface, None, self.get,
                                                         None))
        good = unit.start()
        GLib.child_watch_add(GLib.PRIORITY_DEFAULT, unit.pid, self.reap, unit)
        GLib.idle_add(self.job_removed, name, "done" if good else "failed")
        return "(o)", (f"{PATH}/job/{self.job}",)

    def do_StopUnit(self, body, name, mode):
        unit = self.units[name]
        if unit.state == "active":
            os.killpg(unit.pid, signal.SIGKILL)
        return "(o)", (f"{PATH}/job/{self.job}",)

    def do_UnrefUnit(self, body, name):
        for number in self.units.pop(name).objects:
            self.bus.unregister_object(number)
        os.unlink(f"{self.folder}/{name}")

    def job_removed(self, name, result):
        self.bus.emit_signal(None, PATH, NAME + ".Manager", "JobRemoved",
                             GLib.Variant("(uoss)", (self.job, f"{PATH}/job/{self.job}", name,
                                                     result)))
        self.job += 1
        return False

    def reap(self, pid, status, unit):
        unit.ended(status)
        self.bus.emit_signal(None, unit_path(unit.name), "org.freedesktop.DBus.Properties",
                             "PropertiesChanged",
                             GLib.Variant("(sa{sv}as)", (NAME + ".Unit", {}, [])))
        if "AddRef" not in unit.properties:
            self.do_UnrefUnit(None, unit.name)


def main():
    bus = Gio.bus_get_sync(Gio.BusType.SYSTEM, None)
    systemd = Systemd(bus, sys.argv[1])
    bus.register_object(PATH, INTERFACES.interfaces[0], systemd.call, None, None)
    Gio.bus_own_name_on_connection(bus, NAME, Gio.BusNameOwnerFlags.NONE, None,
                                   lambda *_: sys.exit("the name is another's"))
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
