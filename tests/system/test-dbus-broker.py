#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A little of the rest on the other implementation of the bus, dbus-broker, which many distributions
have: the members and roles of test-matrix.py for two kinds of user, an approval that runs once, that
nobody else can have the name, and of test-admin.py and test-attacker.py what the bus has a part in.  Any suite runs on it
as a whole, that of the administrator for one:

  UNDERSIGN_BUS=dbus-broker tests/lib/namespace --build BUILD tests/system/test-admin.py
"""

import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
os.environ["UNDERSIGN_BUS"] = "dbus-broker"

from undersign_test import bus, person, policy, tap  # noqa: E402


def suite(name):
    """The module of another suite."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, f"test-{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


matrix = suite("matrix")
matrix.ROLES = {role: matrix.ROLES[role] for role in ("agent", "nobody")}


admin = suite("admin")
# What is polkit's or the program's own, whatever bus there is.
ELSEWHERE = ("test_a_rule_gives_one_verb_to_one_person", "test_no_polkit",
             "test_it_is_started_by_the_bus_and_by_nobody_else")


class OtherBus(matrix.Matrix):
    def test_what_is_approved_runs_once(self):
        before = policy.executed()
        request = self.pending("once")
        person.Person("it.lead").approve(request)
        self.assertEqual(self.agent.wait(request)["state"], "done")
        self.assertEqual(policy.executed(), before + 1)

    def test_nobody_else_has_the_name(self):
        for name in (bus.SERVICE, bus.ADMIN):
            with bus.Peer("agent-offboarding") as peer, \
                    self.assertRaisesRegex(bus.BusError, "AccessDenied"):
                peer.own_name(name)


class OtherAdmin(admin.Admin):
    """Who may administer, and that a secret goes as a descriptor, on this bus."""


for left_out in ELSEWHERE:
    setattr(OtherAdmin, left_out, None)


attacker = suite("attacker")


class OtherAttacker(attacker.Messages):
    """Bytes that are no message, values that nobody means, and files that are none."""

    def setUp(self):
        self.world.restart_admin()  # lest it end before an enrolment keeps it
        super().setUp()


for left_out in ("test_signatures", "test_objects", "test_edges", "test_half_messages"):
    setattr(OtherAttacker, left_out, None)


if __name__ == "__main__":
    tap.main("system/dbus-broker")
