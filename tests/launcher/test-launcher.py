#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-launcher on a bus of its own: what happens while polkit or systemd takes its time.

usage: test-launcher.py DAEMON [TEST…]   (the program of this folder)
"""

import os
import queue
import signal
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

import gi  # noqa: E402

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

from undersign_test import bus as raw  # noqa: E402
from undersign_test import private_bus, tap, world  # noqa: E402

NAME, PATH = "org.undersign1.Launcher", "/org/undersign1/Launcher"
POLKIT, POLKIT_PATH = "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority"
SYSTEMD, SYSTEMD_PATH = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
MANAGER = Gio.DBusNodeInfo.new_for_xml("""<node>
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
  </interface>
</node>""").interfaces[0]
AGENT = "[Agent]\nSummary=A test\nUser=games\nOwner={owner}\n"
DAEMON = sys.argv[1]


def connect(address):
    flags = (Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
             | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
    return Gio.DBusConnection.new_for_address_sync(address, flags, None, None)


class Systemd(threading.Thread):
    """Takes calls and starts nothing: no job of it is ever done."""

    def __init__(self, address, deaf=()):
        super().__init__(daemon=True)
        self.address, self.deaf = address, deaf
        self.calls, self.unanswered = [], []
        self.ready = threading.Event()
        self.loop = None
        self.start()
        self.ready.wait()

    def run(self):
        context = GLib.MainContext()
        context.push_thread_default()
        self.loop = GLib.MainLoop(context)
        bus = connect(self.address)
        bus.register_object(SYSTEMD_PATH, MANAGER, self.call, None, None)
        bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                      "RequestName", GLib.Variant("(su)", (SYSTEMD, 0)), None,
                      Gio.DBusCallFlags.NONE, 120000, None)
        self.ready.set()
        self.loop.run()
        bus.close_sync(None)

    def call(self, _bus, _sender, _path, _interface, member, body, invocation):
        self.calls.append((member, body.get_child_value(0).get_string() if member != "Subscribe"
                           else ""))
        if member in self.deaf:
            self.unanswered.append(invocation)
            return
        job = GLib.Variant("(o)", (f"{SYSTEMD_PATH}/job/1",))
        invocation.return_value(job if member in ("StartTransientUnit", "StopUnit") else None)

    def unit_of(self, member):
        """What the first call of that name was about, once there is one."""
        world.wait_until(lambda: member in [name for name, _ in self.calls], f"{member} was called",
                         60)
        return next(unit for name, unit in self.calls if name == member)


class Base(private_bus.BusTest):
    checked = ("daemon",)
    # Nothing is to time out but where a test says so, on the slowest machine.
    authorise_seconds, start_seconds = 100, 600
    deaf = ()

    def setUp(self):
        super().setUp()
        for name in ("config", "config/agents", "data", "modules"):
            os.mkdir(f"{self.folder}/{name}", 0o700)
        self.write_agent("man")
        self.bus = connect(self.address)
        self.start("polkit", ["/usr/bin/python3", "-m", "dbusmock", "--system", "--template",
                              "polkitd"], lambda: self.owned(POLKIT),
                   {"DBUS_SYSTEM_BUS_ADDRESS": self.address})
        self.mock("SetAllowed", "(as)", (["org.undersign1.launch", "org.undersign1.launch-own"],))
        self.systemd = Systemd(self.address, self.deaf)
        self.addCleanup(self.systemd.join)
        self.addCleanup(self.systemd.loop.quit)
        self.daemon = self.start("daemon", [DAEMON, self.address, self.folder,
                                            str(self.authorise_seconds), str(self.start_seconds)],
                                 lambda: self.owned(NAME))

    def write_agent(self, owner, name="games"):
        self.write(f"config/agents/{name}.agent", AGENT.format(owner=owner))

    def mock(self, member, signature=None, value=None, interface="org.freedesktop.DBus.Mock"):
        """Tells the mock of polkit what to do."""
        return self.bus.call_sync(POLKIT, POLKIT_PATH, interface, member,
                                  GLib.Variant(signature, value) if signature else None, None,
                                  Gio.DBusCallFlags.NONE, 120000, None).unpack()

    def launch(self, agent="games"):
        """A queue in which the answer is, once there is one."""
        answers = queue.Queue()
        message = Gio.DBusMessage.new_method_call(NAME, PATH, NAME, "Launch")
        message.set_body(GLib.Variant("(sasa{sv})", (agent, ["true"], {})))

        def ask():
            reply, _ = connect(self.address).send_message_with_reply_sync(
                message, Gio.DBusSendMessageFlags.NONE, 300000, None)
            answers.put((reply.get_error_name().removeprefix(raw.ERROR),
                         reply.get_body().unpack()[0].partition(":")[0])
                        if reply.get_message_type() == Gio.DBusMessageType.ERROR else "launched")
        threading.Thread(target=ask, daemon=True).start()
        return answers

    def polkit_hangs(self):
        self.mock("SimulateHang", "(b)", (True,))
        answers = self.launch()
        world.wait_until(lambda: self.mock("HaveHangingCalls")[0], "polkit is asked")
        return answers

    def polkit_answers(self):
        self.mock("SimulateHang", "(b)", (False,))
        self.mock("ReleaseHangingCalls")


class Polkit(Base):
    def test_it_ends_while_a_person_is_asked(self):
        answers = self.polkit_hangs()
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(answers.get(timeout=300), ("Unavailable", "unreachable"))
        self.assertEqual(self.daemon.wait(120), 0)
        self.assertEqual([name for name, _ in self.systemd.calls], ["Subscribe"])

    def test_the_agent_goes_while_a_person_is_asked(self):
        answers = self.polkit_hangs()
        os.unlink(f"{self.folder}/config/agents/games.agent")
        self.polkit_answers()
        self.assertEqual(answers.get(timeout=300), ("NotFound", "not-found"))

    def test_policy_breaks_while_a_person_is_asked(self):
        answers = self.polkit_hangs()
        self.write_agent("nobody")
        self.polkit_answers()
        self.assertEqual(answers.get(timeout=300), ("PolicyInvalid", "policy-invalid"))
        self.assertEqual([name for name, _ in self.systemd.calls], ["Subscribe"])

    def test_whose_it_is_and_whether_it_is_there_is_not_said_before(self):
        """polkit shows what it is told to whoever authenticates."""
        seen = []
        for agent in ("games", "not-there"):
            self.mock("SetAllowed", "(as)", ([],))
            self.assertEqual(self.launch(agent).get(timeout=300), ("Refused", "denied-by-rule"))
            calls = self.mock("GetMethodCalls", "(s)", ("CheckAuthorization",))[0]
            _, action, details, _, _ = calls[-1][1]
            self.assertEqual(details.pop("agent"), agent)
            seen.append((action, details))
        self.assertEqual(seen[0], ("org.undersign1.launch", {"command": "true"}))
        self.assertEqual(seen[0], seen[1])


class Late(Base):
    start_seconds = 1

    def test_a_start_that_takes_too_long_is_stopped(self):
        self.assertEqual(self.launch().get(timeout=300), ("Unavailable", "internal"))
        self.assertEqual(self.systemd.unit_of("StopUnit"),
                         self.systemd.unit_of("StartTransientUnit"))


class Deaf(Late):
    deaf = ("StartTransientUnit",)


class Ends(Base):
    def test_it_ends_while_systemd_starts_something(self):
        answers = self.launch()
        self.systemd.unit_of("StartTransientUnit")
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(answers.get(timeout=300), ("Unavailable", "unreachable"))
        self.assertEqual(self.daemon.wait(120), 0)
        self.assertEqual(os.listdir(f"{self.folder}/runtime"), [])


if __name__ == "__main__":
    del sys.argv[1]
    tap.main("launcher")
