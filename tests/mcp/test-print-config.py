#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-mcp --print-config: what is written for each client, as its own kind of parser reads it.

usage: test-print-config.py UNDERSIGN_MCP BINDIR [TEST…]
"""

import json
import os
import subprocess
import sys
import tomllib
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import tap  # noqa: E402

PROGRAM, COMMAND = os.path.abspath(sys.argv[1]), sys.argv[2] + "/undersign-mcp"
# By client: where the server stands, what there is but the command, and the seconds that it waits.
CLIENTS = {
    "claude": ("mcpServers", {"args": ["--hold=240"], "env": {}, "timeout": 300000}, 300),
    "codex": ("mcp_servers", {"args": ["--hold=240"], "env": {},
                              "env_vars": ["UNDERSIGN_RUN", "UNDERSIGN_PART"],
                              "tool_timeout_sec": 300,
                              "default_tools_approval_mode": "approve"}, 300),
    "gemini": ("mcpServers", {"args": ["--hold=240"], "env": {}, "timeout": 300000, "trust": True},
               300),
    "vscode": ("servers", {"type": "stdio", "args": ["--hold=240"], "env": {}}, None),
    "cursor": ("mcpServers", {"args": ["--hold=50"], "env": {}}, 60),
    "claude-desktop": ("mcpServers", {"args": ["--hold=50"], "env": {}}, 60),
    "json": ("mcpServers", {"args": ["--hold=4"], "env": {}}, 5),
}
GRAPHICAL = ("vscode", "cursor", "claude-desktop")
GOLDEN = {
    "claude": """{
  "mcpServers": {
    "undersign": {
      "command": "COMMAND",
      "args": ["--hold=240"],
      "env": { "UNDERSIGN_RUN": "ticket \\"4711\\"", "UNDERSIGN_PART": "licences" },
      "timeout": 300000
    }
  }
}
""",
    "codex": """[mcp_servers.undersign]
command = "COMMAND"
args = ["--hold=240"]
env = { UNDERSIGN_RUN = "ticket \\"4711\\"", UNDERSIGN_PART = "licences" }
env_vars = []
tool_timeout_sec = 300
default_tools_approval_mode = "approve"
""",
    "vscode": """{
  "servers": {
    "undersign": {
      "type": "stdio",
      "command": "COMMAND",
      "args": ["--hold=240"],
      "env": { "UNDERSIGN_RUN": "ticket \\"4711\\"", "UNDERSIGN_PART": "licences" }
    }
  }
}
""",
}


def run(*words, **variables):
    return subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], **variables}, timeout=120, check=False)


def parsed(client, text):
    return tomllib.loads(text) if client == "codex" else json.loads(text)


class Config(unittest.TestCase):
    def printed(self, client, *words, **variables):
        """The server as the client reads it, and what is said beside it."""
        done = run(f"--print-config={client}", *words, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        servers = parsed(client, done.stdout)[CLIENTS[client][0]]
        self.assertEqual(list(servers), ["undersign"])
        return servers["undersign"], done.stderr

    def test_unknown(self):
        for word in ("", "claude ", "Claude", "no-such", "../claude"):
            done = run(f"--print-config={word}")
            self.assertEqual((done.returncode, done.stdout), (126, ""))
            self.assertTrue(done.stderr.endswith('\nTry "undersign-mcp --help".\n'), done.stderr)
            for client in CLIENTS:
                self.assertIn(client, done.stderr)

    def test_names(self):
        """Without a name it says which there are, as --help does; one client has two."""
        for words in (("--print-config",), ("--print-config", "--hold=3")):
            done = run(*words)
            self.assertEqual((done.returncode, done.stdout), (126, ""))
            self.assertIn("missing-argument: --print-config= wants a client: ", done.stderr)
            for client in (*CLIENTS, "claude-code"):
                self.assertIn(client, done.stderr)
                self.assertIn(client, run("--help").stdout)
        for words in (("--print-config=claude-code",), ("--print-config", "claude")):
            self.assertEqual(run(*words).stdout, run("--print-config=claude").stdout)

    def test_each(self):
        for client, (_, members, _) in CLIENTS.items():
            server, notes = self.printed(client)
            self.assertEqual(server, {"command": COMMAND, **members}, client)
            self.assertNotIn("Hold:", notes)

    def test_full_disk(self):
        for words in (("--print-config=codex",), ("--help",), ("--version",)):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.splitlines()[-1], "undersign-mcp: internal: cannot write "
                             "the output: No space left on device")

    def test_golden(self):
        for client, text in GOLDEN.items():
            done = run(f"--print-config={client}", "--run=ticket \"4711\"", "--part=licences")
            self.assertEqual(done.stdout, text.replace("COMMAND", COMMAND))

    def test_options(self):
        """From the command line or the environment; each parser gets back what was given."""
        odd = "a\"b\\c\u00e9 \u2028\t]'"
        for client in CLIENTS:
            server, _ = self.printed(client, "--hold=2.5", f"--run={odd}", UNDERSIGN_CALL=odd)
            self.assertEqual(server["args"], ["--hold=2.500"])
            self.assertEqual(server["env"], {"UNDERSIGN_RUN": odd, "UNDERSIGN_CALL": odd})
            if client == "codex":
                self.assertEqual(server["env_vars"], ["UNDERSIGN_PART"])

    def test_holds_are_shorter_than_what_clients_wait(self):
        for client, (_, members, waits) in CLIENTS.items():
            if waits is not None:
                self.assertLess(int(members["args"][0].removeprefix("--hold=")), waits, client)
        for client in ("claude", "codex", "gemini"):
            self.assertIn("Hold:", self.printed(client, "--hold=300")[1])

    def test_no_boundary(self):
        """A client in a person's session is told so plainly, and the others whose user to be."""
        for client in CLIENTS:
            notes = self.printed(client)[1]
            self.assertEqual("NO BOUNDARY" in notes, client in GRAPHICAL, client)
            self.assertEqual("Instead:" in notes, client in GRAPHICAL, client)
            self.assertIn("File:", notes)

    def test_whose_user(self):
        """Each is told whose user it must be and who printed it; in a terminal, what starts it."""
        for client, command in (("claude", "claude"), ("codex", "codex "), ("gemini", "gemini"),
                                ("json", "CLIENT"), ("vscode", None), ("cursor", None),
                                ("claude-desktop", None)):
            notes = self.printed(client)[1]
            self.assertIn(f"(uid {os.getuid()})", notes)
            self.assertIn("User:        the agent's, as whom the client must run", notes)
            self.assertEqual("Start:" in notes, client not in GRAPHICAL, client)
            if command:
                self.assertIn(f"undersign launch NAME -- {command}", notes)
            elif client != "vscode":
                self.assertIn("by \"undersign launch NAME -- ", notes)

    def test_the_clients_own_list(self):
        found = {client: [line for line in self.printed(client)[1].splitlines()
                          if line.strip().startswith("Questions:")] for client in CLIENTS}
        for client, words in (("claude", "mcp__undersign"), ("cursor", "undersign:*"),
                              ("codex", "keeps it from asking"), ("gemini", "keeps it from asking"),
                              ("vscode", "Chat: Manage Tool Approval"),
                              ("claude-desktop", "no list in a file"), ("json", "its own pages")):
            self.assertEqual(len(found.pop(client)), 1, client)
            self.assertIn(words, self.printed(client)[1])
        self.assertEqual(found, {}, "a client without a line")


if __name__ == "__main__":
    del sys.argv[1:3]
    tap.main("mcp-print-config")
