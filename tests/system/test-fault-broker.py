#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The broker with a disk that fails, and kill -9 of it before each thing that it asks of the system.

No request is lost, told to have ended as it did not, or run without its approval; who called hears a
typed error; and the copies of files are those of the requests that wait.
"""

import contextlib
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, crash, crashbus, fault, oracle, tap, world  # noqa: E402
from undersign_test.crash import LEAD  # noqa: E402

SPOOL = f"{fault.QUEUE}spool"
SORTS = ((fault.FULL, fault.FULL_ONCE), (fault.BROKEN_ONCE, fault.BROKEN),
         (fault.TORN_WRITE, fault.CUT, fault.TORN_DEATH), (fault.DEATH,))
WRITTEN = (f"{fault.QUEUE}queue.db-wal",)
PAPER = [bus.File(b"first paper " * 1000), bus.File(b"second")]


class Broker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = crashbus.BusBed(most=2 if crash.sanitized() else 5)
        cls.bed.start()
        cls.addClassCleanup(cls.bed.say_covered)
        cls.addClassCleanup(cls.bed.world.check_logs)
        cls.addClassCleanup(cls.bed.stop)

    def sweep(self, step):
        """Few of a broker's operations are on its files, so that each sort of failure has its turn; with
        sanitizers, which take long, two sorts."""
        for kinds in (sum(SORTS[:3], ()), SORTS[3]) if self.bed.sanitized else SORTS:
            prefix = "" if fault.DEATH in kinds else fault.QUEUE
            count = self.bed.sweep(self, step, kinds, roles=fault.BROKER, prefix=prefix)
            print(f"# {self.id().rpartition('.')[2]}: {kinds[0].name}: {count} cases", flush=True)

    def before(self, step):
        with self.bed.faults.paused():
            return step()

    def pending(self):
        name, state = self.bed.submit(os.urandom(6).hex())
        self.assertEqual(state, "pending")
        return name

    def copies_are_of(self, *names):
        """What a broken disk did not let it remove, goes at the next start."""
        def are():
            return sorted(os.listdir(SPOOL)) == sorted(names)
        if self.bed.faults.fired:
            with contextlib.suppress(TimeoutError):
                self.bed.wait_for(are, "", timeout=0.2)
                return
            self.bed.world.broker.kill()
            self.bed.revive()
            for name in names:
                self.bed.ended(name)
        self.bed.wait_for(are, f"the copies are those of {names}: {os.listdir(SPOOL)}")

    def submit(self):
        target = os.urandom(6).hex()
        known = set(self.before(self.bed.requests))
        with self.bed.harmed() as ended:
            ended.value = self.bed.submit(target, files=PAPER)
        found = set(self.bed.requests()) - known
        if ended.value is not None:
            self.assertEqual(found, {ended.value[0]})
        self.assertLessEqual(len(found), 1)
        for name in found:
            self.assertEqual(self.bed.ended(name)[0], "pending")
        again, state = self.bed.submit(target, files=PAPER)
        self.assertEqual(state, "pending")
        self.assertIn(again, found or [again])
        self.copies_are_of(again)
        self.bed.withdraw(again)
        self.copies_are_of()
        self.bed.look()

    def test_submit(self):
        self.sweep(self.submit)

    def test_submit_of_what_is_allowed(self):
        """It ran or it did not; the agent can tell, and with its key it does not run twice."""
        def step():
            key = os.urandom(6).hex()
            with self.bed.harmed() as ended:
                ended.value = self.bed.submit(key, "crash.free", idempotency_key=key)
            name, _ = self.bed.submit(key, "crash.free", idempotency_key=key)
            state, details = self.bed.ended(name)
            if state == "unknown":
                self.bed.admin.resolve(name, "done" if self.ran(name) else "failed")
            else:
                self.assertEqual((state, details["executed"]), ("done", "yes"), details)
            self.bed.look()
        self.sweep(step)

    def ran(self, name):
        self.bed.oracle.look()
        return self.bed.oracle.has_run(name)

    def test_approve(self):
        def step():
            name = self.before(self.pending)
            statement = self.before(lambda: self.bed.statement(name))
            with self.bed.harmed() as ended:
                ended.value = self.bed.approve(name, statement=statement)
            state, details = self.bed.ended(name)
            if state == "pending":  # the approval was not taken: it is asked for again
                self.assertFalse(self.ran(name))
                self.bed.approve(name)
                state, details = self.bed.ended(name)
            if state == "unknown":
                self.bed.admin.resolve(name, "done" if self.ran(name) else "failed")
                self.bed.look()
                return
            self.assertEqual((state, details["executed"]), ("done", "yes"), details)
            self.bed.look()
            self.assertTrue(self.bed.oracle.has_run(name))
        self.sweep(step)

    def ends(self, act, why):
        """@act ends a pending request, in the broker and in the ledger."""
        def step():
            name = self.before(self.pending)
            with self.bed.harmed() as ended:
                ended.value = act(name) or "told"
            state, _ = self.bed.ended(name)
            if ended.value is not None:
                self.assertEqual(state, why)
            if state == "pending":
                act(name)
                state = self.bed.state(name)[0]
            self.assertEqual(state, why)
            self.bed.closed(name, why)
            with self.assertRaises(bus.BusError):
                self.bed.approve(name)
            self.bed.look()
            self.assertFalse(self.bed.oracle.has_run(name))
        self.sweep(step)

    def test_deny(self):
        self.ends(self.bed.deny, "denied")

    def test_withdraw(self):
        self.ends(self.bed.withdraw, "withdrawn")

    def test_supersede(self):
        """Of the old and the new one at most one waits, and neither runs unapproved."""
        def step():
            old = self.before(self.pending)
            with self.bed.harmed() as ended:
                ended.value = self.bed.submit(os.urandom(6).hex(),
                                              supersedes=crashbus.PREFIX + old)
            state, details = self.bed.ended(old)
            self.assertIn(state, ("pending", "superseded"))
            if ended.value is not None:
                self.assertEqual(state, "superseded")
                self.bed.closed(old, "superseded")
                self.assertEqual(self.bed.ended(ended.value[0])[0], "pending")
            for name, found in self.bed.requests().items():
                if found == "pending":
                    self.bed.ended(name)
                    self.bed.withdraw(name)
            self.bed.look()
        self.sweep(step)

    def test_y_each_kind_and_file(self):
        """Whatever was chosen, each kind of fault and each file that is written has been met."""
        self.bed.cover(self, self.submit, fault.DISKS + (fault.TORN_DEATH,), WRITTEN, fault.BROKER)

    def test_restart(self):
        """Whatever fails while it starts, no request is lost, and none is told to have ended."""
        name = self.bed.submit("restart", files=PAPER)[0]
        done = self.pending()
        self.bed.approve(done)
        self.assertEqual(self.bed.ended(done)[0], "done")

        def step():
            self.before(self.bed.world.broker.kill)
            self.bed.faults.begin_anew()
            self.bed.world.broker.start()
            self.bed.wait_for_broker_or_fault()
            self.bed.faults.disarm()
            self.bed.revive()
            self.bed.wait_for_broker()
            state, details = self.bed.ended(name)
            self.assertEqual(state, "pending", details)
            self.assertEqual(self.bed.state(done)[0], "done")
            self.copies_are_of(name)
            self.bed.look()
            if self.bed.every:  # lest each start have a longer log to read than the one before
                self.bed.world.restart_broker()
        self.sweep(step)
        self.bed.withdraw(name)

    def test_no_executor_for_good(self):
        """Its ledger cannot be read: every worker ends at its start.  Calls end, typed, and later
        all of it goes on."""
        name = self.pending()
        statement = self.bed.statement(name)
        self.bed.faults.arm(fault.BROKEN, 1, fault.EXECUTOR_WORKER | fault.EXECUTOR_SERVES,
                            fault.LEDGER)
        for call in (lambda: self.bed.submit("broken"),
                     lambda: self.bed.approve(name, statement=statement)):
            with self.assertRaises(bus.BusError) as caught:
                call()
            self.assertEqual(caught.exception.name, bus.ERROR + "Unavailable", caught.exception)
        self.bed.deny(name)
        self.bed.faults.disarm()
        self.bed.awake()
        self.bed.closed(name, "denied")
        oracle.demand(not self.ran(name), "it ran")

    def test_the_bus_restarts(self):
        """The broker ends with the bus and begins with the next one; what waited, waits."""
        name = self.pending()
        statement = self.bed.statement(name)
        self.bed.hang_up()
        self.bed.world.bus.restart()
        world.wait_until(lambda: not self.bed.world.broker.running, "the broker ends, too")
        self.bed.world.polkit.restart()
        self.bed.revive()
        self.bed.wait_for_broker()
        self.assertEqual(self.bed.ended(name)[0], "pending")
        with self.assertRaises(bus.BusError):
            self.bed.approve(name, statement=statement)
        self.bed.approve(name)
        self.assertEqual(self.bed.ended(name)[0], "done")
        self.bed.look()

    def test_a_deadline_passes(self):
        """While it waits, and while the broker is away."""
        first, second = self.pending(), self.pending()
        self.bed.pass_time(24 * 3600 + 1)
        self.bed.wait_for(lambda: self.bed.state(first)[0] == "expired", "it expires")
        self.bed.closed(first, "expired")
        self.bed.closed(second, "expired")
        third = self.pending()
        self.bed.world.broker.kill()
        self.bed.faults.move_clocks(realtime=25 * 3600, boottime=25 * 3600)
        self.bed.revive()
        self.bed.wait_for(lambda: self.bed.state(third)[0] == "expired", "it expires")
        self.bed.closed(third, "expired")
        self.bed.look()

    def test_a_reboot(self):
        """What waited is asked anew, with a new seal; a statement from before is none."""
        name = self.pending()
        statement = self.bed.statement(name)
        self.bed.world.broker.kill()
        self.bed.new_boot()
        self.bed.revive()
        self.bed.wait_for_broker()
        self.assertEqual(self.bed.ended(name)[0], "pending")
        with self.assertRaises(bus.BusError):
            self.bed.approve(name, LEAD, statement)
        self.bed.approve(name)
        self.assertEqual(self.bed.ended(name)[0], "done")
        self.bed.look()


if __name__ == "__main__":
    tap.main("system/fault-broker")
