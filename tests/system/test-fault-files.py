#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The administrator's mechanism with a disk that fails, and kill -9 of it: a module's credential and
the drop-in that has it loaded, and what it has the executor do.

Whatever failed, and between the two files, too: a credential is the one before or the one that was
given, whole; what a unit is told to load is there; and the next call mends what is left.
"""

import os
import shutil
import stat
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, crash, crashbus, fault, handover, steps, tap, units  # noqa: E402

CREDENTIALS, UNITS = "/etc/credstore.encrypted", "/etc/systemd/system"
FOLDER = f"{UNITS}/undersign-runner@null.service.d"
SECRET, DROP_IN = f"{CREDENTIALS}/undersign-null.rehearsal", f"{FOLDER}/undersign-credential-rehearsal.conf"
LOADS = f"# Written by undersign-admin(8).\n[Service]\nLoadCredentialEncrypted=rehearsal:{SECRET}\n"
# What it makes beside them.
WRITTEN = [f"{os.path.dirname(path)}/.{os.path.basename(path)}.new" for path in (SECRET, DROP_IN)]
DISKS = fault.DISKS + (fault.TORN_DEATH,)


class Asked(handover.Admin):
    """The executor is asked by the mechanism."""

    def __init__(self, ask):
        self.ask = ask

    def resolve(self, request, outcome):
        self.ask("Resolve", "(sss)", (request, outcome, "a test"))

    def prune(self, before):
        return self.ask("PruneAudit", "(s)", (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before)),))


class FilesBed(crashbus.BusBed):
    """The bus starts no undersign-admin of its own: this one has the faults."""

    def __init__(self, **options):
        super().__init__(**options)
        self.admin = Asked(self.ask)

    def start(self):
        os.unlink(f"/usr/share/dbus-1/system-services/{bus.ADMIN}.service")
        super().start()
        self.world.admin = units.Service("undersign-admin", self.faults.environment())
        self.world.restart_admin()

    def revive(self):
        gone = super().revive()
        if not self.world.admin.running:
            self.world.restart_admin()
        return gone

    def ask(self, member, signature, value, files=()):
        return self.peer("root").call(bus.ADMIN, member, signature, value, path=f"{bus.PATH}/Admin",
                                      files=files)

    def set(self, text):
        self.ask("SetCredential", "(ssh)", ("null", "rehearsal", 0), [bus.File(text.encode())])
        return "done"

    def remove(self):
        self.ask("RemoveCredential", "(ss)", ("null", "rehearsal"))
        return "done"


class Files(steps.Steps, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = FilesBed(most=3 if crash.sanitized() else 5)
        cls.bed.start()
        cls.addClassCleanup(cls.bed.say_covered)
        cls.addClassCleanup(cls.bed.world.check_logs)
        cls.addClassCleanup(cls.bed.stop)

    def sweep(self, step, kinds):
        for prefix in (CREDENTIALS, UNITS):
            count = self.bed.sweep(self, step, kinds, roles=fault.ADMIN, prefix=prefix)
            print(f"# {self.id().rpartition('.')[2]}: {prefix}: {count} cases", flush=True)

    def clear(self):
        shutil.rmtree(CREDENTIALS, ignore_errors=True)
        shutil.rmtree(FOLDER, ignore_errors=True)

    # --- what is there ---

    @staticmethod
    def secret():
        """What systemd would give to the runner; None where there is no credential."""
        if not os.path.exists(SECRET):
            return None
        status = os.stat(SECRET)
        if stat.S_IMODE(status.st_mode) != 0o600 or status.st_uid != 0:
            raise AssertionError(f"{SECRET}: {status}")
        return subprocess.run(["systemd-creds", "decrypt", "--name=rehearsal", SECRET, "-"],
                              check=True, capture_output=True, text=True).stdout

    def look(self, *secrets):
        """One of @secrets is there, whole, and a unit is told to load only what is there."""
        found = self.secret()
        self.assertIn(found, secrets)
        if os.path.exists(DROP_IN):
            with open(DROP_IN, encoding="utf-8") as file:
                self.assertEqual(file.read(), LOADS)
            self.assertIsNotNone(found, "what the unit is to load is not there: it cannot start")
        return found

    def works(self):
        self.bed.set("afterwards")
        self.look("afterwards")
        self.assertTrue(os.path.exists(DROP_IN))
        self.assertEqual([path for path in WRITTEN if os.path.exists(path)], [])

    # --- the steps ---

    def set_step(self, *before):
        def step():
            self.before(self.clear)
            for text in before:
                self.before(self.bed.set, text)
            with self.bed.harmed() as ended:
                ended.value = self.bed.set("new")
            found = self.look(*(before or (None,)), "new")
            if ended.value is not None:
                self.assertEqual((found, os.path.exists(DROP_IN)), ("new", True))
            self.works()
        return step

    def test_set_credential(self):
        self.sweep(self.set_step(), DISKS)

    def test_set_credential_anew(self):
        self.sweep(self.set_step("old"), DISKS)

    def test_set_credential_killed(self):
        self.sweep(self.set_step("old"), (fault.DEATH,))

    def test_remove_credential(self):
        """What is told to be removed is gone; what could not be removed can be, later."""
        def step():
            self.before(self.clear)
            self.before(self.bed.set, "old")
            with self.bed.harmed() as ended:
                ended.value = self.bed.remove()
            found = self.look(None, "old")
            if ended.value is None and (found or os.path.exists(DROP_IN)):
                self.bed.remove()
            self.assertEqual([path for path in (SECRET, DROP_IN) if os.path.exists(path)], [])
            self.works()
        for kind in (fault.BROKEN_ONCE, fault.DEATH):
            self.sweep(step, (kind,))

    def test_removed_for_good(self):
        """A loss of power brings neither of the two back."""
        self.bed.set("old")
        kind = fault.Kind("", fault.NOTE, operations=fault.UNLINK | fault.SYNC)
        self.bed.faults.arm(kind, 0, fault.ADMIN, "/etc/")
        self.bed.remove()
        self.bed.faults.disarm()
        noted = [(operation, os.path.basename(path)) for operation, path in self.bed.faults.noted()]
        for path in (DROP_IN, SECRET):
            after = noted[noted.index((fault.UNLINK, os.path.basename(path))):]
            self.assertIn((fault.SYNC, os.path.basename(os.path.dirname(path))), after)

    def kill(self, step):
        count = self.bed.sweep(self, step, (fault.DEATH,), roles=fault.ADMIN)
        print(f"# {self.id().rpartition('.')[2]}: {count} cases", flush=True)

    def test_resolve_killed(self):
        self.kill(self.resolve)

    def test_prune_killed(self):
        self.kill(self.prune)

    def test_y_each_kind_and_file(self):
        self.bed.cover(self, self.set_step("old"), DISKS, WRITTEN, fault.ADMIN)

    def test_z_the_runner_has_it(self):
        self.works()
        runner = self.bed.world.runners["null"]
        runner.reload_unit()
        runner.restart()
        with open(f"{runner.unit.credentials}/rehearsal", encoding="utf-8") as file:
            self.assertEqual(file.read(), "afterwards")


if __name__ == "__main__":
    tap.main("system/fault-files")
