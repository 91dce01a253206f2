#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The terminal card, as a person at a terminal meets it, against a service of the test's own.

usage: test-tty.py PROGRAM SERVICE [TEST…]   (the two programs of this folder)

What is typed here goes the way of a keyboard: through a pseudo-terminal.  Each test asks the
service what reached it, so that "nothing was answered" is seen and not believed.
"""

import fcntl
import json
import os
import pwd
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import tap  # noqa: E402
from undersign_test.terminal import Terminal  # noqa: E402

PROGRAM, SERVICE = map(os.path.abspath, sys.argv[1:3])
REQUEST = "00112233445566778899aabbccddeeff"
ARMING_SECONDS = 1.1  # and a bit
PASSPHRASE = "correct horse battery"
FINGERPRINT = r"type the\s+fingerprint\s+([0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4})"
KILL_LINE = "\x15"
PROMPT = r"\n > $"
ME = pwd.getpwuid(os.getuid()).pw_name
BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><listen>unix:path={path}</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow eavesdrop="true"/>
<allow send_destination="*" eavesdrop="true"/></policy></busconfig>
"""
# What this program itself sends to a terminal, and nothing else.
OURS = re.compile(rb"\x1b\[(?:0|1|2|7|1;31|1;33)m|\x1b\[H\x1b\[2J|\x1b\[\?(?:1049|1004|25)[hl]")


class Service:
    """The mock service and its bus."""

    def __init__(self, folder):
        path = os.path.join(folder, "bus")
        config = os.path.join(folder, "bus.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(BUS_CONFIG.format(path=path))
        self.environment = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={path}",
                            "DBUS_SESSION_BUS_ADDRESS": "disabled:",
                            "XDG_DATA_HOME": os.path.join(folder, "data")}
        self.bus = subprocess.Popen(["dbus-daemon", f"--config-file={config}", "--nofork",
                                     "--print-address"], stdout=subprocess.PIPE)
        self.bus.stdout.readline()
        self.seen = []
        self.start()

    def start(self):
        self.process = subprocess.Popen([SERVICE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1,
                                        env={**os.environ, **self.environment})
        self.expect("ready")

    def expect(self, wanted):
        while True:
            line = self.process.stdout.readline().rstrip("\n")
            if line == wanted:
                return
            if not line:
                raise AssertionError(f"the service ended before {wanted!r}")
            self.seen.append(line)

    def tell(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        self.expect("ok")

    def reached(self):
        """What was asked of it since the last time: answers and enrolments."""
        self.tell("outcome", "done", "sent")
        seen, self.seen = self.seen, []
        return seen

    def stop(self):
        self.process.stdin.close()
        self.process.wait(60)

    def close(self):
        self.stop()
        self.bus.terminate()
        self.bus.wait()


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="undersign-tty-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.service = Service(cls.folder.name)
        cls.addClassCleanup(cls.service.close)
        with cls.terminal("passkey", "enrol", "--file", "--label", "Laptop") as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line(PASSPHRASE)
            terminal.wait_for("Enrolled for")
            assert terminal.wait() == 0
            assert PASSPHRASE.encode() not in terminal.raw
        assert cls.service.reached() == ["enrol ok"]

    def setUp(self):
        self.service.tell("statement", "good")
        self.service.tell("card", REQUEST, "plain")
        self.service.reached()

    @classmethod
    def terminal(cls, *arguments, rows=40, columns=100, **environment):
        return Terminal(ME, [PROGRAM, *arguments], rows, columns,
                        {**cls.service.environment, **environment})

    def approve(self, *arguments, **options):
        return self.terminal("approve", *(arguments or (REQUEST,)), **options)

    def run_plain(self, *arguments, **options):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "LANG": "C.UTF-8", **self.service.environment},
                              **{"stdin": subprocess.DEVNULL, **options})

    def to_end(self, terminal):
        """Turns the pages; the fingerprint, when the line to type it in is alive."""
        for _ in range(60):
            match = terminal.wait_for(f"Space: next|{FINGERPRINT}|It can't be")
            if "Space: next" not in match.group(0):
                terminal.wait_for(PROMPT)
                return match.group(1)
            terminal.press(" ")
        raise AssertionError("the card has no end")

    def assert_nothing(self, terminal, status=3):
        self.assertEqual(terminal.wait(), status, terminal.text)
        self.assertEqual(self.service.reached(), [])

    def answer(self, terminal, passphrase=PASSPHRASE):
        terminal.line(self.to_end(terminal))
        terminal.wait_for(r"Passphrase of .* \(file\): $")
        terminal.line(passphrase)


