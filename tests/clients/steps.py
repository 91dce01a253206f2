# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the scenarios have in common: what is asserted, and what people and agents do."""

import json
import time

from driver import PATIENCE, REPORT, Client, results
from scene import LEAD


class Steps:
    """One client in the scene."""

    def __init__(self, scene, name, argv):
        self.scene, self.name, self.argv = scene, name, argv

    def client(self, test, **options):
        return Client(self.argv, f"{self.name}-{test}", **options)

    def mail(self, test, **changes):
        """The arguments of a mail that nobody else asks for."""
        return {"to": ["security@example.com"], "subject": f"{self.name} {test}",
                "body": "The report is attached.", "attachment": [REPORT], **changes}

    # --- what is asserted ---

    def told(self, told, state, executed):
        """A model that reads it cannot think anything else."""
        assert (told.state, told.executed) == (state, executed), f"not {state}: {told}"
        words = {"no": "othing was executed", "yes": "t was executed"}[executed]
        assert words in told.text, f"it does not say {words!r}: {told}"
        assert LEAD not in told.text, f"it names a person: {told}"

    def effects_are(self, before, mails=(), looks=0):
        """Nothing ran since @before but those mails, each (subject, recipients, attachments)."""
        wanted = (sorted([*before[0], *mails]), before[1] + looks)
        found = self.scene.effects()
        assert found == wanted, f"effects: {found} instead of {wanted}"

    def pends(self, told, before, *others):
        """It is a request of its own, and nothing ran; its id."""
        self.told(told, "pending", "no")
        assert told.request and told.request not in others, f"the same request: {told}"
        return told.request

    # --- what people and agents do ---

    def approve(self, request, *shown):
        """Reads the card at a terminal, which must show each of @shown, and signs it."""
        answer = self.scene.lead.approve(request)
        assert answer.status == 0, answer.text[-4000:]
        for text in shown:
            assert text in answer.card, f"the card does not show {text!r}:\n{answer.card}"

    def deny(self, request):
        answer = self.scene.lead.deny(request, reason=1)
        assert "wrong-target" in answer.text or answer.status == 0, answer.text[-4000:]

    def ended(self, client, request):
        """What the client hears of it once it has ended."""
        end = time.monotonic() + PATIENCE
        while True:
            told = client.call("request_status", {"request_id": request})
            if told.state not in ("pending", "approved", "executing") or time.monotonic() > end:
                return told
            time.sleep(0.2)

    def take_back(self, client, *requests):
        for request in requests:
            self.told(client.call("request_cancel", {"request_id": request}), "withdrawn", "no")

    def refused(self, client, word, before, *said, **values):
        """Nothing is asked of anybody, and the model is told why."""
        text = json.dumps(client.do(word, tool="mail_send", **values))
        assert all(part in text for part in said), f"it does not say {said}: {text[:3000]}"
        assert all(told["state"] == "refused" for told in results(text)), text[:3000]
        assert self.scene.cards() == []
        self.effects_are(before)
