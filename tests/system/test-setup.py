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

from undersign_test import fault, first_hour, mailserver, people, policy, tap  # noqa: E402
from undersign_test.first_hour import FROM, HOME, LEAD, NAME, OWNER, SERVER, TO, USER  # noqa: E402

WRITTEN = [f"/etc/sysusers.d/undersign-agent-{NAME}.conf", f"/etc/undersign/agents/{NAME}.agent",
           "/etc/undersign/actions/test.rehearse.action", "/etc/undersign/actions/mail.send.action",
           f"/etc/undersign/rules/{NAME}.rule", f"{HOME}/undersign-mcp.codex"]
CREDENTIAL = "/etc/credstore.encrypted/undersign-mail.mail"
DROP_IN = "/etc/systemd/system/undersign-runner@mail.service.d/undersign-credential-mail.conf"
ALL = [f"--agent={NAME}", f"--owner={OWNER}", f"--approver={LEAD}", "--passkeys=software",
       "--client=codex", f"--to={TO}", f"--from={FROM}", f"--server={SERVER}"]
MADE = fault.CHANGES | fault.UNLINK | fault.OWNER
KINDS = (fault.FULL, fault.TORN_WRITE, fault.CUT, fault.TORN_DEATH,
         fault.Kind("EIO once", fault.FAIL, errno.EIO, operations=MADE | fault.OPEN | fault.READ),
         fault.Kind("kill -9", fault.KILL, operations=MADE | fault.OPEN | fault.READ))
# Where it writes, and what of that may fail; policy is what it reads, too.
PLACES = (("/etc/undersign/", MADE | fault.OPEN | fault.READ), ("/etc/sysusers.d/", MADE),
          ("/var/lib/undersign-agents", MADE))


# Each in the place of what is right; and why not.
WRONG = (
    ("agent", "No Name", "no name of an agent"), ("agent", "a" * 26, "at most 25"),
    ("agent", "", "no name of an agent"), ("agent", "../clerk", "no name of an agent"),
    ("owner", "nobody.at.all", "there is no user"), ("owner", "root", "the owner is a person"),
    ("owner", "undersign-executor", "the owner is a person"), ("owner", "", "no value"),
    ("owner", f"{OWNER}\nParts=main", "one line"),
    ("server", "smtp.example.com", "port"), ("server", "smtp.example.com:0", "port"),
    ("server", "smtp.example.com:65536", "port"), ("server", "smtp example:25", "not a host name"),
    ("server", "", "empty"), ("server", f"{SERVER}\nSecurity=plain", "one line"),
    ("from", "nobody", "@"), ("from", "a b@example.com", "not"), ("from", "", "empty"),
    ("from", f"{FROM}\nSecurity=plain", "one line"), ("from", "a@CREDENTIAL@example.com", "one line"),
    ("approver", "nobody.at.all", "no such user"), ("approver", "root", "is root, an agent or"),
    ("approver", f"{OWNER} {LEAD}", "no such user"), ("approver", "@hr", "no such user"),
    ("approver", "", "no such user"), ("approver", f"{LEAD}\nCount=1", "no such user"),
    ("passkeys", "any", "is of the words"), ("passkeys", "software software", "twice"),
    ("passkeys", "", "no value"), ("passkeys", "software\nCount=1", "one line"),
    ("client", "nobodys", "--print-config knows"), ("client", "../codex", "--print-config knows"),
    ("client", "", "--print-config"),
    ("to", "nobody", "@"), ("to", f"{TO},{FROM}", "not"), ("to", "", "to"), ("to", f"{TO}\n{FROM}", "not"),
)


def tree():
    """All that setup may write."""
    return first_hour.state("/etc/undersign", "/etc/sysusers.d", "/etc/credstore.encrypted",
                            "/etc/systemd/system", "/etc/passwd", os.path.dirname(HOME))


