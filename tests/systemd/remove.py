#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Undersign is removed, as README says: what an administrator made and what was recorded stays, nothing
else; and then that goes, too."""

import glob
import os
import pwd
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, readme, tap  # noqa: E402

# The tests' own, and where the host goes on putting things that this machine then sees.
NOT_OURS = ("/run/undersign-test", "/var/log/journal/", "/var/tmp/", "/var/cache/")
FOLDERS = ("/etc", "/usr", "/var", "/run")
# State, policy and agents' users; and until the next boot what the boot made, but for the sockets.
STAYS = re.compile(r"/var/lib/undersign(-agents|-executor|-null)?(/|$)|/etc/undersign(/|$)"
                   r"|/etc/sysusers\.d/undersign-agent-[a-z]+\.conf$"
                   r"|/run/undersign(/runner|-executor(/.*)?|-launcher)?$")
SERVICE, REST = (readme.as_root(lines, os.environ["UNDERSIGN_BUILD"])
                 for lines in readme.blocks("Remove it"))


def run(line):
    booted.command("sh", "-e", "-c", line)


class Remove(unittest.TestCase):
    def test_1_the_credential_goes(self):
        self.assertTrue(SERVICE[0].startswith("undersignctl credential remove "), SERVICE)
        run(SERVICE[0])
        self.assertEqual(os.listdir("/etc/credstore.encrypted"), [])
        self.assertNotIn("LoadCredential", booted.command("systemctl", "cat", booted.MAIL))

    def test_2_the_service_goes(self):
        for line in SERVICE[1:]:
            run(line)
        self.assertEqual(booted.command("systemctl", "list-units", "--all", "--no-legend",
                                        "undersign*").strip(), "")
        self.assertEqual(booted.failed_units(), [])

    def test_3_the_bus_has_forgotten_it(self):
        done = subprocess.run(["busctl", "call", "org.undersign1", "/org/undersign1",
                               "org.undersign1.Agent", "GetInfo"], capture_output=True, text=True,
                              check=False)
        self.assertNotEqual(done.returncode, 0)
        listed = booted.command("busctl", "list", "--no-legend")
        self.assertNotIn("org.undersign1", listed)

    def test_4_nothing_is_left_but_state(self):
        with open("/root/names", encoding="utf-8") as file:
            before = set(file.read().split("\0"))
        found = set()
        for folder in FOLDERS:
            found |= set(booted.command("find", folder, "-ignore_readdir_race", "-xdev",
                                        "-print0").split("\0"))
        left = sorted(name for name in found - before if "undersign" in name.lower()
                      and not name.startswith(NOT_OURS)
                      and not STAYS.match(name))
        self.assertEqual(left, [])

    def test_5_the_state_goes(self):
        agents = [name for path in glob.glob("/etc/sysusers.d/undersign-agent-*.conf")
                  for name in re.findall(r"^u (\S+)", open(path, encoding="utf-8").read(), re.MULTILINE)]
        self.assertEqual(len(REST), 2)
        for line in REST:
            self.assertIn("agent-", line)
            run(line.replace("agent-coder", " ".join(agents)))
        self.assertEqual([path for pattern in ("/etc/undersign*", "/etc/sysusers.d/undersign*",
                                               "/var/lib/undersign*") for path in glob.glob(pattern)], [])
        self.assertEqual([entry.pw_name for entry in pwd.getpwall()
                          if entry.pw_name.startswith("undersign") or entry.pw_name in agents], [])


if __name__ == "__main__":
    tap.main("systemd/remove")
