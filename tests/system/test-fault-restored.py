#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ledger, or ledger and queue, put back from a copy: in the same boot, and across boots.

What ran after the copy was made may be unknown to both afterwards.  Whatever then waits runs on
nobody's old word: not on an approval or a part of one that the copy has, nor on a statement from
before.  Who asks, and who approves, hears that it is halted, and why, until an administrator resumes.
"""

import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, crash, crashbus, fault, policy, room, tap  # noqa: E402
from undersign_test.crash import KIM, LEAD  # noqa: E402

# Not in /run, which has to be full.
LEDGER, QUEUE = "/var/lib/undersign-copy/ledger", "/var/lib/undersign-copy/queue"
BEHIND = "ledger-behind: the ledger is older than, or not the one of, this boot's mark"


class Restored(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room.keep_logs()
        cls.bed = crashbus.BusBed()
        cls.bed.start()
        cls.addClassCleanup(cls.bed.world.check_logs)
        cls.addClassCleanup(cls.bed.stop)

    def pending(self, *arguments, **options):
        name, state = self.bed.submit(os.urandom(6).hex(), *arguments, **options)
        self.assertEqual(state, "pending")
        return name

    def run_approved(self, name, user=LEAD):
        self.bed.approve(name, user)
        self.assertEqual(self.bed.ended(name)[0], "done")

    def restore(self, queue, boot):
        for service in self.bed.world.services():
            if queue or boot or service is self.bed.world.executor:
                service.kill()
        crash.restore_ledger(LEDGER)
        if queue:
            crashbus.restore_queue(QUEUE)
        if boot:
            self.bed.new_boot()
        self.bed.oracle.reset()
        self.bed.revive()
        self.bed.oracle.skip_marker()
        self.executed = policy.executed()

    def refused(self, name, *reasons, **options):
        """No approval of it counts, and nothing runs."""
        with self.assertRaises(bus.BusError) as caught:
            self.bed.approve(name, **options)
        self.assertIn(caught.exception.reason, reasons, caught.exception)
        self.assertEqual(policy.executed(), self.executed)

    def halted(self):
        """Agents and the administrator hear the same words."""
        self.assertEqual(self.bed.awake()["halted"], BEHIND)
        self.assertIn(f"nothing can be executed: execution is halted\n  halted: {BEHIND}\n",
                      self.bed.world.ctl("status"))
        for action in ("crash.ask", "crash.free"):
            with self.assertRaises(bus.BusError) as caught:
                self.bed.submit(os.urandom(6).hex(), action)
            self.assertEqual((caught.exception.name, caught.exception.text),
                             (bus.ERROR + "Halted", BEHIND))
        self.assertEqual(policy.executed(), self.executed)

    def resume(self):
        self.bed.world.ctl("resume", "it is the copy that was put back")
        self.assertIn("execution is running\n", self.bed.world.ctl("status"))

    def successor(self, name):
        path = self.bed.wait_for(lambda: self.bed.state(name)[1].get("successor"), "it is asked anew")
        return path[len(crashbus.PREFIX):]

    # --- the ledger alone ---

    def older_ledger(self, boot):
        waits, used, denied = self.pending(), self.pending(), self.pending()
        old = {name: self.bed.statement(name) for name in (waits, used)}
        crash.copy_ledger(LEDGER)
        self.run_approved(used)
        self.restore(queue=False, boot=boot)
        if not boot:
            self.halted()
            self.refused(waits, "ledger-behind", statement=old[waits])
            self.assertEqual(self.bed.state(waits)[0], "pending")
            self.bed.deny(denied)
            self.bed.closed(denied, "denied")
            self.resume()
            # What is asked anew is what the agent and the person have in its place.
            self.refused(waits, "bad-seal", statement=old[waits])
            self.assertEqual(self.bed.state(waits)[0], "refused")
            waits = self.successor(waits)
        else:
            self.assertEqual(self.bed.ended(waits)[0], "pending")
            self.refused(waits, "statement-changed", statement=old[waits])
        # The queue has kept that it ran.
        self.assertEqual(self.bed.state(used)[0], "done")
        self.refused(used, "too-late", statement=old[used])
        self.assertEqual(self.bed.ended(waits)[0], "pending")
        self.run_approved(waits)
        self.bed.look()
        self.assertEqual(set(self.bed.oracle.ran), {waits})

    def test_an_older_ledger(self):
        self.older_ledger(boot=False)

    def test_an_older_ledger_after_a_reboot(self):
        """Nobody can notice it, and no approval from before counts."""
        self.older_ledger(boot=True)

    # --- both ---

    def approved_and_copied(self):
        """Ledger and queue are copied while one is approved that cannot run yet, /run being full; it
        runs right after."""
        name = self.pending()
        with room.none_in_run():
            self.assertEqual(self.bed.approve(name), "approved")
            for service in self.bed.world.services():
                service.kill()
            crash.copy_ledger(LEDGER)
            shutil.rmtree(QUEUE, ignore_errors=True)
            shutil.copytree(fault.QUEUE, QUEUE)
        self.bed.revive()
        self.assertEqual(self.bed.ended(name)[0], "done")
        return name

    def came_to_nothing(self, approved, why):
        """Its approval is void; what takes its place has none, and nothing does while it is halted."""
        state, details = self.bed.ended(approved)
        self.assertEqual((state, details["executed"], details["reason"].partition(":")[0]),
                         ("refused", "no", why))
        if why == "ledger-behind":
            self.assertNotIn("successor", details)
            return []
        return [self.successor(approved)]

    def both_older(self, boot):
        used, half = self.pending(), self.pending("crash.two")
        old = {name: self.bed.statement(name) for name in (used, half)}
        self.assertEqual(self.bed.approve(half, LEAD), "pending")
        approved = self.approved_and_copied()
        self.run_approved(used)
        self.assertEqual(self.bed.approve(half, LEAD), "pending")  # again, after a start of the broker
        self.run_approved(half, KIM)
        self.restore(queue=True, boot=boot)
        if not boot:
            self.halted()
            for name in (used, half):
                self.refused(name, "statement-changed", "unreachable", statement=old[name])
            self.resume()
        waits = [used, half, *self.came_to_nothing(approved, "bad-seal" if boot else "ledger-behind")]
        for name in waits:
            self.assertEqual(self.bed.ended(name)[0], "pending")
            self.assertEqual(self.bed.card(name)[1]["answers"], 0)
        for name in (used, half):
            self.refused(name, "statement-changed", statement=old[name])
        # Of two that it needs, it has one: the other one was before.
        self.assertEqual(self.bed.approve(half, KIM), "pending")
        self.assertEqual(policy.executed(), self.executed)
        for name in waits:
            self.bed.deny(name)
            self.bed.closed(name, "denied")
        self.bed.look()
        self.assertEqual(policy.executed(), self.executed)

    def test_both_older(self):
        self.both_older(boot=False)

    def test_both_older_after_a_reboot(self):
        self.both_older(boot=True)


if __name__ == "__main__":
    tap.main("system/fault-restored")
