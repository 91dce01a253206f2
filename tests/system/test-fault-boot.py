#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reboots, power cuts, restored disks, clocks that jump, and a /run without room.

A copy of the ledger from before halts in the same boot; after a reboot every approval that was not
used is void; and whatever had run when the power failed is in the ledger that the disk still has.
"""

import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import crash, fault, handover, kernel, oracle, tap  # noqa: E402
from undersign_test.crash import LEAD  # noqa: E402

COPY = "/run/undersign-test/copy"
RUNTIME = "/run/undersign-executor"
HOUR = 3600


class Boot(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = crash.Bed(most=4 if crash.sanitized() else 8)
        cls.bed.start()
        cls.addClassCleanup(cls.bed.say_covered)
        cls.addClassCleanup(cls.bed.world.check_logs)
        cls.addClassCleanup(cls.bed.stop)

    def setUp(self):
        self.addCleanup(self.bed.works)

    def halted(self, reason):
        """Nothing new is prepared, and nothing that was approved runs."""
        status = self.bed.awake()
        self.assertFalse(status["running"])
        self.assertEqual(status["halted"].partition(":")[0], reason)
        self.bed.assert_refused(reason, self.bed.prepared)

    def restore(self, boot=False):
        self.bed.world.executor.kill()
        crash.restore_ledger(COPY)
        if boot:
            self.bed.new_boot()
        self.bed.oracle.reset()
        self.bed.world.executor.start()

    # --- restored disks ---

    def test_restored_in_the_same_boot(self):
        kept, used = self.bed.approved(), self.bed.approved()
        crash.copy_ledger(COPY)
        self.assertEqual(self.bed.broker.execute(used), "done")
        self.restore()
        self.bed.oracle.skip_marker()
        self.halted("ledger-behind")
        for request in (used, kept):
            self.bed.assert_refused("ledger-behind", self.bed.broker.execute, request)
        body = self.bed.broker.sign(kept, LEAD, self.bed.keys[LEAD])
        self.bed.assert_refused("ledger-behind", self.bed.broker.answer, kept, body)
        self.bed.broker.close(kept, "denied", LEAD, "suspicious")
        self.assertEqual(self.bed.broker.state(kept), "closed")
        self.bed.world.restart_executor(kill=True)
        self.halted("ledger-behind")
        self.bed.admin.resume()
        # The copy does not know that it ran; its approval is void all the same.
        self.bed.assert_refused("bad-seal", self.bed.broker.execute, used)

    def test_restored_and_behind_by_one_entry(self):
        """Even a copy from between the consumption and its outcome is one from before."""
        request = self.bed.approved()
        with self.bed.world.runners["null"].held() as go_on:

            def between():
                crash.copy_ledger(COPY)
                go_on()

            self.assertEqual(self.bed.broker.execute(request, on_consumed=between), "done")
        self.bed.look()
        self.restore()
        self.halted("ledger-behind")
        self.bed.admin.resume()
        self.assertEqual(self.bed.broker.state(request), "unknown")
        self.bed.assert_refused("bad-seal", self.bed.broker.execute, request)
        self.bed.resolve(request)

    def test_restored_across_boots(self):
        kept, used = self.bed.approved(), self.bed.approved()
        crash.copy_ledger(COPY)
        self.assertEqual(self.bed.broker.execute(used), "done")
        self.restore(boot=True)
        self.bed.oracle.skip_marker()
        self.assertTrue(self.bed.awake()["running"])
        for request in (used, kept):
            self.bed.assert_refused("bad-seal", self.bed.broker.execute, request)
        body = self.bed.broker.sign(kept, LEAD, self.bed.keys[LEAD])
        self.bed.assert_refused("bad-seal", self.bed.broker.answer, kept, body)

    def test_another_ledger(self):
        """One of the same length, of another machine: it does not continue from the mark."""
        self.bed.world.executor.kill()
        away = "/var/lib/away"
        os.rename(fault.LEDGER, away)
        self.bed.world.executor.start()
        self.halted("ledger-behind")
        self.bed.world.executor.kill()
        shutil.rmtree(fault.LEDGER)
        os.rename(away, fault.LEDGER)
        self.bed.world.executor.start()
        self.assertTrue(self.bed.awake()["running"])

    def test_a_reboot(self):
        """Nothing halts; approvals not used are void, what was consumed stays so, and the clock of
        the new boot, which begins anew, makes no deadline later."""
        kept, used = self.bed.approved(), self.bed.approved()
        self.assertEqual(self.bed.broker.execute(used), "done")
        self.bed.new_boot()
        self.bed.faults.move_clocks(boottime=-1e6)
        self.addCleanup(self.bed.faults.move_clocks, boottime=1e6)
        self.bed.world.executor.start()
        self.bed.assert_refused("bad-seal", self.bed.broker.execute, kept)
        self.bed.assert_refused("bad-seal", self.bed.broker.execute, used)
        self.assertEqual(self.bed.broker.state(used), "done")
        self.assertEqual(self.bed.broker.state(kept), "none")
        again = self.bed.broker.prepare(handover.Request(kept.arguments, kept.action))
        self.bed.assert_refused("not-approved", self.bed.broker.execute, again)

    def test_a_mark_and_a_key_that_are_gone(self):
        for name in ("mark", "seal.key"):
            with self.subTest(name):
                request = self.bed.approved()
                os.unlink(f"{RUNTIME}/{name}")
                if name == "seal.key":
                    # A worker that has read it already knows it: the next one does not.
                    self.bed.world.restart_executor()
                    self.bed.assert_refused("bad-seal", self.bed.broker.execute, request)
                    continue
                self.halted("mark")
                self.bed.assert_refused("mark", self.bed.broker.execute, request)
                self.bed.admin.resume()
                self.bed.assert_refused("bad-seal", self.bed.broker.execute, request)

    # --- power cuts ---

    def test_the_power_fails_while_it_executes(self):
        """Only what fsync() has seen is still there."""
        def step():
            with self.bed.faults.paused():
                request = self.bed.approved()
            with self.bed.harmed():
                self.bed.broker.execute(request)
            self.cut_power()
            self.bed.look()
            state = self.bed.broker.state(request)
            if self.bed.oracle_ran(request):
                self.assertIn(state, ("done", "unknown"))
            if state == "unknown":
                self.bed.resolve(request)
            self.bed.assert_refused("bad-seal", self.bed.broker.execute, request)
            ends.add(state)

        ends = set()
        crash.copy_synced(self.bed.world.executor, self.bed.faults)
        self.addCleanup(self.bed.faults.copy_synced, False)
        for roles in (fault.EXECUTOR_SERVES, fault.RUNNER_SERVES):
            self.bed.sweep(self, step, (fault.DEATH,), roles=roles)
        if self.bed.every:
            self.assertLessEqual({"none", "unknown", "done"}, ends)

    def cut_power(self):
        """No process has a last word; the disk has what was synced, /run nothing."""
        for service in self.bed.world.services():
            service.kill()
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            path = fault.LEDGER + name
            if os.path.exists(path):
                os.unlink(path)
            if name != "ledger.db-shm" and os.path.exists(f"{path}.synced"):
                shutil.copy2(f"{path}.synced", path)
                entry = os.stat(fault.LEDGER)
                os.chown(path, entry.st_uid, entry.st_gid)
        self.bed.new_boot()
        self.bed.oracle.reset()
        for service in self.bed.world.services():
            service.start()
        self.bed.awake()

    # --- clocks ---

    def test_the_boots_clock_passes_a_deadline(self):
        request = self.bed.approved()
        body = self.bed.broker.sign(request, LEAD, self.bed.keys[LEAD])
        self.bed.faults.move_clocks(boottime=24 * HOUR + 1)
        self.bed.assert_refused("deadline-passed", self.bed.broker.execute, request)
        self.bed.assert_refused("deadline-passed", self.bed.broker.answer, request, body)
        self.assertEqual(self.bed.broker.state(request), "none")

    def test_the_wall_clock_decides_nothing(self):
        """Set forward it ends no approval, set back it prolongs none."""
        for jump in (400 * 24 * HOUR, -800 * 24 * HOUR):
            with self.subTest(jump):
                request, late = self.bed.approved(), self.bed.approved()
                self.bed.faults.move_clocks(realtime=jump)
                self.assertEqual(self.bed.broker.execute(request), "done")
                self.bed.faults.move_clocks(boottime=25 * HOUR)
                self.bed.assert_refused("deadline-passed", self.bed.broker.execute, late)
                self.bed.works()
                self.bed.faults.move_clocks(realtime=-jump)
        self.bed.look()

    def test_a_limit_and_a_clock_set_back(self):
        """What was used stays used when the wall clock is set back; only time that passes, forgives."""
        rules = {"crash": crash.RULES["crash"].replace("Limit=100000/1d", "Limit=2/1d")}
        crash.write_policy(rules=rules)
        self.addCleanup(self.bed.admin.reload)
        self.addCleanup(crash.write_policy)
        self.bed.admin.reload()
        self.bed.faults.move_clocks(realtime=100 * 24 * HOUR)
        self.addCleanup(self.bed.faults.move_clocks, realtime=-100 * 24 * HOUR)
        for _ in range(2):
            self.assertEqual(self.bed.broker.execute(self.bed.prepared("crash.free")), "done")
        self.bed.assert_refused("limit", self.bed.prepared, "crash.free")
        self.bed.faults.move_clocks(realtime=-50 * 24 * HOUR)
        self.bed.assert_refused("limit", self.bed.prepared, "crash.free")
        self.bed.faults.move_clocks(realtime=52 * 24 * HOUR)
        self.assertEqual(self.bed.broker.execute(self.bed.prepared("crash.free")), "done")
        self.bed.faults.move_clocks(realtime=-2 * 24 * HOUR)

    # --- /run ---

    def test_no_room_in_run(self):
        """A real file system without a free page, under mark, key and locks."""
        request, other = self.bed.approved(), self.bed.prepared()
        self.bed.world.executor.stop()
        size = self.small_runtime()
        self.bed.world.executor.start()
        self.bed.awake()
        body = self.bed.broker.sign(other, LEAD, self.bed.keys[LEAD])
        with open(f"{RUNTIME}/ballast", "wb", buffering=0) as file:
            with self.assertRaises(OSError):
                while True:
                    file.write(bytes(size))
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.execute(request)
        self.assertIsNone(ended.value)
        self.assertIsInstance(ended.error, handover.Refused)
        self.assertFalse(self.bed.oracle_ran(request))
        self.bed.look()
        # Only what runs needs a mark: answers and denials don't.
        self.bed.broker.answer(other, body)
        denied = other
        self.bed.broker.close(denied, "denied", LEAD, "other")
        self.bed.look()
        os.unlink(f"{RUNTIME}/ballast")
        state = self.bed.broker.state(request)
        self.assertIn(state, ("none", "failed"))
        if state == "none":
            self.assertEqual(self.bed.broker.execute(request), "done")

    def small_runtime(self):
        """Puts a tmpfs of a few pages in place of the runtime directory, with what is in it."""
        files = {}
        for name in os.listdir(RUNTIME):
            with open(f"{RUNTIME}/{name}", "rb") as file:
                files[name] = file.read()
        owner = os.stat(RUNTIME)
        kernel.mount("undersign", RUNTIME, "tmpfs", kernel.MS_NODEV | kernel.MS_NOSUID,
                     "size=32k,mode=0700")
        os.chown(RUNTIME, owner.st_uid, owner.st_gid)
        for name, content in files.items():
            with open(f"{RUNTIME}/{name}", "wb",
                      opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write(content)
            os.chown(f"{RUNTIME}/{name}", owner.st_uid, owner.st_gid)
        self.addCleanup(self.large_runtime)
        return 4096

    def large_runtime(self):
        """Back to the one before, as a reboot would: its mark is older than the ledger is now."""
        self.bed.world.executor.stop()
        kernel.unmount(RUNTIME)
        self.bed.world.executor.start()
        oracle.demand(self.bed.awake()["running"], "a mark that the ledger is past halts")


if __name__ == "__main__":
    tap.main("system/fault-boot")
