#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""lint.py finds what it is there to find: each fault is put into a copy of the real files.

usage: test_lint.py BUILD
"""

import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import lint  # noqa: E402


class Lint(unittest.TestCase):
    def faults(self, change=None, rows=None):
        with tempfile.TemporaryDirectory() as folder:
            cases = json.loads(lint.read(f"{HERE}/cases.json"))
            if change is not None:
                change(cases)
            with open(f"{folder}/cases.json", "w", encoding="utf-8") as file:
                json.dump(cases, file)
            with open(f"{folder}/rows.txt", "w", encoding="utf-8") as file:
                file.write(lint.read(f"{HERE}/rows.txt") if rows is None else rows)
            return lint.check(folder, BUILD)

    def test_as_it_is(self):
        self.assertEqual(self.faults(), [])

    def test_a_row_without_a_case(self):
        self.assertEqual(self.faults(lambda cases: cases.pop("O-1")),
                         ["cases.json: O-1 is missing"])

    def test_a_case_without_a_test(self):
        for entry in ({"case": "x"}, {"case": "x", "tests": []}, {"case": "", "none": "x"},
                      {"case": "x", "none": ""}, {"case": "x", "none": "y", "tests": ["mail:/mail/delivered"]}):
            self.assertEqual(self.faults(lambda cases, entry=entry: cases.update({"O-1": entry})),
                             ["cases.json: O-1 needs a case, and either tests or none"])

    def test_a_test_that_is_not_there(self):
        for name, fault in (
                ("policy-made-up", "there is no such suite"), ("", "there is no such suite"),
                ("system:made-up", "there is no such suite"),
                ("denial:made-up", "there is no such test"),
                ("mail:/mail/made-up", "there is no such test"),
                ("mail:test_delivered", "there is no such test"),
                ("executor-hostile:/executor/hostile/made-up", "there is no such test"),
                ("executor-hostile:/executor/hostile/", "there is no such test"),
                ("card-tty:test_made_up", "there is no such test"),
                ("system:matrix:test_made_up", "there is no such test"),
                ("mail", "name its tests"), ("card-tty", "name its tests"),
                ("system:matrix", "name its tests")):
            entry = {"case": "x", "tests": ["mail:/mail/delivered", name]}
            self.assertEqual(self.faults(lambda cases, entry=entry: cases.update({"O-1": entry})),
                             [f"cases.json: O-1: {name}: {fault}"])

    def test_tests_that_are_there(self):
        entry = {"case": "x", "tests": [
            "executor-hostile:/executor/hostile/twice", "runner-module:/runner/module/names",
            "card-tty:test_focus", "system:matrix:test_each_role", "system:hostile-broker",
            "fuzz-value", "denial:nobody"]}
        self.assertEqual(self.faults(lambda cases: cases.update({"O-1": entry})), [])

    def test_a_case_that_is_no_row(self):
        entry = {"case": "x", "tests": ["mail:/mail/delivered"]}
        self.assertEqual(self.faults(lambda cases: cases.update({"O-9999": entry})),
                         ["cases.json: O-9999 is not in rows.txt"])


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
