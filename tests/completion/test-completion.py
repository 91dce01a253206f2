#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion in the real shells: what each offers for a line, and whom it asks.

The programs are the real ones, but for the verbs that ask the service: those are answered here, and
noted.  bash and zsh are given the words as their line editors give them; fish completes lines by
itself.
"""

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import tap  # noqa: E402: found by the path above

ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDERS = {"undersign": "module/card/tty", "undersignctl": "service/ctl",
           "undersign-agent": "agentlib/cli", "undersign-mcp": "agentlib/mcp"}
REQUEST, OTHER = "2aca7a241fc7f77be9ebe3d9041dbddd", "7c9a10f3" * 4
# What the service would say; a name that no shell may be made to run is among it.
SAID = {
    "undersign-agent list": f"{REQUEST}  pending       mail.send\n{OTHER}  done          test.look\n"
                            "$(touch${IFS}ran)  pending  x\n",
    "undersign-agent actions": "action     mail.send\n  summary    Send\naction     $(touch ran)\n",
    "undersign-agent describe mail.send": "action     mail.send\nargument   to=VALUE …\n"
                                          "argument   attachment@=FILE …\nargument   `touch ran`=\n",
    "undersign pending": "2aca7a24  Send an e-mail  for a (b), 29 min left\n"
                         "7c9a10f3  $(touch ran)  for a (b), 1 min left\n",
    "undersign passkey list": "q83vEjRWeJA  key, file\n$(touch ran)  x\n",
}
LINES = [  # program, words after it (the last is being typed), what must be offered, what must not
    ("undersign-agent", ["st"], {"status"}, {"wait", "--help"}),
    ("undersign-agent", [""], {"actions", "request", "status", "list"}, set()),
    ("undersign-agent", ["request", "--"], {"--run=", "--claim=", "--json"}, {"--timeout="}),
    ("undersign-agent", ["request", ""], {"mail.send"}, {"$(touch", "ran)"}),
    ("undersign-agent", ["request", "mail.send", ""], {"to=", "attachment@="}, set()),
    ("undersign-agent", ["status", ""], {REQUEST, OTHER}, set()),
    ("undersign-agent", ["wait", "7"], {OTHER}, {REQUEST}),
    ("undersign-agent", ["info", ""], set(), {REQUEST}),
    ("undersign-mcp", ["--"], {"--hold=", "--run=", "--help", "--version"}, set()),
    ("undersign", [""], {"pending", "approve", "passkey"}, {"enrol"}),
    ("undersign", ["passkey", ""], {"enrol", "list", "revoke"}, {"pending"}),
    ("undersign", ["passkey", "enrol", "--"], {"--security-key", "--file", "--label="}, set()),
    ("undersign", ["approve", ""], {"2aca7a24", "7c9a10f3"}, set()),
    ("undersign", ["passkey", "revoke", "q"], {"q83vEjRWeJA"}, set()),
    ("undersignctl", [""], {"status", "policy", "credential"}, {"check"}),
    ("undersignctl", ["policy", ""], {"check", "reload"}, {"status", "policy"}),
    ("undersignctl", ["policy", "check", "--"], {"--no-users", "--json"}, set()),
    ("undersignctl", ["resolve", REQUEST, ""], {"done", "failed"}, set()),
    ("undersignctl", ["resolve", ""], set(), {REQUEST}),
    ("undersignctl", ["agent", ""], {"add", "login", "shares"}, {"check", "agent"}),
    ("undersignctl", ["agent", "add", "--"], {"--owner=", "--action="}, {"--end="}),
    ("undersignctl", ["setup", "--"], {"--agent=", "--passkeys="}, {"--action="}),
    ("undersign", ["launch", "--"], {"--share=", "--run=", "--no-run"}, {"--label="}),
    ("undersign", ["launch", ""], set(), {"2aca7a24", "$(touch", "ran)"}),
]
STUB = """#!/bin/sh
echo "{name} $*" >> {folder}/asked
case "{name} $*" in
{cases}
esac
exec {real} "$@"
"""
BASH = """source {file}
COMP_WORDS=({words}) COMP_CWORD={count}
$(complete -p {name} | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# The three functions of zsh's completion system that ours end in.
ZSH = """_describe () {{ local -a all=("${{(@P)4}}"); print -rl -- "${{(@)all%%:*}}" }}
compadd () {{ print -rl -- "${{(@P)@[-1]}}" }}
_files () {{ :; }}
compset () {{ :; }}
words=({words}) CURRENT={current}
source {file}
"""


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.programs = json.loads(os.environ["TEST_PROGRAMS"])
        cls.folder = tempfile.mkdtemp(prefix="undersign-completion-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for name, real in cls.programs.items():
            cases = ""
            for number, (line, text) in enumerate(SAID.items()):
                if line.split()[0] == name:
                    with open(f"{cls.folder}/said-{number}", "w", encoding="utf-8") as file:
                        file.write(text)
                    cases += f"'{line}') exec cat {cls.folder}/said-{number} ;;\n"
            with open(f"{cls.folder}/{name}", "w", encoding="utf-8") as file:
                file.write(STUB.format(name=name, folder=cls.folder, cases=cases, real=real))
            os.chmod(f"{cls.folder}/{name}", 0o755)
            for shell in ("bash", "zsh", "fish"):
                shutil.copy(f"{ROOT}/{FOLDERS[name]}/{name}.{shell}", f"{cls.folder}/{name}.{shell}")
        os.chmod(cls.folder, 0o777)

    def shell(self, argv, as_root):
        """What a shell prints; as another user where we are root and @as_root is not so."""
        def become():
            if os.geteuid() == 0 and not as_root:
                nobody = pwd.getpwnam("nobody")
                os.setgroups([])
                os.setresgid(*[nobody.pw_gid] * 3)
                os.setresuid(*[nobody.pw_uid] * 3)

        done = subprocess.run(argv, preexec_fn=become, capture_output=True, text=True, check=False,
                              cwd=self.folder, timeout=300,
                              env={"PATH": f"{self.folder}:/usr/bin:/bin", "HOME": self.folder,
                                   "LANG": "C.UTF-8", "TERM": "dumb",
                                   **{key: value for key, value in os.environ.items()
                                      if key.endswith("SAN_OPTIONS")}})
        self.assertEqual(done.stderr, "", argv)
        return {line for line in done.stdout.splitlines() if line}

    def offered(self, shell, name, words, as_root):
        file = f"{self.folder}/{name}.{shell}"
        quoted = " ".join(f"'{word}'" for word in (name, *words))
        if shell == "bash":
            return self.shell(["bash", "--norc", "--noprofile", "-c", BASH.format(
                file=file, words=quoted, count=len(words), name=name)], as_root)
        if shell == "zsh":
            found = self.shell(["zsh", "-f", "-c", ZSH.format(
                file=file, words=quoted, current=len(words) + 1)], as_root)
            return {word for word in found if word.startswith(words[-1])}
        lines = self.shell(["fish", "--no-config", "-c", f"source {file}; complete -C \"$argv\"",
                            " ".join((name, *words))], as_root)
        return {line.split("\t")[0] for line in lines}

    def asked(self):
        """What the service was asked since the last time."""
        with open(f"{self.folder}/asked", "a+", encoding="utf-8") as file:
            file.seek(0)
            lines = set(file.read().splitlines())
            file.truncate(0)
        return lines & set(SAID) | {line for line in lines if "--help" not in line}

    def check(self, shell):
        os.chmod(self.folder, 0o777)
        for name, words, wanted, unwanted in LINES:
            with self.subTest(f"{shell}: {name} {' '.join(words)}"):
                found = self.offered(shell, name, words, as_root=False)
                if os.geteuid() == 0:
                    os.chmod(f"{self.folder}/asked", 0o666)
                self.assertLessEqual(wanted, found)
                self.assertEqual(unwanted & found, set())
                self.asked()
        self.assertFalse(os.path.exists(f"{self.folder}/ran"))

    def check_root(self, shell):
        for name, words, _, _ in LINES:
            self.offered(shell, name, words, as_root=True)
            self.assertEqual(self.asked(), set(), f"{shell}: {name} {' '.join(words)}")

    def test_each_shell_reads_its_files(self):
        for name in self.programs:
            for shell, option in (("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")):
                self.shell([shell, option, f"{self.folder}/{name}.{shell}"], as_root=False)

    @unittest.skipUnless(os.geteuid() == 0, "for root: tests/system/test-completion.py")
    def test_root_asks_the_service_nothing(self):
        for shell in ("bash", "zsh", "fish"):
            self.check_root(shell)

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")

    def test_fish(self):
        self.check("fish")


if __name__ == "__main__":
    tap.main("completion")
