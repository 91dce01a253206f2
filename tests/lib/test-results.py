#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counting must never come out better than the truth: a count nobody can trust protects nothing."""

import contextlib
import io
import json
import os
import tempfile
import unittest

from undersign_test import figures, machine, results, sandbox, suites, tap


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../skips"), encoding="utf-8") as _file:
    SKIPS = _file.read()


def outcomes(text):
    return [outcome for _, outcome, _ in results.parse_tap(text)]


class Tap(unittest.TestCase):
    def test_a_result_a_line(self):
        self.assertEqual(
            results.parse_tap("TAP version 13\n1..3\nok 1 - a\n# note\nnot ok 2 b\nok 3 - c # SKIP why\n"),
            [("a", "passed", ""), ("b", "failed", ""), ("c", "skipped", "why")])

    def test_a_failure_marked_skip_is_a_failure(self):
        self.assertEqual(outcomes("1..1\nnot ok 1 - a # SKIP x\n"), ["failed"])

    def test_a_plan_at_the_end(self):
        self.assertEqual(outcomes("ok 1 - a\n1..1\n"), ["passed"])

    def test_no_plan_fails(self):
        self.assertEqual(outcomes("ok 1 - a\n"), ["passed", "failed"])

    def test_nothing_fails(self):
        self.assertEqual(outcomes(""), ["failed"])

    def test_too_few_fails(self):
        self.assertEqual(outcomes("1..2\nok 1 - a\n"), ["passed", "failed"])

    def test_bail_out_fails(self):
        self.assertIn("failed", outcomes("1..2\nok 1 - a\nBail out! gone\n"))

    def test_a_whole_suite_skipped(self):
        self.assertEqual(results.parse_tap("1..0 # SKIP no root\n"),
                         [("the whole suite", "skipped", "no root")])


class Why(unittest.TestCase):
    def test_a_failure_far_above_the_end(self):
        log = ("# said before\nok 1 - a\n# AssertionError: 1 != 2\n# journal: at 12:00\nnot ok 2 - b\n"
               + "# journal: noise\n" * 1000 + "ok 3 - c\n")
        self.assertEqual(suites.why(log), "# AssertionError: 1 != 2\nnot ok 2 - b\n")

    def test_no_failure(self):
        self.assertEqual(suites.why("# said\nok 1 - a\n"), "")


class Buses(unittest.TestCase):
    def test_each_suite_has_both(self):
        for seed in ("1", "0e63f9c1a2b3"):
            for suite in ("admin", "attacker", "matrix"):
                found = [suites.bus_of(seed, suite, build) for build in ("sanitizers", "release")]
                self.assertEqual(sorted(found), sorted(suites.BUSES))

    def test_the_seed_draws(self):
        drawn = {seed: suites.bus_of(seed, "attacker", "release") for seed in map(str, range(100))}
        self.assertEqual(set(drawn.values()), set(suites.BUSES))
        self.assertEqual(drawn, {seed: suites.bus_of(seed, "attacker", "release") for seed in drawn})


