# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a model for a number of steps, as one test: prints its seed, and what it has taken."""

import os
import sys
import time
import traceback

from undersign_test import oracle


VERIFY = 10000  # steps; then, and at the end, all that the oracle has read is read again


def seed_of(text):
    return os.urandom(4).hex() if text == "random" else text


def go(bed, driven, steps, seed, most):
    """Steps, and up to @most where a transition was never taken."""
    driven.rules.write()
    bed.start()
    began = time.monotonic()
    number = 0
    try:
        while number < steps or (number < most and driven.missed()):
            number += 1
            try:
                driven.step()
                if number % VERIFY == 0 and number < steps:
                    bed.oracle.verify()
            except BaseException:
                print(f"# step {number} of seed {seed}", flush=True)
                raise
        bed.oracle.verify()
    finally:
        spent = time.monotonic() - began
        print(f"# {number} steps, {spent:.0f} s; {len(bed.oracle.ran)} ran; audit entries: "
              f"{bed.oracle.seq}", flush=True)
        for name in sorted(driven.taken):
            print(f"# {name}: {driven.taken[name]}", flush=True)
        bed.stop()
    bed.world.check_logs()


def main(name, bed, model, steps, enough):
    """@model: its class; @enough: with so many steps, each transition must have been taken."""
    words = sys.argv[1:]
    steps = int(words[0]) if words else steps
    seed = seed_of(words[1] if len(words) > 1 else os.environ.get("UNDERSIGN_SEED") or "1")
    print(f"1..1\n# seed {seed}, {steps} steps", flush=True)
    driven = model(bed, seed)
    try:
        go(bed, driven, steps, seed, 3 * steps if steps >= enough else steps)
        missed = sorted(driven.missed())
        print(f"# never taken: {missed}", flush=True)
        oracle.demand(not missed or steps < enough, f"never taken: {missed}")
    except BaseException:
        for line in traceback.format_exc().splitlines():
            print(f"# {line}")
        print(f"not ok 1 - system/{name}/{steps} steps")
        return 1
    print(f"ok 1 - system/{name}/{steps} steps")
    return 0
