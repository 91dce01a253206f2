#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What each program says of itself and what its page says: the same verbs, each with the same options.

Held against each other are --help of every verb and the page's SYNOPSIS; what is in the SYNOPSIS is
told of in the text, too.
"""

import json
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import tap  # noqa: E402: found by the path above

ROOT = os.path.dirname(os.path.dirname(HERE))
PAGES = {"undersign": "module/card/tty/undersign.1", "undersignctl": "service/ctl/undersignctl.8",
         "undersign-agent": "agentlib/cli/undersign-agent.1",
         "undersign-mcp": "agentlib/mcp/undersign-mcp.1"}
# Of every verb, and said once: in the text.
EVERYWHERE = {"help", "version"}
VERB = re.compile(r"^  ([a-z][a-z-]*(?: [a-z][a-z-]*)?) (?=.* |[A-Z[])", re.MULTILINE)
OPTION = re.compile(r"^ +(?:-\w, )?--([a-z][a-z-]*)", re.MULTILINE)


class Help(unittest.TestCase):
    def setUp(self):
        self.programs = json.loads(os.environ["TEST_PROGRAMS"])

    def help(self, name, *words):
        done = subprocess.run([self.programs[name], *words, "--help"], capture_output=True,
                              text=True, check=False, timeout=300,
                              env={**os.environ, "LANG": "C.UTF-8"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), (name, words))
        return done.stdout

    def spoken(self, name):
        """{verb: its options} as the program says; the verb of one without verbs is ""."""
        text = self.help(name)
        if OPTION.search(text) and "VERB" not in text:
            return {"": set(OPTION.findall(text)) - EVERYWHERE}
        found = {}
        for verb in VERB.findall(text):
            own = self.help(name, *verb.split())
            groups = VERB.findall(own) if re.search(rf"^Usage: {name} {verb} VERB", own) else []
            for word in groups:
                found[f"{verb} {word}"] = self.options(self.help(name, verb, word))
            if not groups:
                found[verb] = self.options(own)
        if name == "undersign":  # a verb of its own, which takes the place of an id
            found["receipt verify"] = self.options(self.help(name, "receipt", "verify"))
        return found

    @staticmethod
    def options(text):
        return set(OPTION.findall(text)) - EVERYWHERE

    @staticmethod
    def page(name):
        with open(os.path.join(ROOT, PAGES[name]), encoding="utf-8") as file:
            text = file.read()
        synopsis, rest = text.split(".Sh SYNOPSIS\n")[1].split(".Sh DESCRIPTION\n")
        return synopsis, rest

    def written(self, name):
        """The same as the page's SYNOPSIS has it."""
        found = {}
        for form in re.split(r"^\.Nm.*\n", self.page(name)[0], flags=re.MULTILINE)[1:]:
            verb = re.match(r"\.Cm ([a-z -]+)\n", form)
            options = set(re.findall(r"Fl (?:Fl )?-?([a-z][a-z-]*)", form)) - EVERYWHERE
            if verb or options:
                found.setdefault(verb[1] if verb else "", set()).update(options)
        return found

    def test_the_synopsis_is_what_the_program_says(self):
        for name in self.programs:
            with self.subTest(name):
                spoken = self.spoken(name)
                self.assertGreater(sum(map(len, spoken.values())), 2)
                self.assertEqual(self.written(name), spoken)

    def test_no_word_is_taken_for_an_option(self):
        """After a delimiter Fl goes on with what is not said to be text."""
        pages = [os.path.join(folder, name) for folder, _, names in os.walk(ROOT)
                 for name in names if re.search(r"\.[1-8]$", name)]
        self.assertGreater(len(pages), 15)
        for path in pages:
            with open(path, encoding="utf-8") as file:
                self.assertNotRegex(file.read(), r"(?m)^\.(?:.* )?Fl \S+(?: [.,:;()]+)+ [a-z]", path)

    def test_the_text_tells_of_each(self):
        for name in self.programs:
            _, text = self.page(name)
            for verb, options in self.written(name).items():
                with self.subTest(f"{name} {verb}"):
                    words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", text))
                    self.assertLessEqual(set(verb.split()), words)
                    for option in options:
                        self.assertRegex(text, rf"Fl (?:Fl )?-?{option}\b")

    def test_a_wrong_command_line(self):
        """One form of all programs: what is wrong, and a line of who says more; nothing is begun."""
        services = {os.path.basename(path): path for path in os.environ["TEST_SERVICES"].split()}
        self.assertEqual((len(self.programs), len(services)), (4, 5))
        wrong = {name: [["--no-such"], ["no-such", "more"]] for name in (*self.programs, *services)}
        for name in set(self.programs) - {"undersign-mcp"}:
            wrong[name] += [[], ["no-such"], ["--no-such", "x"]]
        wrong["undersign"] += [["show"], ["passkey"], ["passkey", "no-such"], ["show", "a", "b"],
                               ["receipt", "verify"], ["launch", "x", "--"], ["show", "x y"]]
        wrong["undersignctl"] += [["halt"], ["policy"], ["policy", "no-such"], ["halt", "a", "b"],
                                  ["passkey", "revoke", "a="]]
        wrong["undersign-agent"] += [["describe"], ["list", "x"], ["list", "--no-such"]]
        wrong["undersign-runner"] += [[], ["--worker"], ["No Module"]]
        for name, lines in wrong.items():
            for words in lines:
                done = self.run_program({**self.programs, **services}[name], *words)
                self.assertEqual((done.returncode, done.stdout), (126, ""), (name, words, done.stderr))
                self.assertRegex(done.stderr, rf'\A{name}: [a-z]+-[a-z]+: [^\n]+\n'
                                 rf'Try "{name}( [a-z-]+)* --help"\.\n\Z')
                shown = self.run_program({**self.programs, **services}[name],
                                         *re.findall(r'Try "\S+(.*)"', done.stderr)[0].split())
                self.assertEqual((shown.returncode, shown.stderr), (0, ""), (name, words))

    def test_what_there_is_but_verbs(self):
        for path in (*self.programs.values(), *os.environ["TEST_SERVICES"].split()):
            name = os.path.basename(path)
            said = self.run_program(path, "--help").stdout
            self.assertRegex(said, rf"\AUsage: {name}\b")
            for option in ("--help", "--version"):
                self.assertRegex(said, rf"(?m)^ +(-h, )?{option} ")
            self.assertRegex(self.run_program(path, "--version").stdout, rf"\A{name} [0-9.]+\n\Z")

    @staticmethod
    def run_program(path, *words):
        return subprocess.run([path, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=300,
                              env={**os.environ, "LANG": "C.UTF-8",
                                   "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"})


if __name__ == "__main__":
    tap.main("help")
