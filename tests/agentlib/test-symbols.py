#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the public headers declare is what the library's map exports, and all of it is documented.

That the library exports what tests/static/exports holds, and nothing else, tests/static/run finds.
"""

import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import tap  # noqa: E402: found by the path above

ROOT = os.path.dirname(os.path.dirname(HERE))
HEADERS = ["agentlib/lib/undersign.h", "agentlib/lib/undersign-status.h",
           "agentlib/lib/undersign-submission.h", "dbus/undersign-error.h"]
MAP = "agentlib/lib/undersign.map"
# What bindings need of every function, and a reader never calls.
PLAIN = re.compile(r"_get_type$")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def declared():
    """{function: (its documentation, its parameters)}."""
    found = {}
    for path in HEADERS:
        text = read(path)
        for name in re.findall(r"G_DECLARE_FINAL_TYPE \(\w+, (\w+)", text):
            found[f"{name}_get_type"] = ("", [])
        code = re.sub(r"#define[^\n]*", "", text)
        for match in re.finditer(r"(/\*\*(?:(?!\*/).)*\*/\s*)?^[\w *]+?\b(us_\w+) \(([^;]*)\)", code,
                                 re.MULTILINE | re.DOTALL):
            parameters = [word.split()[-1].lstrip("*") for word in match[3].split(",")]
            found[match[2]] = (match[1] or "", [] if parameters == ["void"] else parameters)
    return found


class Symbols(unittest.TestCase):
    def test_the_map_exports_what_is_declared(self):
        exported = re.findall(r"^    (\w+);$", read(MAP), re.MULTILINE)
        self.assertEqual(exported, sorted(declared()))

    def test_the_list_of_the_static_gate_is_the_map(self):
        line, = [line for line in read("tests/static/exports").splitlines()
                 if line.startswith("agentlib/")]
        self.assertEqual(line.split()[2:], re.findall(r"^    (\w+);$", read(MAP), re.MULTILINE))

    def test_each_function_is_documented(self):
        for name, (text, parameters) in declared().items():
            if PLAIN.search(name):
                continue
            self.assertIn(f"* {name}:\n", text)
            for parameter in parameters:
                self.assertIn(f"* @{parameter}:", text, name)

    def test_each_call_has_its_three_forms(self):
        names = set(declared())
        calls = {name[:-len("_async")] for name in names if name.endswith("_async")}
        self.assertGreater(len(calls), 8)
        for call in calls:
            self.assertLessEqual({call, f"{call}_async", f"{call}_finish"}, names)


if __name__ == "__main__":
    tap.main("agentlib-symbols")
