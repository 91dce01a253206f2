# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is refused, and the reason word that undersign-record(7) gives it."""


class Refused(Exception):
    """Carries the reason, and the canonical spelling where the page names one."""

    def __init__(self, reason, canonical=None):
        super().__init__(reason)
        self.reason = reason
        self.canonical = canonical
