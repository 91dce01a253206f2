#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first hour: `undersignctl setup` at a terminal, from an installed service to a mail that arrived.

Root answers its questions, a person enrols and approves in a terminal of their own, and then it is run
again: everything is there, and nothing runs a second time.
"""

import errno
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import fault, mailserver, people, person, policy, tap, terminal, world  # noqa: E402

OWNER, LEAD = "hr.jones", "it.lead"
NAME, USER = "clerk", "agent-clerk"
WRITTEN = [f"/etc/sysusers.d/undersign-agent-{NAME}.conf", f"/etc/undersign/agents/{NAME}.agent",
           "/etc/undersign/actions/test.rehearse.action", "/etc/undersign/actions/mail.send.action",
           f"/etc/undersign/rules/{NAME}.rule", f"/var/lib/undersign-agents/{NAME}/undersign-mcp.codex"]
CREDENTIAL = "/etc/credstore.encrypted/undersign-mail.mail"
DROP_IN = "/etc/systemd/system/undersign-runner@mail.service.d/undersign-credential-mail.conf"
HOME = f"/var/lib/undersign-agents/{NAME}"
ALL = [f"--agent={NAME}", f"--owner={OWNER}", f"--approver={LEAD}", "--passkeys=software",
       "--client=codex", "--to=security@example.com", "--from=offboarding@example.com",
       f"--server={mailserver.HOST}:{mailserver.PORT}"]
MADE = fault.CHANGES | fault.UNLINK | fault.OWNER
KINDS = (fault.FULL, fault.TORN_WRITE, fault.CUT, fault.TORN_DEATH,
         fault.Kind("EIO once", fault.FAIL, errno.EIO, operations=MADE | fault.OPEN | fault.READ),
         fault.Kind("kill -9", fault.KILL, operations=MADE | fault.OPEN | fault.READ))
# Where it writes, and what of that may fail; policy is what it reads, too.
PLACES = (("/etc/undersign/", MADE | fault.OPEN | fault.READ), ("/etc/sysusers.d/", MADE),
          ("/var/lib/undersign-agents", MADE))


class Setup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        policy.write(actions={}, agents={}, rules={})
        with open(f"{policy.FOLDER}/undersign.conf", "w", encoding="utf-8") as file:
            file.write("[Limits]\nSubmitsPerMinute=6000\nRunsPerMinute=6000\n")
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        cls.world = world.World(modules=("null", "mail"))
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.let_enrol(LEAD)
        cls.lead = person.Person(LEAD)

    def setup_screen(self, *options, environment=None):
        return terminal.Terminal("root", ["undersignctl", "setup", *options], environment=environment)

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
            with open(path, encoding="utf-8") as file:
                self.assertNotIn("SPDX", file.read(), path)  # whose the catalogue is, this file is not
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

    # --- a disk that fails ---

    def run_all(self, environment=None):
        """A run of which nothing asks a person: its status, and what it showed."""
        with self.setup_screen(*ALL, environment=environment) as screen:
            return screen.wait(120), screen.text

    @staticmethod
    def unfinished():
        return [os.path.join(folder, name) for folder in {*map(os.path.dirname, [*WRITTEN, HOME])}
                if os.path.isdir(folder) for name in os.listdir(folder) if name.endswith(".new")]

    def clear(self, paths):
        """As if @paths had never been there, and nothing unfinished either."""
        for path in [*paths, *self.unfinished()]:
            if os.path.isdir(path):
                shutil.rmtree(path)
            elif os.path.exists(path):
                os.unlink(path)
        if HOME in paths:
            subprocess.run(["/usr/sbin/userdel", USER], check=True, stderr=subprocess.DEVNULL)

    def look(self, texts):
        """What is there is whole, and valid: to be read by whoever reloads policy just now."""
        for path, text in texts.items():
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    self.assertEqual(file.read(), text, path)
        done = people.run_as("root", ["undersignctl", "policy", "check"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if os.path.isdir(HOME):
            status = os.stat(HOME)
            self.assertEqual((status.st_uid, stat.S_IMODE(status.st_mode)),
                             (pwd.getpwnam(USER).pw_uid, 0o700))

    def sweep(self, missing, most):
        """At operations that are chosen by $UNDERSIGN_FAULTS, or all of them, with @missing not there."""
        texts = {}
        for path in WRITTEN:
            with open(path, encoding="utf-8") as file:
                texts[path] = file.read()
        wanted = os.environ.get("UNDERSIGN_FAULTS", "1")
        faults, met, count = fault.Faults(), set(), 0
        for prefix, operations in PLACES:
            def attempt(kind, n, prefix=prefix, operations=operations):
                self.clear(missing)
                faults.arm(kind, n, fault.CTL, prefix, kind.operations & operations)
                ended = self.run_all(faults.environment())
                if faults.disarm():
                    met.add(faults.place())
                return ended

            status, text = attempt(fault.Kind("", fault.NOTE, operations=operations), 0)
            self.assertEqual(status, 0, text)
            noted = faults.noted()
            chosen = fault.Chooser(wanted, most).choose(noted, KINDS) if wanted != "all" else [
                (kind, n + 1) for kind in KINDS
                for n in range(sum(1 for operation, _ in noted if operation & kind.operations))]
            for kind, n in chosen:
                with self.subTest(f"{prefix}: {kind.name}, operation {n}"):
                    count += 1
                    status, text = attempt(kind, n)
                    self.assertIn(status, (0, 1, -signal.SIGKILL), text)
                    if status == 1:
                        self.assertRegex(text, os.strerror(kind.error))
                        self.assertIn(prefix.rstrip("/"), text)
                    self.look(texts)
                    status, text = self.run_all()
                    self.assertEqual(status, 0, text)
                    self.look(texts)
                    self.assertEqual([path for path in texts if not os.path.exists(path)], [])
                    self.assertEqual(self.unfinished(), [])
        self.assertEqual(len(self.server.mails()), 1)
        self.assertEqual(self.lead.pending(), [])
        print(f"# {count} cases; met: " + ", ".join(sorted(map(" ".join, met))), flush=True)

    def test_5_a_disk_that_fails(self):
        self.sweep([*WRITTEN, HOME], 2)

    def test_6_a_disk_that_fails_later(self):
        """What the administrator changed stays as it is."""
        with open(WRITTEN[1], "a", encoding="utf-8") as file:
            file.write("# ours\n")
        self.sweep(WRITTEN[4:], 2)

    def test_7_half_a_credential(self):
        """What would have the module get it is missing: it is given anew, or left as it is."""
        with open(CREDENTIAL, "rb") as file:
            before = file.read()
        options = f"--agent={NAME}", "--client=codex", "--to=security@example.com"
        os.unlink(DROP_IN)
        with self.setup_screen(*options) as screen:
            self.answer(screen, "leaves it as it is [-]", "")
            self.assertEqual(screen.wait(120), 0, screen.text)
        with open(CREDENTIAL, "rb") as file:
            self.assertEqual(file.read(), before)
        with self.setup_screen(*options) as screen:
            screen.wait_for(re.escape(DROP_IN))
            self.answer(screen, "leaves it as it is [-]", mailserver.USER)
            screen.wait_for("Password: ")
            screen.line(mailserver.PASSWORD)
            self.assertEqual(screen.wait(120), 0, screen.text)
        self.assertTrue(os.path.exists(DROP_IN))


if __name__ == "__main__":
    tap.main("system/setup")
