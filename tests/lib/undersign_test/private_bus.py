# SPDX-License-Identifier: LGPL-2.1-or-later
"""A message bus of a test's own, and programs on it, for tests that run as a plain user."""

import os
import signal
import socket
import subprocess
import tempfile
import time
import unittest

CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><listen>unix:path={path}</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow eavesdrop="true"/>
<allow send_destination="*" eavesdrop="true"/></policy></busconfig>
"""


class BusTest(unittest.TestCase):
    """Has self.folder, self.address and a bus that listens there."""

    # Programs whose exit must be clean.
    checked = ()

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="undersign-test.")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.address = f"unix:path={self.folder}/bus"
        self.write("bus.conf", CONFIG.format(path=f"{self.folder}/bus"))
        self.start("bus", ["dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork"],
                   self._bus_answers)

    def _bus_answers(self):
        """Its socket is there before it listens."""
        with socket.socket(socket.AF_UNIX) as sock:
            try:
                sock.connect(f"{self.folder}/bus")
                return True
            except OSError:
                return False

    def write(self, name, text, mode=0o600):
        path = f"{self.folder}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def read(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            return file.read()

    def output(self, name):
        return self.read(f"{name}.log")

    def start(self, name, argv, ready, environment=None):
        """Starts a program that ends with the test; @ready says when it can be used."""
        with open(f"{self.folder}/{name}.log", "wb") as log:
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       env={**os.environ, **(environment or {})})
        self.addCleanup(self._end, name, process)
        end = time.monotonic() + 120
        while not ready():
            if process.poll() is not None or time.monotonic() > end:
                self.fail(f"{name} did not start: {self.output(name)}")
            time.sleep(0.02)
        return process

    def _end(self, name, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(120)
        if name in self.checked:
            self.assertNotIn("Sanitizer", self.output(name))
            self.assertEqual(process.returncode, 0, self.output(name))

    def owned(self, name):
        call = subprocess.run(["dbus-send", f"--bus={self.address}", "--print-reply=literal",
                               "--dest=org.freedesktop.DBus", "/",
                               "org.freedesktop.DBus.NameHasOwner", f"string:{name}"],
                              capture_output=True, text=True, check=False)
        return call.stdout.strip() == "boolean true"
