#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""kill -9 of executor and runner, listener and worker, before each thing that they ask of the system.

What was not consumed can be handed over again; what was consumed is done, failed or unknown, never
run again, and an unknown one holds the same wish up until a person has ended it.
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import crash, fault, oracle, steps, tap  # noqa: E402

KILLS = (fault.DEATH, fault.TORN_DEATH)
KEY_KILLS = ((fault.DEATH, fault.CREATE), (fault.DEATH, fault.WRITE), (fault.TORN_DEATH, fault.WRITE),
             (fault.DEATH, fault.RENAME))


class Kill(steps.Steps, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = crash.Bed(most=4 if crash.sanitized() else 8)
        cls.bed.start()
        cls.addClassCleanup(cls.bed.say_covered)
        cls.addClassCleanup(cls.bed.world.check_logs)
        cls.addClassCleanup(cls.bed.stop)

    def setUp(self):
        self.bed.ends.clear()

    def sweep(self, step, roles, kinds=(fault.DEATH,), **options):
        count = self.bed.sweep(self, step, kinds, roles=roles, **options)
        print(f"# {self.id().rpartition('.')[2]}: {count} cases {self.bed.ends}", flush=True)
        self.bed.works()

    def execute_both(self):
        """The listener is needed between two."""
        requests = self.before(lambda: [self.bed.approved(), self.bed.approved()])
        values = {}
        with self.bed.harmed():
            for request in requests:
                values[request] = self.bed.broker.execute(request)
        for request in requests:
            ended = crash.Ended()
            ended.value = values.get(request)
            self.bed.settle(request, ended)

    def test_worker_that_executes(self):
        self.sweep(self.execute, fault.EXECUTOR_SERVES)
        if self.bed.every:
            self.assertTrue(self.bed.ends["unknown"] and self.bed.ends["done"], self.bed.ends)

    def test_worker_that_executes_in_a_write(self):
        self.sweep(self.execute, fault.EXECUTOR_SERVES, (fault.TORN_DEATH,))

    def test_runners_worker(self):
        """Dead before the module has done a thing it is unknown too: nobody can know."""
        self.sweep(self.execute, fault.RUNNER_SERVES)
        self.assertTrue(self.bed.ends.get("unknown"), self.bed.ends)

    def test_runners_worker_in_a_write(self):
        """What it answers is torn: no answer at all."""
        self.sweep(self.execute, fault.RUNNER_SERVES, (fault.TORN_DEATH,),
                   prefix="/memfd:")

    def test_runners_listener(self):
        self.sweep(self.execute_both, fault.RUNNER)

    def test_runners_worker_at_its_start(self):
        self.sweep(self.execute, fault.RUNNER_WORKER)

    def test_executors_listener(self):
        self.sweep(self.execute_both, fault.EXECUTOR)

    def test_executors_worker_at_its_start(self):
        def step():
            with self.bed.harmed():
                self.bed.admin.status()
                self.bed.admin.status()
            self.assertTrue(self.bed.awake()["running"])
            self.bed.look()
        self.sweep(step, fault.EXECUTOR_WORKER, (fault.DEATH,))

    def test_answer(self):
        self.sweep(self.answer, fault.EXECUTOR_SERVES, KILLS)

    def test_close(self):
        self.sweep(lambda: self.close("expired"), fault.EXECUTOR_SERVES, KILLS)

    def test_y_each_kind_and_file(self):
        self.bed.cover(self, self.execute, KILLS,
                       (f"{fault.LEDGER}ledger.db-wal", f"{fault.MARK}mark.new"),
                       fault.EXECUTOR_SERVES)
        self.bed.works()

    def test_prepare(self):
        self.sweep(self.prepare, fault.EXECUTOR_SERVES)

    def test_enrol(self):
        self.sweep(self.enrol, fault.EXECUTOR_SERVES)

    def test_resolve(self):
        self.sweep(self.resolve, fault.EXECUTOR | fault.EXECUTOR_SERVES, KILLS)

    def test_prune(self):
        self.sweep(self.prune, fault.EXECUTOR | fault.EXECUTOR_SERVES, KILLS)

    def test_first_start(self):
        with self.last_ledger_forgotten():
            self.bed.sweep(self, self.first_start, KILLS, roles=fault.EXECUTOR_WORKER)
            self.bed.each(self, self.first_start, fault.EXECUTOR_WORKER, steps.SEAL_KEY, KEY_KILLS)

    def test_host_key(self):
        self.bed.each(self, self.host_key, fault.EXECUTOR_SERVES, steps.HOST_KEY,
                      (*KEY_KILLS, (fault.DEATH, fault.SYNC)))
        self.bed.works()

    def test_resume(self):
        """After a mark that is gone there is a new key and a new mark, or it is still halted."""
        def step():
            self.before(lambda: os.unlink(oracle.MARK))
            with self.bed.harmed():
                self.bed.admin.resume()
            if not self.bed.admin.status()["running"]:
                self.bed.admin.resume()
            self.assertTrue(self.bed.admin.status()["running"])
            self.made_whole(steps.SEAL_KEY)
            self.bed.look()
        self.sweep(step, fault.EXECUTOR_SERVES)
        self.bed.each(self, step, fault.EXECUTOR_SERVES, steps.SEAL_KEY, KEY_KILLS)


if __name__ == "__main__":
    tap.main("system/fault-kill")
