#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What undersign-agent prints with --json, held against undersign-json(7).

usage: test-json.py AGENT   (the program of this folder)

The service is a stand-in that says as little, or as much, as its interface lets it say.
"""

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

import gi  # noqa: E402

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

from undersign_test import private_bus, shapes, tap  # noqa: E402

AGENT = os.path.abspath(sys.argv[1])
ID, OTHER = "0123456789abcdef0123456789abcdef", "7c9a10f3" * 4
PATH = f"/org/undersign1/request/{ID}"
ACTION = ("'summary': <'Send an e-mail'>, 'effect': <'irreversible'>, 'needs-approval': <'always'>")
ARGUMENT = ("{'name': <'to'>, 'label': <'To'>, 'type': <'email-list'>, 'signature': <'as'>, "
            "'required': <true>, 'schema': <'{}'>")
LITTLE = {
    "GetInfo": "({'version': <'0.1.0'>, 'agent': <'clerk'>, 'summary': <'Clerk'>, "
               "'owner': <'hr.jones'>, 'parts': <['main']>, 'pending': <uint32 0>, "
               "'paused': <false>, 'pending-max': <uint32 8>, 'submits-per-minute': <uint32 30>, "
               "'file-max': <uint64 1>, 'request-files-max': <uint64 2>, 'spool-max': <uint64 3>},)",
    "OpenRun": "('00000000000000000000000000000001',)",
    "ListActions": f"({{'mail.send': {{{ACTION}}}}},)",
    "DescribeAction": f"({{'id': <'mail.send'>, {ACTION}, 'arguments': <[{ARGUMENT}}}]>}},)",
    "Submit": f"(objectpath '{PATH}', 'pending')",
    "ListRequests": f"([(objectpath '{PATH}', 'mail.send', 'pending')],)",
    "GetState": "('pending', {'executed': <'no'>})",
    "Watch": "()",
    "Withdraw": "()",
}
MUCH = {
    **LITTLE,
    "GetInfo": LITTLE["GetInfo"].replace("'owner'", "'paused-until': <'2026-11-30T10:00:00Z'>, "
                                         "'owner'"),
    "DescribeAction": f"({{'id': <'mail.send'>, {ACTION}, 'one-of': <[['to', 'cc']]>, "
                      f"'arguments': <[{ARGUMENT}, 'default': <<['a@example.com']>>, "
                      "'pattern': <'.*'>, 'minimum': <'1'>, 'maximum': <'2'>, "
                      "'max-items': <uint32 3>, 'choices': <['x']>}, "
                      f"{ARGUMENT}, 'constant': <<'x'>>}}]>}},)",
    "GetState": "('done', {'executed': <'yes'>, 'action': <'mail.send'>, 'run': <'1'>, "
                "'digest': <'sha256:00'>, 'expires': <'2026-11-30T10:00:00Z'>, 'reason': <'x'>, "
                "'result': <'sent'>, 'resolved': <false>, 'card': <true>, 'answers': <uint32 1>, "
                f"'needed': <uint32 2>, 'supersedes': <objectpath '/org/undersign1/request/{OTHER}'>, "
                f"'successor': <objectpath '/org/undersign1/request/{OTHER}'>}})",
}


class Json(private_bus.BusTest):
    def setUp(self):
        super().setUp()
        self.page, self.says, self.loop = shapes.Shapes(), {}, GLib.MainLoop()
        with open(os.path.join(HERE, "../../dbus/org.undersign1.xml"), encoding="utf-8") as file:
            interfaces = Gio.DBusNodeInfo.new_for_xml(file.read()).interfaces
        bus = Gio.DBusConnection.new_for_address_sync(
            self.address, Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
            | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, None, None)
        for interface in interfaces:
            for path in ("/org/undersign1", PATH):
                bus.register_object(path, interface, self.on_call, None, None)
        bus.call_sync("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName",
                      GLib.Variant("(su)", ("org.undersign1", 4)), None, Gio.DBusCallFlags.NONE,
                      60000, None)
        self.addCleanup(bus.close_sync, None)

    def on_call(self, _bus, _sender, _path, _interface, member, _parameters, invocation):
        invocation.return_value(GLib.Variant.parse(None, self.says[member], None, None))

    def printed(self, verb, *words):
        """The object; the program and its service take turns in this thread."""
        said = []

        def ended(process, result):
            said.append(process.communicate_utf8_finish(result))
            self.loop.quit()

        Gio.Subprocess.new([AGENT, self.address, str(os.getuid()), verb, *words, "--json"],
                           Gio.SubprocessFlags.STDOUT_PIPE).communicate_utf8_async(None, None, ended)
        self.loop.run()
        return json.loads(said[0][1])

    def check(self, says):
        self.says = says
        found = self.printed("status", "no id")
        self.assertEqual(self.page.faults("undersign-agent error", found), [], found)
        for verb, *words in (("list",), ("actions",), ("describe", "mail.send"), ("info",),
                             ("status", ID), ("wait", ID, "--timeout=0"), ("withdraw", ID),
                             ("request", "mail.send", "to=a@example.com")):
            heading = "status" if verb in ("wait", "request") else verb
            found = self.printed(verb, *words)
            self.assertEqual(self.page.faults(f"undersign-agent {heading}", found), [], found)

    def test_of_a_service_that_says_little(self):
        self.check(LITTLE)

    def test_of_a_service_that_says_much(self):
        self.check(MUCH)

    def test_full_disk(self):
        """What nobody could read is no success, and no denial that one may ask again after."""
        self.says = LITTLE
        status = {"list": 5, "actions": 5, "withdraw": 5, "info": 5, "status": 2, "--help": 5}
        for verb, *words in (("list",), ("list", "--json"), ("actions",), ("info", "--json"),
                             ("withdraw", ID), ("status", ID), ("list", "--help"), ("--help",),
                             ("--version",)):
            said = []
            launcher = Gio.SubprocessLauncher.new(Gio.SubprocessFlags.STDERR_PIPE)
            launcher.set_stdout_file_path("/dev/full")
            process = launcher.spawnv([AGENT, self.address, str(os.getuid()), verb, *words])
            process.communicate_utf8_async(None, None, lambda process, result, said=said: (
                said.append(process.communicate_utf8_finish(result)), self.loop.quit()))
            self.loop.run()
            self.assertEqual(process.get_exit_status(), status.get(verb, 5), (verb, words))
            self.assertEqual(said[0][2], "undersign-agent: internal: cannot write the output: "
                             "No space left on device\n")

    def test_what_is_not_in_the_page_is_found(self):
        self.says = {**LITTLE, "DescribeAction": LITTLE["DescribeAction"].replace("'id'", "'name'")}
        found = self.printed("describe", "mail.send")
        self.assertEqual(self.page.faults("undersign-agent describe", found),
                         ["undersign-agent describe.action.id: is missing",
                          "undersign-agent describe.action.name: is not in the page"])


if __name__ == "__main__":
    del sys.argv[1]
    tap.main("agentlib-json")
