# SPDX-License-Identifier: LGPL-2.1-or-later
"""The first hour of an installation, to which `undersignctl setup` leads: what its tests share."""

import os
import re
import stat
import unittest

from . import mailserver, person, policy, terminal, world

OWNER, LEAD, NAME = "hr.jones", "it.lead", "clerk"
USER, HOME = f"agent-{NAME}", f"/var/lib/undersign-agents/{NAME}"
SERVER, FROM, TO = f"{mailserver.HOST}:{mailserver.PORT}", "offboarding@example.com", "security@example.com"
ANSWERS = {
    "What is the agent called?": NAME,
    "Which user does it act for?": OWNER,
    "Which mail server?": SERVER,
    "Which address are its mails from?": FROM,
    "Which user approves?": LEAD,
    "Which passkeys count?": "software",
    "Which user name does the mail server know it by?": mailserver.USER,
    "Password:": mailserver.PASSWORD,
    "Which client of MCP does it use?": "codex",
    "Who gets the first mail?": TO,
}


def state(*tops):
    """Of each file and folder there: what it is, when it was changed, and what it holds."""
    found = {}
    for top in tops:
        for folder, _, names in [*os.walk(top)] or [(top, [], [])]:
            for path in filter(os.path.lexists, (folder, *(f"{folder}/{name}" for name in names))):
                status = os.lstat(path)
                with open(path if stat.S_ISREG(status.st_mode) else os.devnull, "rb") as file:
                    found[path] = (status.st_mode, status.st_uid, status.st_mtime_ns, file.read())
    return found


def start(*options, environment=None):
    """`undersignctl setup` at a terminal of root's."""
    return terminal.Terminal("root", ["undersignctl", "setup", *options], environment=environment)


def run_until(screen, pattern, answers=None):
    """Answers what it asks until a line begins with @pattern; the match.

    @answers: what differs from ANSWERS; of a list each is the answer to one time that it is asked.
    """
    left = {**ANSWERS, **(answers or {})}
    asked = "|".join(map(re.escape, left))
    while True:
        match = screen.wait_for(f"^(?:{pattern})|(?P<asked>{asked})")
        question = match["asked"]
        if question is None:
            return match
        answer = left[question]
        screen.line(answer.pop(0) if isinstance(answer, list) else answer)


class FirstHour(unittest.TestCase):
    """A world with no policy, a mail server, and somebody who approves."""

    @classmethod
    def setUpClass(cls):
        policy.write(actions={}, agents={}, rules={})
        with open(f"{policy.FOLDER}/undersign.conf", "w", encoding="utf-8") as file:
            file.write("[Limits]\nSubmitsPerMinute=6000\nRunsPerMinute=6000\n")
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        cls.world = world.World(modules=("null", "mail"))
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.let_enrol(LEAD)
        cls.lead = person.Person(LEAD)

    def credential_is_stored(self):
        """What systemd does where it runs: the runner has the credential at its next start."""
        self.world.runners["mail"].reload_unit()
        self.world.runners["mail"].restart()
