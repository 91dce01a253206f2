# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every client of MCP must come to, against the real service, with a person at the card.

The client's program runs as the agent's user and is told by lines what to call; the person reads
and answers cards at a terminal.  What only some clients can do is in the files beside this one.
"""

import os
import re
import signal
import time

import claims
import conformance
import pauses
import tasks
from driver import PATIENCE, REPORT, Ended, Told, servers
from undersign_test import world

# Whose program is that of another client, of whose words it answers not all.
SHARED = ("mcp-typescript-old",)
# Whose program keeps how it starts a server in one file: two do not run beside each other.
ALONE = ("codex", "inspector")
# Who gives a call up of its own accord, after seconds that a program need not say.
OWN_TIMEOUT = ("agno", "crewai", "google-adk", "openai-agents-python")
# Which revision each one speaks, since what is shown of it is shown of that alone.
ERAS = {
    "2024-11-05": ("mcp-typescript-old",),
    "2025-06-18": ("codex",),
    "2025-11-25": ("agno", "crewai", "google-adk", "inspector", "langgraph-js", "langgraph-python",
                   "mcp-typescript"),
    "2026-07-28": ("agent-framework", "fastmcp", "mastra", "mcp-python", "mcp-typescript-2",
                   "openai-agents-js", "openai-agents-python", "pydantic-ai"),
}


class Scenarios(claims.Claims, tasks.Tasks, pauses.Pauses, conformance.Conformance):
    """One client; each method whose name begins with test_ is a test of its own."""

    def tests(self):
        """Their names; those of a pause, or of the conformance suite, where its program has such."""
        with open(self.argv[-1], encoding="utf-8") as file:
            text = file.read()
        if "conform" in text:
            return ["known", "conformance"]
        spoken = {**pauses.PAUSES, **claims.TAGS, **tasks.TASKS}
        for word, clients in spoken.items():
            answers = re.search(rf'"{word}": |\b{word}: (async )?\(|async {word}\(', text) is not None
            assert answers or self.name not in clients, f"{self.name}: there is no {word}"
            assert not answers or self.name in clients or self.name in SHARED, \
                f"{self.name}: there is a {word}"
        some = {**spoken, **claims.SAYS, "own_timeout": OWN_TIMEOUT}
        names = [name for kind in reversed(type(self).__mro__) for name in vars(kind)]
        return [name for name in names if name.startswith("test_")
                and not (self.name in ALONE and name == "test_a_handle_outlives_a_time_out")
                and all(self.name in clients for word, clients in some.items()
                        if name.startswith(f"test_{word}_"))]

    # --- the five of every client ---

    def test_a_read_runs(self):
        before = self.scene.effects()
        heard = f"{os.path.dirname(REPORT)}/heard-{self.name}"
        with self.client("read", hold=120, timeout=240, heard=heard) as client:
            self.told(client.call("test_look", {"target": self.name}), "done", "yes")
        assert self.scene.cards() == []
        self.effects_are(before, looks=1)
        with open(heard, encoding="utf-8") as file:
            spoken = set(re.findall(r'rotocolVersion": ?"([0-9-]+)"', file.read()))
        assert spoken == {era for era, clients in ERAS.items() if self.name in clients}, spoken

    def test_an_approved_call_runs(self):
        before = self.scene.effects()
        with self.client("approved") as client:
            wanted = self.mail("approved")
            request = self.pends(client.call("mail_send", wanted), before)
            assert self.scene.cards() == [request]
            self.effects_are(before)
            self.approve(request, "security@example.com", wanted["subject"], "report.pdf")
            told = self.ended(client, request)
            self.told(told, "done", "yes")
            assert "the server took the mail" in told.output, told
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_a_denied_call_says_so(self):
        before = self.scene.effects()
        with self.client("denied") as client:
            wanted = self.mail("denied")
            request = self.pends(client.call("mail_send", wanted), before)
            self.deny(request)
            told = self.ended(client, request)
            self.told(told, "denied", "no")
            assert told.reason == "wrong-target", told
            again = self.pends(client.call("mail_send", wanted), before, request)
            self.take_back(client, again)
        assert self.scene.cards() == []
        self.effects_are(before)

    def test_changed_arguments_do_not_run(self):
        before = self.scene.effects()
        with self.client("changed") as client:
            wanted = self.mail("changed")
            bcc = {**wanted, "bcc": ["mallory@example.com"]}
            request = self.pends(client.call("mail_send", wanted), before)
            early = self.pends(client.call("mail_send", bcc), before, request)
            self.approve(request, wanted["subject"])
            self.told(self.ended(client, request), "done", "yes")
            ran = [(wanted["subject"], "security@example.com", ["the report"])]
            self.effects_are(before, ran)
            # The approval is used up, and was for nothing else.
            assert self.pends(client.call("mail_send", bcc), before, request) == early
            waiting = [early]
            for changed in ({"to": ["mallory@example.com"]}, {"subject": wanted["subject"] + "!"},
                            {"attachment": []}, {}):
                told = client.call("mail_send", {**wanted, **changed})
                waiting.append(self.pends(told, before, request, *waiting))
            self.scene.write_report("another report")
            told = client.call("mail_send", wanted)
            waiting.append(self.pends(told, before, request, *waiting))
            self.scene.write_report("the report")
            assert sorted(self.scene.cards()) == sorted(waiting)
            self.take_back(client, *waiting)
        assert self.scene.cards() == []
        self.effects_are(before, ran)

    def gives_up(self, wanted, timeout):
        """Calls twice, as a client does after a time-out; whether a card was there meanwhile."""
        seen = False
        with self.client("retried", hold=3600, timeout=timeout) as client:
            for _ in range(2):
                try:
                    client.send("call", tool="mail_send", arguments=wanted)
                    while (answer := client.answer(0.1)) is None:
                        cards = self.scene.cards()
                        assert len(cards) <= 1, f"a retry made another card: {cards}"
                        seen = seen or cards != []
                except Ended:  # too short a time for it to reach its server
                    return False
                told = Told(answer)
                assert told.state != "done" and told.executed != "yes", told
        return seen

    def test_a_retry_is_one_card(self):
        """A call that the client gives up, tried again by it and in a new process: it runs once."""
        before = self.scene.effects()
        wanted = self.mail("retried")
        # On a slow machine it may give up before anything was asked, which would show nothing.
        assert any(self.gives_up(wanted, seconds) for seconds in (2, 8, 32)), "there was no card"
        with self.client("retried") as client:
            request = self.pends(client.call("mail_send", wanted), before)
            assert self.pends(client.call("mail_send", wanted), before) == request
            assert self.scene.cards() == [request]
            self.effects_are(before)
            self.approve(request, wanted["subject"])
            self.told(self.ended(client, request), "done", "yes")
        assert self.scene.cards() == []
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_a_handle_outlives_a_time_out(self):
        """Where somebody holds the request's id, what is given up and tried again is that one card."""
        before = self.scene.effects()
        wanted = self.mail("handle")
        with self.client("handle") as client:
            request = self.pends(client.call("mail_send", wanted), before)
            with self.client("handle", hold=3600, timeout=4) as other:
                for _ in range(2):
                    other.send("call", tool="mail_send", arguments=wanted)
                    other.answer()
                    assert self.scene.cards() == [request]
            assert self.pends(client.call("mail_send", wanted), before) == request
            self.approve(request, wanted["subject"])
            self.told(self.ended(client, request), "done", "yes")
            ran = [(wanted["subject"], "security@example.com", ["the report"])]
            self.effects_are(before, ran)
            # What is tried once more after it ran is another wish, which waits for its own yes.
            self.take_back(client, self.pends(client.call("mail_send", wanted), before, request))
        assert self.scene.cards() == []
        self.effects_are(before, ran)

    def loses_its_server(self, wanted):
        """Its server is killed in the middle of a call, and again where it starts another for it; what a
        model hears then is no success."""
        with self.client("lost", hold=3600, timeout=60) as client:
            client.send("call", tool="mail_send", arguments=wanted)
            world.wait_until(self.scene.cards, "there is a card")
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                for server in set(servers()) - client.others:
                    os.kill(server, signal.SIGKILL)
                try:
                    answer = client.answer(1)
                except Ended:  # it gives up itself, too
                    return
                cards = self.scene.cards()
                assert len(cards) <= 1, f"a lost call made another card: {cards}"
                if answer is not None:
                    told = Told(answer)
                    assert told.state != "done" and told.executed != "yes", told
                    return
        raise AssertionError(f"no answer; it said:\n{client.said[-6000:]}")

    def test_a_lost_server_is_one_card(self):
        """What was asked when the server went is asked once, by whatever asks for it again."""
        before = self.scene.effects()
        wanted = self.mail("lost")
        self.loses_its_server(wanted)
        self.effects_are(before)
        with self.client("lost") as client:
            request = self.pends(client.call("mail_send", wanted), before)
            assert self.scene.cards() == [request]
            self.approve(request, wanted["subject"])
            self.told(self.ended(client, request), "done", "yes")
        assert self.scene.cards() == []
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_own_timeout_is_longer_than_the_hold(self):
        """By the client's own time-out and the server's own hold, it is told that the call waits."""
        before = self.scene.effects()
        with self.client("own", hold=None, timeout=None) as client:
            request = self.pends(client.call("mail_send", self.mail("own")), before)
            assert self.scene.cards() == [request]
            self.take_back(client, request)
        self.effects_are(before)