class Setup(first_hour.FirstHour):
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

    # --- what is wrong, before anything is written ---

    def refused(self, *options, status=126):
        """What it showed; it neither asked nor wrote."""
        before = tree()
        with first_hour.start(*options) as screen:
            self.assertEqual(screen.wait(60), status, screen.text)
        self.assertNotIn("? ", screen.text)
        self.assertEqual(tree(), before)
        return screen.text.replace("\n", " ")

    def test_1_each_option_that_is_wrong(self):
        """Beside others that are right; each as policy's own reader says it."""
        for option, wrong, why in WRONG:
            with self.subTest(option=option, value=wrong):
                given = f"--{option}={wrong}"
                shown = self.refused(*(word for word in ALL if not word.startswith(f"--{option}=")), given)
                self.assertIn(f"--{option}=", shown)
                self.assertIn(why, shown)

    def test_1_a_user_of_another_agent(self):
        policy.write(actions={}, rules={}, agents={
            "another": f"[Agent]\nSummary=Other\nUser=agent-offboarding\nOwner={LEAD}\n"})
        self.addCleanup(policy.write, actions={}, agents={}, rules={})
        shown = self.refused(*ALL[1:], "--agent=offboarding")
        self.assertRegex(shown, "--agent=offboarding: uid [0-9]+ is that of agent another already")

    def test_1_a_user_who_is_no_agent(self):
        """Whoever made it may have given it to somebody."""
        subprocess.run(["useradd", "--no-create-home", "agent-taken"], check=True)
        self.addCleanup(subprocess.run, ["userdel", "agent-taken"], check=True)
        shown = self.refused(*ALL[1:], "--agent=taken")
        self.assertIn("--agent=taken: there is a user agent-taken already", shown)

    def test_1_policy_that_is_refused_for_another_reason(self):
        """It names the line, and that this is what is to be edited."""
        rule = f"{policy.FOLDER}/rules/other.rule"
        policy.write(actions={}, agents={}, rules={"other": "[Rule x]\nAgents=*\nActions=*\nDecision=no\n"})
        self.addCleanup(policy.write, actions={}, agents={}, rules={})
        shown = self.refused(*ALL, status=1)
        self.assertIn(f"{rule}:4: Decision= is deny, ask or allow", shown)
        self.assertIn("edit what is named here, then run setup again; nothing was written", shown)

    def test_1_a_module_that_is_not_there(self):
        """What is wrong is in a file that it would have written, which nobody could edit."""
        manifest = "/usr/share/undersign/modules/mail.module"
        os.rename(manifest, manifest + "~")
        self.addCleanup(os.rename, manifest + "~", manifest)
        shown = self.refused(*ALL, status=1)
        self.assertIn(f"{WRITTEN[3]} is not there: it is what would have been written", shown)

    def test_2_the_first_hour(self):
        """With wrong answers, each of which is asked for once more."""
        answers = {
            "What is the agent called?": ["No Name", NAME],
            "Which user does it act for?": ["nobody.at.all", "root", OWNER],
            "Which mail server?": ["smtp.example.com", "smtp.example.com:0", SERVER],
            "Which address are its mails from?": ["nobody", FROM],
            "Which user approves?": ["nobody.at.all", "root", LEAD],
            "Which passkeys count?": ["any", "software software", "software"],
            "Which client of MCP does it use?": ["nobodys", "codex"],
            "Who gets the first mail?": ["nobody", TO],
        }
        with first_hour.start() as screen:
            first_hour.run_until(screen, "3 of 11", answers)
            first_hour.run_until(screen, " *undersign passkey enrol", answers)
            self.credential_is_stored()
            self.lead.enrol()
            for word in ("the first action", TO):
                first_hour.run_until(screen, "  the agent .* nothing has run yet", answers)
                self.assertIn(word, self.approve(screen))
            screen.wait_for("Done")
            self.assertEqual(screen.wait(), 0, screen.text)
        self.assertEqual([left for left in answers.values() if left], [])
        for line in ("No Name: .*no name of an agent",
                     "nobody.at.all: there is no user", "root: the owner is",
                     "smtp.example.com: .*port", "smtp.example.com:0: .*port", "nobody: .*@",
                     "nobody.at.all: there is no such user", "root: .*is root, an agent or",
                     "any: Passkeys= is of the words", "software software: .*twice",
                     "nobodys: .*--print-config knows"):
            self.assertRegex(screen.text, f"  {line}")
        for word in ("[assistant]", f"Which user approves? [{OWNER}]",
                     *(f"wrote {path}\n" for path in WRITTEN),
                     f"{NAME} runs as the user {USER} and acts for {OWNER}",
                     f"mail.send sends a mail from {FROM} by {SERVER}", f"each waits for {LEAD}"):
            self.assertIn(word, screen.text)
        self.assertNotIn(mailserver.PASSWORD, screen.text)
        for path in WRITTEN:
            self.assertEqual(os.stat(path).st_uid, 0, path)
            with open(path, encoding="utf-8") as file:
                self.assertNotIn("SPDX", file.read(), path)  # whose the catalogue is, this file is not
        self.assertEqual(len(self.server.mails()), 1)
        self.assertEqual(pwd.getpwnam(USER).pw_dir, HOME)

    def test_3_an_option_that_differs_from_what_is_there(self):
        """It is what somebody asked for, and nothing does it: so nothing goes on."""
        for option, value, path, has in (
                ("owner", LEAD, WRITTEN[1], f"Owner={OWNER}"),
                ("server", "other.example.com:587", WRITTEN[3], f"Server={SERVER}"),
                ("from", "other@example.com", WRITTEN[3], f"From={FROM}"),
                ("approver", OWNER, WRITTEN[4], f"Approvers={LEAD}"),
                ("passkeys", "hardware", WRITTEN[4], "Passkeys=software")):
            with self.subTest(option=option):
                shown = self.refused(*(word for word in ALL if not word.startswith(f"--{option}=")),
                                     f"--{option}={value}")
                self.assertIn(f"--{option}={value}: {path} has {has}, and setup changes no file", shown)
        self.assertEqual(len(self.server.mails()), 1)

    def test_3_what_is_there_and_wrong(self):
        """As somebody edited it: the line is named, and the next run goes on."""
        with open(WRITTEN[3], encoding="utf-8") as file:
            before = file.read()
        at = before.splitlines().index(f"Server={SERVER}") + 1
        for text, line in ((before.replace(f"Server={SERVER}", "Server=nowhere"), at), ("\0", 1), ("", None)):
            with self.subTest(text=text):
                with open(WRITTEN[3], "w", encoding="utf-8") as file:
                    file.write(text)
                with first_hour.start(f"--agent={NAME}") as screen:
                    self.assertEqual(screen.wait(60), 1, screen.text)
                self.assertIn(f"{WRITTEN[3]}:{line}: " if line else WRITTEN[3], screen.text)
                self.assertIn("edit what is named here, then run setup again", screen.text)
                self.assertNotIn("? ", screen.text)
        with open(WRITTEN[3], "w", encoding="utf-8") as file:
            file.write(before)

    def test_3_once_more(self):
        """It finds all of it, and neither asks a person nor sends a mail."""
        with first_hour.start(f"--agent={NAME}", "--client=codex", "--to=security@example.com") as screen:
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
        with first_hour.start(f"--agent={NAME}", "--client=codex", "--to=security@example.com",
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
        with first_hour.start(*ALL, environment=environment) as screen:
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

    @staticmethod
    def answer(screen, question, text):
        screen.wait_for(re.escape(question))
        screen.line(text)

    def test_7_half_a_credential(self):
        """What would have the module get it is missing: it is given anew, or left as it is."""
        with open(CREDENTIAL, "rb") as file:
            before = file.read()
        options = f"--agent={NAME}", "--client=codex", "--to=security@example.com"
        os.unlink(DROP_IN)
        with first_hour.start(*options) as screen:
            self.answer(screen, "leaves it as it is [-]", "")
            self.assertEqual(screen.wait(120), 0, screen.text)
        with open(CREDENTIAL, "rb") as file:
            self.assertEqual(file.read(), before)
        with first_hour.start(*options) as screen:
            screen.wait_for(re.escape(DROP_IN))
            self.answer(screen, "leaves it as it is [-]", mailserver.USER)
            screen.wait_for("Password: ")
            screen.line(mailserver.PASSWORD)
            self.assertEqual(screen.wait(120), 0, screen.text)
        self.assertTrue(os.path.exists(DROP_IN))


if __name__ == "__main__":
    tap.main("system/setup")
