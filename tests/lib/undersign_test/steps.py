# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is done while a fault strikes, and what must be true afterwards: the same for a disk that
fails and for a process that is killed.

A Steps is half a test case; the other half has the bed.
"""

import contextlib
import os

from . import authenticator, handover
from .crash import KIM, LEAD


class Steps:
    bed = None

    def before(self, step, *arguments):
        """What a case needs beforehand, unharmed."""
        with self.bed.faults.paused():
            return step(*arguments)

    def prepare(self):
        request = handover.Request({"target": os.urandom(8).hex()}, "crash.ask")
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.prepare(request)
        self.bed.broker.prepare(request)
        self.assertEqual(self.bed.broker.state(request), "none")
        self.bed.look()

    def answer(self):
        request = self.before(self.bed.prepared)
        body = self.bed.broker.sign(request, LEAD, self.bed.keys[LEAD])
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.answer(request, body)
        self.assertIn(ended.value, (None, "approved"))
        self.assertEqual(self.bed.broker.answer(request, body), "approved")
        self.bed.look()

    def execute(self):
        request = self.before(self.bed.approved)
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.execute(request)
        self.bed.settle(request, ended)

    def close(self, *why):
        why = why or ("denied", LEAD, "not-now")
        request = self.before(self.bed.approved)
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.close(request, *why) or "closed"
        if ended.value is None and self.bed.broker.state(request) == "none":
            self.bed.broker.close(request, *why)
        self.assertEqual(self.bed.broker.query(request)[:1 + len(why)], ("closed", *why))
        self.bed.assert_refused("closed", self.bed.broker.execute, request)
        self.bed.look()

    def enrol(self):
        key = authenticator.Authenticator()
        with self.bed.harmed() as ended:
            ended.value = self.bed.admin.enrol(KIM, key, self.bed.host)
        try:
            self.bed.admin.enrol(KIM, key, self.bed.host)
            self.assertIsNone(ended.value)
        except handover.Refused as error:
            self.assertEqual(error.reason, "credential-exists")
        self.bed.look()

    def first_start(self):
        self.before(self.bed.new_ledger)
        self.bed.start_harmed()
        self.bed.faults.disarm()
        status = self.bed.awake()
        self.assertEqual((status["halted"], status["passkeys"]), ("", 0))
        self.bed.look()

    @contextlib.contextmanager
    def last_ledger_forgotten(self):
        """Around first starts: afterwards there is a ledger, and the persons have passkeys."""
        try:
            yield
        finally:
            self.bed.new_ledger()
            self.bed.world.executor.start()
            for user in (LEAD, KIM):
                self.bed.enrol(user)
        self.bed.works()
