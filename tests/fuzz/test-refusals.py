#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the table tests/fuzz/refusals against the sources.

Every reason of dbus/reason.h that stands in a file of tests/fuzz/parsers has a line "TARGET REASON
FILE" for one of the targets of that file, and the corpus file is there; the replay of the target
shows that it is refused for just that.  FILE is "-" where no input can bring it about: then the line
goes on with why.  A reason that no parser gives has such a line too, of the target "-", so that each
word of dbus/reason.h was thought of.
"""
import pathlib
import re
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent


def rows(name):
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def words():
    """{US_REASON_X: "x"}"""
    text = (TOP / "dbus/reason.h").read_text(encoding="utf-8")
    return dict(re.findall(r'^#define (US_REASON_\w+) "([a-z-]+)"', text, re.MULTILINE))


def given():
    """{(source, targets, reason)} of the sources."""
    known = words()
    found = set()
    for targets, *sources in rows("parsers"):
        for source in sources:
            text = (TOP / source).read_text(encoding="utf-8")
            for name in re.findall(r"\bUS_REASON_\w+", text):
                found.add((source, targets, known[name]))
    return found


class Refusals(unittest.TestCase):
    def test_every_reason_has_a_line(self):
        have = {(target, reason) for target, reason, *_ in rows("refusals")}
        self.assertGreater(len(given()), 50)
        for source, targets, reason in sorted(given()):
            with self.subTest(source=source, reason=reason):
                self.assertTrue({(target, reason) for target in targets.split("+")} & have)

    def test_every_word_has_a_line(self):
        lines = rows("refusals")
        of_parsers = {reason for target, reason, *_ in lines if target != "-"}
        of_none = {reason for target, reason, *_ in lines if target == "-"}
        self.assertEqual(of_parsers | of_none, set(words().values()))
        self.assertEqual(of_parsers & of_none, set())
        self.assertEqual(len(lines), len({(target, reason) for target, reason, *_ in lines}))

    def test_every_line_names_a_file_or_says_why(self):
        for target, reason, file, *why in rows("refusals"):
            with self.subTest(target=target, reason=reason):
                self.assertIn(reason, words().values())
                if target == "-" or file == "-":
                    self.assertEqual(file, "-")
                    self.assertGreater(len(why), 3)
                else:
                    self.assertTrue((HERE / "corpus" / target / file).is_file(), file)
                    self.assertEqual(why, [])

    def test_every_target_has_its_files(self):
        targets = {path.stem.removeprefix("fuzz-") for path in HERE.glob("fuzz-*.c")}
        self.assertEqual(targets, {path.name for path in (HERE / "corpus").iterdir()})
        for named, *_ in rows("parsers"):
            self.assertLessEqual(set(named.split("+")), targets)
        for _, *sources in rows("parsers"):
            for source in sources:
                self.assertTrue((TOP / source).is_file(), source)


if __name__ == "__main__":
    unittest.main()
