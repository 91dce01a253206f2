#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first hour: `undersignctl setup` at a terminal, from an installed service to a mail that arrived.

Root answers its questions, a person enrols and approves in a terminal of their own, and then it is run
again: everything is there, and nothing runs a second time.
"""

import os
import pwd
import re
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import mailserver, people, person, policy, tap, terminal, world  # noqa: E402

OWNER, LEAD = "hr.jones", "it.lead"
NAME, USER = "clerk", "agent-clerk"
WRITTEN = [f"/etc/sysusers.d/undersign-agent-{NAME}.conf", f"/etc/undersign/agents/{NAME}.agent",
           "/etc/undersign/actions/test.rehearse.action", "/etc/undersign/actions/mail.send.action",
           f"/etc/undersign/rules/{NAME}.rule", f"/var/lib/undersign-agents/{NAME}/undersign-mcp.codex"]


class Setup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        policy.write(actions={}, agents={}, rules={})
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        cls.world = world.World(modules=("null", "mail"))
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.let_enrol(LEAD)
        cls.lead = person.Person(LEAD)

    def setup_screen(self, *options):
        return terminal.Terminal("root", ["undersignctl", "setup", *options])

    def answer(self, screen, question, text):
        screen.wait_for(re.escape(question))
        screen.line(text)

    def approve(self, screen):
        request = screen.wait_for(r"undersign approve ([0-9a-f]{8})", timeout=120)[1]
        answer = self.lead.approve(request)
        self.assertEqual(answer.status, 0, answer.text)
        return answer.card

    def test_1_no_terminal(self):
        self.assertIn("needs a terminal", self.failed(["undersignctl", "setup"], "root"))
        self.assertIn("sudo", self.failed(["undersignctl", "setup"], OWNER))
        self.assertFalse(any(map(os.path.exists, WRITTEN)))

    def failed(self, argv, user):
        done = people.run_as(user, argv)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def test_2_the_first_hour(self):
        with self.setup_screen() as screen:
            self.answer(screen, "What is the agent called? [assistant]", "No Name")
            screen.wait_for("small letters")
            self.answer(screen, "What is the agent called? [assistant]", NAME)
            self.answer(screen, "Which user does it act for?", "nobody.at.all")
            screen.wait_for("no such user")
            self.answer(screen, "Which user does it act for?", OWNER)
            self.answer(screen, "Which mail server?", f"{mailserver.HOST}:{mailserver.PORT}")
            self.answer(screen, "Which address are its mails from?", "offboarding@example.com")
            self.answer(screen, f"Which user approves? [{OWNER}]", LEAD)
            self.answer(screen, "Which passkeys count?", "software")
            self.answer(screen, "Which user name does the mail server know it by?", mailserver.USER)
            screen.wait_for("Password: ")
            screen.line(mailserver.PASSWORD)
            screen.wait_for("undersign passkey enrol")
            # What systemd does where it runs: the runner has the credential at its next start.
            self.world.runners["mail"].reload_unit()
            self.world.runners["mail"].restart()
            self.lead.enrol()
            self.assertNotIn(mailserver.PASSWORD, screen.text)
            for path in WRITTEN[:5]:
                self.assertIn(f"wrote {path}\n", screen.text)
            self.answer(screen, "Which client of MCP does it use?", "nobodys")
            screen.wait_for("knows no client")
            self.assertEqual(screen.wait(), 1, screen.text)
        # It stopped there; run again, it goes on from there.
        with self.setup_screen(f"--agent={NAME}") as screen:
            self.answer(screen, "Which client of MCP does it use?", "codex")
            self.assertIn("the first action", self.approve(screen))
            self.answer(screen, "Who gets the first mail?", "security@example.com")
            self.assertIn("security@example.com", self.approve(screen))
            screen.wait_for("Done")
            self.assertEqual(screen.wait(), 0, screen.text)
        for path in WRITTEN:
            self.assertEqual(os.stat(path).st_uid, 0, path)
        self.assertEqual(len(self.server.mails()), 1)
        self.assertEqual(pwd.getpwnam(USER).pw_dir, f"/var/lib/undersign-agents/{NAME}")

    def test_3_once_more(self):
        """It finds all of it, and neither asks a person nor sends a mail."""
        with self.setup_screen(f"--agent={NAME}", "--client=codex", "--to=security@example.com") as screen:
            self.assertEqual(screen.wait(120), 0, screen.text)
        for word in ("wrote", "made", "undersign approve", "approved and executed"):
            self.assertNotIn(word, screen.text)
        self.assertEqual(screen.text.count("was executed before, and is not again"), 2)
        self.assertIn("nothing was changed", screen.text)
        self.assertEqual(len(self.server.mails()), 1)
        self.assertEqual(self.lead.pending(), [])

    def test_4_what_is_missing_is_made_again(self):
        os.unlink(WRITTEN[5])
        shutil.copy(WRITTEN[4], "/run/undersign-test/rule")
        os.unlink(WRITTEN[4])
        with self.setup_screen(f"--agent={NAME}", "--client=codex", "--to=security@example.com",
                               f"--approver={LEAD}", "--passkeys=software") as screen:
            self.assertEqual(screen.wait(120), 0, screen.text)
        self.assertEqual(re.findall(r"wrote (\S+)", screen.text), [WRITTEN[4], WRITTEN[5]])
        with open(WRITTEN[4], encoding="utf-8") as file, \
                open("/run/undersign-test/rule", encoding="utf-8") as before:
            self.assertEqual(file.read(), before.read())
        self.assertEqual(len(self.server.mails()), 1)


if __name__ == "__main__":
    tap.main("system/setup")
