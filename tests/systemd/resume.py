#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The second day, after a reboot: what waited still waits, what was signed is void."""

import base64
import json
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, mailserver, machine, person, policy, tap, world  # noqa: E402

AGAIN = "The service was restarted: what was signed before is void."


def words(text):
    """As one reads it: a card breaks its lines."""
    return " ".join(text.split())


class Resume(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        cls.agent = booted.Agent("agent-offboarding")
        cls.person = booted.Person("it.lead")
        cls.second = booted.Person("hr.kim")
        cls.notes = booted.recall()

    def test_1_only_sockets_came_up(self):
        for name in booted.SERVICES:
            self.assertEqual(booted.unit(name, "ActiveState"), "inactive", name)
        for name in booted.SOCKETS:
            self.assertEqual(booted.unit(name, "SubState"), "listening", name)
        self.assertEqual(booted.failed_units(), [])

    def test_2_the_other_bus(self):
        if not os.path.exists(machine.BUSES["dbus-broker"]):
            self.skipTest("dbus-broker is not installed, and would be the host's bus if it were")
        self.assertEqual(booted.unit("dbus.service", "Id"), "dbus-broker.service")
        self.assertNotRegex(booted.journal("--boot", "--unit=dbus-broker.service"),
                            r"(?i)undersign|invalid")

    def test_3_what_waited_waits(self):
        both = {self.notes["waits"], self.notes["both"]}
        world.wait_until(lambda: {card["request"] for card in self.person.pending()} == both,
                         "both cards are listed", 120)
        self.assertEqual(booted.unit(booted.BROKER, "ActiveState"), "active")
        for name in ("waits", "both"):
            found = self.agent.status(self.notes[name])
            self.assertEqual((found["state"], found["executed"]), ("pending", "no"), name)

    def test_4_its_card_says_so_and_it_runs_once(self):
        before = len(self.server.mails())  # its folder is of this boot
        answer = self.person.approve(self.notes["waits"])
        self.assertIn(AGAIN, words(answer.card))
        self.assertEqual(answer.status, 0, answer.text)
        self.assertEqual(self.agent.wait(self.notes["waits"])["state"], "done")
        self.assertEqual(len(self.server.mails()), before + 1)

    def test_5_half_an_approval_of_yesterday_is_none(self):
        both = self.notes["both"]
        answer = self.second.approve(both)
        self.assertIn(AGAIN, words(answer.card))
        self.assertIn("0 given, 2 needed", words(answer.card))
        found = self.agent.status(both)
        self.assertEqual((found["state"], found["executed"]), ("pending", "no"))
        self.assertEqual(policy.executed(), 0)
        self.person.approve(both)
        found = self.agent.wait(both)
        self.assertEqual((found["state"], found["executed"]), ("done", "yes"))
        self.assertEqual(policy.executed(), 1)

    def test_6_what_ended_before_is_still_known(self):
        found = self.agent.status(self.notes["first"])
        self.assertEqual((found["state"], found["executed"]), ("done", "yes"))
        booted.command("undersignctl", "audit", "verify")

    def test_7_the_journal_tells_the_story(self):
        said = booted.journal(f"--unit={booted.BROKER}")
        for name in ("first", "waits", "both"):
            self.assertIn(self.notes[name], said)
        self.assertIn("SetCredential by uid 0: done", booted.journal(f"--unit={booted.ADMIN}"))
        # Both boots are there.
        boots = booted.command("journalctl", "--list-boots", "--quiet").splitlines()
        self.assertGreaterEqual(len(boots), 2)

    def test_7_the_journal_can_be_asked(self):
        """By field, not by the words of a line; the phase "journal" has the other kinds."""
        told = booted.Told()
        first, lead = self.notes["first"], str(booted.uid_of("it.lead"))
        for when, state, source, who in (
                ("an approval was verified and stored", "approved", "signed", "it.lead"),
                ("a request was used up", "executing", "executor", ""),
                ("its outcome", "done", "executor", "")):
            entry = told(when, state, UNDERSIGN_REQUEST=first)
            self.assertEqual((entry["UNDERSIGN_SOURCE"], entry["UNDERSIGN_PERSON"]), (source, who))
        entry = told("a passkey was enrolled", "enrolled", UNDERSIGN_PERSON="it.lead")
        self.assertEqual((entry["UNDERSIGN_SOURCE"], entry["UNDERSIGN_BY"]), ("admin", lead))

    def test_8_and_no_secret(self):
        whole = booted.journal("--all", "--output=export")
        ours = booted.journal("--all", "--output=export", "--unit=undersign*")
        self.assertGreater(len(ours), 1000)
        pair = f"\\0{mailserver.USER}\\0{mailserver.PASSWORD}".encode()
        for secret in (mailserver.PASSWORD, person.PASSPHRASE, booted.ROOT_PASSWORD,
                       base64.b64encode(pair).decode(),
                       base64.b64encode(mailserver.PASSWORD.encode()).decode()):
            self.assertNotIn(secret, whole)
        for word in (booted.BODY, "security@example.com", "Waits"):
            self.assertNotIn(word, ours)

    def test_9_no_service_complained(self):
        for name in booted.SERVICES:
            said = booted.journal("--priority=warning", f"--unit={name}")
            if name == booted.LAUNCHER:  # which was killed before the reboot
                said = re.sub(r".*(status=9/KILL|result 'signal').*\n", "", said)
            self.assertEqual(said, "", name)
            self.assertEqual(booted.unit(name, "NRestarts"), "0", name)
        self.assertEqual(booted.failed_units(), [])


if __name__ == "__main__":
    tap.main("systemd/resume")
