#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random sequences of everything that may happen to requests, from the bus to marker and mailbox.

Usage: test-model-path.py [STEPS [SEED]]; as test-model.py.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
sys.path.insert(0, os.path.join(HERE, "../model"))

import drive  # noqa: E402: found by the path above
import path  # noqa: E402
from undersign_test import crash  # noqa: E402

if __name__ == "__main__":
    sys.exit(drive.main("model-path", path.MailBed(forks=not crash.sanitized(), stays=True),
                        path.Path, 60 if crash.sanitized() else 1500, 400))
