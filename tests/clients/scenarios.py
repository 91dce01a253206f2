# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every client of MCP must come to, against the real service, with a person at the card.

The client's program runs as the agent's user and is told by lines what to call; the person reads
and answers cards at a terminal.  What ran is read where it happens: in the mail server's mailbox,
which shows whole mails, and in the null module's marker.
"""

import json
import os
import pwd
import re
import select
import subprocess
import time

from undersign_test import mailserver, people, person, policy, world

AGENT, LEAD = "agent-offboarding", "it.lead"
REPORT = f"/home/{AGENT}/report.pdf"
# Keeps what is said to a server; Agno takes no command in which a shell would find anything.
HEAR = f"/home/{AGENT}/hear"
_HEAR = '#!/bin/sh\nfile=$1\nshift\ntee -a "$file" | "$@"\n'
PATIENCE = 180.0
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
RULES = {"clients": """[Rule ask]
Agents=offboarding
Actions=mail.send test.pay
Decision=ask
Approvers=@it-leads
Passkeys=software

[Rule look]
Agents=offboarding
Actions=test.look
Decision=allow
Limit=1000/1d all-agents
"""}
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
# Who can say in _meta what a call belongs to: whatever a program gives, or its trace alone.
TAGS = {
    "tagged": ("agent-framework", "mcp-python", "mcp-typescript", "mcp-typescript-2",
               "mcp-typescript-old", "openai-agents-js", "openai-agents-python", "pydantic-ai"),
    "traced": ("google-adk",),
}
# Who has tasks, and of these who waits for one by itself, and who can ask for a list of them.
TASKS = {"tasks": ("fastmcp", "mcp-typescript"), "waits": ("fastmcp",), "lists": ("mcp-typescript",)}
TRACE = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
# Who finds a changed call itself, and says so in these words.
REFUSES = {"openai-agents-python": "reused a tool call ID"}
# Whose program keeps how it starts a server in one file: two do not run beside each other.
ALONE = ("codex", "inspector")
# Who gives a call up of its own accord, after seconds that a program need not say.
OWN_THREAD = ("codex",)  # who says by itself which of its threads and turns calls
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
# Of the conformance suite the scenarios that a server with tools on standard input can be asked.  In
# them fail, and must, the checks that want a tool of the suite's own (of which there is none, and no such
# answer comes), HTTP's headers, or prompts and resources.  All of the other scenarios want one of these
# three, or elicitation, sampling or roots, which this server never asks for; or they are of sessions and
# streams of HTTP.
CONFORMANCE = {
    "server-initialize": (),
    "ping": (),
    "tools-list": (),
    "server-stateless": (
        "sep-2575-http-server-header-mismatch-400",
        # the suite's tools
        "sep-2575-missing-capability-http-400", "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel"),
    "caching": (
        "sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints"),
    "tasks-capability-negotiation": (  # the suite's tools
        "sep-2663-server-rejects-undeclared-client", "tasks-per-request-meta-opt-in"),
    "tasks-dispatch-and-envelope": (  # the suite's tools
        "sep-2663-durable-create-strong-consistency", "sep-2663-legacy-task-param-ignored",
        "tasks-immediate-result-shortcut", "tasks-result-type-complete-on-non-task-responses",
        "tasks-server-directed-creation-no-hint"),
    "input-required-result-unsupported-methods": (),
}
# One agent stands for many here, and a person denies it something time and again.
LIMITS = "[Limits]\nPending=32\nSubmitsPerMinute=6000\nRunsPerMinute=6000\nDenials=0\n"


class Ended(AssertionError):
    """The client's program is no more."""


