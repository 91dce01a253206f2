#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`undersignctl setup` ended in each of its steps, and run again; the passkey is a security key's.

By turns the terminal is closed and the program killed, wherever it has come to.  Each run goes on from
there, and what a person approved meanwhile runs once.  UNDERSIGN_ENDINGS=all has both at each step.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import first_hour, security_key, tap  # noqa: E402

PIN = "1234-x"
ANSWERS = {"Which passkeys count?": "unattested"}
ENROL, APPROVE = "undersign passkey enrol --security-key --unattested", r"undersign approve ([0-9a-f]{8})"


@unittest.skipUnless(security_key.available(), "UNDERSIGN_AUTHENTICATORS names no authenticators")
class Ended(first_hour.FirstHour):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.key = cls.plug_in()
        cls.ways = [cls.kill, cls.close]

    @classmethod
    def plug_in(cls):
        """A key with a PIN, for the approver's hands alone; whose maker nobody trusts."""
        folder = tempfile.mkdtemp(dir="/run/undersign-test")
        cls.addClassCleanup(shutil.rmtree, folder)
        key = security_key.PinKey(folder, security_key.Maker(folder))
        cls.addClassCleanup(key.unplug)
        key.give(first_hour.LEAD, PIN)
        return key

    def touch(self, *arguments, request=None):
        """the approver's `undersign` with the key, and the card where there is one."""
        with self.lead.terminal(*arguments, "--device", self.key.path,
                                *([request] if request else [])) as screen:
            pages = []
            if request:
                pages, shown = self.lead.read_card(screen)
                screen.line(shown)
            screen.wait_for(r"PIN of \S+ \(8 tries left\): ")
            screen.line(PIN)
            self.assertEqual(screen.wait(), 0, screen.text)
        return "\n".join(pages)

    # --- a run that does not come to its end ---

    @staticmethod
    def kill(screen):
        os.kill(screen.pid, signal.SIGKILL)

    @staticmethod
    def close(screen):
        os.close(screen.master)
        screen.master = -1

    def end_at(self, pattern):
        """Ends it where it shows @pattern, by either way at last; what is there is whole.  The match."""
        for _ in range(2 if os.environ.get("UNDERSIGN_ENDINGS") == "all" else 1):
            with first_hour.start() as screen:
                match = first_hour.run_until(screen, pattern, ANSWERS)
                self.ways.reverse()
                self.ways[0](screen)
                status = os.waitstatus_to_exitcode(os.waitpid(screen.pid, 0)[1])
                screen.status = status
            self.assertIn(status, (-signal.SIGKILL, -signal.SIGHUP), screen.text)
            self.world.ctl("policy", "check")
        return match

    def test_1_until_the_passkey(self):
        for step in range(2, 9):
            with self.subTest(step=step):
                self.end_at(f"{step} of 11: ")
        self.credential_is_stored()

    def test_2_the_passkey_is_a_security_key(self):
        self.end_at(f" *{ENROL}")
        self.lead.enrol()  # it is one of software, which the rule does not count
        self.end_at(f" *{ENROL}")
        self.touch("passkey", "enrol", "--unattested")
        self.end_at("9 of 11: ")
        listed = json.loads(self.world.ctl("passkey", "list", "--json"))["passkeys"]
        self.assertEqual(sorted(key["kind"] for key in listed), ["software", "unattested"])

    def approved_meanwhile(self, shown):
        """Its terminal is gone, the card is not; of which there is one, whoever asks again."""
        first = self.end_at(f" *{APPROVE}")[1]
        self.assertEqual(self.end_at(f" *{APPROVE}")[1], first)
        card, = self.lead.pending()
        self.assertTrue(card["request"].startswith(first), card)
        self.assertIn(shown, self.touch("approve", request=card["request"]))

    def test_3_until_the_mail(self):
        self.end_at("10 of 11: ")
        self.approved_meanwhile("the first action")
        self.end_at(" *was executed before, and is not again: test.rehearse")
        self.end_at("11 of 11: ")
        self.assertEqual(self.server.mails(), [])
        self.approved_meanwhile("security@example.com")
        self.assertEqual(len(self.server.mails()), 1)

    def test_4_to_its_end(self):
        for _ in range(2):
            with first_hour.start() as screen:
                first_hour.run_until(screen, "Done: all of it was there, and nothing was changed", ANSWERS)
                self.assertEqual(screen.wait(), 0, screen.text)
        self.assertEqual(screen.text.count("was executed before, and is not again"), 2)
        self.assertEqual(len(self.server.mails()), 1)
        self.assertEqual(self.lead.pending(), [])


if __name__ == "__main__":
    tap.main("system/setup-ended")