class Answers(Case):
    def test_fingerprint_and_passphrase_approve(self):
        with self.approve() as terminal:
            self.answer(terminal)
            terminal.wait_for("Approved")
            terminal.wait_for("done: sent")
            self.assertEqual(terminal.wait(), 0)
            self.assertNotIn(PASSPHRASE.encode(), terminal.raw)
        self.assertRegex(self.service.reached()[0], f"^approve {REQUEST} ok ")

    def test_prefix_of_id(self):
        with self.approve(REQUEST[:6]) as terminal:
            self.answer(terminal)
            self.assertEqual(terminal.wait(), 0)
        self.assertRegex(self.service.reached()[0], f"^approve {REQUEST} ok ")

    def test_failed_outcome(self):
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            self.service.tell("outcome", "failed", "the server said no")
            terminal.line(fingerprint)
            terminal.wait_for(r"\(file\): $")
            terminal.line(PASSPHRASE)
            terminal.wait_for("failed: the server said no")
            self.assertEqual(terminal.wait(), 4)

    def test_waits_for_others(self):
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            self.service.tell("outcome", "pending", "-")
            terminal.line(fingerprint)
            terminal.wait_for(r"\(file\): $")
            terminal.line(PASSPHRASE)
            terminal.wait_for("waits for others")
            self.assertEqual(terminal.wait(), 0)

    def test_other_words_do_not_approve(self):
        for word in ("yes", "approve", "0000-0000-0000"):
            with self.subTest(word=word), self.approve() as terminal:
                self.to_end(terminal)
                terminal.line(word)
                terminal.wait_for("Nothing was answered")
                self.assert_nothing(terminal)

    def test_empty_line_is_nothing(self):
        with self.approve() as terminal:
            self.to_end(terminal)
            terminal.type("\r\r\rdeny")
            terminal.wait_for("deny")
            terminal.type("\x1b")
            terminal.wait_for("the request waits")
            self.assertNotIn("not the fingerprint", terminal.text)
            self.assert_nothing(terminal)

    def test_surplus_space(self):
        """Who turns the pages fast still has an empty line to type in."""
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            terminal.type("  ")
            terminal.line(fingerprint)
            terminal.wait_for(r"\(file\): $")
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def test_erased_input(self):
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            terminal.type("xyz\x7f\x7f\x7f")
            terminal.type("junk\x15")
            terminal.line(fingerprint)
            terminal.wait_for(r"\(file\): $")
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def test_deny_from_the_card(self):
        for key in ("d", "end"):
            with self.subTest(key=key), self.approve(rows=20) as terminal:
                if key == "d":
                    terminal.wait_for("Space: next")
                    terminal.press("d")
                else:
                    self.to_end(terminal)
                    terminal.line("deny")
                terminal.wait_for("why is it denied.*Press 1 to 5")
                terminal.press("1")
                terminal.wait_for("denied")
                self.assertEqual(terminal.wait(), 0)
            self.assertEqual(self.service.reached(), [f"deny {REQUEST} wrong-target"])

    def test_deny_can_be_taken_back(self):
        with self.approve(rows=20) as terminal:
            terminal.wait_for("Space: next")
            terminal.press("d")
            terminal.wait_for("Press 1 to 5")
            terminal.press("\x1b")
            terminal.wait_for("page 1 of")
            terminal.press("\x1b")
            self.assert_nothing(terminal)


