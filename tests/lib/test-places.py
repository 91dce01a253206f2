#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a build with another prefix than /usr installs what dbus, polkit and systemd read.

It is only configured.  Their .pc files are made up here, so that it does not matter what is there.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from undersign_test import tap  # noqa: E402: found by the path above

SOURCE = os.path.dirname(os.path.dirname(HERE))
OWNERS = {"dbus-1": "datadir=/test/bus", "polkit-gobject-1": "actiondir=/test/polkit",
          "systemd": "systemd_system_unit_dir=/test/units\nsysusers_dir=/test/users\n"
                     "tmpfiles_dir=/test/folders"}
PLACES = {
    "org.undersign1.conf": "/test/bus/dbus-1/system.d",
    "org.undersign1.service": "/test/services",
    "org.undersign1.policy": "/test/polkit",
    "undersignd.service": "/test/units",
    "undersign-executor.socket": "/test/units",
    "undersignd": "/usr/local/programs",
    "mail.so": "/usr/local/lib/undersign/modules",
    "mail.module": "/usr/local/share/undersign/modules",
}


class Places(unittest.TestCase):
    def test_another_prefix(self):
        with tempfile.TemporaryDirectory(prefix="undersign-places-") as folder:
            for name, variables in OWNERS.items():
                with open(f"{folder}/{name}.pc", "w", encoding="ascii") as file:
                    file.write(f"{variables}\nName: {name}\nDescription: none\nVersion: 999\n")
            done = subprocess.run(
                ["meson", "setup", "-Dtests=false", "-Dprefix=/usr/local", "-Dlibexecdir=programs",
                 "-Ddbusservicedir=/test/services", f"-Dpkg_config_path={folder}",
                 f"{folder}/build", SOURCE], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            installed = subprocess.run(["meson", "introspect", "--installed", f"{folder}/build"],
                                       capture_output=True, text=True, check=True).stdout
        paths = json.loads(installed).values()
        for name, place in PLACES.items():
            self.assertEqual([path for path in paths if os.path.basename(path) == name],
                             [f"{place}/{name}"])
        self.assertTrue(any(path.startswith("/test/users/") for path in paths))
        self.assertTrue(any(path.startswith("/test/folders/") for path in paths))


if __name__ == "__main__":
    tap.main("lib-places")
