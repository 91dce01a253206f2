# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs unittest cases and prints TAP, so that Meson and tests/check count each test."""

import sys
import traceback
import unittest


class _Result(unittest.TestResult):
    def __init__(self, prefix):
        super().__init__()
        self.prefix = prefix
        self.count = 0

    def _line(self, test, good, note=""):
        self.count += 1
        name = f"{self.prefix}/{test.id().split('.', 1)[-1]}".replace("#", "\\#")
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}{note}", flush=True)

    def _failed(self, test, error):
        self._line(test, False)
        for line in "".join(traceback.format_exception(*error)).splitlines():
            print(f"# {line}", flush=True)

    def addSuccess(self, test):
        self._line(test, True)

    def addSkip(self, test, reason):
        self._line(test, True, f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            super().addSubTest(test, subtest, err)
            print(f"# in {subtest}", flush=True)
            for line in "".join(traceback.format_exception(*err)).splitlines():
                print(f"# {line}", flush=True)
            self._broken = getattr(self, "_broken", set()) | {test.id()}

    def stopTest(self, test):
        # unittest reports no success for a test whose subtest failed; TAP needs its line.
        if test.id() in getattr(self, "_broken", set()):
            self._broken.discard(test.id())
            self._line(test, False)
        super().stopTest(test)


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
