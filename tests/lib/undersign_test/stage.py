# SPDX-License-Identifier: LGPL-2.1-or-later
"""How tests/try talks to whoever looks on: headings, paragraphs, what was typed and what was said."""

import os
import sys
import textwrap

WIDTH = 78


class Stage:
    """Prints; colours only on a terminal."""

    def __init__(self):
        self.colour = sys.stdout.isatty() and os.environ.get("NO_COLOR") is None
        self.step = 0

    def _style(self, code, text):
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text

    @staticmethod
    def line(text=""):
        print(text, flush=True)

    def title(self, text, below):
        self.line()
        self.line(self._style("1", text))
        self.line(self._style("2", "─" * WIDTH))
        self.say(below)

    def heading(self, text):
        self.step += 1
        self.line()
        self.line(self._style("1;36", f"{self.step}. {text}"))
        self.line()

    def say(self, text):
        for line in textwrap.wrap(" ".join(text.split()), WIDTH - 2, break_long_words=False,
                                  break_on_hyphens=False):
            self.line("  " + line)

    def typed(self, user, command):
        """A command, as somebody typed it."""
        first, *rest = textwrap.wrap(command, WIDTH - 10 - len(user), break_long_words=False,
                                     break_on_hyphens=False)
        lines = [self._style("32", f"{user} $ ") + self._style("1", first)]
        lines += [" " * (len(user) + 5) + self._style("1", line) for line in rest]
        self.line()
        for number, line in enumerate(lines, 1):
            self.line("    " + line + (" \\" if number < len(lines) else ""))

    def output(self, text):
        """What came back, whole."""
        for line in text.rstrip("\n").splitlines():
            self.line("    " + self._style("2", "│ ") + line)

    def result(self, good, what, said, also=()):
        """One line: what was tried, what was said, and that it came to nothing."""
        mark = self._style("1;32", "✓") if good else self._style("1;31", "✗")
        note = self._style("2", "mailbox unchanged") if good \
            else self._style("1;31", "NOT AS IT MUST BE")
        first, *rest = textwrap.wrap(said, 46) or [""]
        self.line(f"  {mark} {what:<27} {first:<46} {note}")
        for line in (*rest, *also):
            self.line(" " * 32 + line)

    def verdict(self, good, text):
        self.line()
        self.line(self._style("1;32" if good else "1;31", text))
        self.line()
