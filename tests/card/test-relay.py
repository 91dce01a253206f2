#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What passes between a person's terminal and that of a command, and how it ends.

usage: test-relay.py RELAY
"""

import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import tap  # noqa: E402

RELAY = sys.argv.pop(1)
SECONDS = 120
TURNS = 50  # of the program; all that can be on the way to it is taken in fewer
ENDED = b"<it has ended>"


class Relay:
    """The program between two terminals: @person is where keys are typed, @command where they come."""

    def __init__(self, stdin=None, stdout=None, stderr=None):
        self.person, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        master, self.command = pty.openpty()
        raw = termios.tcgetattr(self.command)
        raw[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG) if stdin is None else ~termios.ECHO
        termios.tcsetattr(self.command, termios.TCSANOW, raw)
        self.link, far = socket.socketpair()
        self.size(24, 80)

        def begin():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(
            [RELAY, str(master), str(far.fileno())], stdin=slave if stdin is None else stdin,
            stdout=slave if stdout is None else stdout, stderr=slave if stderr is None else stderr,
            pass_fds=(master, far.fileno()), preexec_fn=begin)
        os.close(master)
        far.close()
        self.slave = slave

    def size(self, rows, columns):
        fcntl.ioctl(self.person, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def is_size(self, rows, columns):
        found = fcntl.ioctl(self.command, termios.TIOCGWINSZ, bytes(8))
        return struct.unpack("HHHH", found)[:2] == (rows, columns)

    def resize(self, rows, columns):
        """Until it has reached the command; it is told by a signal."""
        self.size(rows, columns)
        for _ in range(SECONDS * 100):
            if self.is_size(rows, columns):
                return
            select.select([], [], [], 0.01)
        raise AssertionError("the size never came through")

    def read(self, fd, wanted):
        """What comes until it has @wanted.  Fails where nothing more can come to the person."""
        text, ended = b"", False
        end = time.monotonic() + SECONDS
        while wanted not in text:
            if fd == self.person and not ended and self.process.poll() is not None:
                os.write(self.slave, ENDED)  # comes after all that it has written
                ended = True
            if select.select([fd], [], [], 0.1)[0]:
                text += os.read(fd, 4096)
            elif time.monotonic() > end:
                raise AssertionError(f"{wanted!r} never came: {text!r}")
            if ended and ENDED in text and wanted not in text:
                raise AssertionError(f"it ended, and {wanted!r} did not come: {text!r}")
        return text

    def ready(self):
        """Until what is typed goes through."""
        os.write(self.command, b"ready\n")
        self.read(self.person, b"ready")

    def type(self, text):
        """Fails where it is not taken, though the program is awake and has looked again and again."""
        os.set_blocking(self.person, False)
        left = TURNS
        while text:
            if select.select([], [self.person], [], 0.2 if left == TURNS else 0.01)[1]:
                text, left = text[os.write(self.person, text):], TURNS
            elif left == 0:
                raise AssertionError(f"{len(text)} bytes were never taken")
            elif struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, bytes(4)))[0] > 0:
                # What comes through shows that it has waited for whatever it waits for.
                self.resize(24, 80 + left % 2)
                left -= 1

    def end(self, word):
        self.link.sendall(word)
        self.link.close()
        return self.process.wait(SECONDS)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for fd in (self.person, self.command, self.slave):
            os.close(fd)
        self.link.close()


class Test(unittest.TestCase):
    def relay(self, stdin=None):
        relay = Relay(stdin)
        self.addCleanup(relay.close)
        return relay

    def test_keys_and_output(self):
        relay = self.relay()
        relay.ready()
        # No key is a signal here, nor ends a line.
        os.write(relay.person, b"a\x03\x04\x1a\r\x1d.")
        self.assertEqual(relay.read(relay.command, b"."), b"a\x03\x04\x1a\n\x1d.")
        os.write(relay.command, b"\x1b[31mred")
        self.assertIn(b"\x1b[31mred", relay.read(relay.person, b"red"))
        self.assertEqual(relay.end(b"exited 0\n"), 0)

    def test_the_terminal_is_as_before(self):
        relay = self.relay()
        relay.ready()
        self.assertEqual(termios.tcgetattr(relay.slave)[3] & termios.ECHO, 0)
        self.assertEqual(relay.end(b"exited 0\n"), 0)
        self.assertEqual(termios.tcgetattr(relay.slave), relay.before)

    def test_the_size(self):
        relay = self.relay()
        relay.ready()
        self.assertTrue(relay.is_size(24, 80))
        relay.resize(50, 132)
        self.assertEqual(relay.end(b"exited 0\n"), 0)

    def test_how_it_ends(self):
        for word, status in ((b"exited 0\n", 0), (b"exited 42\n", 42), (b"killed 9\n", 137),
                             (b"stopped\n", 255), (b"", 255), (b"exited", 255), (b"x" * 200, 255)):
            relay = Relay()
            relay.ready()
            self.assertEqual(relay.end(word), status, word)
            relay.close()

    def test_what_is_shown_last(self):
        relay = self.relay()
        relay.ready()
        os.write(relay.command, b"x" * 3000 + b"last")
        self.assertEqual(relay.end(b"exited 0\n"), 0)
        relay.read(relay.person, b"last")

    def test_what_reaches_beyond_the_window(self):
        relay = self.relay()
        relay.ready()
        os.write(relay.command, b"a\x1b]52;c;ZXZpbA==\x07b\x1b[5ic\x1b[1md")
        text = relay.read(relay.person, b"d")
        self.assertIn(b"abc\x1b[1md", text)
        self.assertEqual(relay.end(b"exited 0\n"), 0)

    def test_what_is_shown_through_a_pipe(self):
        """By tee, say: it comes to the person's terminal as well."""
        read, write = os.pipe()
        relay = Relay(stdout=write)
        self.addCleanup(relay.close)
        os.close(write)
        os.write(relay.command, b"a\x1b]52;c;ZXZpbA==\x07b\x1b[?25lc")
        self.assertEqual(relay.read(read, b"c"), b"ab\x1b[?25lc")
        self.assertEqual(relay.end(b"exited 0\n"), 0)
        self.assertIn(b"\x1b[?25h", relay.read(read, b"\x1b[0;10m"))
        self.assertEqual(termios.tcgetattr(relay.slave), relay.before)
        os.close(read)

    def test_a_pipe_that_nobody_reads(self):
        read, write = os.pipe()
        relay = Relay(stdout=write)
        self.addCleanup(relay.close)
        os.close(write)
        os.write(relay.command, b"ready")
        relay.read(read, b"ready")
        os.close(read)
        os.write(relay.command, b"more")
        self.assertEqual(relay.process.wait(SECONDS), 128 + signal.SIGHUP)
        self.assertEqual(termios.tcgetattr(relay.slave), relay.before)

    def test_what_is_undone(self):
        relay = self.relay()
        relay.ready()
        os.write(relay.command, b"\x1b[?25l\x1b[3;9r\x1b[4hlast")
        relay.read(relay.person, b"last")
        self.assertEqual(relay.end(b"exited 0\n"), 0)
        text = relay.read(relay.person, b"\x1b[0;10m")
        for undone in (b"\x1b[?25h", b"\x1b[r", b"\x1b[4l"):
            self.assertIn(undone, text)

    def test_nothing_is_undone_after_text(self):
        relay = self.relay()
        relay.ready()
        os.write(relay.command, b"plain")
        relay.read(relay.person, b"plain")
        self.assertEqual(relay.end(b"exited 0\n"), 0)
        self.assertEqual(select.select([relay.person], [], [], 0)[0], [])

    def test_late_answers_are_not_typed_into_the_shell(self):
        """The terminal answers when it has seen the questions, which is after the command's end."""
        relay = self.relay()
        relay.ready()
        os.write(relay.command, b"\x1b[c\x1b[6n\x1b[>qlast")
        relay.read(relay.person, b"last")
        relay.link.sendall(b"exited 0\n")
        # Of all that is asked this is asked last; the command's own came before.
        relay.read(relay.person, b"\x1b[c")
        os.write(relay.person, b"\x1b[?62;22c")
        os.write(relay.person, b"\x1b[1;1R\x1bP>|xterm\x1b\\")
        os.write(relay.person, b"\x1b[?62;22c")
        self.assertEqual(relay.process.wait(SECONDS), 0)
        termios.tcsetattr(relay.slave, termios.TCSANOW, self.raw(relay.slave))
        self.assertEqual(select.select([relay.slave], [], [], 0)[0], [])

    @staticmethod
    def raw(fd):
        found = termios.tcgetattr(fd)
        found[3] &= ~(termios.ICANON | termios.ECHO)
        return found

    def test_nothing_is_asked_that_the_command_would_not_hear(self):
        """Standard input is a pipe, and the terminal's next reader the shell."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, writer)
        self.addCleanup(os.close, reader)
        relay = self.relay(reader)
        os.write(relay.command, b"begin\x1b[c\x1b[6n\x1b[?1004h\x1b[31mred\n")
        text = relay.read(relay.person, b"red")
        self.assertEqual(relay.end(b"exited 0\n"), 0)
        while select.select([relay.person], [], [], 0)[0]:
            text += os.read(relay.person, 4096)
        self.assertEqual(text.replace(b"\r", b"")[:len(b"begin\x1b[31mred\n")],
                         b"begin\x1b[31mred\n")
        for asks in (b"\x1b[c", b"\x1b[6n", b"\x1b[?1004"):
            self.assertNotIn(asks, text)

    def test_a_terminal_that_does_not_answer(self):
        relay = self.relay()
        relay.ready()
        os.write(relay.command, b"\x1b[6nlast")
        relay.read(relay.person, b"last")
        self.assertEqual(relay.end(b"exited 0\n"), 0)
        self.assertEqual(termios.tcgetattr(relay.slave), relay.before)

    def test_leaving(self):
        relay = self.relay()
        relay.ready()
        os.write(relay.person, b"\x1d\x1dx\x1d")
        self.assertEqual(relay.read(relay.command, b"x\x1d"), b"\x1d\x1dx\x1d")
        os.write(relay.person, b"\x1d\x1d")
        self.assertEqual(relay.process.wait(SECONDS), 128 + signal.SIGHUP)
        self.assertEqual(termios.tcgetattr(relay.slave), relay.before)

    def test_leaving_where_the_terminal_is_stopped(self):
        """Nothing is shown any more, and it is left all the same, by keys and by signals."""
        for number in (None, signal.SIGTERM):
            relay = Relay()
            relay.ready()
            termios.tcflow(relay.slave, termios.TCOOFF)
            os.write(relay.command, b"x" * 2000)
            if number is None:
                relay.type(b"\x1d\x1d\x1d")
            else:
                relay.process.send_signal(number)
            self.assertEqual(relay.process.wait(SECONDS), 128 + (number or signal.SIGHUP))
            termios.tcflow(relay.slave, termios.TCOON)
            self.assertEqual(termios.tcgetattr(relay.slave), relay.before)
            relay.close()

    def test_what_is_left_where_the_terminal_is_stopped(self):
        """The command has ended, and a signal ends the wait for what it showed last."""
        relay = self.relay()
        relay.ready()
        termios.tcflow(relay.slave, termios.TCOOFF)
        os.write(relay.command, b"x" * 2000)
        relay.link.sendall(b"exited 0\n")
        with self.assertRaises(subprocess.TimeoutExpired):
            relay.process.wait(0.5)
        relay.process.send_signal(signal.SIGTERM)
        self.assertEqual(relay.process.wait(SECONDS), 0)
        termios.tcflow(relay.slave, termios.TCOON)

    def test_nobody_else_waits_less(self):
        """That a write does not wait is this program's alone."""
        relay = self.relay()
        relay.ready()
        self.assertTrue(os.get_blocking(relay.slave))

    def test_a_file_has_all_of_it(self):
        with tempfile.TemporaryFile() as file:
            relay = Relay(stdout=file)
            self.addCleanup(relay.close)
            os.write(relay.command, b"\x1b[c\x1b]52;c;x\x07\x1b[?25l\x9bend")
            self.assertEqual(relay.end(b"exited 0\n"), 0)
            file.seek(0)
            self.assertEqual(file.read(), b"\x1b[c\x1b]52;c;x\x07\x1b[?25l\x9bend")

    def test_a_pipe_may_lead_to_a_terminal(self):
        """Where none of the three is one; there is the one of the session."""
        (read, write), (nothing, none) = os.pipe(), os.pipe()
        relay = Relay(stdin=nothing, stdout=write, stderr=subprocess.DEVNULL)
        self.addCleanup(relay.close)
        os.close(write)
        os.write(relay.command, b"a\x1b]52;c;x\x07b")
        self.assertEqual(relay.read(read, b"b"), b"ab")
        os.close(none)
        self.assertEqual(relay.end(b"exited 0\n"), 0)

    def test_leaving_by_other_keys(self):
        """kitty's protocol, which Codex asks for, and xterm's; split as a read may."""
        for parts in ((b"\x1b[93;5u" * 3,), (b"\x1b[27;5;93~" * 3,),
                      (b"\x1b[93;5:1u\x1b[93;5:3u\x1b[93;5", b":1u\x1b[57442;5u\x1b", b"[93;5u")):
            relay = Relay()
            relay.ready()
            for part in parts[:-1]:
                os.write(relay.person, part)
                self.assertEqual(relay.read(relay.command, part), part)
            os.write(relay.person, parts[-1])
            self.assertEqual(relay.process.wait(SECONDS), 128 + signal.SIGHUP)
            self.assertEqual(termios.tcgetattr(relay.slave), relay.before)
            relay.close()

    def test_leaving_a_command_that_does_not_read(self):
        """It has the terminal answer until nothing that is typed goes in any more."""
        relay = self.relay()
        relay.ready()
        for _ in range(300):
            relay.type(b"\x1b[?62;22c" * 100)
        relay.type(b"\x1d\x1d\x1d")
        self.assertEqual(relay.process.wait(SECONDS), 128 + signal.SIGHUP)
        self.assertEqual(termios.tcgetattr(relay.slave), relay.before)

    def test_what_waits_is_in_order(self):
        relay = self.relay()
        relay.ready()
        text = b"".join(b"%07d\n" % i for i in range(5000))
        relay.type(text)
        self.assertEqual(relay.read(relay.command, b"0004999\n"), text)
        self.assertEqual(relay.end(b"exited 0\n"), 0)

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            relay = Relay()
            relay.ready()
            relay.process.send_signal(number)
            self.assertEqual(relay.process.wait(SECONDS), 128 + number)
            self.assertEqual(termios.tcgetattr(relay.slave), relay.before)
            relay.close()

    def test_no_terminal(self):
        for text, wanted in ((b"a line\n", b"a line\n"), (b"no line", b"no line"), (b"", b"")):
            read, write = os.pipe()
            relay = Relay(read)
            os.close(read)
            os.write(write, text)
            os.close(write)
            found = b""
            while True:
                part = os.read(relay.command, 4096)
                if not part:
                    break
                found += part
            self.assertEqual(found, wanted)
            self.assertEqual(relay.end(b"exited 0\n"), 0)
            relay.close()


if __name__ == "__main__":
    tap.main("card/relay")
