# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is done while a fault strikes, and what must be true afterwards: the same for a disk that
fails and for a process that is killed.

A Steps is half a test case; the other half has the bed.
"""

import contextlib
import json
import os
import sqlite3
import time

from . import authenticator, bus, fault, handover, oracle
from .crash import KIM, LEAD

HOST_KEY, SEAL_KEY = f"{fault.LEDGER}host.key", f"{fault.MARK}seal.key"
CHECKPOINT = f"{fault.FOLDER}/checkpoint"
GAP = 60  # seconds between what is old and what is not


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
            try:
                self.bed.broker.close(request, *why)
            except handover.Refused as error:
                # A disk that stays full does not take it back, and a new worker finds it in the log.
                self.assertEqual(error.reason, "closed", error)
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
        self.made_whole(SEAL_KEY)
        self.bed.look()

    def made_whole(self, key):
        self.assertEqual((os.path.getsize(key), os.path.exists(f"{key}.new")), (32, False))

    def host_key(self):
        """It is made whole or not at all, and a checkpoint is signed with it or is not given."""
        self.before(lambda: os.path.exists(HOST_KEY) and os.unlink(HOST_KEY))
        with self.bed.harmed() as ended:
            ended.value = self.bed.admin.checkpoint()
        again = self.bed.admin.checkpoint()
        if ended.value is not None:
            self.assertEqual(again["key"], ended.value["key"])
        self.made_whole(HOST_KEY)
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

    # --- an administrator's words ---

    def unknown(self):
        """A request that has run, and of which nobody knows how it ended."""
        request = self.bed.approved("crash.doubt")
        self.assertEqual(self.bed.broker.execute(request), "unknown", request.result)
        return request

    def blocks(self, request):
        """Whether it holds up the same wish."""
        try:
            self.bed.broker.close(self.bed.once_more(request))
        except handover.Refused as error:
            self.assertEqual(error.reason, "intent-unknown", error)
            return True
        return False

    def resolve(self):
        """It is ended whole or not at all, and until then holds up the same wish.

        An executor goes on whose caller was killed, so that it may have ended it after a look.
        """
        request = self.before(self.unknown)
        ran = self.ran()
        with self.bed.harmed() as ended:
            ended.value = self.bed.admin.resolve(request.id, "done") or "told"
        if self.blocks(request):
            self.assertIsNone(ended.value, "it was told to be resolved")
            self.end(request)
        self.assertEqual(self.bed.broker.state(request), "done")
        self.assertFalse(self.blocks(request))
        self.bed.assert_refused("wrong-state", self.bed.admin.resolve, request.id, "failed")
        self.bed.assert_refused("already-consumed", self.bed.broker.execute, request)
        self.assertEqual([entry["details"]["outcome"] for _, entry in self.chain()
                          if entry["event"] == "resolved"
                          and entry["details"]["request"] == request.id], ["done"])
        self.bed.world.ctl("audit", "verify")
        self.assertEqual(self.ran(), ran)

    def end(self, request):
        try:
            self.bed.admin.resolve(request.id, "done")
        except (handover.Refused, bus.BusError) as error:
            self.assertEqual(error.reason, "wrong-state", error)

    def ran(self):
        """What has run, none of it twice."""
        self.bed.look()
        return set(self.bed.oracle.ran)

    @staticmethod
    def rows(words, *values):
        with contextlib.closing(sqlite3.connect(f"file:{oracle.LEDGER}?mode=ro", uri=True,
                                                timeout=20)) as ledger:
            return ledger.execute(words, values).fetchall()

    def chain(self):
        """[(its bytes, what it says)] of each entry that is there."""
        return [(entry, json.loads(entry))
                for entry, in self.rows("SELECT entry FROM audit ORDER BY seq")]

    def now(self):
        return time.time() + self.bed.faults.realtime / 1e9

    def aged(self):
        """(what is done, what is unknown, the number of the entry after which a checkpoint was taken, a
        time that all these are older than): the log begins with them, and goes on."""
        more = True
        while more:
            self.bed.look()  # at what then is gone
            more = self.bed.admin.prune(int(self.now()))[1]
        done = self.bed.prepared("crash.free")
        self.assertEqual(self.bed.broker.execute(done), "done")
        doubt = self.unknown()
        checkpoint = self.bed.admin.checkpoint()
        with open(CHECKPOINT, "w", encoding="utf-8") as file:
            json.dump(checkpoint, file, sort_keys=True, separators=(",", ":"))
        before = int(self.now()) + GAP // 2
        self.bed.faults.move_clocks(realtime=GAP)
        self.assertEqual(self.bed.broker.execute(self.bed.prepared("crash.free")), "done")
        return done, doubt, json.loads(checkpoint["body"])["seq"], before

    def prune(self):
        """All that is old goes or nothing: what stays is one chain, what is unknown stays whole, and
        what was done is not done again."""
        done, doubt, last, before = self.before(self.aged)
        whole = self.chain()
        ran = self.ran()
        cut = [entry["seq"] for _, entry in whole].index(last) + 1
        with self.bed.harmed() as ended:
            ended.value = self.bed.admin.prune(before)
        found = self.chain()
        if ended.value is not None:
            self.assertEqual((ended.value, found[0]), ((cut, False), whole[cut]))
        self.assertIn(found[0], (whole[0], whole[cut]))
        if found[0] == whole[0]:
            self.assertEqual(found[:len(whole)], whole)
            self.assertIn(self.bed.admin.prune(before), ((cut, False), (0, False)))
        self.pruned(whole[cut:], last)
        self.assertEqual(self.bed.broker.state(done), "done")
        self.bed.assert_refused("already-consumed", self.bed.broker.execute, done)
        self.assertEqual(self.rows("SELECT pruned, length (record) > 0 FROM request WHERE id = ?",
                                   doubt.id), [(0, 1)])
        self.assertTrue(self.blocks(doubt))
        self.bed.world.ctl("audit", "verify", "--against", CHECKPOINT)
        self.assertEqual(self.ran(), ran)

    def pruned(self, left, through):
        """What is there is what was @left, and of it an entry that says so."""
        found = self.chain()
        self.assertEqual(found[:len(left)], left)
        self.assertEqual([(entry["event"], entry["details"]["through"])
                          for _, entry in found[len(left):] if entry["event"] == "pruned"],
                         [("pruned", through)])
