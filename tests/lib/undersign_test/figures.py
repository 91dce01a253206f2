# SPDX-License-Identifier: LGPL-2.1-or-later
"""What suites say besides passed and failed, for the end of a report: a line for each kind of figure.

A seed is what a run can be repeated with; the others are measured, and the suites themselves fail
where they are worse than they may be.
"""

import re

KINDS = {
    "coverage": re.compile(r"^ok +(all: .+)$", re.MULTILINE),
    "seeds": re.compile(r"^# (?:chosen operations fail: |random )?"
                        r"((?:seed:? |UNDERSIGN_SEED=|UNDERSIGN_FAULTS=)\S+.*)$", re.MULTILINE),
    "exposure": re.compile(r"^# (\S+\.service): exposure (\d+\.\d)$", re.MULTILINE),
}


class Figures:
    """Several threads may read; what a suite says once more replaces what it said."""

    def __init__(self):
        self.found = {kind: {} for kind in KINDS}

    def read(self, suite, text):
        """Takes from @text, which @suite has printed, whatever figures it has."""
        for kind, pattern in KINDS.items():
            match = pattern.findall(text)
            if match:
                self.found[kind][suite] = [
                    " ".join(words) if isinstance(words, tuple) else words for words in match]

    def lines(self):
        for kind, suites in self.found.items():
            said = [f"{suite}: {', '.join(words)}" for suite, words in sorted(suites.items())]
            yield f"{kind}: {'; '.join(said) or 'nobody said any'}"
