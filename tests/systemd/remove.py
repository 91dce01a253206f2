#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Undersign is removed: what an administrator made and what was recorded stays, nothing else."""

import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, tap  # noqa: E402

# The tests' own, and where the host goes on putting things that this machine then sees.
NOT_OURS = ("/run/undersign-test", "/var/log/journal/", "/var/tmp/", "/var/cache/")
FOLDERS = ("/etc", "/usr", "/var", "/run")
# State, policy and agents' users; and until the next boot what the boot made, but for the sockets.
STAYS = re.compile(r"/var/lib/undersign(-agents|-executor|-null)?(/|$)|/etc/undersign(/|$)"
                   r"|/etc/sysusers\.d/undersign-agent-[a-z]+\.conf$"
                   r"|/run/undersign(/runner|-executor(/.*)?|-launcher)?$")


class Remove(unittest.TestCase):
    def test_1_the_credential_goes(self):
        booted.command("undersignctl", "credential", "remove", "mail", "work-smtp")
        self.assertEqual(os.listdir("/etc/credstore.encrypted"), [])
        self.assertNotIn("LoadCredential", booted.command("systemctl", "cat", booted.MAIL))

    def test_2_the_service_goes(self):
        booted.command("systemctl", "disable", "--now", *booted.SOCKETS)
        booted.command("systemctl", "stop", *booted.SERVICES)
        booted.command("ninja", "-C", os.environ["UNDERSIGN_BUILD"], "uninstall")
        booted.command("systemctl", "daemon-reload")
        booted.command("systemctl", "reload", "dbus.service")
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


if __name__ == "__main__":
    tap.main("systemd/remove")
