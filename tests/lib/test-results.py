#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counting must never come out better than the truth: a count nobody can trust protects nothing."""

import json
import os
import tempfile
import unittest

from undersign_test import results, tap


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

    def test_a_skip_must_be_listed(self):
        tally = results.Tally(self.write("# why\nsuite a-* because\n"))
        tally.add("suite", "a b", results.SKIPPED)
        tally.add("suite", "b", results.SKIPPED)
        tally.add("other", "a b", results.SKIPPED)
        self.assertEqual(tally.summary(), "0 passed, 2 failed, 1 skipped")

    def test_a_skip_list_needs_reasons(self):
        with self.assertRaises(SystemExit):
            results.Tally(self.write("suite test\n"))


if __name__ == "__main__":
    tap.main("lib")
