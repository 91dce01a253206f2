# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs unittest cases and prints TAP: one line a test, so that Meson and tests/check count each."""

import sys
import traceback
import unittest


class _Result(unittest.TestResult):
    """A test is good when nothing about it failed: itself, its subtests, its cleanup."""

    def __init__(self, prefix):
        super().__init__()
        self.prefix = prefix
        self.count = 0
        self.good, self.note = True, ""

    def startTest(self, test):
        super().startTest(test)
        self.good, self.note = True, ""

    def stopTest(self, test):
        super().stopTest(test)
        self.count += 1
        name = f"{self.prefix}/{test.id().split('.', 1)[-1]}".replace("#", "\\#")
        note = self.note if self.good else ""
        print(f"{'ok' if self.good else 'not ok'} {self.count} - {name}{note}", flush=True)

    def _failed(self, what, error):
        self.good = False
        print(f"# {what}", flush=True)
        for line in "".join(traceback.format_exception(*error)).splitlines():
            print(f"# {line}", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note = f" # SKIP {reason}"

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test.id(), err)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test.id(), err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed(subtest.id(), err)


def main(prefix, module="__main__"):
    """Runs every case of @module, or those whose names hold an argument; exits with the result."""
    suite = unittest.TestLoader().loadTestsFromName(module)
    tests = [case for group in suite for case in group]
    wanted = sys.argv[1:]
    if wanted:
        tests = [test for test in tests if any(word in test.id() for word in wanted)]
    print(f"1..{len(tests)}", flush=True)
    result = _Result(prefix)
    unittest.TestSuite(tests).run(result)
    if result.count < len(tests):  # a setUpClass that failed reports for itself alone
        print(f"# {len(tests) - result.count} tests did not run", flush=True)
    sys.exit(0 if result.wasSuccessful() and result.count == len(tests) else 1)
