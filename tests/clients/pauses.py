# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a framework asks a person of its own: something else takes the call's place meanwhile."""

import json

from driver import REPORT, Told
from steps import Steps

# Whose framework has a pause of its own that can be driven; of those, who can go back to where it was
# before, whose yes may carry other arguments, and who has an answer that seems to and does not.  A
# program that answers these words is in the list.  CrewAI's pause is in its running process, and there
# is no going back; Mastra's, Agno's, ADK's and Microsoft's stored state is used up by the first yes.
PAUSES = {
    "pause": ("agent-framework", "agno", "crewai", "google-adk", "langgraph-js", "langgraph-python",
              "mastra", "openai-agents-js", "openai-agents-python", "pydantic-ai"),
    "rollback": ("langgraph-js", "langgraph-python", "openai-agents-js", "openai-agents-python",
                 "pydantic-ai"),
    "override": ("langgraph-js", "langgraph-python", "pydantic-ai"),
    "ignored": ("agent-framework",),
}
# Who finds a changed call itself, and says so in these words.
REFUSES = {"openai-agents-python": "reused a tool call ID"}


class Pauses(Steps):
    def paused(self, client, arguments, tool="mail_send"):
        """The framework asks its own person, and has not called anything."""
        found = client.do("pause", tool=tool, arguments=arguments)
        assert "error" not in found, found
        assert "mallory" not in json.dumps(found), found

    def resumed(self, client, arguments, before, *others):
        """Its person says yes, and something else goes on; the id of what that became, None where
        the framework itself found the change."""
        answer = client.do("resume", arguments=arguments)
        if isinstance(answer.get("said"), dict) and "refused" in answer["said"]:
            assert REFUSES.get(self.name, "nobody") in answer["said"]["refused"], answer
            assert set(self.scene.cards()) <= set(others)
            return None
        return self.pends(Told(answer), before, *others)

    def test_pause_a_substitution_does_not_run(self):
        """Between the framework's pause and its resumption something else takes the call's place."""
        before = self.scene.effects()
        with self.client("substituted") as client:
            wanted = self.mail("substituted")
            bcc = {**wanted, "bcc": ["mallory@example.com"]}
            ran = [(wanted["subject"], "security@example.com", ["the report"])]
            request = self.pends(client.call("mail_send", wanted), before)
            self.paused(client, wanted)
            # Both of them have said yes to the one mail, and only that is sent.
            self.approve(request, wanted["subject"], "Bcc          none")
            self.told(self.ended(client, request), "done", "yes")
            self.effects_are(before, ran)
            # One more recipient, another one, and one argument left out.
            bare = {name: value for name, value in wanted.items() if name != "body"}
            denied = []
            for change in (bcc, {**wanted, "to": ["mallory@example.com"]}, bare):
                if denied:
                    self.paused(client, wanted)
                changed = self.resumed(client, change, before, request, *denied)
                denied.append(changed)
                if changed is None:
                    continue
                card = self.scene.card(changed)
                assert ("mallory@example.com" in card) == ("mallory" in json.dumps(change)), card
                self.deny(changed)
                self.told(self.ended(client, changed), "denied", "no")
            # The file is another when it goes on; then nothing is.
            waiting = []
            for text in ("another report", "the report"):
                self.paused(client, wanted)
                self.scene.write_report(text)
                waiting.append(self.resumed(client, wanted, before, request, *denied, *waiting))
            assert sorted(self.scene.cards()) == sorted(waiting)
            self.take_back(client, *waiting)
        self.effects_are(before, ran)

    def test_pause_an_amount_is_what_was_signed(self):
        """Another amount, currency, account or invoice goes on instead: none is paid."""
        before = self.scene.effects()
        with self.client("paid") as client:
            wanted = {"amount": "12.50 EUR", "account": f"NL20 {self.name}", "invoice": REPORT}
            request = self.pends(client.call("test_pay", wanted), before)
            self.paused(client, wanted, "test_pay")
            self.approve(request, "12.50 EUR", wanted["account"], "report.pdf")
            self.told(self.ended(client, request), "done", "yes")
            self.effects_are(before, looks=1)
            denied = []
            for change, shown in (
                    ({"amount": "1250.00 EUR"}, "1 250.00 EUR"), ({"amount": "12.50 USD"}, "12.50 USD"),
                    ({"account": "NL66"}, "NL66"), ({"invoice": REPORT}, "15 bytes")):
                if denied:
                    self.paused(client, wanted, "test_pay")
                if "invoice" in change:
                    self.scene.write_report("another invoice")
                changed = self.resumed(client, {**wanted, **change}, before, request, *denied)
                denied.append(changed)
                self.scene.write_report("the report")
                self.effects_are(before, looks=1)
                if changed is None:
                    continue
                card = self.scene.card(changed)
                assert shown in card, card
                self.deny(changed)
                self.told(self.ended(client, changed), "denied", "no")
        assert self.scene.cards() == []
        self.effects_are(before, looks=1)

    def test_pause_an_approval_is_for_what_was_resumed(self):
        """What a person signs is the changed call, for what it is."""
        before = self.scene.effects()
        ran = []
        with self.client("resumed") as client:
            wanted = self.mail("resumed")
            bcc = {**wanted, "bcc": ["mallory@example.com"]}
            self.paused(client, wanted)
            assert self.scene.cards() == []
            request = self.resumed(client, bcc, before)
            self.effects_are(before)
            if request:
                self.approve(request, "mallory@example.com")
                self.told(self.ended(client, request), "done", "yes")
                ran = [(wanted["subject"], "security@example.com, mallory@example.com",
                        ["the report"])]
        self.effects_are(before, ran)

    def test_pause_a_default_is_what_it_is(self):
        """What is empty and what is left out are one action, whichever of them is resumed."""
        before = self.scene.effects()
        with self.client("default") as client:
            wanted = {"to": ["security@example.com"], "subject": f"{self.name} default"}
            whole = {**wanted, "cc": [], "bcc": [], "body": "", "attachment": []}
            self.paused(client, wanted)
            request = self.resumed(client, whole, before)
            plain = self.pends(client.call("mail_send", wanted), before)
            assert request in (plain, None) and self.scene.cards() == [plain]
            assert self.pends(client.call("mail_send", whole), before) == plain
            self.take_back(client, plain)
        self.effects_are(before)

    def test_rollback_does_not_run_it_again(self):
        """Once it ran, the framework goes on a second time from where it had paused."""
        before = self.scene.effects()
        with self.client("rolled") as client:
            wanted = self.mail("rolled")
            ran = [(wanted["subject"], "security@example.com", ["the report"])]
            self.paused(client, wanted)
            request = self.resumed(client, wanted, before)
            self.approve(request, wanted["subject"])
            self.told(self.ended(client, request), "done", "yes")
            self.effects_are(before, ran)
            again = self.pends(Told(client.do("rollback")), before, request)
            self.effects_are(before, ran)
            self.deny(again)
            self.told(self.ended(client, again), "denied", "no")
        self.effects_are(before, ran)

    def test_override_is_a_request_of_its_own(self):
        """The framework's own yes may carry other arguments than those that its person was shown."""
        before = self.scene.effects()
        with self.client("overridden") as client:
            wanted = self.mail("overridden")
            request = self.pends(client.call("mail_send", wanted), before)
            self.paused(client, wanted)
            told = Told(client.do("override", arguments={**wanted, "to": ["mallory@example.com"]}))
            changed = self.pends(told, before, request)
            assert "mallory@example.com" in self.scene.card(changed)
            self.deny(changed)
            self.approve(request, wanted["subject"])
            self.told(self.ended(client, request), "done", "yes")
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_ignored_is_what_an_answer_changes(self):
        """The answer to the framework's question names other arguments: what was asked about goes on."""
        before = self.scene.effects()
        with self.client("ignored") as client:
            wanted = self.mail("ignored")
            self.paused(client, wanted)
            told = Told(client.do("ignored", arguments={**wanted, "to": ["mallory@example.com"]}))
            request = self.pends(told, before)
            assert "mallory" not in self.scene.card(request)
            assert self.pends(client.call("mail_send", wanted), before) == request
            self.take_back(client, request)
        self.effects_are(before)
