#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The broker with a disk that fails, and kill -9 of it before each thing that it asks of the system.

No request is lost, told to have ended as it did not, or run without its approval; who called hears a
typed error; the copies of files are those of the requests that wait; and a run or a pause is as was
told.
"""

import contextlib
import itertools
import os
import shutil
import sqlite3
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, crash, crashbus, fault, oracle, policy, room, tap, world  # noqa: E402
from undersign_test.crash import LEAD  # noqa: E402

COPY = "/run/undersign-test/queue"
OWNER = "hr.jones"
DAY, KEPT_DAYS = 24 * 3600, 30
SPOOL, ID_KEY = f"{fault.QUEUE}spool", f"{fault.QUEUE}id-key"
SORTS = ((fault.FULL, fault.FULL_ONCE), (fault.BROKEN_ONCE, fault.BROKEN),
         (fault.TORN_WRITE, fault.CUT, fault.TORN_DEATH), (fault.DEATH,))
WRITTEN = (f"{fault.QUEUE}queue.db-wal",)
PAPER = [bus.File(b"first paper " * 1000), bus.File(b"second")]


class Broker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room.keep_logs()
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

    def pending(self, **options):
        name, state = self.bed.submit(os.urandom(6).hex(), **options)
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
        for number, paper in enumerate(PAPER):
            with open(f"{SPOOL}/{again}/{number}", "rb") as file:
                self.assertEqual(file.read(), paper.content)
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

    def test_submit_that_is_not_synced(self):
        """Nothing comes of it after a crash: what its commit has written can be read all the same."""
        executed = policy.executed()
        self.bed.run()
        for kind, action in itertools.product((fault.BROKEN_ONCE, fault.BROKEN),
                                              ("crash.ask", "crash.free")):
            known = self.bed.requests()
            self.bed.faults.arm(kind, 1, fault.BROKER, *WRITTEN, fault.SYNC)
            with self.assertRaises(bus.BusError) as caught:
                self.bed.submit(os.urandom(6).hex(), action)
            self.assertEqual(caught.exception.name, bus.ERROR + "Unavailable", caught.exception)
            self.assertTrue(self.bed.faults.disarm())
            self.bed.world.broker.kill()
            self.bed.revive()
            self.assertEqual(self.bed.requests(), known)
            self.bed.look()
        self.assertEqual(policy.executed(), executed)

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

    # --- runs and pauses ---

    def nothing_in(self, run, reason):
        """What is asked for in @run is refused, and not even what needs nobody runs."""
        known = self.bed.requests().keys()
        self.bed.look()
        ran = set(self.bed.oracle.ran)
        error = self.bed.peer(crashbus.AGENT).error(
            bus.AGENT, "Submit", "(ssa{sv}a{sv})",
            (run, "crash.free", self.bed.arguments(os.urandom(6).hex(), "crash.free"), {}))
        self.assertEqual(error.reason, reason, error)
        self.assertEqual(self.bed.requests().keys(), known)
        self.bed.look()
        self.assertEqual(set(self.bed.oracle.ran), ran)

    def test_open_run(self):
        """A label has one run, whatever failed: which was told, and is so after a restart."""
        def step():
            label = os.urandom(6).hex()
            with self.bed.harmed() as ended:
                ended.value = self.bed.open_run(label)
            run = self.bed.open_run(label)
            self.assertIn(ended.value, (None, run))
            self.bed.world.restart_broker(kill=True)
            self.assertEqual(self.bed.open_run(label), run)
            self.bed.close_run(run)
            self.nothing_in(run, "not-found")
        self.sweep(step)

    @staticmethod
    def runs_of(label):
        """[(id, initiator)] that a broker which begins now would find."""
        with contextlib.closing(sqlite3.connect(f"file:{fault.QUEUE}queue.db?mode=ro", uri=True)) as queue:
            return queue.execute("SELECT id, initiator FROM runs WHERE label = ?", (label,)).fetchall()

    def test_open_run_for(self):
        """The agent's own gives way to it; what either has under its name, the other never gets."""
        def step():
            label = os.urandom(6).hex()
            own = self.before(lambda: self.bed.open_run(label))
            with self.bed.harmed() as ended:
                ended.value = self.bed.open_run_for(label, OWNER)
            self.bed.world.broker.kill()
            found = self.runs_of(label)
            if ended.value is not None:
                self.assertEqual(found, [(ended.value, OWNER)])
            elif found and found != [(own, "")]:
                self.assertEqual([initiator for _, initiator in found], [OWNER])
            self.bed.revive()
            run = self.bed.open_run_for(label, OWNER)
            self.assertEqual(self.runs_of(label), [(run, OWNER)])
            self.nothing_in(own, "not-found")
            self.bed.close_run(run, OWNER)
            self.nothing_in(run, "not-found")
        self.sweep(step)

    def test_close_run(self):
        """What was told to be closed stays so; what waits in it waits on, and does not run by it."""
        def step():
            label = os.urandom(6).hex()
            waits = self.before(lambda: self.pending(label=label))
            run = self.before(lambda: self.bed.open_run(label))
            with self.bed.harmed() as ended:
                ended.value = self.bed.close_run(run) or "told"
            self.bed.world.restart_broker(kill=True)
            if ended.value is None:
                self.close_again(run)
            self.nothing_in(run, "not-found")
            another = self.bed.open_run(label)
            self.assertNotEqual(another, run)
            self.bed.close_run(another)
            self.assertEqual(self.bed.ended(waits)[0], "pending")
            self.assertFalse(self.ran(waits))
            self.bed.withdraw(waits)
        self.sweep(step)

    def close_again(self, run):
        try:
            self.bed.close_run(run)
        except bus.BusError as error:
            self.assertEqual(error.reason, "not-found", error)

    def paused(self):
        return self.bed.peer(crashbus.AGENT).call(bus.AGENT, "GetInfo")[0]["paused"]

    def pause_step(self, seconds):
        """Told, it holds after a restart.  What was not told may turn up then, where a disk failed while
        it synced: the agent is as somebody has asked, and what is asked again holds."""
        def step():
            run = self.before(lambda: self.bed.open_run("ticket"))
            self.before(lambda: self.bed.pause(DAY - seconds))
            with self.bed.harmed() as ended:
                ended.value = self.bed.pause(seconds) or "told"
            paused = self.paused()
            self.bed.world.restart_broker(kill=True)
            if ended.value is not None:
                self.assertEqual((paused, self.paused()), (seconds > 0, seconds > 0))
            elif seconds > 0:
                self.assertGreaterEqual(self.paused(), paused)
            self.bed.pause(DAY)
            self.nothing_in(run, "paused")
        return step

    def test_pause_agent(self):
        self.addCleanup(self.bed.pause, 0)
        self.sweep(self.pause_step(DAY))

    def test_pause_that_is_ended(self):
        self.addCleanup(self.bed.pause, 0)
        self.sweep(self.pause_step(0))

    def test_y_each_kind_and_file(self):
        """Whatever was chosen, each kind of fault and each file that is written has been met."""
        self.bed.cover(self, self.submit, fault.DISKS + (fault.TORN_DEATH,), WRITTEN, fault.BROKER)

    def test_the_copies_of_files(self):
        self.bed.each(self, self.submit, fault.BROKER, SPOOL, (
            (fault.FULL, fault.MKDIR), (fault.FULL_ONCE, fault.CREATE), (fault.FULL, fault.WRITE),
            (fault.TORN_WRITE, fault.WRITE), (fault.CUT, fault.WRITE),
            (fault.TORN_DEATH, fault.WRITE)))

    def test_first_start(self):
        """The key by which an idempotency key becomes an id is made whole and kept, or not made."""
        def step():
            self.before(self.bed.world.broker.kill)
            for entry in os.scandir(fault.QUEUE):
                (shutil.rmtree if entry.is_dir() else os.unlink)(entry.path)
            self.bed.runs.clear()
            self.bed.faults.begin_anew()
            self.bed.world.broker.start()
            self.bed.wait_for_broker_or_fault()
            self.bed.faults.disarm()
            self.bed.revive()
            self.bed.wait_for_broker()
            key = os.urandom(6).hex()
            name = self.keyed(key)[0]
            with open(ID_KEY, "rb") as file:
                made = file.read()
            self.assertEqual((len(made), os.path.exists(f"{ID_KEY}.new")), (32, False))
            self.bed.world.restart_broker()
            with open(ID_KEY, "rb") as file:
                self.assertEqual(file.read(), made)
            self.bed.withdraw(name)
            self.bed.closed(name, "withdrawn")
            self.assertEqual(self.keyed(key), (name, "withdrawn"))
            self.bed.look()
        self.bed.each(self, step, fault.BROKER, ID_KEY, (
            (fault.FULL, fault.CREATE), (fault.FULL, fault.WRITE), (fault.TORN_WRITE, fault.WRITE),
            (fault.CUT, fault.WRITE), (fault.TORN_DEATH, fault.WRITE), (fault.BROKEN_ONCE, fault.SYNC),
            (fault.DEATH, fault.RENAME), (fault.FULL_ONCE, fault.RENAME)))

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

    def test_copies_that_cannot_be_read(self):
        """After a start only the card of what waits needs them; and nobody has to wait before they
        deny or withdraw."""
        waits, denied, withdrawn = (self.pending(files=PAPER) for _ in range(3))
        self.bed.world.broker.kill()
        self.bed.faults.arm(fault.BROKEN, 1, fault.BROKER, f"{SPOOL}/", fault.OPEN)
        self.bed.world.broker.start()
        self.bed.wait_for_broker()
        self.bed.deny(denied)
        self.bed.withdraw(withdrawn)
        self.bed.closed(denied, "denied")
        self.bed.closed(withdrawn, "withdrawn")
        self.bed.wait_for(lambda: self.bed.state(waits)[1]["executed"] == "no", "it did not run")
        self.bed.wait_for(lambda: self.bed.faults.fired, "a copy is read")
        with self.assertRaises(bus.BusError) as caught:
            self.bed.card(waits)
        self.assertEqual(caught.exception.reason, "unreachable", caught.exception)
        self.assertEqual(self.bed.state(waits)[0], "pending")
        self.bed.faults.disarm()
        self.assertEqual(self.bed.ended(waits)[0], "pending")
        self.bed.approve(waits)
        self.assertEqual(self.bed.ended(waits)[0], "done")
        self.bed.world.restart_broker()
        self.copies_are_of()
        self.bed.look()

    def test_no_room_in_run(self):
        """Broker and runner have nothing there, and begin anew; the executor can note nothing, so that
        nothing runs.  What was approved, or needs nobody, runs once when there is room."""
        waits = self.pending(files=PAPER)
        key = os.urandom(6).hex()
        with room.none_in_run():
            for service in self.bed.world.services():
                service.kill()
            self.bed.revive()
            self.assertEqual(self.bed.ended(waits)[0], "pending")
            denied, withdrawn = self.pending(files=PAPER), self.pending()
            self.assertEqual(self.bed.approve(waits), "approved")
            free, state = self.bed.submit("room", "crash.free", idempotency_key=key)
            self.assertEqual(state, "approved")
            self.bed.deny(denied)
            self.bed.withdraw(withdrawn)
            self.assertFalse(self.ran(waits) or self.ran(free))
            self.bed.closed(denied, "denied")
            self.bed.closed(withdrawn, "withdrawn")
            ran = set(self.bed.oracle.ran)
        self.assertEqual(self.bed.ended(waits)[0], "done")
        self.assertEqual(self.bed.submit("room", "crash.free", idempotency_key=key)[0], free)
        self.assertEqual(self.bed.ended(free)[0], "done")
        self.bed.look()
        self.assertEqual(set(self.bed.oracle.ran) - ran, {waits, free})

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

    def put_back(self, boot=False):
        """An older queue beside the ledger of today, as one who restores half a backup has it."""
        self.bed.world.broker.kill()
        crashbus.restore_queue(COPY)
        if boot:
            self.bed.new_boot()
        self.bed.revive()
        self.bed.wait_for_broker()

    def keyed(self, key):
        """What one who lost the answer does."""
        return self.bed.submit(key, idempotency_key=key, files=PAPER)

    def older_queue(self, boot):
        """What the queue has forgotten, the ledger knows."""
        ends = {self.pending(files=PAPER): why for why in ("done", "denied", "withdrawn",
                                                           "superseded", "pending")}
        done, denied, withdrawn, superseded, waits = ends
        early, late = os.urandom(6).hex(), os.urandom(6).hex()
        keyed = self.keyed(early)[0]
        ends[keyed] = "done"
        statements = {name: self.bed.statement(name) for name in ends}
        self.bed.copy_queue(COPY)
        for name in (done, keyed, self.keyed(late)[0]):
            self.bed.approve(name)
            self.assertEqual(self.bed.ended(name)[0], "done")
        self.bed.deny(denied)
        self.bed.withdraw(withdrawn)
        self.bed.submit(os.urandom(6).hex(), supersedes=crashbus.PREFIX + superseded)
        for name in (denied, withdrawn, superseded):
            self.bed.closed(name, ends[name])

        self.put_back(boot)
        for name, why in ends.items():
            state, details = self.bed.ended(name)
            self.assertEqual((state, details["executed"]),
                             (why, "yes" if why == "done" else "no"), details)
        self.assertEqual(self.keyed(early), (keyed, "done"))
        with self.assertRaises(bus.BusError) as caught:  # it cannot run twice
            self.keyed(late)
        self.assertEqual(caught.exception.reason, "key-reused", caught.exception)
        for name in ends:
            for statement in (statements[name], None) if name != waits else (statements[name],):
                with self.assertRaises(bus.BusError) as caught:
                    self.bed.approve(name, statement=statement)
                self.assertIn(caught.exception.reason, ("too-late", "statement-changed"))
        self.bed.look()
        self.bed.approve(waits)
        self.assertEqual(self.bed.ended(waits)[0], "done")
        self.bed.look()

    def test_an_older_queue(self):
        self.older_queue(boot=False)

    def test_an_older_queue_after_a_reboot(self):
        self.older_queue(boot=True)

    def test_the_wall_clock_goes_wrong(self):
        """It ends nothing while the broker runs.  At its start, which may be that of another boot, what
        should have been answered by then has expired; and what ended long ago is forgotten, but for
        the ledger, so that a key cannot run it again."""
        key = os.urandom(6).hex()
        done = self.keyed(key)[0]
        self.bed.approve(done)
        self.assertEqual(self.bed.ended(done)[0], "done")
        for days in (-20 * 365, -2, KEPT_DAYS - 1, KEPT_DAYS + 1):
            with self.subTest(f"{days} days"):
                early = self.pending()
                self.bed.faults.move_clocks(realtime=days * DAY)
                try:
                    self.with_clock(days, done, key, early, self.pending())
                finally:
                    self.bed.faults.move_clocks(realtime=-days * DAY)
                    self.bed.world.restart_broker()

    def with_clock(self, days, done, key, early, late):
        for name in (early, late):
            self.assertEqual(self.bed.ended(name)[0], "pending")
        self.bed.world.restart_broker()
        self.assertEqual(self.bed.ended(late)[0], "pending")
        self.assertEqual(self.bed.ended(early)[0], "expired" if days > 0 else "pending")
        if days > KEPT_DAYS:
            with self.assertRaises(bus.BusError) as caught:
                self.bed.state(done)
            self.assertEqual(caught.exception.reason, "not-found")
            with self.assertRaises(bus.BusError) as caught:
                self.keyed(key)
            self.assertEqual(caught.exception.reason, "key-reused", caught.exception)
        else:
            self.assertEqual(self.bed.state(done)[0], "done")
            self.assertEqual(self.keyed(key), (done, "done"))
        for name in (late, early)[:2 - (days > 0)]:
            self.bed.approve(name)
            self.assertEqual(self.bed.ended(name)[0], "done")
        if days > 0:
            self.bed.closed(early, "expired")
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
