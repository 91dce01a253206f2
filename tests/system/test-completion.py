#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion as it is installed: of root, who asks the service nothing, and in zsh at a terminal.

tests/completion has what needs neither root nor an installation, and zsh's own functions replaced.
"""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import tap  # noqa: E402
from undersign_test.terminal import Terminal  # noqa: E402

PROGRAMS = {name: f"/usr/bin/{name}"
            for name in ("undersign", "undersignctl", "undersign-agent", "undersign-mcp")}


class Completion(unittest.TestCase):
    def test_root_asks_the_service_nothing(self):
        done = subprocess.run(
            [sys.executable, "-B", os.path.join(HERE, "../completion/test-completion.py"), "test_root"],
            env={**os.environ, "TEST_PROGRAMS": json.dumps(PROGRAMS)}, capture_output=True, text=True,
            check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^ok 1 - \S+test_root_asks_the_service_nothing$")

    def test_zsh_at_a_terminal(self):
        with Terminal("agent-offboarding", ["zsh", "-f", "-i"], environment={"TERM": "xterm", "PS1": "@> "}) as zsh:
            zsh.wait_for("@> ")
            zsh.type("autoload -Uz compinit; compinit -u -D; print 're''ady'\r")
            zsh.wait_for("ready")
            zsh.wait_for("@> ")
            for typed, completed in (("undersign-mcp --pri", "--print-config="),
                                     ("undersignctl resolve 01234567 fai", "failed "),
                                     ("undersign passk", "passkey "),
                                     ("undersign-agent with", "withdraw ")):
                with self.subTest(typed=typed):
                    zsh.type(f"{typed}\t")
                    zsh.wait_for(completed)
                    zsh.type("\x15")  # takes the line back, whenever it is read


if __name__ == "__main__":
    tap.main("system/completion")
