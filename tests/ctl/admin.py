# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stands in for org.undersign1.Admin: usage admin.py ADDRESS FOLDER.

Each call is appended to FOLDER/calls; what it is answered with stands in FOLDER/replies, a pickled
dictionary of member → (signature, value), or (None, (error name, text)).  A list of such is used up
one after the other.  A descriptor's content is logged in the place of its index.
"""

import os
import pickle
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

import gi  # noqa: E402

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

from undersign_test import bus as raw  # noqa: E402


def read_all(fd):
    """A pipe to its end, or a memfd from its beginning."""
    if not stat.S_ISFIFO(os.fstat(fd).st_mode):
        os.lseek(fd, 0, os.SEEK_SET)
    with os.fdopen(fd, "rb") as file:
        return file.read()


def main(address, folder):
    with open(os.path.join(HERE, "../../dbus/org.undersign1.Admin.xml"), encoding="utf-8") as file:
        interface = Gio.DBusNodeInfo.new_for_xml(file.read()).interfaces[0]
    flags = (Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
             | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
    bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)
    used = {}

    def on_call(_bus, _sender, _path, _interface, member, parameters, invocation):
        values = list(raw.unpack(parameters))
        message = invocation.get_message()
        fds = message.get_unix_fd_list()
        if fds is not None:
            values[-1] = read_all(fds.get(values[-1]))
        interactive = bool(message.get_flags()
                           & Gio.DBusMessageFlags.ALLOW_INTERACTIVE_AUTHORIZATION)
        with open(f"{folder}/calls", "ab") as log:
            pickle.dump((member, values, interactive), log)
        with open(f"{folder}/replies", "rb") as file:
            reply = pickle.load(file)[member]
            version = (os.fstat(file.fileno()).st_ino, os.fstat(file.fileno()).st_mtime_ns)
        if isinstance(reply, list):
            position = used[member, version] = used.get((member, version), -1) + 1
            reply = reply[min(position, len(reply) - 1)]
        signature, value = reply
        if signature is None:
            invocation.return_dbus_error(*value)
        else:
            invocation.return_value(raw.build(signature, value))

    bus.register_object("/org/undersign1/Admin", interface, on_call, None, None)
    bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName",
                  GLib.Variant("(su)", ("org.undersign1.Admin", 4)), None,
                  Gio.DBusCallFlags.NONE, 60000, None)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main(*sys.argv[1:])