class NoAnswers(Case):
    def test_wrong_passphrase(self):
        with self.approve() as terminal:
            self.answer(terminal, "wrong horse")
            for _ in range(2):
                terminal.wait_for(r"does not open this passkey.*\(file\): $")
                terminal.line("wrong horse")
            terminal.wait_for("passphrase")
            self.assert_nothing(terminal, status=1)

    def test_no_passphrase(self):
        for key in ("\x1b", "\x03", "\x04"):
            with self.subTest(key=key), self.approve() as terminal:
                terminal.line(self.to_end(terminal))
                terminal.wait_for(r"\(file\): $")
                terminal.type(key)
                self.assert_nothing(terminal)

    def test_leaving(self):
        for key in ("\x1b", "\x03", "\x04"):
            with self.subTest(key=key), self.approve() as terminal:
                terminal.wait_for("page 1 of")
                terminal.press(key)
                terminal.wait_for("Nothing was answered")
                self.assert_nothing(terminal)

    def test_signals_are_no_answer(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number), self.approve() as terminal:
                self.to_end(terminal)
                os.kill(terminal.pid, number)
                self.assert_nothing(terminal)

    def test_killed_is_no_answer(self):
        with self.approve() as terminal:
            self.to_end(terminal)
        self.assertEqual(self.service.reached(), [])

    def test_closed_terminal_is_no_answer(self):
        terminal = self.approve()
        self.to_end(terminal)
        pid = terminal.pid
        os.close(terminal.master)
        end = time.monotonic() + 60
        done = 0
        while not done and time.monotonic() < end:
            done, _ = os.waitpid(pid, os.WNOHANG)
            time.sleep(0.02)
        self.assertEqual(done, pid)
        self.assertEqual(self.service.reached(), [])


