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
import re
import signal
import struct
import subprocess
import termios
import time
from unittest import mock

import card_case
from card_case import FINGERPRINT, PASSPHRASE, PROMPT, REQUEST, Case

from undersign_test import shapes

ARMING_SECONDS = 1.1  # and a bit
KILL_LINE = "\x15"
# What this program itself sends to a terminal, and nothing else.
OURS = re.compile(rb"\x1b\[(?:0|1|2|7|1;31|1;33)m|\x1b\[H\x1b\[2J|\x1b\[\?(?:1049|1004|25)[hl]")


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
            terminal.wait_for(r"\n > ")  # whatever is in the line already
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
        claim = text.index("The agent says, unverified")
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
        page = shapes.Shapes()
        card = json.loads(self.run_plain("show", "--json", REQUEST).stdout)
        self.assertEqual(page.faults("undersign pending", {"cards": [
            {name: value for name, value in card.items() if name != "version"}], "version": "1"}), [])
        self.assertEqual(card["request"], REQUEST)
        self.assertEqual(card["deny-only"], "")
        listed = json.loads(self.run_plain("pending", "--json").stdout)
        self.assertEqual((card.pop("version"), listed), ("1", {"cards": [card], "version": "1"}))
        keys = json.loads(self.run_plain("passkey", "list", "--json").stdout)
        self.assertEqual(page.faults("undersign passkey list", keys), [])
        self.assertEqual(keys["passkeys"][0]["label"], "Laptop")
        self.assertRegex(keys["passkeys"][0]["key"], "^sha256:[0-9a-f]{64}$")

    def test_json_of_an_error(self):
        page = shapes.Shapes()
        nobody = {**self.service.environment, "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/no/such"}
        self.enterContext(mock.patch.object(self.service, "environment", nobody))
        for words, status, error, reason in (
                (["show", "--json", REQUEST], 127, "Unavailable", "unreachable"),
                (["show", "--json"], 126, "InvalidArgument", "missing-argument"),
                (["pending", "--json", "--no-such\u202e"], 126, "InvalidArgument", "unknown-option")):
            done = self.run_plain(*words)
            self.assertEqual((done.returncode, done.stderr), (status, ""), done.stdout)
            found = json.loads(done.stdout)
            self.assertEqual(page.faults("undersign error", found), [])
            self.assertEqual((found["error"], found["reason"]), (error, reason))
            self.assert_clean(done.stdout.encode())
        done = self.run_plain("launch", "--json")
        self.assertEqual((done.returncode, done.stdout), (126, ""))
        self.assertIn("unknown-option", done.stderr)


if __name__ == "__main__":
    card_case.main("card-tty", globals())
