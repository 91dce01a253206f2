#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random sequences of everything that may happen to requests, against executor, runner and module.

There is no broker and no bus here: the test itself hands over what a broker would.  A request that is
denied, withdrawn or expired, or whose approvers are gone, is one that the test closes with that word;
a denial may be signed, too.  What a broker makes of people, agents and time is in test-model-path.py,
whose steps are fewer, since each of them takes ten times as long.

Usage: test-model.py [STEPS [SEED]]; SEED "random" makes one up.  Each run prints its seed and goes
the same way with it, but for what a kill meets.  With 3000 steps and more it fails where a
transition was never taken.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
sys.path.insert(0, os.path.join(HERE, "../model"))

import drive  # noqa: E402: found by the path above
import model  # noqa: E402
from undersign_test import crash  # noqa: E402

if __name__ == "__main__":
    sys.exit(drive.main("model", crash.Bed(forks=not crash.sanitized(), stays=True), model.Model,
                        300 if crash.sanitized() else 20000, 3000))
