# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service, the mail server and the person that all clients meet, and what policy says there.

What ran is read where it happens: in the mail server's mailbox, which shows whole mails, and in the null
module's marker.
"""

import contextlib
import os
import sqlite3

from driver import AGENT, HEAR, REPORT, SCRIPT
from undersign_test import bus, mailserver, people, person, policy, world

LEAD = "it.lead"
QUEUE = "/var/lib/undersign/queue.db"
LOOK = f"""[Action]
Summary=Look
Effect=read

[Executor]
Module=null
Marker={policy.MARKER}

[Argument target]
Label=Target
Type=line
Required=yes
"""
PAY = f"""[Action]
Summary=Pay an invoice
Effect=irreversible

[Executor]
Module=null
Marker={policy.MARKER}

[Argument amount]
Label=Amount
Type=money
Required=yes

[Argument account]
Label=To account
Type=line
Required=yes

[Argument invoice]
Label=Invoice
Type=file
Required=yes
"""
FAIL = LOOK.replace("Summary=Look\nEffect=read", "Summary=Fail\nEffect=irreversible").replace(
    "Marker=", "Outcome=failed\nMarker=")
RULES = {"clients": """[Rule ask]
Agents=offboarding
Actions=mail.send test.pay test.fail
Decision=ask
Approvers=@it-leads
Passkeys=software

[Rule look]
Agents=offboarding
Actions=test.look
Decision=allow
Limit=1000/1d all-agents
"""}
# One agent stands for many here, and a person denies it something time and again.
LIMITS = "[Limits]\nPending=32\nSubmitsPerMinute=6000\nRunsPerMinute=6000\nDenials=0\n"


class Scene:
    """The service, the mail server and the person, for all clients; a context manager."""

    def __init__(self):
        self.world = world.World(modules=("null", "mail"))
        self.server = mailserver.Server()
        self.lead = person.Person(LEAD)

    def __enter__(self):
        policy.write(actions={"mail.send": policy.MAIL, "test.look": LOOK, "test.pay": PAY,
                              "test.fail": FAIL}, rules=RULES)
        with open("/etc/undersign/undersign.conf", "w", encoding="utf-8") as file:
            file.write(LIMITS)
        self.write_report("the report")
        with open(HEAR, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        os.chmod(HEAR, 0o755)
        self.server.start()
        try:
            self.world.start()
        except BaseException:
            self.world.print_logs()
            raise
        self.world.ctl("credential", "set", "mail", "work-smtp",
                       text=f"{mailserver.USER}\n{mailserver.PASSWORD}\n")
        self.world.runners["mail"].reload_unit()
        self.world.runners["mail"].restart()
        person.let_enrol(LEAD)
        self.lead.enrol()
        return self

    def __exit__(self, *_):
        self.world.stop()
        self.server.stop()
        self.world.check_logs()

    @staticmethod
    def write_report(text):
        with open(REPORT, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(REPORT, 0o600)
        os.chown(REPORT, people.AGENTS[AGENT][0], -1)

    def cards(self):
        return [card["request"] for card in self.lead.pending()]

    def card(self, request):
        """What it shows, whole; it is left unanswered."""
        with self.lead.terminal("approve", request) as screen:
            pages, _ = self.lead.read_card(screen)
            screen.type("\x1b")
            screen.wait()
        return "\n".join(pages)

    def clear(self):
        """Denies what a test that failed has left."""
        for request in self.cards():
            self.lead.run("deny", "--reason=other", request)

    @staticmethod
    def close_runs():
        """One agent stands for many here, and may have so many runs open."""
        with contextlib.closing(sqlite3.connect(f"file:{QUEUE}?mode=ro", uri=True)) as database:
            runs = database.execute("SELECT id FROM runs").fetchall()
        with bus.Peer(AGENT) as peer:
            for run, in runs:
                peer.call(bus.AGENT, "CloseRun", "(s)", (run,))

    def effects(self):
        """(the mails that were delivered, as (subject, recipients, attachments); how many looks)."""
        mails = []
        for mail in self.server.mails():
            files = [part.get_payload(decode=True).decode() for part in mail.walk()
                     if part.get_filename()]
            mails.append((mail["Subject"], mail["X-RcptTo"], files))
        return sorted(mails), policy.executed()
