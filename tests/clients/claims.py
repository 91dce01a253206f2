# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a call belongs to, as the framework says it: claims, which people see as such."""

import re

from driver import Told
from steps import Steps

# Who can say in _meta what a call belongs to: whatever a program gives, or its trace alone.
TAGS = {
    "tagged": ("agent-framework", "mcp-python", "mcp-typescript", "mcp-typescript-2",
               "mcp-typescript-old", "openai-agents-js", "openai-agents-python", "pydantic-ai"),
    "traced": ("google-adk",),
}
# Who says by itself which of its threads and turns calls.
SAYS = {"own_thread": ("codex",)}
TRACE = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"


class Claims(Steps):
    def test_tagged_meta_comes_first(self):
        """Its _meta says run, part and call, whatever the command line says; a tool's arguments never."""
        before = self.scene.effects()
        wanted = self.mail("tagged")
        own = {"org.undersign1/run": "run-of-meta", "org.undersign1/part": "licences",
               "org.undersign1/call": "call-of-meta"}
        more = ["--part=main", "--call=call-of-argv"]
        with self.client("run-of-argv", more=more) as client:
            for name in own:
                for arguments in ({**wanted, name: "x"}, {**wanted, name.split("/")[1]: "x"}):
                    self.refused(client, "tagged", before, arguments=arguments, meta=own)
            for name in own:
                self.refused(client, "tagged", before, f"{name} in _meta is no string",
                             arguments=wanted, meta={**own, name: ["x"]})
            self.refused(client, "tagged", before, "the id of the call is longer", arguments=wanted,
                         meta={**own, "org.undersign1/call": "x" * 201})
            self.refused(client, "tagged", before, "none of this agent's parts", arguments=wanted,
                         meta={**own, "org.undersign1/part": "finance"})
            meta = {**own, "traceparent": TRACE, "threadId": "a thread"}  # of which one is no id
            request = self.pends(Told(client.do("tagged", tool="mail_send", arguments=wanted,
                                                meta=meta)), before)
            plain = self.pends(client.call("mail_send", wanted), before, request)
            cards = self.scene.card(request), self.scene.card(plain)
            for word in ("run-of-meta", "licences", "call call-of-meta", f"traceparent {TRACE}"):
                assert word in cards[0] and word not in cards[1], (word, *cards)
            for word in ("run-of-argv", "part main", "call call-of-argv"):
                assert word in cards[1] and word not in cards[0], (word, *cards)
            assert "thread" not in cards[0], cards[0]
            self.take_back(client, request, plain)
        self.effects_are(before)

    def test_traced_meta_is_shown(self):
        """The trace that the framework itself puts there."""
        before = self.scene.effects()
        with self.client("traced") as client:
            request = self.pends(Told(client.do("traced", tool="mail_send",
                                                arguments=self.mail("traced"),
                                                meta={"traceparent": TRACE})), before)
            card = self.scene.card(request)
            assert f"traceparent {TRACE.rsplit('-', 2)[0]}" in card, card
            self.take_back(client, request)
        self.effects_are(before)

    def test_own_thread_is_shown(self):
        """By what the client tells its calls apart without being asked."""
        before = self.scene.effects()
        with self.client("thread") as client:
            request = self.pends(client.call("mail_send", self.mail("thread")), before)
            card = self.scene.card(request)
            for name in ("threadId", "thread_id", "turn_id"):
                assert re.search(rf"\b{name}\s+[0-9a-f-]{{8}}", card), card
            self.take_back(client, request)
        self.effects_are(before)
