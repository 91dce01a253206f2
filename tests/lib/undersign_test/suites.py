# SPDX-License-Identifier: LGPL-2.1-or-later
"""Suites that run beside each other: what counts, and what is tried once more.

A suite that fails while others use the machine is put off until it can run alone.  Then it has
failed, or it passes and is named as unsteady, with the log of its failure.  A failure counts at once
in a suite that cannot be repeated or whose order of events is drawn; and where more than a few
suites failed all have, since that is no load.
"""

PUT_OFF_MAX = 2
LOG_CHARACTERS = 12000


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
        if again:
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
                else:
                    self.unsteady += [(suite, name) for name in self.tally.failing(suite, first)]
            self.tally.add_all(suite, found)
        self.put_off = []

    @staticmethod
    def _show(suite, text):
        print(f"--- {suite}\n{text[-LOG_CHARACTERS:]}", flush=True)
