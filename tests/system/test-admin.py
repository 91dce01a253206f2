#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The administrator's mechanism with the real bus and the real polkit: who may, and what is kept."""

import json
import os
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, people, tap, units, world  # noqa: E402
from undersign_test.denial import admin_calls  # noqa: E402

RULE = """polkit.addRule(function (action, subject) {
  if (action.id == "org.undersign1.%s" && subject.user == "%s")
    return polkit.Result.YES;
});
"""


def ctl(*arguments, user="root", text=""):
    if user != "root":
        return people.run_as(user, ["undersignctl", *arguments, "--json"], input=text)
    return subprocess.run(["undersignctl", *arguments, "--json"], input=text, text=True,
                          capture_output=True, check=False)


class Admin(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = world.World(services=("undersign-executor",))
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)

    def setUp(self):
        self.world.restart_admin()

    def allow(self, action, user):
        path = "/etc/polkit-1/rules.d/10-test.rules"
        with open(path, "w", encoding="utf-8") as file:
            file.write(RULE % (action, user))
        os.chmod(path, 0o644)
        self.addCleanup(self.world.polkit.restart)
        self.addCleanup(os.unlink, path)
        self.world.polkit.restart()

    def test_people_and_agents_are_denied(self):
        for user in ("alice", "hr.jones", "agent-offboarding", "nobody"):
            with bus.Peer(user) as peer:
                for member, (signature, value) in admin_calls("hr.jones", ("null", "x")).items():
                    error = peer.error(bus.ADMIN, member, signature, value, path=bus.PATH + "/Admin")
                    self.assertEqual((error.name, error.reason),
                                     (bus.ERROR + "Refused", "denied-by-rule"), f"{user} {member}")
                error = peer.error(bus.ADMIN, "SetCredential", "(ssh)", ("null", "x", 0),
                                   path=bus.PATH + "/Admin", files=[bus.File(b"secret")])
                self.assertEqual(error.reason, "denied-by-rule")
        self.assertEqual(json.loads(ctl("status").stdout)["halted"], "")
        self.assertEqual(json.loads(ctl("passkey", "list").stdout)["passkeys"], [])

    def test_what_the_bus_itself_refuses(self):
        with bus.Peer("root") as peer:
            for interface, member in (("org.freedesktop.DBus.Introspectable", "Introspect"),
                                      ("org.freedesktop.DBus.Peer", "Ping"),
                                      (bus.ADMIN, "Quit")):
                error = peer.error(interface, member, path=bus.PATH + "/Admin",
                                   destination="org.undersign1.Admin")
                self.assertEqual(error.name, "org.freedesktop.DBus.Error.AccessDenied")

    def test_root_may(self):
        done = ctl("status")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(json.loads(done.stdout)["running"])
        self.assertEqual(ctl("halt", "for a test").returncode, 0)
        self.assertFalse(json.loads(ctl("status").stdout)["running"])
        self.assertEqual(ctl("resume", "after it").returncode, 0)
        self.assertTrue(json.loads(ctl("status").stdout)["running"])
        shown = [json.loads(line) for line in ctl("audit", "show").stdout.splitlines()]
        self.assertGreaterEqual(len(shown), 2)
        verified = json.loads(ctl("audit", "verify").stdout)
        self.assertEqual(verified["head"], json.loads(ctl("status").stdout)["head"])

    def test_a_rule_gives_one_verb_to_one_person(self):
        self.allow("status", "alice")
        self.assertEqual(ctl("status", user="alice").returncode, 0)
        self.assertEqual(ctl("halt", "x", user="alice").returncode, 1)
        self.assertEqual(ctl("status", user="hr.jones").returncode, 1)

    def test_no_polkit(self):
        self.world.polkit.stop()
        # The bus would start it again: it is made to fail, as a broken one does.
        service = "/usr/share/dbus-1/system-services/org.freedesktop.PolicyKit1.service"
        os.rename(service, service + ".away")
        try:
            self.world.reload_bus()
            done = ctl("halt", "x")
            self.assertEqual(json.loads(done.stdout)["reason"], "denied-by-rule")
        finally:
            os.rename(service + ".away", service)
            self.world.reload_bus()
            self.world.polkit.start()
        self.assertTrue(json.loads(ctl("status").stdout)["running"])

    def test_credential(self):
        secret = "hunter2 of the null module"
        done = ctl("credential", "set", "null", "rehearsal", text=secret + "\n")
        self.assertEqual(done.returncode, 0, done.stdout)
        path = "/etc/credstore.encrypted/undersign-null.rehearsal"
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path, encoding="utf-8") as file:
            self.assertNotIn("hunter2", file.read())
        runner = self.world.runners["null"]
        runner.reload_unit()
        runner.restart()
        loaded = f"{runner.unit.credentials}/rehearsal"
        with open(loaded, encoding="utf-8") as file:
            self.assertEqual(file.read(), secret)
        for user in ("undersign", "undersign-executor", "agent-other", "alice"):
            self.assertNotEqual(people.run_as(user, ["cat", loaded], cwd="/").returncode, 0, user)
        self.assertEqual(ctl("credential", "remove", "null", "rehearsal").returncode, 0)
        self.assertFalse(os.path.exists(path))
        runner.reload_unit()
        runner.restart()
        self.assertFalse(os.path.exists(loaded))
        for name in os.listdir(units.LOGS):
            with open(f"{units.LOGS}/{name}", encoding="utf-8", errors="replace") as log:
                self.assertNotIn("hunter2", log.read())

    def test_a_stuck_systemd_creds_keeps_nobody_waiting(self):
        program, begun = "/usr/bin/systemd-creds", "/run/creds-begun"
        os.rename(program, f"{program}.away")
        self.addCleanup(os.rename, f"{program}.away", program)
        with open(program, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n> {begun}\nwhile [ -e {begun} ]; do sleep 0.1; done\nexit 1\n")
        os.chmod(program, 0o755)
        with subprocess.Popen(["undersignctl", "credential", "set", "null", "stuck", "--json"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stuck:
            stuck.stdin.write("hunter2")
            stuck.stdin.close()
            world.wait_until(lambda: os.path.exists(begun), "systemd-creds has begun")
            self.assertEqual(ctl("halt", "for a test").returncode, 0)
            self.assertEqual(ctl("resume", "after it").returncode, 0)
            self.assertIsNone(stuck.poll(), "the others were answered meanwhile")
            os.unlink(begun)
            self.assertIn("systemd-creds failed", json.loads(stuck.stdout.read())["text"])
        self.assertFalse(os.path.exists("/etc/credstore.encrypted/undersign-null.stuck"))

    def test_it_is_started_by_the_bus_and_by_nobody_else(self):
        done = people.run_as("alice", ["/usr/libexec/undersign-admin"])
        self.assertNotEqual(done.returncode, 0)
        done = subprocess.run(["/usr/libexec/undersign-admin", "x"], capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 126)


if __name__ == "__main__":
    tap.main("system/admin")
