# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts results of every suite, from TAP, and holds skips against the list in tests/skips.

A suite that stops early, plans more tests than it ran, or prints no plan is a failure: a count that
comes out too low must not look like success.
"""

import fnmatch
import json
import re
import threading

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

_RESULT = re.compile(r"(not )?ok\b(?:\s+\d+)?(?:\s+-)?\s*(.*)")
_SKIP = re.compile(r"(.*?)\s*#\s*SKIP\b\s*(.*)", re.IGNORECASE)
# Suite, test, in brackets what the skip itself has to say, and why.
_SKIP_LINE = re.compile(r"(\S+)\s+(\S+)\s+\[([^]]+)\]\s+\S.*")
WHOLE = "the whole suite"
_PLAN = re.compile(r"1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?", re.IGNORECASE)


def parse_tap(text):
    """The results of one TAP stream: a list of (name, outcome, note)."""
    results = []
    planned = None
    for line in text.splitlines():
        match = _PLAN.fullmatch(line.strip()) if line[:1] == "1" else None
        if match:
            planned = int(match[1])
            if planned == 0:
                return [(WHOLE, SKIPPED, match[2] or "")]
            continue
        if line.startswith("Bail out!"):
            results.append(("bail out", FAILED, line[9:].strip()))
            continue
        match = _RESULT.match(line)
        if not match:
            continue
        name, outcome, note = match[2], FAILED if match[1] else PASSED, ""
        skip = _SKIP.fullmatch(name)
        if skip:
            name, note = skip[1], skip[2]
            if outcome == PASSED:
                outcome = SKIPPED
        results.append((name, outcome, note))
    if planned is None:
        results.append(("plan", FAILED, "the suite printed no plan"))
    elif len(results) != planned:
        results.append(("plan", FAILED, f"{planned} tests planned, {len(results)} reported"))
    return results


def read_meson_log(path):
    """What `meson test` did: yields (test, list of results), from its testlog.json."""
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            entry = json.loads(line)
            name = entry["name"].split(" / ")[-1].split(":")[-1]
            stdout = entry.get("stdout") or ""
            result = entry["result"]
            if re.search(r"^1\.\.\d+", stdout, re.MULTILINE):
                results = parse_tap(stdout)
                if result not in ("OK", "SKIP") and not any(r[1] == FAILED for r in results):
                    results.append(("exit", FAILED, result))
            else:
                outcome = {"OK": PASSED, "SKIP": SKIPPED}.get(result, FAILED)
                said = (stdout + (entry.get("stderr") or "")).strip().rpartition("\n")[2]
                results = [(name, outcome, said if outcome == SKIPPED else result)]
            yield name, results, entry


class Tally:
    """The counts of one run of tests/check; several threads may add to them."""

    def __init__(self, skips_path):
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.skips = []
        self.allowed = self._read_skips(skips_path)

    @staticmethod
    def _read_skips(path):
        allowed = []
        with open(path, encoding="utf-8") as skips:
            for number, line in enumerate(skips, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                match = _SKIP_LINE.fullmatch(line.strip())
                if not match:
                    raise SystemExit(f"{path}:{number}: needs suite, test, [what it says] and why")
                allowed.append(match.groups())
        return allowed

    def add(self, suite, name, outcome, note=""):
        """Counts one result; a skip that is not on the list counts as a failure."""
        if self.is_failure(suite, name, outcome, note) and outcome == SKIPPED:
            outcome, note = FAILED, f"skipped, and not on tests/skips: {note}"
        with self.lock:
            if outcome == PASSED:
                self.passed += 1
            elif outcome == SKIPPED:
                self.skipped += 1
                self.skips.append((suite, name, note))
            else:
                self.failed += 1
                self.failures.append((suite, name, note))
        return outcome

    def is_failure(self, suite, name, outcome, note=""):
        return outcome == FAILED or (outcome == SKIPPED and not self._may_skip(suite, name, note))

    def _may_skip(self, suite, name, note):
        name = name.replace(" ", "-")
        return any(fnmatch.fnmatchcase(suite, s) and fnmatch.fnmatchcase(name, n) and
                   fnmatch.fnmatchcase(note, said) for s, n, said in self.allowed)

    def failing(self, suite, results):
        """The names of what will count as failed."""
        return [name for name, outcome, note in results
                if self.is_failure(suite, name, outcome, note)]

    def fails(self, suite, results):
        """Whether anything of a suite will count as failed, or it has nothing at all."""
        return not results or bool(self.failing(suite, results))

    def add_all(self, suite, results):
        """Counts a suite; one that has no result has failed."""
        for name, outcome, note in results or [("results", FAILED, "there are none")]:
            self.add(suite, name, outcome, note)

    def not_run(self):
        """What was skipped, a line each: of suites that did not run at all first, and plainly."""
        for suite, name, note in sorted(self.skips, key=lambda skip: skip[1] != WHOLE):
            if name == WHOLE:
                yield f"NOT RUN AT ALL: {suite}: {note}"
            else:
                yield f"skipped: {suite}: {name}: {note}"

    def summary(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"