class Figures(unittest.TestCase):
    def test_a_line_for_each_kind(self):
        found = figures.Figures()
        found.read("coverage", "ok   a: 99.0 % (9 of 10 lines; x)\n"
                   "ok   all: 97.1 % (971 of 1000 lines; at least 95 % of each)\n")
        found.read("model", "1..1\n# seed 7, 10 steps\n# step 3 of seed 7\nok 1 - x\n")
        found.read("attacker", "# UNDERSIGN_SEED=1\n")
        found.read("boot", "# chosen operations fail: UNDERSIGN_FAULTS=2\n")
        found.read("mail-mime", "# random seed: R02Sff\n")
        found.read("systemd", "# a.service: exposure 0.2\n# b@c.service: exposure 1.4\n")
        self.assertEqual(list(found.lines()), [
            "coverage: coverage: all: 97.1 % (971 of 1000 lines; at least 95 % of each)",
            "seeds: attacker: UNDERSIGN_SEED=1; boot: UNDERSIGN_FAULTS=2; "
            "mail-mime: seed: R02Sff; model: seed 7, 10 steps",
            "exposure: systemd: a.service 0.2, b@c.service 1.4"])

    def test_what_nobody_said(self):
        self.assertEqual(list(figures.Figures().lines()),
                         [f"{kind}: nobody said any" for kind in figures.KINDS])


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "file")

    def write(self, text):
        with open(self.path, "w", encoding="utf-8") as out:
            out.write(text)
        return self.path

    def read_log(self, *entries):
        self.write("".join(json.dumps(entry) + "\n" for entry in entries))
        return [found for _, found, _ in results.read_meson_log(self.path)]

    def test_a_crash_after_good_results_fails(self):
        found = self.read_log({"name": "a", "stdout": "1..1\nok 1 - a\n", "result": "FAIL"})
        self.assertEqual(found, [[("a", "passed", ""), ("exit", "failed", "FAIL")]])

    def test_a_test_without_tap(self):
        found = self.read_log({"name": "a", "stdout": "", "result": "TIMEOUT"},
                              {"name": "p / s:b", "result": "OK"})
        self.assertEqual(found, [[("a", "failed", "TIMEOUT")], [("b", "passed", "OK")]])

    def test_what_a_skip_without_tap_says(self):
        found = self.read_log({"name": "a", "stdout": "one\nwhy\n", "result": "SKIP"},
                              {"name": "b", "stderr": "why\n", "result": "SKIP"})
        self.assertEqual(found, [[("a", "skipped", "why")], [("b", "skipped", "why")]])

    def test_a_skip_must_be_listed(self):
        tally = results.Tally(self.write("# why\nsuite a-* [*] because\n"))
        tally.add("suite", "a b", results.SKIPPED)
        tally.add("suite", "b", results.SKIPPED)
        tally.add("other", "a b", results.SKIPPED)
        self.assertEqual(tally.summary(), "0 passed, 2 failed, 1 skipped")

    def test_a_skip_may_have_to_say_why(self):
        tally = results.Tally(self.write("suite the-whole-suite [it is forbidden: *] because\n"))
        for note in ("it is forbidden: by whom", "it is late", "", "not: it is forbidden: x"):
            tally.add_all("suite", [(results.WHOLE, results.SKIPPED, note)])
        self.assertEqual(tally.summary(), "0 passed, 3 failed, 1 skipped")
        self.assertTrue(tally.fails("suite", [(results.WHOLE, results.SKIPPED, "it is late")]))

    def test_the_report_names_what_was_skipped(self):
        tally = results.Tally(self.write("suite * [*] because\nother * [*] because\n"))
        tally.add("other", "a", results.SKIPPED, "no room")
        tally.add("suite", results.WHOLE, results.SKIPPED, "forbidden")
        self.assertEqual(list(tally.not_run()), ["NOT RUN AT ALL: suite: forbidden",
                                                 "skipped: other: a: no room"])

    def test_a_skip_list_needs_reasons(self):
        for line in ("suite test\n", "suite test because\n", "suite test [it says]\n"):
            with self.assertRaises(SystemExit):
                results.Tally(self.write(line))


class Refusal(unittest.TestCase):
    """A booted systemd: what is left out where a machine does not allow it, and nothing else is."""

    def test_what_the_machine_says(self):
        for text, kind in (("[Errno 1] Operation not permitted: mkdir", sandbox.Forbidden),
                           ("Failed to mount: Read-only file system", sandbox.Forbidden),
                           ("", AssertionError), ("the first process ended", AssertionError),
                           ("undersignd.service: Failed", AssertionError)):
            found = machine.refusal(text)
            self.assertIs(type(found), kind, text)
            with tempfile.NamedTemporaryFile("w", suffix="skips") as skips:
                skips.write(SKIPS)
                skips.flush()
                tally = results.Tally(skips.name)
            outcome = tally.add("systemd", results.WHOLE, results.SKIPPED, str(found))
            self.assertEqual(outcome == results.SKIPPED, kind is sandbox.Forbidden, text)


