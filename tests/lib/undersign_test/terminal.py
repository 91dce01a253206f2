# SPDX-License-Identifier: LGPL-2.1-or-later
"""A person at a terminal: a program on a pseudo-terminal, read and typed to as it stands.

No program of Undersign has a scripted answer; what a test types here goes the way of a keyboard.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import tty

from . import people

HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]|\r")


class Terminal:
    """A program of @user on a terminal of its own."""

    def __init__(self, user, argv, rows=40, columns=100, environment=None, echo=None):
        """@echo: called with each piece of output as it comes, for someone who looks on."""
        self.raw = b""
        self.position = 0
        self.status = None
        self.echo = echo
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        variables = {**people.environment(user), **(environment or {})}
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(master)
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                for fd in (0, 1, 2):
                    os.dup2(slave, fd)
                for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                    signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may ignore them
                os.fchown(slave, people.pwd.getpwnam(user).pw_uid, -1)
                people.become(user)
                os.chdir(variables["HOME"] if os.path.isdir(variables["HOME"]) else "/")
                os.closerange(3, 1024)
                os.execvpe(argv[0], list(argv), variables)
            finally:
                os._exit(127)
        os.close(slave)
        self.master = master

    @property
    def text(self):
        """All that was written, without escape sequences and carriage returns."""
        return _ESCAPES.sub("", self.raw.decode("utf-8", errors="replace"))

    def _read(self, timeout):
        ready, _, _ = select.select([self.master], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        if data and self.echo:
            self.echo(data)
        self.raw += data
        return bool(data)

    def wait_for(self, pattern, timeout=60.0):
        """The match of the next text that has @pattern; looks only behind the last match."""
        end = time.monotonic() + timeout
        expression = re.compile(pattern, re.MULTILINE | re.DOTALL)
        while True:
            match = expression.search(self.text, self.position)
            if match:
                self.position = match.end()
                return match
            left = end - time.monotonic()
            if left <= 0 or not self._read(min(left, 0.5)):
                match = expression.search(self.text, self.position)
                if match:
                    self.position = match.end()
                    return match
                raise AssertionError(f"the terminal never showed {pattern!r}; it showed:\n"
                                     + self.text[-4000:])

    def ready(self, timeout=60.0):
        """Waits for the cursor: a key typed before, while a page is drawn, is thrown away."""
        end = time.monotonic() + timeout
        while self.raw.rfind(SHOW_CURSOR) <= self.raw.rfind(HIDE_CURSOR):
            left = end - time.monotonic()
            if left <= 0 or not self._read(min(left, 0.5)):
                raise AssertionError("no page was ready for a key; the terminal showed:\n"
                                     + self.text[-4000:])

    def type(self, text):
        """Types at once, whether or not anybody listens."""
        os.write(self.master, text.encode())

    def press(self, keys):
        """Types when the page that was waited for takes keys."""
        self.ready()
        self.type(keys)

    def line(self, text):
        self.type(text + "\r")

    def interact(self):
        """Lets whoever sits at our own terminal use the program until it ends; its exit status."""
        before = termios.tcgetattr(0)
        resized = signal.signal(signal.SIGWINCH, lambda *_: self._take_size())
        self._take_size()
        tty.setraw(0)
        try:
            while self._relay():
                pass
        finally:
            termios.tcsetattr(0, termios.TCSADRAIN, before)
            signal.signal(signal.SIGWINCH, resized)
        return self.wait()

    def _take_size(self):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))

    def _relay(self):
        ready, _, _ = select.select([0, self.master], [], [])
        if 0 in ready:
            os.write(self.master, os.read(0, 4096))
        if self.master in ready:
            before = len(self.raw)
            if not self._read(0):
                return False
            os.write(1, self.raw[before:])
        return True

    def settle(self, quiet=0.3, timeout=10.0):
        """Reads until nothing has come for @quiet seconds: time for what must *not* happen.

        Never a proof that something did: a loaded machine is quiet for longer."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            before = len(self.raw)
            if not self._read(quiet):
                return
            if len(self.raw) == before:
                return

    def is_running(self):
        """Whether the program has not ended; takes what it has written, which it may wait for."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
            else:
                self._read(0.05)
        return self.status is None

    def wait(self, timeout=60.0):
        """The exit status, after reading the rest."""
        end = time.monotonic() + timeout
        while self.is_running() and time.monotonic() < end:
            pass
        if self.status is None:
            self.close()
            raise AssertionError("the program did not end; it showed:\n" + self.text[-4000:])
        while select.select([self.master], [], [], 0)[0] and self._read(0):
            pass
        return self.status

    def close(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.master)
        self.master = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.master >= 0:
            self.close()
