# SPDX-License-Identifier: LGPL-2.1-or-later
"""A person's program at a pseudo-terminal, and the service of the test's own that it talks to.

Imported by the scripts of this folder, which are called as SCRIPT PROGRAM SERVICE [TEST…].
"""

import os
import pwd
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import tap  # noqa: E402
from undersign_test.terminal import Terminal  # noqa: E402

PROGRAM, SERVICE = map(os.path.abspath, sys.argv[1:3])
REQUEST = "00112233445566778899aabbccddeeff"
PASSPHRASE = "correct horse battery"
FINGERPRINT = r"type the\s+fingerprint\s+([0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4})"
PROMPT = r"\n > $"
ME = pwd.getpwuid(os.getuid()).pw_name
BUS_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><listen>unix:path={path}</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow eavesdrop="true"/>
<allow send_destination="*" eavesdrop="true"/></policy></busconfig>
"""


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
        environment = {**os.environ, "LANG": "C.UTF-8", **self.service.environment}
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120,
                              **{"stdin": subprocess.DEVNULL, "env": environment, **options})

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


def all_at_once(cases):
    """Each class in a process of its own, since a person's pace is mostly waiting; one TAP of all."""
    names = [name for name, value in cases.items()
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


def main(prefix, cases):
    """Runs the classes of @cases, a script's globals(), or the tests that its arguments name."""
    if len(sys.argv) == 3:
        all_at_once(cases)
    del sys.argv[1:3]
    tap.main(prefix)
