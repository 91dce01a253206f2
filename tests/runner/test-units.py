#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The runner's units as systemd reads them: what a module may do, and who may reach it.

usage: test-units.py SERVICE [TEST…]   (the service unit as built)
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import tap  # noqa: E402

ROOT = os.path.join(HERE, "../..")
SERVICE = sys.argv[1]
SOCKET = os.path.join(ROOT, "service/runner/undersign-runner@.socket")
DROP_INS = {name: os.path.join(ROOT, f"module/executor/{name}/undersign-runner@{name}.conf")
            for name in ("mail", "null")}
# Tenths of systemd's exposure level; the network alone costs a whole point.
MOST = {"mail": 15, "null": 5, "other": 5}


def setting(path, key):
    with open(path, encoding="utf-8") as file:
        return re.findall(rf"^{key}=(.*)$", file.read(), re.M)


class Units(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        units = os.path.join(self.folder.name, "usr/lib/systemd/system")
        os.makedirs(units)
        shutil.copy(SERVICE, units)
        shutil.copy(SOCKET, units)
        for name, path in DROP_INS.items():
            os.mkdir(f"{units}/undersign-runner@{name}.service.d")
            shutil.copy(path, f"{units}/undersign-runner@{name}.service.d")

    def analyze(self, *arguments):
        return subprocess.run(["systemd-analyze", *arguments, f"--root={self.folder.name}"],
                              capture_output=True, text=True, check=False)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not here")
    def test_exposure(self):
        for name, most in MOST.items():
            with self.subTest(name):
                unit = f"undersign-runner@{name}.service"
                result = self.analyze("security", "--offline=true", f"--threshold={most}", unit)
                self.assertEqual(result.returncode, 0, result.stdout[-200:] + result.stderr)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not here")
    def test_every_line_is_understood(self):
        for name in MOST:
            for kind in ("service", "socket"):
                result = self.analyze("verify", f"undersign-runner@{name}.{kind}")
                complaints = [line for line in result.stderr.splitlines()
                              if re.search(r"Unknown|Failed to parse|ignoring|Invalid", line)]
                self.assertEqual(complaints, [])

    def test_socket_is_for_the_executor_alone(self):
        self.assertEqual(setting(SOCKET, "SocketUser"), ["undersign-executor"])
        self.assertEqual(setting(SOCKET, "SocketMode"), ["0600"])
        self.assertEqual(setting(SOCKET, "ListenSequentialPacket"),
                         ["/run/undersign/runner/%i.sock", "/run/undersign/runner/%i.state"])

    def test_each_module_has_a_user_of_its_own(self):
        self.assertEqual(setting(SERVICE, "User"), ["undersign-%i"])
        for name in DROP_INS:
            path = os.path.join(ROOT, f"module/executor/{name}/undersign-{name}.sysusers")
            with open(path, encoding="utf-8") as file:
                self.assertRegex(file.read(), rf"(?m)^u undersign-{name} - ")

    def test_peers_keep_their_uid(self):
        """In a user namespace each foreign SO_PEERCRED is 65534."""
        for path in (SERVICE, *DROP_INS.values()):
            self.assertEqual(setting(path, "PrivateUsers"), [])

    def test_a_stop_waits_for_a_call(self):
        with open(os.path.join(ROOT, "service/runner/runner.h"), encoding="utf-8") as file:
            longest = int(re.search(r"RUNNER_EXECUTE_SECONDS (\d+)", file.read())[1])
        self.assertEqual(setting(SERVICE, "KillMode"), ["mixed"])
        self.assertGreater(int(setting(SERVICE, "TimeoutStopSec")[0]), longest)

    def test_only_mail_has_the_network(self):
        self.assertEqual(setting(SERVICE, "PrivateNetwork"), ["yes"])
        self.assertEqual(setting(DROP_INS["mail"], "PrivateNetwork"), ["no"])
        self.assertEqual(setting(DROP_INS["null"], "PrivateNetwork"), [])

    def test_no_secret_in_a_unit(self):
        for path in (SERVICE, SOCKET, *DROP_INS.values()):
            for key in ("Environment", "SetCredential", "EnvironmentFile"):
                self.assertEqual(setting(path, key), [])


class Manual(unittest.TestCase):
    @unittest.skipUnless(shutil.which("cc"), "there is no compiler")
    def test_the_example_compiles(self):
        with open(os.path.join(ROOT, "service/runner/undersign-module.3"), encoding="utf-8") as file:
            page = file.read()
        example = re.search(r"^(#include <undersign-module.h>.*?)^\.Ed", page, re.M | re.S)[1]
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "note.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write(example.replace("\\e", "\\"))
            result = subprocess.run(
                ["cc", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                 "-fvisibility=hidden", f"-I{ROOT}/service/abi", "-o", f"{folder}/note.so", source],
                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    del sys.argv[1]
    tap.main("runner/units")
