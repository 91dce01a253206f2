#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`undersignctl agent add`, stopped or failing anywhere: policy stays valid, and a second try goes on."""

import errno
import glob
import os
import pwd
import signal
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import fault, people, policy, tap  # noqa: E402

SYSUSERS, USERDEL = "/usr/bin/systemd-sysusers", "/usr/sbin/userdel"
OWNER, NAME, USER = "alice", "clerk", "agent-clerk"
CONF = f"/etc/sysusers.d/undersign-agent-{NAME}.conf"
AGENT, RULE = f"{policy.FOLDER}/agents/{NAME}.agent", f"{policy.FOLDER}/rules/{NAME}.rule"
COMMAND = ["undersignctl", "agent", "add", NAME, "--owner", OWNER, "--action", "test.rehearse"]
FILES = [CONF, AGENT, RULE]
CHECK = "undersignctl policy check >/run/check || echo bad >>/run/seen\n"
LIST = f"ls -A {policy.FOLDER}/agents {policy.FOLDER}/rules >>/run/seen\n"


def has_user():
    return subprocess.run(["getent", "passwd", USER], stdout=subprocess.DEVNULL,
                          check=False).returncode == 0


class AgentAdd(unittest.TestCase):
    def setUp(self):
        policy.write()
        os.makedirs(os.path.dirname(CONF), exist_ok=True)
        self.clean()
        self.addCleanup(self.clean)
        self.before = self.names()

    def clean(self):
        for path in (*FILES, "/run/seen", *self.unfinished()):
            if os.path.lexists(path):
                os.unlink(path)
        if has_user():
            subprocess.run([USERDEL, USER], check=True, stderr=subprocess.DEVNULL)

    def unfinished(self):
        return [path for file in FILES for path in glob.glob(f"{os.path.dirname(file)}/.*.new")]

    def names(self):
        return [sorted(os.listdir(os.path.dirname(path))) for path in FILES]

    def replace(self, tool, script):
        """@tool is a script for the time of a test; REAL in it is what it was."""
        os.rename(tool, tool + ".real")
        self.addCleanup(self.restore, tool)
        with open(tool, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script.replace("REAL", tool + ".real"))
        os.chmod(tool, 0o755)

    def restore(self, tool):
        if os.path.exists(tool + ".real"):
            os.rename(tool + ".real", tool)

    def add(self, status=0, action="test.rehearse"):
        done = people.run_as("root", [*COMMAND[:-1], action])
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def check_valid(self):
        done = people.run_as("root", ["undersignctl", "policy", "check"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def check_all(self):
        self.check_made()
        self.assertEqual(self.unfinished(), [])

    def check_made(self):
        self.check_valid()
        for path in FILES:
            self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o644, path)
        self.assertTrue(pwd.getpwnam(USER).pw_dir.endswith(NAME))

    def check_nothing(self):
        self.check_valid()
        self.assertEqual(self.names(), self.before)
        self.assertFalse(has_user())

    def test_policy_is_written_when_the_user_is_there(self):
        self.replace(SYSUSERS, LIST + CHECK + 'REAL "$@"\n' + LIST + CHECK)
        self.add()
        self.check_all()
        with open("/run/seen", encoding="utf-8") as file:
            seen = file.read()
        self.assertNotIn("bad", seen)
        self.assertNotIn(NAME, seen)

    def test_killed_before_the_user(self):
        self.replace(SYSUSERS, "kill -9 $PPID\n")
        self.add(status=-signal.SIGKILL)
        self.check_valid()
        self.restore(SYSUSERS)
        self.add()
        self.check_all()

    def test_killed_after_the_user(self):
        self.replace(SYSUSERS, 'REAL "$@"; kill -9 $PPID\n')
        self.add(status=-signal.SIGKILL)
        self.assertTrue(has_user())
        self.check_valid()
        self.restore(SYSUSERS)
        self.add()
        self.check_all()

    def test_killed_between_the_files(self):
        """With what a write that was killed leaves; and what is done already is done."""
        self.add()
        texts = {}
        for path in FILES:
            with open(path, encoding="utf-8") as file:
                texts[path] = file.read()
        for missing in ([RULE], [AGENT, RULE]):
            for path in missing:
                os.unlink(path)
                with open(os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.new"), "w",
                          encoding="utf-8") as file:
                    file.write("[Ag")
            self.check_valid()
            self.add()
            self.check_all()
        self.add()
        for path, text in texts.items():
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), text)

    def test_what_differs_stays(self):
        self.add()
        with open(RULE, encoding="utf-8") as file:
            before = file.read()
        self.assertIn("wrong-state", self.add(status=1, action="mail.send"))
        with open(RULE, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        self.check_all()

    def test_a_user_of_somebody_else(self):
        self.add()
        for path in FILES:
            os.unlink(path)
        self.assertIn("wrong-state", self.add(status=1))
        self.assertEqual(self.names(), self.before)
        self.assertTrue(has_user())

    def test_a_failure_that_made_the_user(self):
        self.replace(SYSUSERS, 'REAL "$@"; exit 1\n')
        self.assertIn("internal", self.add(status=1))
        self.check_nothing()

    def test_a_user_that_cannot_be_undone(self):
        self.replace(SYSUSERS, 'REAL "$@"; exit 1\n')
        self.replace(USERDEL, "exit 8\n")
        self.assertIn(f"the user {USER} stays", self.add(status=1))
        self.assertFalse(os.path.exists(AGENT) or os.path.exists(RULE))
        self.add()
        self.check_all()

    def test_a_disk_that_fails(self):
        """At operations that are chosen as in the tests of faults, by $UNDERSIGN_FAULTS; or undersignctl
        is killed there."""
        faults = fault.Faults()
        environment = {**os.environ, **faults.environment()}
        kinds = (fault.FULL, fault.TORN_WRITE, fault.CUT, fault.BROKEN, fault.BROKEN_ONCE, fault.DEATH)
        met = set()

        def add(kind, n):
            self.clean()
            faults.arm(kind, n, fault.CTL, "/etc/", kind.operations & (fault.CHANGES | fault.UNLINK))
            done = subprocess.run(COMMAND, capture_output=True, text=True, env=environment, check=False)
            if faults.disarm():
                met.add(faults.place())
            return done.returncode, done.stdout + done.stderr

        self.assertEqual(add(fault.Kind("", fault.NOTE, operations=fault.CHANGES | fault.UNLINK), 0)[0], 0)
        wanted = os.environ.get("UNDERSIGN_FAULTS", "1")
        chooser = fault.Chooser(wanted, None if wanted == "all" else 9)
        # And a rule that cannot be made, where what was made cannot be removed.
        last = faults.noted().index((fault.CREATE, f"{policy.FOLDER}/rules/.{NAME}.rule.new")) + 1
        for kind, n in [*chooser.choose(faults.noted(), kinds), (fault.BROKEN, last)]:
            with self.subTest(f"{kind.name}, operation {n}"):
                status, text = add(kind, n)
                self.assertIn(status, (0, 1, -signal.SIGKILL), text)
                self.check_valid()
                if status == 0 and kind.error == errno.EIO:  # which may keep it from tidying up
                    self.check_made()
                elif status == 0:
                    self.check_all()
                elif status == 1:
                    self.assertRegex(text, "internal: ")
                    if kind.error != errno.EIO:  # which may keep it from removing what it made
                        self.check_nothing()
                self.add()
                self.check_all()
        print("# met: " + ", ".join(sorted(map(" ".join, met))), flush=True)

    def test_a_rule_of_somebody_else_meanwhile(self):
        """What was made is undone, and nothing else is."""
        other = "[Rule x]\nAgents=*\nActions=*\nDecision=deny\n"
        self.replace(SYSUSERS, f'REAL "$@"; cat >{RULE} <<END\n{other}END\n')
        self.assertIn("exist", self.add(status=1).lower())
        with open(RULE, encoding="utf-8") as file:
            self.assertEqual(file.read(), other)
        os.unlink(RULE)
        self.check_nothing()


if __name__ == "__main__":
    tap.main("system/agent-add")
