#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What README says of an installation, done word by word where systemd runs."""

import os
import pwd
import stat
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, readme, tap  # noqa: E402

# The exposure that a service may have at most.
MOST = {booted.BROKER: 0.6, booted.EXECUTOR: 0.6, booted.MAIL: 1.5, booted.ADMIN: 2.0,
        booted.NULL: 0.6, booted.LAUNCHER: 4.6}
BUILD = os.environ["UNDERSIGN_BUILD"]
FOLDERS = ("/etc", "/usr", "/var", "/run")


def names():
    """Every name there is, to see later what was left."""
    found = set()
    for folder in FOLDERS:
        found |= set(booted.command("find", folder, "-ignore_readdir_race", "-xdev",
                                    "-print0").split("\0"))
    return found


def readme_commands():
    """The commands of the installation, but those that compile."""
    lines = [line for line in readme.blocks("Install it as a service")[0] if line.startswith("sudo ")]
    return [line.replace("meson install", "meson install --no-rebuild")
            for line in readme.as_root(lines, BUILD)]


class Install(unittest.TestCase):
    def test_1_nothing_is_there(self):
        state = booted.command("systemctl", "is-system-running", "--wait", status=None, timeout=600)
        self.assertIn(state.strip(), ("running", "degraded"))
        self.assertFalse(any(booted.is_installed(name) for name in booted.SERVICES))
        self.assertEqual([entry.pw_name for entry in pwd.getpwall()
                          if entry.pw_name.startswith("undersign")], [])
        with open("/root/names", "w", encoding="utf-8") as file:
            file.write("\0".join(sorted(names())))

    def test_2_as_the_readme_says(self):
        commands = readme_commands()
        self.assertGreaterEqual(len(commands), 5)
        for line in commands:
            done = subprocess.run(["sh", "-e", "-c", line], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{line}: {done.stdout}{done.stderr}")

    def test_3_users_were_there_before_the_bus_read_of_them(self):
        # dbus-daemon also reads its files when one of them is new, which is before there are users.
        said = booted.journal("--boot", "--unit=dbus.service")
        last = said.rpartition("Reloading dbus.service")[2]
        self.assertIn("Reloaded configuration", last)
        self.assertNotRegex(last, r"(?i)unknown|undersign")

    def test_4_only_sockets_are_up(self):
        for name in booted.SERVICES:
            self.assertEqual(booted.unit(name, "LoadState"), "loaded", name)
            self.assertEqual(booted.unit(name, "ActiveState"), "inactive", name)
        for name in booted.SOCKETS:
            self.assertEqual(booted.unit(name, "SubState"), "listening", name)

    def test_5_each_socket_is_for_one_peer(self):
        for path, user in (("/run/undersign/executor.sock", "undersign"),
                           ("/run/undersign/runner/mail.sock", "undersign-executor"),
                           ("/run/undersign/runner/mail.state", "undersign-executor"),
                           ("/run/undersign/runner/null.sock", "undersign-executor")):
            status = os.stat(path)
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o600, path)
            self.assertEqual(pwd.getpwuid(status.st_uid).pw_name, user, path)
        for path in ("/run/undersign", "/run/undersign/runner"):
            status = os.stat(path)
            self.assertEqual((status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)),
                             (0, 0, 0o755), path)

    def test_6_polkit_and_the_bus_know_of_it(self):
        self.assertIn("auth_admin", booted.command("pkaction", "--verbose", "--action-id",
                                                   "org.undersign1.enroll"))
        listed = booted.command("busctl", "list", "--activatable", "--no-legend")
        for name in ("org.undersign1", "org.undersign1.Admin", "org.undersign1.Launcher"):
            self.assertIn(name, [line.split()[0] for line in listed.splitlines()])

    def test_7_each_service_is_confined(self):
        for name, most in MOST.items():
            found = booted.exposure(name, offline="yes")
            print(f"# {name}: exposure {found}")
            self.assertLessEqual(found, most, name)

    def test_8_nothing_has_failed(self):
        self.assertEqual(booted.failed_units(), [])
        self.assertEqual(booted.command("systemd-analyze", "verify", "--man=no",
                                        *booted.SERVICES, *booted.SOCKETS), "")


if __name__ == "__main__":
    tap.main("systemd/install")
