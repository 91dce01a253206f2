# SPDX-License-Identifier: LGPL-2.1-or-later
"""Suites that run beside each other: what counts, and what is tried once more.

A suite that fails while others use the machine is put off until it can run alone.  Then it has
failed, or all that it said the first time passes and it is named as unsteady, with the log of its
failure.  A failure counts at once in a suite that cannot be repeated or draws what it does, and
where memory was misused: no load does that.  Where more than a few suites failed all have.
"""

import re
import zlib

from . import results

PUT_OFF_MAX = 2
LOG_CHARACTERS = 12000
WHY_CHARACTERS = 3000
# Names that a failure of the suite itself goes by.
OF_THE_SUITE = ("bail out", "exit", "plan", "results")
MISUSE = re.compile(r"(Address|Leak|UndefinedBehavior)Sanitizer|runtime error:|"
                    r"SIGSEGV|SIGBUS|SIGILL|, -(4|7|8|11)$|"
                    # What the C library says before it aborts, as an assertion of a test does, too.
                    r"double free or corruption|(malloc|calloc|realloc|free|malloc_consolidate)\(\): |"
                    r"munmap_chunk\(\)|corrupted (size|double-linked)|"
                    r"(stack smashing|buffer overflow) detected", re.MULTILINE)


BUSES = ("dbus-daemon", "dbus-broker")


def bus_of(seed, suite, build):
    """Which bus a suite that is run with the sanitizers and with the release has with @build: with the
    other build it has the other one, and which is drawn by the seed."""
    drawn = zlib.crc32(f"{seed} {suite}".encode())
    return BUSES[(drawn + (build == "release")) % len(BUSES)]


def passes_what_failed(first, second):
    """Whether each result of the @first run is one that passed in the @second."""
    passed = {name for name, outcome, _ in second if outcome == results.PASSED}
    return all(name in passed or outcome == results.SKIPPED or name in OF_THE_SUITE
               for name, outcome, _ in first)


def why(text):
    """What a log of TAP says of each failure, which may stand far above its end."""
    said = re.sub(r"^# journal: .*\n", "", text, flags=re.MULTILINE)
    told = [found[0][-WHY_CHARACTERS:] for found in re.finditer(r"(?:^#.*\n)*^not ok .*\n", said, re.MULTILINE)]
    return "".join(told)[:LOG_CHARACTERS]


class Suites:
    """Adds to a tally; several threads may count."""

    def __init__(self, tally, say):
        self.tally = tally
        self.say = say
        self.put_off = []
        self.unsteady = []

    def count(self, suite, result, again=None):
        """@result is what was found and the log; @again, where there is one, makes another."""
        found, text = result
        if not self.tally.fails(suite, found):
            self.tally.add_all(suite, found)
            return
        self._show(suite, text)
        if again and not MISUSE.search(text):
            self.put_off.append((suite, found, again))
        else:
            self.tally.add_all(suite, found)

    def count_put_off(self, has_time):
        """Once nothing else runs."""
        few = len(self.put_off) <= PUT_OFF_MAX
        for suite, first, again in self.put_off:
            found = first
            if few and has_time():
                self.say(f"once more, alone: {suite}")
                found, text = again()
                if self.tally.fails(suite, found):
                    self._show(suite, text)
                elif passes_what_failed(first, found):
                    self.unsteady += [(suite, name) for name in self.tally.failing(suite, first)]
                else:
                    found = first
            self.tally.add_all(suite, found)
        self.put_off = []

    @staticmethod
    def _show(suite, text):
        print(f"--- {suite}\n{why(text)}---\n{text[-LOG_CHARACTERS:]}", flush=True)
