#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ground the other tests of this folder stand on: the users, the bus and polkit are real."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, people, tap, terminal, world  # noqa: E402


class Namespace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = world.World(modules=(), services=())
        cls.world.start()
        cls.addClassCleanup(cls.world.stop)

    def test_users_are_apart(self):
        done = people.run_as("hr.jones", ["id"])
        self.assertIn("groups=61201(hr.jones),61301(hr)\n", done.stdout)
        for name in (*people.PEOPLE, *people.AGENTS):
            done = people.run_as("agent-other", ["ls", f"/home/{name}"])
            self.assertEqual(done.returncode == 0, name == "agent-other", name)
            self.assertNotEqual(people.run_as(name, ["touch", "/etc/passwd"]).returncode, 0)

    def test_everything_else_is_read_only(self):
        for folder in ("/", "/opt", os.path.dirname(os.path.abspath(__file__))):
            with self.assertRaises(OSError):
                with open(f"{folder}/undersign-was-here", "w", encoding="utf-8"):
                    pass

    def test_the_bus_knows_who_calls(self):
        with bus.Peer("agent-offboarding") as agent, bus.Peer("hr.jones") as person:
            self.assertNotEqual(agent.name, person.name)
            uid = person.call("org.freedesktop.DBus", "GetConnectionUnixUser", "(s)", (agent.name,),
                              destination="org.freedesktop.DBus")
            self.assertEqual(uid, (people.AGENTS["agent-offboarding"][0],))

    def test_nobody_takes_a_name_of_ours(self):
        for name in ("org.undersign1", "org.undersign1.Admin"):
            for user in ("agent-other", "alice"):
                with bus.Peer(user) as peer:
                    with self.assertRaises(bus.BusError) as caught:
                        peer.own_name(name)
                    self.assertEqual(caught.exception.name,
                                     "org.freedesktop.DBus.Error.AccessDenied")

    def test_polkit_decides(self):
        answers = {}
        for user in ("root", "alice"):
            with bus.Peer(user) as peer:
                result = peer.call("org.freedesktop.PolicyKit1.Authority", "CheckAuthorization",
                                   "((sa{sv})sa{ss}us)",
                                   (("system-bus-name", {"name": ("s", peer.name)}),
                                    "org.freedesktop.policykit.exec", {}, 0, ""),
                                   path="/org/freedesktop/PolicyKit1/Authority",
                                   destination="org.freedesktop.PolicyKit1")
                answers[user] = result[0][0]
        self.assertEqual(answers, {"root": True, "alice": False})

    def test_a_terminal(self):
        with terminal.Terminal("alice", ["sh", "-c", "read x; tty > /dev/null && id -un; "
                                         "stty size; echo got $x > /dev/tty; exit 3"]) as screen:
            screen.line("words")
            screen.wait_for("alice\n40 100\ngot words")
            self.assertEqual(screen.wait(), 3)


if __name__ == "__main__":
    tap.main("system/namespace")
