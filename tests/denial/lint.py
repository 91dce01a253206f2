#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds cases.json against rows.txt: each case has tests that exist, or says why it needs none.

usage: lint.py BUILD

cases.json maps each row to its case and either "tests" or "none": why no part here could do it.  A test
is one of
    SUITE:/PATH        a test of GLib's by that path, in the sources of SUITE, which meson knows in BUILD
    SUITE:test_NAME    a method of that name in the script of SUITE
    system:NAME:test_NAME   likewise of tests/system/test-NAME.py
    denial:NAME        a method test_NAME, '_' for '-', of tests/system/test-denial-*.py
    SUITE, system:NAME      one that has no tests with names of their own
"""

import ast
import functools
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))


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


@functools.cache
def meson_suites(build):
    """Each test that this build's meson.build files register → its own sources, a script or C files."""
    made = {path: target for target in json.loads(read(f"{build}/meson-info/intro-targets.json"))
            for path in target["filename"]}
    found = {}
    for test in json.loads(read(f"{build}/meson-info/intro-tests.json")):
        sources = [word for word in test["cmd"] if word.endswith(".py")]
        for group in (group for word in test["cmd"] if word in made
                      for group in made[word]["target_sources"]):
            sources += group.get("sources", [])
        found[test["name"]] = [path for path in sources if "/tests/" in path and os.path.exists(path)]
    return found


@functools.cache
def methods(path):
    """The names of the test methods of a script."""
    return {node.name for node in ast.walk(ast.parse(read(path)))
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


@functools.cache
def names(path):
    """What may be a path of GLib's tests, or a part of one, in a C file."""
    return set(re.findall(r'"([\w./-]+)"', read(path))) if path.endswith(".c") else set()


@functools.cache
def names_beside(folder):
    return set().union(*map(names, glob.glob(f"{folder}/*.c")))


def test_fault(sources, name):
    """Why @name, None for the whole, is not what a suite of these sources has; None where it is.  Behind
    a path that ends in "/" a macro or a table may put the last part."""
    scripts = [path for path in sources if path.endswith(".py")]
    known = set().union(*map(methods, scripts), *map(names, sources))
    if name is None:
        has_tests = any("g_test_init" in read(path) for path in set(sources) - set(scripts))
        return "name its tests" if has_tests or any(map(methods, scripts)) else None
    start, _, end = name.rpartition("/")
    beside = set().union(*(names_beside(os.path.dirname(path)) for path in sources))
    if end and (name in known or (start and f"{start}/" in known and end in beside)):
        return None
    return "there is no such test"


@functools.cache
def denial_tests(tree):
    return {"denial:" + name[len("test_"):].replace("_", "-")
            for path in glob.glob(f"{tree}/tests/system/test-denial-*.py") for name in methods(path)}


def entry_fault(entry, suites, denials):
    """Why cases.json may not name @entry, or None."""
    if entry.startswith("denial:"):
        return None if entry in denials else "there is no such test"
    suite, _, name = entry.removeprefix("system:").partition(":")
    sources = suites.get(suite)
    if entry.startswith("system:"):
        path = f"{TREE}/tests/system/test-{suite}.py"
        sources = [path] if os.path.exists(path) else None
    if sources is None:
        return "there is no such suite"
    return test_fault(sources, name or None)


def check(folder, build):
    """Every fault of the two files in @folder, a line each."""
    rows = read(f"{folder}/rows.txt").split()
    try:
        cases = json.loads(read(f"{folder}/cases.json"), object_pairs_hook=unique)
    except ValueError as error:
        return [f"cases.json: {error}"]
    suites, denials = meson_suites(build), denial_tests(TREE)
    faults = [f"rows.txt: {row} stands twice" for row in sorted(set(rows)) if rows.count(row) > 1]
    faults += [f"cases.json: {row} is missing" for row in rows if row not in cases]
    for row, entry in cases.items():
        if row not in rows:
            faults.append(f"cases.json: {row} is not in rows.txt")
        if set(entry) not in ({"case", "tests"}, {"case", "none"}) or not all(entry.values()):
            faults.append(f"cases.json: {row} needs a case, and either tests or none")
        found = {name: entry_fault(name, suites, denials) for name in entry.get("tests", [])}
        faults += [f"cases.json: {row}: {name}: {fault}" for name, fault in found.items() if fault]
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
