# SPDX-License-Identifier: LGPL-2.1-or-later
"""The policy of the tests: an offboarding agent that may ask for mail, and for a rehearsal."""

import os

FOLDER = "/etc/undersign"
MARKER = "/var/lib/undersign-null/marker"

AGENTS = {
    "offboarding": "[Agent]\nSummary=Offboarding agent\nUser=agent-offboarding\nOwner=hr.jones\n"
                   "Parts=main licences\nInitiators=hr.kim\n",
    "other": "[Agent]\nSummary=Another agent\nUser=agent-other\nOwner=alice\n",
}

MAIL = """[Action]
Summary=Send an e-mail
Effect=irreversible

[Executor]
Module=mail
Credential=work-smtp
Server=smtp.example.com:587
From=offboarding@example.com

[Argument to]
Label=To
Type=email-list
Required=yes

[Argument cc]
Label=Cc
Type=email-list

[Argument bcc]
Label=Bcc
Type=email-list

[Argument subject]
Label=Subject
Type=line
Required=yes

[Argument body]
Label=Text
Type=text

[Argument attachment]
Label=Attachments
Type=file-list
MaxItems=4
"""

REHEARSE = f"""[Action]
Summary=Rehearse
Effect=irreversible

[Executor]
Module=null
Marker={MARKER}

[Argument target]
Label=Target
Type=line
Required=yes

[Argument note]
Label=Note
Type=text

[Argument paper]
Label=Papers
Type=file-list
"""

ACTIONS = {"mail.send": MAIL, "test.rehearse": REHEARSE}

RULES = {
    "offboarding": """[Rule mail]
Agents=offboarding
Actions=mail.send test.rehearse
Decision=ask
Approvers=@hr @it-leads
Separation=agent owner
Lifetime=30min
Passkeys=software

[Rule soon]
Agents=offboarding
Actions=mail.send
When=to all soon@example.com
Decision=ask
Approvers=@hr @it-leads
Separation=agent owner
Lifetime=3s
Passkeys=software
""",
}


def write(actions=None, agents=None, rules=None):
    """Replaces the policy on disk; what is not given is what stands above."""
    for folder, kind, files in (("actions", "action", ACTIONS if actions is None else actions),
                                ("agents", "agent", AGENTS if agents is None else agents),
                                ("rules", "rule", RULES if rules is None else rules)):
        path = f"{FOLDER}/{folder}"
        os.makedirs(path, mode=0o755, exist_ok=True)
        for name in os.listdir(path):
            os.unlink(f"{path}/{name}")
        for name, text in files.items():
            with open(f"{path}/{name}.{kind}", "w", encoding="utf-8") as file:
                file.write(text)


def executed():
    """How often the null module ran; each time it adds a line to its marker."""
    try:
        with open(MARKER, encoding="ascii") as file:
            return len(file.readlines())
    except FileNotFoundError:
        return 0
