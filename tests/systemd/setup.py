#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first hour: `undersignctl setup`, right after what README says of an installation.

An administrator at a terminal answers, is cut off twice, and takes it up again; a person with a session
of her own enrols and approves.  What it wrote is what systemd, the service and the agent's client use.
"""

import os
import re
import shutil
import signal
import stat
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, first_hour, mailserver, people, person, tap, terminal  # noqa: E402

NAME, USER, OWNER, APPROVER = "clerk", "agent-clerk", "hr.jones", "alice"
HOME = f"/var/lib/undersign-agents/{NAME}"
CREDENTIAL = "/etc/credstore.encrypted/undersign-mail.mail"
CONFIGURATION = f"{HOME}/undersign-mcp.codex"
BEFORE = [f"/etc/sysusers.d/undersign-agent-{NAME}.conf", HOME, f"/etc/undersign/agents/{NAME}.agent",
          "/etc/undersign/actions/test.rehearse.action", "/etc/undersign/actions/mail.send.action",
          f"/etc/undersign/rules/{NAME}.rule"]
WRITTEN = [*BEFORE, CREDENTIAL, CONFIGURATION]
TO = "security@example.com"
# Started as the client's configuration says, but that it need not wait, and asks for one action.
CLIENT = f"""
import json, os, subprocess, tomllib
with open("{CONFIGURATION}", "rb") as file:
    server = tomllib.load(file)["mcp_servers"]["undersign"]
