#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Disks that are full, broken or tear writes, under the ledger and under the boot's mark.

Each operation of each step of the executor is made to fail in turn.  Whatever it was: nothing runs
that is not in the ledger, nothing runs twice, whoever asked hears a typed error, the chain holds,
and once the disk is well again so is the service.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import authenticator, crash, fault, handover, steps, tap  # noqa: E402
from undersign_test.crash import KIM, LEAD  # noqa: E402

SOME = (fault.FULL, fault.BROKEN_ONCE, fault.TORN_WRITE)
# Of what makes a key.
KEY_FAULTS = ((fault.FULL, fault.CREATE), (fault.FULL_ONCE, fault.WRITE), (fault.TORN_WRITE, fault.WRITE),
              (fault.CUT, fault.WRITE), (fault.BROKEN_ONCE, fault.RENAME))
# What each execution writes.
WRITTEN = (f"{fault.LEDGER}ledger.db-wal", f"{fault.MARK}mark.new")


class Disk(steps.Steps, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = crash.Bed(most=3 if crash.sanitized() else 6)
        cls.bed.start()
        cls.addClassCleanup(cls.bed.say_covered)
        cls.addClassCleanup(cls.bed.world.check_logs)
        cls.addClassCleanup(cls.bed.stop)

    def sweep(self, step, kinds=fault.DISKS, roles=fault.EXECUTOR_SERVES,
              prefixes=(fault.LEDGER, fault.MARK), works=True):
        """@step: called with each operation that fails planned; returns what to do afterwards."""
        for prefix in prefixes:
            count = self.bed.sweep(self, step, kinds, roles=roles, prefix=prefix)
            print(f"# {self.id().rpartition('.')[2]}: {prefix}: {count} cases", flush=True)
        if works:
            self.bed.works()

    def test_prepare(self):
        self.sweep(self.prepare)

    def test_answer(self):
        self.sweep(self.answer)

    def test_execute(self):
        self.sweep(self.execute)

    def test_y_each_kind_and_file(self):
        """Whatever was chosen, each kind of fault and each file that is written has been met."""
        self.bed.cover(self, self.execute, fault.DISKS, WRITTEN, fault.EXECUTOR_SERVES)
        self.bed.works()

    def test_close(self):
        self.sweep(self.close)

    def test_signed_denial(self):
        def step():
            request = self.before(self.bed.prepared)
            body = self.bed.broker.sign(request, LEAD, self.bed.keys[LEAD], "deny")
            with self.bed.harmed() as ended:
                ended.value = self.bed.broker.answer(request, body)
            if ended.value is None and self.bed.broker.state(request) == "none":
                self.assertEqual(self.bed.broker.answer(request, body), "denied")
            self.assertEqual(self.bed.broker.query(request)[1], "denied")
            self.bed.look()
        self.sweep(step, kinds=(fault.FULL, fault.BROKEN_ONCE))

    def test_enrol(self):
        self.sweep(self.enrol, kinds=SOME)

    def test_revoke(self):
        """What is revoked no longer counts, and what could not be revoked can be, later."""
        def step():
            key, request, body = self.before(self.answer_of_another_key)
            with self.bed.harmed() as ended:
                ended.value = self.bed.admin.revoke(key.credential) or "revoked"
            if ended.value is None:
                try:
                    self.bed.admin.revoke(key.credential)
                except handover.Refused as error:
                    self.assertEqual(error.reason, "credential-revoked")
            self.bed.assert_refused("credential-revoked", self.bed.broker.answer, request, body)
            self.bed.look()
        self.sweep(step, kinds=SOME)

    def answer_of_another_key(self):
        key = authenticator.Authenticator()
        self.bed.admin.enrol(KIM, key, self.bed.host)
        request = self.bed.prepared()
        return key, request, self.bed.broker.sign(request, KIM, key)

    def test_resolve(self):
        self.sweep(self.resolve, kinds=SOME)

    def test_prune(self):
        self.sweep(self.prune, kinds=SOME)

    def test_halt_and_resume(self):
        def step():
            with self.bed.harmed():
                self.bed.admin.halt()
            if self.bed.admin.status()["running"]:
                self.bed.admin.halt()
            self.bed.assert_refused("halted", self.bed.prepared)
            self.bed.admin.resume()
            self.assertTrue(self.bed.admin.status()["running"])
            self.bed.look()
        self.sweep(step, kinds=(fault.FULL, fault.BROKEN_ONCE))

    def test_resume_that_fails(self):
        def step():
            self.before(self.bed.admin.halt)
            with self.bed.harmed():
                self.bed.admin.resume()
            if not self.bed.admin.status()["running"]:
                self.bed.admin.resume()
            self.assertTrue(self.bed.admin.status()["running"])
            self.bed.look()
        self.sweep(step, kinds=(fault.FULL, fault.BROKEN_ONCE))

    def test_host_key(self):
        self.sweep(self.host_key, kinds=(fault.FULL, fault.BROKEN_ONCE, fault.TORN_WRITE, fault.CUT),
                   prefixes=(fault.LEDGER,))
        self.bed.each(self, self.host_key, fault.EXECUTOR_SERVES, steps.HOST_KEY,
                      (*KEY_FAULTS, (fault.BROKEN_ONCE, fault.SYNC)))

    def test_start(self):
        """A worker that cannot start is tried again; a ledger that is there is never begun anew."""
        def step():
            self.before(self.bed.world.executor.stop)
            self.bed.start_harmed()
            self.bed.faults.disarm()
            self.assertEqual(self.bed.awake()["halted"], "")
            self.bed.look()
        self.sweep(step, kinds=(fault.FULL, fault.BROKEN, fault.BROKEN_ONCE),
                   roles=fault.EXECUTOR_WORKER)

    def test_z_first_start(self):
        """The first start of all, and of a boot, whatever of it fails."""
        with self.last_ledger_forgotten():
            self.sweep(self.first_start, kinds=SOME, roles=fault.EXECUTOR_WORKER, works=False)
            self.bed.each(self, self.first_start, fault.EXECUTOR_WORKER, steps.SEAL_KEY, KEY_FAULTS)


if __name__ == "__main__":
    tap.main("system/fault-disk")