class OnceMore(unittest.TestCase):
    """What a failure beside others may become, and when."""

    GOOD, BAD = [("a", results.PASSED, "")], [("a", results.FAILED, "why")]

    def setUp(self):
        with tempfile.NamedTemporaryFile("w", suffix="skips") as skips:
            self.tally = results.Tally(skips.name)
        self.said = []
        self.suites = suites.Suites(self.tally, self.said.append)
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))

    def count(self, number, second, has_time=True):
        for at in range(number):
            self.suites.count(f"suite {at}", (self.BAD, "log"), lambda: (second, "log"))
        self.suites.count_put_off(lambda: has_time)
        return self.tally.summary()

    def test_what_passes_is_counted_at_once(self):
        self.suites.count("suite", (self.GOOD, ""), self.fail)
        self.assertEqual(self.tally.summary(), "1 passed, 0 failed, 0 skipped")

    def test_one_that_passes_alone_is_named(self):
        self.assertEqual(self.count(1, self.GOOD), "1 passed, 0 failed, 0 skipped")
        self.assertEqual(self.suites.unsteady, [("suite 0", "a")])
        self.assertEqual(self.said, ["once more, alone: suite 0"])

    def test_one_that_fails_again_has_failed(self):
        for second in (self.BAD, []):
            with self.subTest(second=second):
                self.setUp()
                self.assertEqual(self.count(1, second), "0 passed, 1 failed, 0 skipped")
                self.assertEqual(self.suites.unsteady, [])

    def test_what_failed_must_pass(self):
        """A second run that skips it, or has less in it, proves nothing."""
        for second in ([("b", results.PASSED, "")], [("a", results.SKIPPED, "")]):
            with self.subTest(second=second):
                self.setUp()
                self.tally.allowed = [("suite*", "a", "why")]
                self.assertEqual(self.count(1, second), "0 passed, 1 failed, 0 skipped")
                self.assertEqual(self.suites.unsteady, [])

    def test_a_plan_that_was_not_kept_may_be_kept_alone(self):
        self.suites.count("suite", ([*self.GOOD, ("plan", results.FAILED, "")], ""),
                          lambda: (self.GOOD, ""))
        self.suites.count_put_off(lambda: True)
        self.assertEqual(self.tally.summary(), "1 passed, 0 failed, 0 skipped")
        self.assertEqual(self.suites.unsteady, [("suite", "plan")])

    def test_misused_memory_is_no_load(self):
        for said in ("==1==ERROR: AddressSanitizer: heap-use-after-free", "a.c:1:2: runtime error: x",
                     "ERROR, -11\nok 1", "double free or corruption (fasttop)",
                     "malloc(): corrupted top size", "malloc_consolidate(): invalid chunk size",
                     "free(): invalid pointer", "realloc(): invalid next size",
                     "munmap_chunk(): invalid pointer", "corrupted size vs. prev_size",
                     "corrupted double-linked list", "*** stack smashing detected ***: terminated",
                     "*** buffer overflow detected ***: terminated"):
            with self.subTest(said=said):
                self.setUp()
                self.suites.count("suite", (self.BAD, said), lambda: (self.GOOD, ""))
                self.suites.count_put_off(lambda: True)
                self.assertEqual(self.tally.summary(), "0 passed, 1 failed, 0 skipped")

    def test_one_without_a_second_chance_has_failed(self):
        self.suites.count("suite", (self.BAD, ""))
        self.suites.count("other", ([], ""))
        self.suites.count_put_off(lambda: True)
        self.assertEqual(self.tally.summary(), "0 passed, 2 failed, 0 skipped")

    def test_many_failures_are_no_load(self):
        number = suites.PUT_OFF_MAX + 1
        self.assertEqual(self.count(number, self.GOOD), f"0 passed, {number} failed, 0 skipped")
        self.assertEqual(self.said, [])

    def test_there_must_be_time(self):
        self.assertEqual(self.count(1, self.GOOD, has_time=False), "0 passed, 1 failed, 0 skipped")

    def test_a_skip_that_is_not_listed_is_put_off_as_well(self):
        self.suites.count("suite", ([("a", results.SKIPPED, ""), ("b", results.FAILED, "")], ""),
                          lambda: ([*self.GOOD, ("b", results.PASSED, "")], ""))
        self.assertEqual(self.tally.summary(), "0 passed, 0 failed, 0 skipped")
        self.suites.count_put_off(lambda: True)
        self.assertEqual(self.tally.summary(), "2 passed, 0 failed, 0 skipped")


if __name__ == "__main__":
    tap.main("lib")