class Arming(Case):
    def test_keys_typed_ahead(self):
        """The whole answer in the input before the card is drawn (B-34, O-29)."""
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            terminal.type("\x1b")
            terminal.wait()
        with self.approve() as terminal:
            terminal.type(f"    {fingerprint}\r{PASSPHRASE}\r")
            terminal.wait_for("page 1 of")
            self.to_end(terminal)
            terminal.type("\x1b")
            self.assert_nothing(terminal)
            self.assertNotIn("Passphrase", terminal.text)

    def stopped_before_prompt(self, terminal):
        """Stops the program; TRUE where its line to type in was not alive then."""
        os.kill(terminal.pid, signal.SIGSTOP)
        os.waitpid(terminal.pid, os.WUNTRACED)
        terminal.settle(0)
        return not re.search(PROMPT, terminal.text)

    def test_keys_before_the_second_is_over(self):
        """Typed while the program can't have drawn the prompt, however slow this machine is."""
        for read_after in (0, ARMING_SECONDS):  # the program gets to read them before, or after
            with self.subTest(read_after=read_after):
                for _ in range(20):
                    if self.typed_early(read_after):
                        break
                else:
                    self.fail("the program drew the prompt before it could be stopped")

    def typed_early(self, read_after):
        with self.approve(rows=60) as terminal:
            fingerprint = terminal.wait_for(FINGERPRINT).group(1)
            terminal.ready()
            if not self.stopped_before_prompt(terminal):
                return False
            terminal.line("  " + fingerprint)  # one key may be read, not dropped
            time.sleep(read_after)
            os.kill(terminal.pid, signal.SIGCONT)
            terminal.wait_for(PROMPT)
            terminal.type("zz")  # comes after all that was typed early, and is shown by a line alone
            self.assertEqual(terminal.wait_for("zz|Passphrase").group(0), "zz")
            terminal.type(KILL_LINE)
            terminal.line(fingerprint)
            terminal.wait_for("Passphrase")
            terminal.type("\x1b")
            self.assert_nothing(terminal)
        return True

    def test_resize_starts_anew(self):
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            terminal.type(fingerprint[:-2])
            terminal.wait_for(fingerprint[:-2])
            self.resize(terminal, 20, 80)
            terminal.wait_for("page 1 of")
            terminal.press(fingerprint[-2:] + "\r")
            self.assertEqual(self.to_end(terminal), fingerprint)
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def resize(self, terminal, rows, columns):
        fcntl.ioctl(terminal.master, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def test_small_window(self):
        with self.approve(rows=8, columns=30) as terminal:
            terminal.wait_for("at least")
            terminal.press("    d\r\r")
            terminal.settle()
            self.assertNotIn("security@example.com", terminal.text)
            self.resize(terminal, 24, 80)
            terminal.wait_for("page 1 of.*security@example.com")
            terminal.press("\x1b")
            self.assert_nothing(terminal)
            self.assertNotIn("why is it denied", terminal.text)

    def test_focus(self):
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            terminal.type(fingerprint)
            terminal.type("\x1b[O")
            terminal.wait_for("page")
            terminal.press("\r" + fingerprint + "\r")
            terminal.settle(1.5)
            self.assertNotIn("Passphrase", terminal.text)
            terminal.type("\x1b[I")
            terminal.wait_for(PROMPT)
            terminal.line(fingerprint)
            terminal.wait_for("Passphrase")
            terminal.type("\x1b")
            self.assert_nothing(terminal)


class Changes(Case):
    def test_changed_card(self):
        with self.approve() as terminal:
            old = self.to_end(terminal)
            self.service.tell("card", REQUEST, "changed")
            terminal.wait_for("The card changed.*new@example.com")
            new = self.to_end(terminal)
            self.assertNotEqual(old, new)
            terminal.line(old)
            self.assert_nothing(terminal)

    def test_changed_card_while_signing(self):
        with self.approve() as terminal:
            terminal.line(self.to_end(terminal))
            terminal.wait_for(r"\(file\): $")
            self.service.tell("card", REQUEST, "changed")
            terminal.line(PASSPHRASE)
            terminal.wait_for("record-changed")
            self.assert_nothing(terminal, status=1)

    def test_same_card_told_again(self):
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            terminal.type(fingerprint)
            terminal.wait_for(fingerprint)
            self.service.tell("card", REQUEST, "plain")
            terminal.settle()
            terminal.type("\r")
            terminal.wait_for("Passphrase")
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def test_removed_card(self):
        with self.approve() as terminal:
            self.to_end(terminal)
            self.service.tell("remove", REQUEST, "withdrawn")
            terminal.wait_for("no longer waits: withdrawn")
            self.assert_nothing(terminal)

    def test_removed_while_signing(self):
        with self.approve() as terminal:
            terminal.line(self.to_end(terminal))
            terminal.wait_for(r"\(file\): $")
            self.service.tell("remove", REQUEST, "denied")
            terminal.line(PASSPHRASE)
            terminal.wait_for("too-late")
            self.assert_nothing(terminal, status=1)

    def test_forged_signal(self):
        """A signal of anybody else is not heard (O-63)."""
        with self.approve() as terminal:
            fingerprint = self.to_end(terminal)
            subprocess.run(["dbus-send", f"--bus={self.service.environment['DBUS_SYSTEM_BUS_ADDRESS']}",
                            "--type=signal", "/org/undersign1",
                            "org.undersign1.Approver.CardRemoved",
                            f"objpath:/org/undersign1/request/{REQUEST}", "string:denied"],
                           check=True)
            terminal.settle(1)
            terminal.line(fingerprint)
            terminal.wait_for("Passphrase")
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def test_service_leaves(self):
        with self.approve() as terminal:
            self.to_end(terminal)
            self.service.process.kill()
            self.service.process.wait()
            terminal.wait_for("left the bus")
            self.assertEqual(terminal.wait(), 3)
        self.service.start()
        self.enrol_again()

    def enrol_again(self):
        with self.terminal("passkey", "enrol", "--file", "--label", "Laptop") as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line(PASSPHRASE)
            self.assertEqual(terminal.wait(), 0)
        self.service.reached()


class Shown(Case):
    def assert_clean(self, raw):
        rest = OURS.sub(b"", raw)
        self.assertNotIn(b"\x1b", rest)
        text = rest.decode("utf-8")
        for character in text:
            self.assertFalse(ord(character) < 0x20 and character not in "\r\n\b", repr(character))
            self.assertFalse(0x7f <= ord(character) <= 0x9f, repr(character))
            self.assertNotIn(character, "\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066"
                                        "\u2067\u2068\u2069\ufeff")

    def test_escapes_on_the_card(self):
        """Nothing of a value is obeyed by the terminal (O-33, B-19, B-20)."""
        self.service.tell("card", REQUEST, "nasty")
        with self.approve(rows=24, columns=60) as terminal:
            self.to_end(terminal)
            terminal.type("\x1b")
            self.assert_nothing(terminal)
            self.assert_clean(terminal.raw)
            shown = terminal.text.replace("\n", " ")
            for piece in (r"\u{001B}[2J", r"\u{202E}txt", r"\u{001B}]0;owned", r"\u{200B}please",
                          r"\u{009B}31m"):
                self.assertIn(piece, re.sub(r"\s+.?↪ ", "", shown))

    def test_escapes_in_show(self):
        self.service.tell("card", REQUEST, "nasty")
        for arguments in (["show", REQUEST], ["pending"], ["show", "--json", REQUEST],
                          ["pending", "--json"]):
            done = self.run_plain(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assert_clean(done.stdout.encode())

    def test_nothing_is_cut(self):
        """Every line of a long text is on some page, once, in order (B-18)."""
        self.service.tell("card", REQUEST, "long")
        with self.approve(rows=24, columns=80) as terminal:
            self.to_end(terminal)
            terminal.type("\x1b")
            terminal.wait()
            numbers = [int(n) for n in re.findall(r"│ line (\d+) of the body", terminal.text)]
            self.assertEqual(numbers, list(range(1, 121)))
            self.assertIn("More, continued:", terminal.text)
        self.assertEqual(self.service.reached(), [])

    def test_pages_fit(self):
        for rows, columns, flavour in ((12, 40, "nasty"), (24, 80, "long"), (50, 200, "long")):
            self.service.tell("card", REQUEST, flavour)
            with self.subTest(rows=rows), self.approve(rows=rows, columns=columns) as terminal:
                self.to_end(terminal)
                terminal.type("\x1b")
                terminal.wait()
                for page in terminal.raw.decode().split("\x1b[H\x1b[2J")[1:]:
                    page = page.split("\x1b[?1004l")[0]
                    lines = OURS.sub(b"", page.encode()).decode().split("\r\n")
                    self.assertLessEqual(len(lines), rows)
                    for line in lines:
                        self.assertLessEqual(len(line), columns)
            self.service.reached()

    def test_claim_is_apart(self):
        done = self.run_plain("show", REQUEST)
        text = done.stdout
        claim = text.index("The agent says, not verified")
        self.assertLess(text.index("CARRIED OUT WITH"), claim)
        self.assertIn("│  The manager asked for it.", text[claim:])
        self.assertIn("Bcc          none", text)

    def test_dumb_terminal(self):
        with self.approve(rows=60, TERM="dumb") as terminal:  # one page: it shows no cursor
            self.answer(terminal)
            self.assertEqual(terminal.wait(), 0)
            self.assertNotIn(b"\x1b", terminal.raw)
        self.assertRegex(self.service.reached()[0], "^approve .* ok")

    def test_ascii_terminal(self):
        self.service.tell("card", REQUEST, "nasty")
        with self.approve(LANG="C", LC_ALL="C") as terminal:
            self.to_end(terminal)
            terminal.type("\x1b")
            terminal.wait()
            self.assertTrue(OURS.sub(b"", terminal.raw).isascii())

    def test_terminal_is_restored(self):
        with self.approve() as terminal:
            self.to_end(terminal)
            raw = termios.tcgetattr(terminal.master)
            self.assertFalse(raw[3] & (termios.ECHO | termios.ICANON))
            terminal.type("\x1b")
            terminal.wait()
            after = termios.tcgetattr(terminal.master)
            self.assertTrue(after[3] & termios.ECHO and after[3] & termios.ICANON)
            self.assertTrue(terminal.raw.rstrip().find(b"\x1b[?1049l") > 0)

    def test_json(self):
        card = json.loads(self.run_plain("show", "--json", REQUEST).stdout)
        self.assertEqual(card["request"], REQUEST)
        self.assertEqual(card["deny-only"], "")
        listed = json.loads(self.run_plain("pending", "--json").stdout)
        self.assertEqual(listed, [card])
        keys = json.loads(self.run_plain("passkey", "list", "--json").stdout)
        self.assertEqual(keys[0]["label"], "Laptop")


class Refusals(Case):
    def test_tampered_record(self):
        self.service.tell("card", REQUEST, "tampered")
        with self.approve() as terminal:
            terminal.wait_for("record-changed")
            self.assert_nothing(terminal, status=1)
            self.assertNotIn("example.org", terminal.text)
        self.assertIn("record-changed", self.run_plain("show", REQUEST).stderr)

    def test_statement_that_says_something_else(self):
        cases = {"deny": "statement-changed", "request": "statement-changed",
                 "record": "statement-changed", "user": "statement-changed",
                 "uid": "statement-changed", "credential": "statement-changed",
                 "rp": "statement-changed", "expired": "deadline-passed"}
        for how, reason in cases.items():
            self.service.tell("statement", how)
            with self.subTest(how=how), self.approve() as terminal:
                terminal.line(self.to_end(terminal))
                terminal.wait_for(reason)
                self.assert_nothing(terminal, status=1)
                self.assertNotIn("Passphrase", terminal.text)

    def test_deny_only_card(self):
        self.service.tell("card", REQUEST, "answered")
        with self.approve() as terminal:
            self.to_end(terminal)
            fingerprint = re.search(r"Fingerprint\s+(\S+)", terminal.text).group(1)
            terminal.line(fingerprint)
            self.assert_nothing(terminal)

    def test_no_terminal(self):
        for stdin, stdout in ((True, False), (False, True), (False, False)):
            with self.subTest(stdin=stdin, stdout=stdout):
                master, slave = os.openpty()
                done = subprocess.run(
                    [PROGRAM, "approve", REQUEST], stderr=subprocess.PIPE, text=True, timeout=120,
                    stdin=slave if stdin else subprocess.DEVNULL,
                    stdout=slave if stdout else subprocess.DEVNULL,
                    env={**os.environ, **self.service.environment}, start_new_session=True)
                os.close(slave)
                os.close(master)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("no-terminal", done.stderr)
        self.assertEqual(self.service.reached(), [])

    def test_no_controlling_terminal(self):
        master, slave = os.openpty()
        done = subprocess.run([PROGRAM, "approve", REQUEST], stdin=slave, stdout=slave,
                              stderr=subprocess.PIPE, text=True, timeout=120, start_new_session=True,
                              env={**os.environ, **self.service.environment})
        os.close(slave)
        os.close(master)
        self.assertEqual(done.returncode, 5)
        self.assertIn("no controlling terminal", done.stderr)

    def test_no_scripted_answer(self):
        for arguments in (["approve", REQUEST, "--yes"], ["approve", REQUEST, "22b0-d14c-d90f"],
                          ["approve", "--fingerprint=22b0-d14c-d90f", REQUEST]):
            done = self.run_plain(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.service.reached(), [])

    def test_another_owner_of_the_name(self):
        for arguments in (["pending"], ["deny", REQUEST]):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                                  env={**os.environ, **self.service.environment,
                                       "TEST_OTHER_OWNER": "1"}, timeout=120)
            self.assertEqual(done.returncode, 1)
            self.assertIn("bad-peer", done.stderr)
        self.assertEqual(self.service.reached(), [])

    def test_usage(self):
        for arguments in ([], ["nothing"], ["approve"], ["show", REQUEST, REQUEST],
                          ["deny", "--reason", "because", REQUEST], ["passkey"],
                          ["pending", "--nonsense"]):
            done = self.run_plain(*arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
        for name in ("00", "zz112233", "0011-2233", "../etc", "*", "ffff"):
            done = self.run_plain("deny", name)
            self.assertEqual(done.returncode, 1, (name, done.stderr))
        self.assertEqual(self.service.reached(), [])

    def test_help(self):
        for arguments in ([], ["pending"], ["show"], ["approve"], ["deny"], ["watch"], ["passkey"],
                          ["passkey", "enrol"], ["passkey", "list"], ["passkey", "revoke"]):
            done = self.run_plain(*arguments, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Usage:", done.stdout)

    def test_deny(self):
        done = self.run_plain("deny", "--reason", "not-now", REQUEST[:8])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.service.reached(), [f"deny {REQUEST} not-now"])


class Enrolment(Case):
    def keys(self):
        return json.loads(self.run_plain("passkey", "list", "--json").stdout)

    def test_passphrases_that_differ(self):
        before = self.keys()
        with self.terminal("passkey", "enrol", "--file") as terminal:
            terminal.wait_for("Choose a passphrase: $")
            terminal.line(PASSPHRASE)
            terminal.wait_for("once more:  $")
            terminal.line(PASSPHRASE + "x")
            terminal.wait_for("differ")
            self.assert_nothing(terminal)
        self.assertEqual(self.keys(), before)

    def test_weak_passphrase(self):
        before = self.keys()
        with self.terminal("passkey", "enrol", "--file") as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line("short")
            terminal.wait_for("passphrase: a passphrase has")
            self.assert_nothing(terminal, status=1)
        self.assertEqual(self.keys(), before)

    def test_refused_by_the_service(self):
        before = self.keys()
        self.service.tell("enrol", "refuse")
        with self.terminal("passkey", "enrol", "--file") as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line(PASSPHRASE)
            terminal.wait_for("credential-exists")
            self.assertEqual(terminal.wait(), 1)
        self.service.tell("enrol", "accept")
        self.service.reached()
        self.assertEqual(self.keys(), before)

    def test_enrolment_for_another_party(self):
        before = self.keys()
        self.service.tell("enrol", "example.org")
        with self.terminal("passkey", "enrol", "--file") as terminal:
            terminal.wait_for("not for undersign:")
            self.assert_nothing(terminal, status=1)
        self.service.tell("enrol", "accept")
        self.assertEqual(self.keys(), before)

    def test_needs_a_terminal(self):
        done = self.run_plain("passkey", "enrol", "--file", input=f"{PASSPHRASE}\n" * 2, stdin=None)
        self.assertEqual(done.returncode, 5)
        self.assertEqual(self.service.reached(), [])

    def test_revoke(self):
        with self.terminal("passkey", "enrol", "--file", "--label", "Second") as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line(PASSPHRASE)
            self.assertEqual(terminal.wait(), 0)
        self.service.reached()
        second = [key for key in self.keys() if key["label"] == "Second"][0]["credential"]
        done = self.run_plain("passkey", "revoke", "--", second[:12])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.service.reached(), ["revoke"])
        self.assertNotIn("Second", [key["label"] for key in self.keys()])


class Watching(Case):
    def test_cards_come_and_go(self):
        watch = subprocess.Popen([PROGRAM, "watch"], stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, **self.service.environment})
        try:
            self.assertIn("undersign approve 00112233", watch.stdout.readline())
            other = "ab" * 16
            self.service.tell("card", other, "nasty")
            self.assertRegex(watch.stdout.readline(), "^abababab  Send an e-mail")
            self.service.tell("remove", other, "expired")
            self.assertEqual(watch.stdout.readline(), "abababab  no longer waits: expired\n")
        finally:
            watch.terminate()
            watch.wait()
            watch.stdout.close()


def all_at_once():
    """Each class in a process of its own, since a person's pace is mostly waiting; one TAP of all."""
    names = [name for name, value in globals().items()
             if isinstance(value, type) and issubclass(value, Case) and value is not Case]
    parts = [subprocess.Popen([sys.executable, "-B", *sys.argv, f".{name}."], text=True,
                              stdout=subprocess.PIPE) for name in names]
    lines = [line for part in parts for line in part.communicate()[0].splitlines()]
    results = [line for line in lines if re.match(r"(not )?ok \d+ ", line)]
    wanted = sum(int(line[3:]) for line in lines if line.startswith("1.."))
    print(f"1..{wanted}")
    for line in lines:
        if line in results:
            line = re.sub(r"ok \d+ ", f"ok {results.index(line) + 1} ", line, count=1)
        if not line.startswith("1.."):
            print(line)
    sys.exit(0 if all(part.returncode == 0 for part in parts) and len(results) == wanted else 1)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        all_at_once()
    del sys.argv[1:3]
    tap.main("card-tty")
