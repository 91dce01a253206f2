#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `meson install` leaves on a system: users, folders, modes, units, manual pages."""

import glob
import json
import os
import pwd
import re
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import tap, units, world  # noqa: E402

UNITS = "/usr/lib/systemd/system"
# Tenths of systemd's exposure level that a unit may have at most.
MOST = {"undersignd.service": 6, "undersign-executor.service": 6, "undersign-admin.service": 20,
        "undersign-launcher.service": 46,
        "undersign-runner@mail.service": 15, "undersign-runner@null.service": 6}
INSTANCES = ("mail", "null")
# What may be root: neither is in the path from a request to its effect.  The executor's socket belongs
# to the broker, and undersign-admin is let in all the same; the other maps folders.
ROOT = {"undersign-admin.service": "CAP_DAC_OVERRIDE",
        "undersign-launcher.service": "CAP_SYS_ADMIN CAP_SETUID CAP_SETGID CAP_DAC_READ_SEARCH"}


def installed_units(kind):
    found = []
    for path in sorted(glob.glob(f"{UNITS}/undersign*.{kind}")):
        name = os.path.basename(path)
        found += [name.replace("@.", f"@{module}.") for module in INSTANCES] \
            if "@." in name else [name]
    return found


def programs():
    return sorted(glob.glob("/usr/bin/undersign*") + glob.glob("/usr/libexec/undersign*"))


class Install(unittest.TestCase):
    def test_files_are_roots_and_nobody_else_may_write_them(self):
        with open(world.INSTALLED, encoding="utf-8") as file:
            paths = json.load(file)
        self.assertGreater(len(paths), 20)
        for path in paths:
            self.assertTrue(path.startswith("/usr/"), path)
            status = os.lstat(path)
            if stat.S_ISLNK(status.st_mode):
                continue
            self.assertEqual((status.st_uid, status.st_gid), (0, 0), path)
            self.assertEqual(status.st_mode & 0o7022, 0, f"{path} {oct(status.st_mode)}")

    def test_the_catalogue_is_inert(self):
        """What ships beside the policy is none of it: nothing can be asked for before somebody says so."""
        self.assertIn("mail.send.action", os.listdir("/usr/share/undersign/catalogue"))
        done = subprocess.run(["undersignctl", "policy", "check", "--json"], capture_output=True,
                              text=True, check=False)
        found = json.loads(done.stdout)
        self.assertEqual([found.get(name) for name in ("valid", "actions", "agents", "rules")],
                         [True, "0", "0", "0"], done)

    def test_each_program_has_its_page(self):
        for program in programs():
            name = os.path.basename(program)
            pages = glob.glob(f"/usr/share/man/man[18]/{name}.[18]*")
            self.assertEqual(len(pages), 1, f"{name}: {pages}")

    def test_pages_have_no_fault(self):
        pages = glob.glob("/usr/share/man/man*/undersign*")
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *pages],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, "")

    def test_pages_name_only_pages_that_exist(self):
        known = {re.sub(r"\.(\d)(\.gz)?$", r"(\1)", os.path.basename(path))
                 for path in glob.glob("/usr/share/man/man*/undersign*")}
        for path in glob.glob("/usr/share/man/man*/undersign*"):
            text = subprocess.run(["mandoc", "-T", "utf8", path], capture_output=True, text=True,
                                  check=True).stdout
            text = re.sub(".\b", "", text)
            for name in re.findall(r"\bundersign[\w-]*\(\d\)", text):
                self.assertIn(name, known, path)

    def test_each_user_is_apart(self):
        names = [entry.pw_name for entry in pwd.getpwall() if entry.pw_name.startswith("undersign")]
        self.assertIn("undersign", names)
        self.assertIn("undersign-executor", names)
        for name in names:
            entry = pwd.getpwnam(name)
            self.assertIn("nologin", entry.pw_shell)
            self.assertEqual(os.getgrouplist(name, entry.pw_gid), [entry.pw_gid], name)

    def test_each_unit_is_understood(self):
        for name in installed_units("service") + installed_units("socket"):
            done = subprocess.run(["systemd-analyze", "verify", "--man=no", name],
                                  capture_output=True, text=True, check=False)
            complaints = [line for line in done.stderr.splitlines() if "undersign" in line]
            self.assertEqual(complaints, [], name)

    def test_each_service_is_confined(self):
        self.assertEqual(set(installed_units("service")), set(MOST))
        for name, most in MOST.items():
            done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                                   f"--threshold={most}", name],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, f"{name}: {done.stdout[-200:]}{done.stderr}")

    def test_no_service_of_the_path_is_root(self):
        for name in installed_units("service"):
            unit = units.UnitFile(name)
            user = unit.one("Service", "User", "root")
            self.assertEqual(user == "root", name in ROOT, name)
            self.assertEqual(" ".join(unit.all("Service", "CapabilityBoundingSet")),
                             ROOT.get(name, ""), name)
            self.assertEqual(unit.all("Service", "AmbientCapabilities"), [], name)
            self.assertTrue(unit.yes("NoNewPrivileges"), name)
            self.assertEqual(unit.one("Service", "LimitCORE"), "0", name)
            if name != "undersignd.service":  # which looks at no peer of a socket
                self.assertFalse(unit.yes("PrivateUsers"), name)
            network = name == "undersign-runner@mail.service"
            if name != "undersign-launcher.service":  # which must not have mounts of its own
                self.assertEqual(unit.yes("PrivateNetwork"), not network, name)

    def test_sockets_are_for_one_peer(self):
        found = installed_units("socket")
        self.assertGreaterEqual(len(found), 3)
        for name in found:
            service = units.Service(name[:-len(".socket")])
            service.listen()
            path = service.socket_unit.one("Socket", "ListenSequentialPacket")
            status = os.stat(path)
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o600, path)
            self.assertEqual(pwd.getpwuid(status.st_uid).pw_name,
                             "undersign-executor" if "runner" in name else "undersign", path)
            folder = os.stat(os.path.dirname(path))
            self.assertEqual((folder.st_uid, stat.S_IMODE(folder.st_mode)), (0, 0o755), path)

    def test_state_is_private(self):
        for path, user in (("/run/undersign-executor", "undersign-executor"),):
            status = os.stat(path)
            self.assertEqual(pwd.getpwuid(status.st_uid).pw_name, user)
            self.assertEqual(stat.S_IMODE(status.st_mode), 0o700)

    def test_nothing_is_allowed_out_of_the_box(self):
        self.assertEqual(glob.glob("/usr/share/undersign/rules/*"), [])


if __name__ == "__main__":
    tap.main("system/install")
