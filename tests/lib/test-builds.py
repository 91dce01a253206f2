#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `--build DIR` of the tests' programs says of a folder that nothing can be installed from."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

from undersign_test import builds, tap

HERE = os.path.dirname(os.path.abspath(__file__))


class Given(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="undersign-builds-")
        self.addCleanup(folder.cleanup)
        self.path = f"{folder.name}/build"
        self.write(self.path)

    def write(self, path, **directories):
        """What meson leaves, of a project that installs one program, and a link to it by its name."""
        os.makedirs(f"{path}/meson-info")
        known = {"source": os.path.dirname(path), "build": path, **directories}
        installed = {f"{path}/program": "/usr/bin/program", "program.so": "/usr/lib/program.so"}
        for name, value in (("meson-info", {"directories": known}), ("intro-installed", installed)):
            with open(f"{path}/meson-info/{name}.json", "w", encoding="utf-8") as file:
                json.dump(value, file)
        with open(f"{path}/program", "w", encoding="utf-8"):
            pass

    def refused(self, path, says):
        with self.assertRaises(argparse.ArgumentTypeError) as caught:
            builds.given(path)
        self.assertTrue(str(caught.exception).startswith(f"{path}: {says}"), caught.exception)

    def test_good(self):
        self.assertEqual(builds.given(os.path.relpath(self.path)), self.path)
        os.symlink(self.path, f"{self.path}.link")
        builds.given(f"{self.path}.link")

    def test_none(self):
        self.refused(f"{self.path}/nowhere", "there is no such folder")
        self.refused(f"{self.path}/program", "it is no folder")

    def test_no_build(self):
        self.refused(os.path.dirname(self.path), "it is no build folder")
        for text in ("", "{}"):
            with open(f"{self.path}/meson-info/meson-info.json", "w", encoding="utf-8") as file:
                file.write(text)
            self.refused(self.path, "it is no build folder")

    def test_moved(self):
        os.rename(self.path, f"{self.path}.new")
        self.refused(f"{self.path}.new", f"it was moved here from {self.path}")

    def test_without_its_source(self):
        self.write(f"{self.path}.other", source=f"{self.path}/source")
        self.refused(f"{self.path}.other", f"its source, {self.path}/source, is no longer there")

    def test_not_built(self):
        os.unlink(f"{self.path}/program")
        self.refused(self.path, f"it is not built, there is no {self.path}/program")

    def test_program(self):
        """It says so before it makes a namespace, and does nothing."""
        for program in ("try.py", "namespace", "../bench/run", "../clients/run", "../systemd/run"):
            done = subprocess.run([sys.executable, "-B", f"{HERE}/{program}", f"--build={self.path}/no",
                                   *(["true"] if program == "namespace" else [])],
                                  capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), program)
            self.assertIn(f"argument --build: {self.path}/no: there is no such folder", done.stderr)


if __name__ == "__main__":
    tap.main("lib-builds")