process = subprocess.Popen([server["command"], *server.get("args", []), "--hold=0"], text=True,
                           env={{**os.environ, **server.get("env", {{}})}},
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(method, **params):
    print(json.dumps({{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}}),
          file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())["result"]
def call(name, **arguments):
    return ask("tools/call", name=name, arguments=arguments)["structuredContent"]
ask("initialize", protocolVersion="2025-06-18", capabilities={{}}, clientInfo={{"name": "x", "version": "1"}})
print("tools", *sorted(tool["name"] for tool in ask("tools/list")["tools"]))
request = call("test_rehearse", target="from the client")
print(request["state"], request["request_id"])
print(call("request_cancel", request_id=request["request_id"])["state"])
process.stdin.close()
print(process.wait())
"""


def state():
    """Of all that setup may write."""
    return first_hour.state("/etc/undersign", "/etc/sysusers.d", "/etc/credstore.encrypted", HOME)


def hang_up(screen):
    """The terminal is closed under the program."""
    os.close(screen.master)
    screen.master = -1
    return os.waitstatus_to_exitcode(os.waitpid(screen.pid, 0)[1])


class Setup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(shutil.rmtree, mailserver.MAILDIR, ignore_errors=True)
        cls.addClassCleanup(cls.server.stop)
        cls.approver = booted.Person(APPROVER)
        booted.command("chpasswd", text=f"root:{booted.ROOT_PASSWORD}\n")

    def run_setup(self, *options):
        return terminal.Terminal("root", ["undersignctl", "setup", *options],
                                 environment={"SUDO_USER": OWNER})

    def answer(self, screen, question, text):
        screen.wait_for(re.escape(question))
        screen.line(text)

    def wrote(self, screen):
        return re.findall(r" (?:wrote|made) (/\S+)\n", screen.text)

    def test_1_cut_off_by_a_closed_terminal(self):
        for name in booted.SERVICES:
            self.assertEqual(booted.unit(name, "ActiveState"), "inactive", name)
        with self.run_setup() as screen:
            self.answer(screen, "What is the agent called? [assistant]", NAME)
            self.answer(screen, f"[{OWNER}]", "")
            self.answer(screen, "Which mail server?", f"{mailserver.HOST}:{mailserver.PORT}")
            self.answer(screen, "Which address", "offboarding@example.com")
            self.answer(screen, f"Which user approves? [{OWNER}]", APPROVER)
            self.answer(screen, "Which passkeys count?", "software")
            screen.wait_for("Which user name does the mail server know it by?")
            self.assertEqual(hang_up(screen), -signal.SIGHUP)
        self.assertEqual(self.wrote(screen), BEFORE)
        self.assertFalse(os.path.exists(CREDENTIAL))
        self.assertEqual(booted.command("getent", "passwd", USER).split(":")[5:],
                         [HOME, "/usr/sbin/nologin\n"])

    def test_2_cut_off_while_it_waits_for_a_passkey(self):
        with self.run_setup(f"--agent={NAME}") as screen:
            self.answer(screen, "Which user name does the mail server know it by?", mailserver.USER)
            screen.wait_for("Password: ")
            screen.line(mailserver.PASSWORD)
            screen.wait_for(rf"{APPROVER}.*undersign passkey enrol")
        self.assertEqual(screen.status, -signal.SIGKILL)
        self.assertEqual(self.wrote(screen), [CREDENTIAL])
        for path in BEFORE:
            if "/etc/undersign/" in path:
                self.assertIn(path, screen.text)
        self.assertNotIn(mailserver.PASSWORD, screen.text)
        status = os.stat(CREDENTIAL)
        self.assertEqual((status.st_uid, stat.S_IMODE(status.st_mode)), (0, 0o600))
        with open(CREDENTIAL, "rb") as file:
            self.assertNotIn(mailserver.PASSWORD.encode(), file.read())
        self.assertIn(f"LoadCredentialEncrypted=mail:{CREDENTIAL}\n",
                      booted.command("systemctl", "cat", booted.MAIL))

    def test_3_cut_off_while_the_rehearsal_waits(self):
        with self.run_setup(f"--agent={NAME}") as screen:
            screen.wait_for("undersign passkey enrol")
            enrolled, text, _ = self.approver.enrol_as_administrator(booted.ROOT_PASSWORD)
            self.assertEqual(enrolled, 0, text)
            self.answer(screen, "Which client of MCP does it use?", "codex")
            request = screen.wait_for(r"undersign approve ([0-9a-f]{8})")[1]
        self.assertEqual(self.wrote(screen), [CONFIGURATION])
        self.assertEqual(os.stat(CONFIGURATION).st_uid, 0)
        self.assertEqual([card["request"][:8] for card in self.approver.pending()], [request])

    def test_4_to_the_first_approved_action(self):
        waits, = self.approver.pending()
        with self.run_setup(f"--agent={NAME}", "--client=codex") as screen:
            for action, question, word in (("test.rehearse", None, "the first action"),
                                           ("mail.send", "Who gets the first mail?", TO)):
                if question is not None:
                    self.answer(screen, question, word)
                request = screen.wait_for(r"undersign approve ([0-9a-f]{8})")[1]
                if action == "test.rehearse":
                    self.assertEqual(request, waits["request"][:8])
                self.assertEqual(self.server.mails(), [])
                answer = self.approver.approve(request)
                self.assertEqual(answer.status, 0, answer.text)
                for words in (action, NAME, rf"Acting for +{OWNER}", word):
                    self.assertRegex(answer.card, words)
                screen.wait_for(f"{action}.*approved and executed|approved and executed.*{action}")
            screen.wait_for("Done")
            self.assertEqual(screen.wait(), 0, screen.text)
        self.assertEqual(self.wrote(screen), [])
        mail, = self.server.mails()
        self.assertEqual((mail["X-RcptTo"], mail["X-MailFrom"]), (TO, "offboarding@example.com"))
        # Nobody but a socket or the bus has started anything.
        for name in (booted.ADMIN, booted.EXECUTOR, booted.BROKER, booted.NULL, booted.MAIL):
            self.assertTrue(booted.was_started(name), name)

    def test_5_once_more_changes_nothing(self):
        before = state()
        self.assertEqual([path for path in WRITTEN if path not in before], [])
        with self.run_setup(f"--agent={NAME}", "--client=codex", f"--to={TO}") as screen:
            self.assertEqual(screen.wait(), 0, screen.text)
        print("\n".join(f"# {line}" for line in screen.text.splitlines()))
        self.assertEqual(self.wrote(screen), [])
        self.assertIn("nothing was changed", screen.text)
        self.assertEqual(state(), before)
        self.assertEqual(self.approver.pending(), [])
        self.assertEqual(len(self.server.mails()), 1)

    def test_6_the_agents_client_asks_by_what_was_printed(self):
        done = people.run_as(OWNER, ["undersign", "launch", NAME, "--", "python3", "-c", CLIENT])
        said = done.stdout.split()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout.replace("\r", ""), r"^tools mail_send request_cancel request_status"
                         r" test_rehearse\npending [0-9a-f]{32}\nwithdrawn\n0\n$")
        found = person.Agent(USER).status(said[said.index("pending") + 1])
        self.assertEqual((found["state"], found["executed"]), ("withdrawn", "no"))

    def test_7_as_it_was_installed(self):
        """The mail account goes as README says; the other phases find what an installation leaves."""
        booted.command("undersignctl", "credential", "remove", "mail", "mail")
        self.assertFalse(os.path.exists(CREDENTIAL))
        self.assertEqual(booted.failed_units(), [])
        booted.command("systemctl", "stop", *booted.SERVICES)
        for name in booted.SERVICES:
            self.assertEqual((booted.unit(name, "ActiveState"), booted.unit(name, "Result")),
                             ("inactive", "success"), name)


if __name__ == "__main__":
    tap.main("systemd/setup")
