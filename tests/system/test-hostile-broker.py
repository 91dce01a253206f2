#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A broker in hostile hands against the installed executor and the null module: only the executor
and one runner are started, and tests/executor/hostile-broker speaks to it as uid undersign.  What
it prints is this test's TAP."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import world  # noqa: E402


def main():
    program = os.path.join(os.environ["UNDERSIGN_BUILD"], "tests/executor/hostile-broker")
    subprocess.run([program, "--write-policy"], check=True)
    with world.World(modules=("null",), services=("undersign-executor",)):
        return subprocess.run([program, "--tap"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
