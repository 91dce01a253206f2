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

from undersign_test import authenticator, crash, fault, handover, oracle, tap  # noqa: E402
from undersign_test.crash import KIM, LEAD  # noqa: E402


class Kill(unittest.TestCase):
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

    def before(self, step):
        with self.bed.faults.paused():
            return step()

    def execute(self):
        request = self.before(self.bed.approved)
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.execute(request)
        self.bed.settle(request, ended)

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
        def step():
            request = self.before(self.bed.prepared)
            body = self.bed.broker.sign(request, LEAD, self.bed.keys[LEAD])
            with self.bed.harmed() as ended:
                ended.value = self.bed.broker.answer(request, body)
            self.assertIn(ended.value, (None, "approved"))
            self.assertEqual(self.bed.broker.answer(request, body), "approved")
            self.bed.look()
        self.sweep(step, fault.EXECUTOR_SERVES, (fault.DEATH, fault.TORN_DEATH))

    def test_close(self):
        def step():
            request = self.before(self.bed.approved)
            with self.bed.harmed():
                self.bed.broker.close(request, "expired")
            if self.bed.broker.state(request) == "none":
                self.bed.broker.close(request, "expired")
            self.assertEqual(self.bed.broker.query(request)[:2], ("closed", "expired"))
            self.bed.assert_refused("closed", self.bed.broker.execute, request)
            self.bed.look()
        self.sweep(step, fault.EXECUTOR_SERVES, (fault.DEATH, fault.TORN_DEATH))

    def test_y_each_kind_and_file(self):
        self.bed.cover(self, self.execute, (fault.DEATH, fault.TORN_DEATH),
                       (f"{fault.LEDGER}ledger.db-wal", f"{fault.MARK}mark.new"),
                       fault.EXECUTOR_SERVES)
        self.bed.works()

    def test_prepare(self):
        def step():
            request = handover.Request({"target": os.urandom(8).hex()}, "crash.ask")
            with self.bed.harmed():
                self.bed.broker.prepare(request)
            self.assertEqual(self.bed.broker.state(request), "none")
            self.bed.broker.prepare(request)
            self.bed.look()
        self.sweep(step, fault.EXECUTOR_SERVES)

    def test_enrol(self):
        def step():
            key = authenticator.Authenticator()
            with self.bed.harmed() as ended:
                ended.value = self.bed.admin.enrol(KIM, key, self.bed.host)
            try:
                self.bed.admin.enrol(KIM, key, self.bed.host)
                self.assertIsNone(ended.value)
            except handover.Refused as error:
                self.assertEqual(error.reason, "credential-exists")
            self.bed.look()
        self.sweep(step, fault.EXECUTOR_SERVES)

    def test_first_start(self):
        def step():
            self.before(self.bed.new_ledger)
            self.bed.start_harmed()
            self.bed.faults.disarm()
            status = self.bed.awake()
            self.assertEqual((status["halted"], status["passkeys"]), ("", 0))
            self.bed.look()
        try:
            self.bed.sweep(self, step, (fault.DEATH, fault.TORN_DEATH), roles=fault.EXECUTOR_WORKER)
        finally:
            self.bed.new_ledger()
            self.bed.world.executor.start()
            for user in (LEAD, KIM):
                self.bed.enrol(user)
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
            self.bed.look()
        self.sweep(step, fault.EXECUTOR_SERVES)


if __name__ == "__main__":
    tap.main("system/fault-kill")
