#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random sequences of everything that may happen to requests, against executor, runner and module.

Usage: test-model.py [STEPS [SEED]]; SEED "random" makes one up.  Each run prints its seed and goes
the same way with it, but for what a kill meets.  With 1500 steps and more it fails where a
transition was never taken.
"""

import os
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))
sys.path.insert(0, os.path.join(HERE, "../model"))

import model  # noqa: E402: found by the path above
from undersign_test import crash, oracle  # noqa: E402

STEPS, STEPS_SANITIZED = 2000, 300
ENOUGH = 1500  # steps for every transition to be taken


def run(bed, steps, seed):
    driven = model.Model(bed, seed)
    driven.rules.write()
    bed.start()
    began = time.monotonic()
    try:
        for number in range(1, steps + 1):
            name = ""
            try:
                name = driven.step()
            except BaseException:
                print(f"# step {number} of seed {seed} {name}", flush=True)
                raise
    finally:
        spent = time.monotonic() - began
        print(f"# {number} steps, {number / spent:.0f} a second; {len(bed.oracle.ran)} ran; "
              f"audit entries: {bed.oracle.seq}", flush=True)
        for name in sorted(driven.taken):
            print(f"# {name}: {driven.taken[name]}", flush=True)
        bed.stop()
    missed = model.TRANSITIONS - driven.taken.keys()
    print(f"# never taken: {sorted(missed)}", flush=True)
    oracle.demand(not missed or steps < ENOUGH, f"never taken: {sorted(missed)}")
    bed.world.check_logs()


def main():
    bed = crash.Bed()
    words = sys.argv[1:]
    steps = int(words[0]) if words else STEPS_SANITIZED if bed.sanitized else STEPS
    seed = model.seed_of(words[1] if len(words) > 1 else "1")
    print(f"1..1\n# seed {seed}, {steps} steps", flush=True)
    try:
        run(bed, steps, seed)
    except BaseException:
        for line in traceback.format_exc().splitlines():
            print(f"# {line}")
        print(f"not ok 1 - system/model/{steps} steps")
        return 1
    print(f"ok 1 - system/model/{steps} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