class Client:
    """The program of a client, as the agent's user would start it; a context manager."""

    def __init__(self, argv, run, hold=0, timeout=60, heard=None, more=()):
        """@hold, @timeout: None for the server's own, and the client's; @heard: a file that gets what
        the client says to its server; @more: options of the server."""
        words = ["/usr/bin/undersign-mcp", *([] if hold is None else [f"--hold={hold}"]),
                 f"--run={run}", *more]
        if heard:
            words = [HEAR, heard, *words]
        start = {"command": words[0], "args": words[1:], "timeout": timeout}
        self.buffer, self.said = b"", ""
        self.others = set(servers())
        environment = {**people.environment(AGENT), "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": os.path.dirname(os.path.abspath(__file__)),
                       "NO_PROXY": "*", **QUIET}
        self.process = subprocess.Popen(
            [*argv, json.dumps(start)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd=pwd.getpwnam(AGENT).pw_dir, env=environment,
            preexec_fn=lambda: people.become(AGENT), start_new_session=True)

    def send(self, word, **values):
        try:
            self.process.stdin.write(json.dumps({"do": word, **values}).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Ended("the client ended before it was asked anything") from None

    def line(self, timeout):
        """The next line of what it prints, None where none came in time."""
        end = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = max(0.0, end - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                return None
            piece = os.read(self.process.stdout.fileno(), 65536)
            if not piece:
                raise Ended(f"the client ended; it said:\n{self.said[-6000:]}")
            self.buffer += piece
        line, self.buffer = self.buffer.split(b"\n", 1)
        self.said += line.decode(errors="replace") + "\n"
        return line

    def answer(self, timeout=PATIENCE):
        """The answer to the last command, None where it did not come in time."""
        end = time.monotonic() + timeout
        while (line := self.line(max(0.0, end - time.monotonic()))) is not None:
            if line.startswith(b"RESULT "):
                return json.loads(line[len(b"RESULT "):])
        return None

    def do(self, word, **values):
        """What the framework gave for it."""
        self.send(word, **values)
        found = self.answer()
        if found is None:
            raise AssertionError(f"no answer after {PATIENCE:g} s; it said:\n{self.said[-6000:]}")
        return found

    def call(self, tool, arguments):
        return Told(self.do("call", tool=tool, arguments=arguments))

    def close(self):
        """Ends it, and waits for its servers."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, 9)
                self.process.wait()
            self.process.stdout.close()
        world.wait_until(lambda: set(servers()) <= self.others, "the client's servers have ended")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# Frameworks that would ask the network who they are, or report home.
QUIET = {name: "true" for name in (
    "OPENAI_AGENTS_DISABLE_TRACING", "CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING",
    "CREWAI_TELEMETRY_OPT_OUT", "OTEL_SDK_DISABLED", "MASTRA_TELEMETRY_DISABLED",
    "DO_NOT_TRACK", "AGNO_TELEMETRY_DISABLED")}


def servers():
    """The processes of undersign-mcp that live."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/comm", encoding="utf-8") as file:
                if name.isdigit() and file.read().strip() == "undersign-mcp":
                    found.append(int(name))
        except OSError:
            pass
    return found


class Told:
    """What a model would read of a call, in whatever form the framework gives it."""

    def __init__(self, answer):
        self.answer = answer
        self.text = json.dumps(answer)
        self.result = next(results(answer), {})
        self.request = self.result.get("request_id")

    def __getattr__(self, name):
        return self.result.get(name)

    def __str__(self):
        return self.text[:3000]


def results(value):
    """Each result of ours in @value: an object, or JSON somewhere in a text."""
    if isinstance(value, dict):
        if {"state", "executed"} <= value.keys():
            yield value
        for inner in value.values():
            yield from results(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from results(inner)
    elif isinstance(value, str):
        for at, character in enumerate(value):
            if character in "{[":
                try:
                    yield from results(json.JSONDecoder().raw_decode(value[at:])[0])
                except ValueError:
                    pass


class Scene:
    """The service, the mail server and the person, for all clients; a context manager."""

    def __init__(self):
        self.world = world.World(modules=("null", "mail"))
        self.server = mailserver.Server()
        self.lead = person.Person(LEAD)

    def __enter__(self):
        policy.write(actions={"mail.send": policy.MAIL, "test.look": LOOK, "test.pay": PAY}, rules=RULES)
        with open("/etc/undersign/undersign.conf", "w", encoding="utf-8") as file:
            file.write(LIMITS)
        self.write_report("the report")
        with open(HEAR, "w", encoding="utf-8") as file:
            file.write(_HEAR)
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

    def effects(self):
        """(the mails that were delivered, as (subject, recipients, attachments); how many looks)."""
        mails = []
        for mail in self.server.mails():
            files = [part.get_payload(decode=True).decode() for part in mail.walk()
                     if part.get_filename()]
            mails.append((mail["Subject"], mail["X-RcptTo"], files))
        return sorted(mails), policy.executed()


class Scenarios:
    """One client; each method whose name begins with test_ is a test of its own."""

    def __init__(self, scene, name, argv):
        self.scene, self.name, self.argv = scene, name, argv

    def tests(self):
        """Their names; those of a pause, or of the conformance suite, where its program has such."""
        with open(self.argv[-1], encoding="utf-8") as file:
            text = file.read()
        if "conform" in text:
            return ["conformance"]
        for word, clients in {**PAUSES, **TAGS}.items():
            answers = re.search(rf'"{word}": |\b{word}: \(|async {word}\(', text) is not None
            assert answers == (self.name in clients), f"{self.name}: is there a {word} or not?"
        return [name for name in vars(Scenarios) if name.startswith("test_")
                and not (self.name in ALONE and name == "test_a_handle_outlives_a_time_out")
                and all(self.name in clients for word, clients in
                        {**PAUSES, **TAGS, **TASKS, "own_timeout": OWN_TIMEOUT,
                         "own_thread": OWN_THREAD}.items()
                        if name.startswith(f"test_{word}_"))]

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

    def test_own_timeout_is_longer_than_the_hold(self):
        """By the client's own time-out and the server's own hold, it is told that the call waits."""
        before = self.scene.effects()
        with self.client("own", hold=None, timeout=None) as client:
            request = self.pends(client.call("mail_send", self.mail("own")), before)
            assert self.scene.cards() == [request]
            self.take_back(client, request)
        self.effects_are(before)

    # --- what a call belongs to ---

    def refused(self, client, word, before, *said, **values):
        """Nothing is asked of anybody, and the model is told why."""
        text = json.dumps(client.do(word, tool="mail_send", **values))
        assert all(part in text for part in said), f"it does not say {said}: {text[:3000]}"
        assert all(told["state"] == "refused" for told in results(text)), text[:3000]
        assert self.scene.cards() == []
        self.effects_are(before)

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

    # --- a call as a task ---

    def task(self, client, wanted, before):
        """(what the client gave of the task, the request that it is)"""
        cards = set(self.scene.cards())
        task = client.do("task", tool="mail_send", arguments=wanted)["said"]
        assert task["status"] == "working", task
        request, = set(self.scene.cards()) - cards
        assert task["taskId"] == request, (task, request)
        self.effects_are(before)
        return task, request

    def test_tasks_an_approved_one_runs(self):
        before = self.scene.effects()
        with self.client("task") as client:
            wanted = self.mail("task")
            _, request = self.task(client, wanted, before)
            client.send("task_result")
            assert client.answer(3) is None, "it did not wait for the person"
            self.approve(request, "security@example.com", wanted["subject"], "report.pdf")
            self.told(Told(client.answer()), "done", "yes")
        assert self.scene.cards() == []
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_tasks_a_denied_one_says_so(self):
        before = self.scene.effects()
        with self.client("task") as client:
            task, request = self.task(client, self.mail("denied task"), before)
            self.deny(request)
            told = Told(client.do("task_take", task=task))
            self.told(told, "denied", "no")
            assert told.reason == "wrong-target", told
        self.effects_are(before)

    def test_tasks_a_cancelled_one_is_withdrawn(self):
        before = self.scene.effects()
        with self.client("task") as client:
            task, request = self.task(client, self.mail("cancelled task"), before)
            client.do("task_cancel", task=task)
            assert self.scene.cards() == []
            assert client.do("task_get", task=task)["said"]["status"] == "cancelled"
            self.told(self.ended(client, request), "withdrawn", "no")
        self.effects_are(before)

    def test_tasks_outlive_the_client(self):
        """Its server and the client itself are others when the person answers, and it runs once."""
        before = self.scene.effects()
        wanted = self.mail("long task")
        with self.client("task") as client:
            task, request = self.task(client, wanted, before)
        assert self.scene.cards() == [request]
        with self.client("task") as client:
            assert client.do("task_get", task=task)["said"]["status"] == "working"
            self.approve(request, wanted["subject"])
            self.told(Told(client.do("task_take", task=task)), "done", "yes")
            self.told(Told(client.do("task_take", task=task)), "done", "yes")
        assert self.scene.cards() == []
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_waits_until_it_is_answered(self):
        """Where the framework waits for tasks by itself, whoever calls hears how it ended."""
        before = self.scene.effects()
        wanted = self.mail("waited")
        with self.client("task") as client:
            client.send("waited", tool="mail_send", arguments=wanted)
            world.wait_until(self.scene.cards, "there is a card")
            request, = self.scene.cards()
            assert client.answer(3) is None, "it did not wait for the person"
            self.approve(request, wanted["subject"])
            self.told(Told(client.answer()), "done", "yes")
        self.effects_are(before, [(wanted["subject"], "security@example.com", ["the report"])])

    def test_lists_no_tasks(self):
        before = self.scene.effects()
        with self.client("task") as client:
            _, request = self.task(client, self.mail("listed task"), before)
            answer = client.do("task_list")
            assert "said" not in answer and request not in json.dumps(answer), answer
            self.take_back(client, request)
        self.effects_are(before)

    # --- where the framework has a pause of its own ---

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

    # --- the protocol's conformance suite ---

    def conformance(self):
        """Its scenarios for a server that has tools, and none of those that the suite brings."""
        with self.client("conformance") as client:
            for scenario, absent in CONFORMANCE.items():
                said = client.do("conform", scenario=scenario)["said"]["said"]
                checks = json.JSONDecoder().raw_decode(said[said.index("["):])[0]
                failed = {check["id"] for check in checks if check["status"] == "FAILURE"}
                print(f"# {scenario}: {sum(check['status'] == 'SUCCESS' for check in checks)} of "
                      f"{len(checks)}; not: {' '.join(sorted(failed))}")
                assert "wire-schema-valid" not in failed, f"{scenario}:\n{said[-6000:]}"
                assert failed == set(absent), f"{scenario}: {failed} fail, not {absent}:\n{said[-9000:]}"
