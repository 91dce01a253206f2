#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every member of the interface from every kind of user, held against tests/broker/matrix.json.

The file is written by hand and is the oracle; tests/broker/undersign-matrix makes the calls, as the
user that it runs under, on the real bus.
"""

import os
import shutil
import stat
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import bus, people, person, policy, tap, world  # noqa: E402

ROLES = {"agent": "agent-offboarding", "other-agent": "agent-other", "initiator": "hr.kim",
         "approver": "it.lead", "nobody": "nobody", "root": "root"}
FOLDER = "/run/undersign-test/matrix"


class Matrix(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.mkdir(FOLDER, 0o755)
        program = os.path.join(os.environ["UNDERSIGN_BUILD"], "tests/broker/undersign-matrix")
        for path in (program, os.path.join(HERE, "../broker/matrix.json")):
            copy = shutil.copy(path, FOLDER)
            os.chmod(copy, 0o755 if os.stat(path).st_mode & stat.S_IXUSR else 0o644)
        policy.write()
        person.let_enrol("it.lead")
        cls.world = world.World()
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.Person("it.lead").enrol()
        cls.agent = person.Agent("agent-offboarding")

    def pending(self, target):
        return self.agent.request("test.rehearse", f"target={target}")["request"]

    def test_each_role(self):
        for role, user in ROLES.items():
            with self.subTest(role):
                path = f"{bus.PATH}/request/{self.pending(role)}"
                done = people.run_as(user, [f"{FOLDER}/undersign-matrix", f"{FOLDER}/matrix.json",
                                            role, path], cwd="/")
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(policy.executed(), 0)

    def test_nobody_sees_what_is_anothers(self):
        request = self.pending("mine")
        other = person.Agent("agent-other")
        self.assertEqual(other.json("list")[1]["requests"], [])
        self.assertIn(request, [entry["request"] for entry in self.agent.json("list")[1]["requests"]])
        # What exists and what does not is told alike.
        for verb in ("status", "withdraw"):
            told = [other.json(verb, name)[1]["error"] for name in (request, "0" * 32)]
            self.assertEqual(told[0], told[1])
        self.assertEqual(self.agent.status(request)["state"], "pending")


if __name__ == "__main__":
    tap.main("system/matrix")
