#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The audit log as an administrator keeps it: how long answers took, exported, verified, pruned.

One service, and its log in the order of the tests: some answers that came ten minutes after they
were asked for, some that came at once (the clocks are the test's), then what is taken elsewhere, and
in the end what is no longer kept here.  A log that differs in one character is none, at each line.  Of each file that is verified, what was written from
undersign-receipt(7) alone, tests/vectors/independent, says the same.
"""

import json
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.join(HERE, "../vectors")]

from independent import audit, digests, json_text, refusal  # noqa: E402: found by the path above
from undersign_test import crashbus, tap  # noqa: E402
from undersign_test.crash import KIM, LEAD  # noqa: E402

FOLDER = "/run/undersign-test"
OLD, NEW = f"{FOLDER}/old", f"{FOLDER}/new"  # two exports
BEFORE = f"{FOLDER}/checkpoint"  # of when the first was taken
FOREIGN = "sha256:" + "0" * 64
REFUSED = 1
SLOW, DAY = 600, 24 * 3600


def lines_of(path):
    with open(path, "rb") as file:
        return file.read().splitlines(keepends=True)


def changed(line):
    """Another character in the middle of it."""
    middle = len(line) // 2
    return line[:middle] + (b"B" if line[middle:middle + 1] == b"A" else b"A") + line[middle + 1:]


def forged(lines):
    """The same log, but of another time, and whole: each entry has the digest of the one before."""
    made, previous = [], json.loads(lines[0])["previous"]
    for line in lines:
        entry = {**json.loads(line), "previous": previous, "time": "2026-11-30T09:00:00Z"}
        data = json_text.canonical(entry)
        previous = digests.digest("audit", data)
        made.append(data + b"\n")
    return made


class Evidence(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = crashbus.BusBed()
        cls.bed.start()
        cls.addClassCleanup(cls.bed.world.check_logs)
        cls.addClassCleanup(cls.bed.stop)

    def move(self, **seconds):
        self.bed.faults.move_clocks(processes=[self.bed.world.broker.process.pid], **seconds)

    def answer(self, person, boottime, deny=False):
        """One request that @person answers when the boot's clock has moved by so many seconds."""
        target = os.urandom(6).hex()
        name, state = self.bed.submit(target, label=target)  # no run lives as long as these clocks
        self.assertEqual(state, "pending")
        self.move(boottime=boottime)
        (self.bed.deny_signed if deny else self.bed.approve)(name, person)
        self.assertEqual(self.bed.ended(name)[0], "denied" if deny else "done")

    def ctl(self, *words):
        return self.bed.world.ctl(*words)

    def keep(self, path, *words):
        text = self.ctl("audit", *words)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def approvers(self, *words):
        return {found["name"]: found
                for found in json.loads(self.ctl("stats", "--json", *words))["approvers"]}

    @staticmethod
    def host_key():
        """The id that an administrator hands on."""
        return json.loads(json.loads(lines_of(BEFORE)[0])["body"])["key"]

    def refused(self, reason, *words):
        done = subprocess.run(["undersignctl", "audit", "verify", *words], capture_output=True,
                              text=True, check=False, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), (words, done.stderr))
        self.assertRegex(done.stderr, rf"^undersignctl: {reason}: ", words)
        if "--file" in words:
            with self.assertRaises(refusal.Refused) as raised:
                self.independent(*words)
            self.assertRegex(raised.exception.reason, f"^{reason}$", words)

    @staticmethod
    def independent(*words):
        """The log that these files are by an implementation that shares nothing with ours."""
        given = {"--file": [], "--against": [], "--key": []}
        for option, value in zip(words[::2], words[1::2]):
            given[option].append(value)
        exports, against = ([b"".join(lines_of(path)) for path in given[option]]
                            for option in ("--file", "--against"))
        return audit.verify_log(exports, against, given["--key"])

    def verified(self, *words):
        """What is said of files that both implementations take."""
        found = json.loads(self.ctl("audit", "verify", "--json", *words))
        log = self.independent(*words)
        self.assertEqual(found["head"], log.hashes[log.last])
        return found

    def file_refused(self, reason, lines, *words):
        with open(f"{FOLDER}/changed", "wb") as file:
            file.writelines(lines)
        self.refused(reason, "--file", f"{FOLDER}/changed", "--key", self.host_key(), *words)

    def test_1_answers_that_took_their_time(self):
        for deny in (False, True, False):
            self.answer(LEAD, SLOW, deny)
        found = self.approvers()[LEAD]
        self.assertEqual((found["answers"], found["quick"]), ("3", False))
        # what the machine took itself is less than that much again
        self.assertIn(int(found["median"]), range(SLOW, 2 * SLOW))
        self.assertNotIn("warning", self.ctl("stats"))

    def test_2_answers_within_seconds(self):
        """However slow the machine is: a clock that went back makes it no time at all."""
        for _ in range(3):
            self.answer(KIM, -DAY)
            self.move(boottime=DAY)
        found = self.approvers()
        self.assertEqual([(found[name]["answers"], found[name]["quick"]) for name in (LEAD, KIM)],
                         [("3", False), ("3", True)])
        self.assertEqual(found[KIM]["median"], "0")
        warnings = [line for line in self.ctl("stats").splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1)
        self.assertIn(f"half of {KIM}'s answers came within 0 s", warnings[0])

    def test_3_an_export_verifies_without_the_service(self):
        self.keep(BEFORE, "checkpoint")
        self.keep(OLD, "export")
        lines = lines_of(OLD)
        found = self.verified("--file", OLD, "--against", BEFORE, "--key", self.host_key())
        self.assertEqual((found["valid"], found["entries"]), (True, str(len(lines) - 1)))
        self.assertEqual([(one["key"], one["key-given"]) for one in found["checkpoints"]],
                         [(self.host_key(), True)] * 2)
        self.assertEqual(self.approvers("--file", OLD), self.approvers())

    def test_4_no_other_export_does(self):
        lines = lines_of(OLD)
        self.assertGreater(len(lines), 20)
        last = len(lines) - 1  # the checkpoint
        for i, line in enumerate(lines):
            self.file_refused("[a-z-]+", lines[:i] + [changed(line)] + lines[i + 1:])
            if i < last:
                self.file_refused("(chain|checkpoint)", lines[:i] + lines[i + 1:])
        self.file_refused("chain", lines[:3] + [lines[4], lines[3]] + lines[5:])
        self.file_refused("chain", lines[:-1] + [lines[-2]] + lines[-1:])
        self.file_refused("checkpoint", lines[:-3] + lines[-1:])
        # without its checkpoint the end could be missing, but for the one that was kept
        self.file_refused("checkpoint", lines[:-2], "--against", BEFORE)
        self.refused("other-key", "--file", OLD, "--key", FOREIGN)
        # whoever writes a log anew can do all but sign it
        self.file_refused("checkpoint", forged(lines[:-1]) + lines[-1:])
        self.file_refused("checkpoint", forged(lines[:-1]), "--against", BEFORE)
        self.verified("--file", f"{FOLDER}/changed")

    def test_5_what_is_pruned_can_still_be_verified(self):
        self.ctl("audit", "verify", "--against", BEFORE, "--key", self.host_key())
        self.move(realtime=2 * DAY)
        self.answer(LEAD, SLOW)
        here = json.loads(self.ctl("audit", "verify", "--json"))
        date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + DAY))
        removed = json.loads(self.ctl("audit", "prune", f"--before={date}", "--json"))["removed"]
        self.assertEqual(int(removed), len(lines_of(OLD)) - 1)
        self.assertEqual(self.approvers()[LEAD]["answers"], "1")
        self.assertNotIn(KIM, self.approvers())

        # what is left begins where the checkpoint was taken, and tells that it was pruned
        found = json.loads(self.ctl("audit", "verify", "--json", "--against", BEFORE,
                                    "--key", self.host_key()))
        self.assertEqual(found["first"], str(int(removed) + 1))
        self.assertEqual(int(found["entries"]), int(here["entries"]) - int(removed) + 1)
        # both exports are one log; one alone, from another place, is not what was pruned
        self.keep(NEW, "export")
        self.verified("--file", OLD, "--file", NEW, "--against", BEFORE, "--key", self.host_key())
        self.refused("chain", "--file", NEW, "--file", OLD)
        self.file_refused("chain", lines_of(OLD)[:-2], "--file", NEW)
        self.file_refused("chain", lines_of(NEW)[1:])

    def test_6_a_checkpoint_from_before_the_cut_needs_the_export(self):
        """Of an entry that is gone, the log itself can say nothing."""
        early = f"{FOLDER}/early"
        self.keep(early, "checkpoint")
        self.answer(LEAD, SLOW)
        self.keep(NEW, "export")
        self.move(realtime=2 * DAY)
        self.answer(LEAD, SLOW)
        date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3 * DAY))
        self.ctl("audit", "prune", f"--before={date}")
        self.refused("pruned", "--against", early)
        last = f"{FOLDER}/last"
        self.keep(last, "export")
        self.verified("--file", NEW, "--file", last, "--against", early, "--key", self.host_key())


if __name__ == "__main__":
    tap.main("evidence")
