#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first day: credential, passkeys, one mail; everything is started by being asked for."""

import os
import re
import stat
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, mailserver, people, person, policy, tap, world  # noqa: E402

CREDENTIAL = "/etc/credstore.encrypted/undersign-mail.work-smtp"
LOADED = f"/run/credentials/{booted.MAIL}/work-smtp"
USERS = {booted.BROKER: "undersign", booted.EXECUTOR: "undersign-executor",
         booted.MAIL: "undersign-mail"}


def namespace_of(pid, kind):
    return os.stat(f"/proc/{pid}/ns/{kind}").st_ino


def look_at(pid):
    """(status, environment, namespaces) of a process; None where it ends meanwhile."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
        spaces = {kind: namespace_of(pid, kind) for kind in ("net", "mnt")}
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if status["State"].startswith("Z") or not environment else \
        (status, environment, spaces)


def processes(name):
    """All of a unit, once it has as many as it should: a worker beside each listener."""
    least = 1 if name == booted.BROKER else 2
    found = []

    def enough():
        found[:] = filter(None, map(look_at, booted.processes(name)))
        return len(found) >= least
    world.wait_until(enough, f"{name} has {least} processes", 60)
    return found


class Use(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        cls.agent = booted.Agent("agent-offboarding")
        cls.person = booted.Person("it.lead")
        cls.second = booted.Person("hr.kim")
        booted.command("chpasswd", text=f"root:{booted.ROOT_PASSWORD}\n")

    def test_1_the_credential_is_encrypted_for_one_unit(self):
        account = f"{mailserver.USER}\n{mailserver.PASSWORD}\n"
        booted.command("undersignctl", "credential", "set", "mail", "work-smtp", text=account)
        self.assertTrue(booted.was_started(booted.ADMIN))
        status = os.stat(CREDENTIAL)
        self.assertEqual((status.st_uid, stat.S_IMODE(status.st_mode)), (0, 0o600))
        with open(CREDENTIAL, "rb") as file:
            self.assertNotIn(mailserver.PASSWORD.encode(), file.read())
        self.assertIn(f"LoadCredentialEncrypted=work-smtp:{CREDENTIAL}\n",
                      booted.command("systemctl", "cat", booted.MAIL))
        self.assertEqual(booted.unit(booted.MAIL, "ActiveState"), "inactive")

    def test_2_policy_is_put_in_force(self):
        policy.write(actions=booted.ACTIONS, rules=booted.RULES)
        print("# " + booted.command("undersignctl", "policy", "check").splitlines()[0])
        booted.command("undersignctl", "policy", "reload")
        # The mechanism has nothing that the executor's socket did not start.
        self.assertEqual(booted.unit(booted.EXECUTOR, "ActiveState"), "active")
        self.assertIn("policy: valid", booted.command("undersignctl", "status"))

    def test_3_a_person_enrols_with_an_administrators_password(self):
        status, text, session = self.person.enrol_as_administrator("a guess")
        self.assertNotEqual(status, 0, text)
        self.assertEqual(booted.command("undersignctl", "passkey", "list").count("it.lead"), 0)
        status, text, session = self.person.enrol_as_administrator(booted.ROOT_PASSWORD)
        self.assertEqual(status, 0, text)
        self.assertGreaterEqual(len(session), 1, "logind knows of no session of it.lead")
        self.assertNotIn(booted.ROOT_PASSWORD, text)
        self.assertNotIn(person.PASSPHRASE, text)

    def test_4_another_enrols_where_a_rule_lets_him(self):
        person.let_enrol("hr.kim")
        self.second.enrol()
        listed = booted.command("undersignctl", "passkey", "list")
        for user in ("it.lead", "hr.kim"):
            self.assertIn(user, listed)

    def test_5_the_agent_is_in_a_session_of_its_own(self):
        done = self.agent.session("/bin/sh", "-c", "echo $XDG_SESSION_ID; id -u")
        session, uid = done.stdout.splitlines()
        self.assertNotEqual(session, "", done.stderr)
        self.assertEqual(int(uid), people.AGENTS["agent-offboarding"][0])

    def test_6_the_first_request_starts_the_broker(self):
        self.assertEqual(booted.unit(booted.BROKER, "ActiveState"), "inactive")
        self.assertEqual(booted.unit(booted.MAIL, "ActiveState"), "inactive")
        found = self.agent.request("mail.send", "to=security@example.com", "subject=First",
                                   f"body={booted.BODY}", "--run=day-1")
        self.assertEqual((found["state"], found["executed"]), ("pending", "no"))
        booted.remember(first=found["request"])
        self.assertEqual(booted.unit(booted.BROKER, "ActiveState"), "active")
        self.assertEqual(self.server.mails(), [])

    def test_7_the_card_is_read_and_the_mail_is_sent(self):
        request = booted.recall()["first"]
        answer = self.person.approve(request)
        self.assertEqual(answer.status, 0, answer.text)
        self.assertIn("security@example.com", answer.card)
        found = self.agent.wait(request)
        self.assertEqual((found["state"], found["executed"]), ("done", "yes"), found)
        mails = self.server.mails()
        self.assertEqual([mail["X-RcptTo"] for mail in mails], ["security@example.com"])
        self.assertIn(request, mails[0]["Message-ID"])
        self.assertEqual(booted.unit(booted.MAIL, "ActiveState"), "active")

    def test_8_each_process_is_what_its_unit_says(self):
        mine = namespace_of("self", "net")
        for name, user in USERS.items():
            uid = str(booted.uid_of(user))
            for status, _, spaces in processes(name):
                self.assertEqual(status["Uid"].split(), [uid] * 4, name)
                self.assertLessEqual(set(status["Groups"].split()), {status["Gid"].split()[0]}, name)
                for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                    self.assertEqual(int(status[key], 16), 0, f"{name}: {key}")
                self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"), name)
                self.assertEqual(spaces["net"] == mine, name == booted.MAIL, name)
                self.assertNotEqual(spaces["mnt"], namespace_of("self", "mnt"), name)

    def test_9_only_the_module_sees_its_credential(self):
        for user in ("undersign", "undersign-executor", "undersign-null", "agent-offboarding",
                     "it.lead"):
            for path in (LOADED, CREDENTIAL):
                done = people.run_as(user, ["cat", path])
                self.assertNotEqual(done.returncode, 0, f"{user}: {path}")
                self.assertNotIn(mailserver.PASSWORD, done.stdout)
        for name in USERS:
            for _, environment, _ in processes(name):
                self.assertNotIn(mailserver.PASSWORD.encode(), environment)
                self.assertEqual(b"CREDENTIALS_DIRECTORY" in environment, name == booted.MAIL, name)
        for name in (*USERS, booted.ADMIN):
            self.assertNotIn(mailserver.PASSWORD, booted.command("systemctl", "show", name))


class Watched(unittest.TestCase):
    """What an administrator looks at."""

    def test_exposure_is_no_worse_online(self):
        for name in (*USERS, booted.ADMIN, booted.NULL):
            # Only online it is known that whatever is read-only needs mounts of its own.
            self.assertLessEqual(booted.exposure(name, "no"), booted.exposure(name, "yes"), name)

    def test_the_log_verifies(self):
        self.assertRegex(booted.command("undersignctl", "audit", "verify"), r"\d")

    def test_nothing_has_failed(self):
        self.assertEqual(booted.failed_units(), [])
        for name in (*USERS, booted.ADMIN):
            self.assertEqual(booted.unit(name, "NRestarts"), "0", name)
            self.assertEqual(booted.unit(name, "Result"), "success", name)

    def test_an_agent_cannot_stop_it(self):
        for verb in ("stop", "kill", "restart"):
            done = people.run_as("agent-offboarding", ["systemctl", "--no-ask-password", verb,
                                                       booted.BROKER, booted.EXECUTOR])
            self.assertNotEqual(done.returncode, 0, verb)
        done = subprocess.run(["undersignctl", "status"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(re.search(r"\S", done.stdout))


if __name__ == "__main__":
    tap.main("systemd/use")
