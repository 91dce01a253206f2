#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds cases.json against rows.txt: each case has tests that exist, or waits for a named part.

usage: lint.py BUILD

cases.json maps each row to its case and either "tests" or "later".  A test is one of
    NAME          a test that meson knows in BUILD
    system:NAME   tests/system/test-NAME.py
    denial:NAME   a method test_NAME, '_' for '-', of tests/system/test-denial-*.py
Where the list of rows that the project keeps beside its tree is there, rows.txt must hold all of it.
"""

import ast
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
SOURCE = "../shared/CASES.md"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def unique(pairs):
    """A JSON object's members, none of them twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice: " + ", ".join(sorted(
            {name for name, _ in pairs if [n for n, _ in pairs].count(name) > 1})))
    return found


def meson_tests(build):
    """What this build's meson.build files register."""
    return {test["name"] for test in json.loads(read(f"{build}/meson-info/intro-tests.json"))}


def denial_tests(tree):
    found = set()
    for path in glob.glob(f"{tree}/tests/system/test-denial-*.py"):
        for node in ast.walk(ast.parse(read(path))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.add("denial:" + node.name[len("test_"):].replace("_", "-"))
    return found


def system_tests(tree):
    return {"system:" + os.path.basename(path)[len("test-"):-len(".py")]
            for path in glob.glob(f"{tree}/tests/system/test-*.py")}


def check(folder, build):
    """Every fault of the two files in @folder, a line each."""
    rows = read(f"{folder}/rows.txt").split()
    try:
        cases = json.loads(read(f"{folder}/cases.json"), object_pairs_hook=unique)
    except ValueError as error:
        return [f"cases.json: {error}"]
    known = meson_tests(build) | denial_tests(TREE) | system_tests(TREE)
    faults = [f"rows.txt: {row} stands twice" for row in sorted(set(rows)) if rows.count(row) > 1]
    faults += [f"cases.json: {row} is missing" for row in rows if row not in cases]
    for row, entry in cases.items():
        if row not in rows:
            faults.append(f"cases.json: {row} is not in rows.txt")
        if set(entry) not in ({"case", "tests"}, {"case", "later"}) or not all(entry.values()):
            faults.append(f"cases.json: {row} needs a case, and either tests or later")
        faults += [f"cases.json: {row}: there is no test {name}"
                   for name in entry.get("tests", []) if name not in known]
    source = os.path.join(TREE, SOURCE)
    if os.path.exists(source):
        kept = re.findall(r"(?m)^\| ([OB]-\d+) \|", read(source))
        faults += [f"rows.txt: {row} is missing" for row in kept if row not in rows]
    return faults


def main(arguments):
    if len(arguments) != 1:
        print("usage: lint.py BUILD", file=sys.stderr)
        return 2
    faults = check(HERE, arguments[0])
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
