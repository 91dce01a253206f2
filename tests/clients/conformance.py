# SPDX-License-Identifier: LGPL-2.1-or-later
"""The protocol's own conformance suite, which knows a server's tools by names of its own.

Its program gives ours in their place: what the suite wants done soon is asked of a person, who approves it.
"""

import json
import re
import time

from driver import PATIENCE
from steps import Steps

# The scenarios that a server with tools on standard input can be asked, and of each the checks that fail
# there, and must.
SCENARIOS = {
    "server-initialize": (),
    "ping": (),
    "tools-list": (),
    "tools-call-simple-text": (),
    "tools-call-error": (),
    "tools-call-with-progress": (),
    "server-stateless": (
        "sep-2575-http-server-header-mismatch-400",  # HTTP
        # tools that ask the client for something, or log
        "sep-2575-missing-capability-http-400", "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel"),
    "caching": (
        "sep-2549-prompts-list-caching-hints", "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints"),
    "tasks-lifecycle": (
        "sep-2663-tasks-get-status-failed",),  # a request ends in no error of the protocol
    "tasks-capability-negotiation": (),
    "tasks-wire-fields": (),
    "tasks-request-state-removal": (),
    "tasks-dispatch-and-envelope": (
        "tasks-result-type-complete-on-non-task-responses",),  # a tool that asks the client
    "input-required-result-unsupported-methods": (),
}
# Why it is not asked the other ones.
HTTP, LOGGING = "HTTP's own headers, sessions and streams", "logging, which it has not"
RESOURCES, PROMPTS = "resources, which it has not", "prompts, which it has not"
ASKS = "a tool that asks the client for something: a person is asked on a card of their own"
CONTENT = "a tool that gives this content: a result is text"
NOT_ASKED = {
    "server-session-lifecycle": HTTP, "server-sse-polling": HTTP, "server-sse-multiple-streams": HTTP,
    "dns-rebinding-protection": HTTP, "http-header-validation": HTTP,
    "http-custom-header-server-validation": HTTP, "tasks-request-headers": HTTP,
    "logging-set-level": LOGGING, "tools-call-with-logging": LOGGING,
    "completion-complete": "completion of the arguments of prompts or resources",
    "tools-call-image": CONTENT, "tools-call-audio": CONTENT, "tools-call-embedded-resource": CONTENT,
    "tools-call-mixed-content": CONTENT,
    "json-schema-2020-12": "a tool whose schema is the suite's own",
    "resources-list": RESOURCES, "resources-read-text": RESOURCES, "resources-read-binary": RESOURCES,
    "resources-templates-read": RESOURCES, "resources-subscribe": RESOURCES,
    "resources-unsubscribe": RESOURCES, "sep-2164-resource-not-found": RESOURCES,
    "sep-2640-skills-directory": RESOURCES, "sep-2640-skills-enumeration": RESOURCES,
    "sep-2640-skills-manifest": RESOURCES,
    "prompts-list": PROMPTS, "prompts-get-simple": PROMPTS, "prompts-get-with-args": PROMPTS,
    "prompts-get-embedded-resource": PROMPTS, "prompts-get-with-image": PROMPTS,
    "tools-call-sampling": ASKS, "tools-call-elicitation": ASKS, "elicitation-sep1034-defaults": ASKS,
    "elicitation-sep1330-enums": ASKS, "tasks-mrtr-input": ASKS, "tasks-mrtr-composition": ASKS,
    "tasks-status-notifications": "nothing: the suite leaves it out itself",
    "tasks-required-task-error": "a tool that can be called as a task alone: each can be called without",
    **{f"input-required-result-{name}": ASKS for name in (
        "basic-elicitation", "basic-sampling", "basic-list-roots", "request-state",
        "multiple-input-requests", "multi-round", "missing-input-response", "non-tool-request",
        "result-type", "tampered-state", "capability-check", "ignore-extra-params", "validate-input")},
}
# How long a call is held where one that ends at once would show nothing: it tells of progress each second.
HOLDS = {"tools-call-with-progress": 10}
SOON = ("test.pay", "test.fail")


class Conformance(Steps):
    def conform(self, client, scenario):
        """Each check of the suite; meanwhile a person approves what is to be done soon."""
        client.send("conform", scenario=scenario)
        end = time.monotonic() + PATIENCE
        while (answer := client.answer(0.2)) is None:
            assert time.monotonic() < end, f"{scenario} does not end"
            for card in self.scene.lead.pending():
                if any(f"\"{action}\"" in json.dumps(card) for action in SOON):
                    self.scene.lead.approve(card["request"])
        said = answer["said"]["said"]
        return json.JSONDecoder().raw_decode(said[said.index("["):])[0], said

    def known(self):
        """Each scenario for a server is asked or has its reason, in a newer suite, too."""
        with self.client("known") as client:
            said = client.do("list")["said"]["said"]
        found = re.findall(r"^ +- (\S+) \[", said, re.MULTILINE)
        assert sorted(found) == sorted([*SCENARIOS, *NOT_ASKED]), set(found) ^ {*SCENARIOS, *NOT_ASKED}

    def conformance(self):
        failures = []
        for scenario, absent in SCENARIOS.items():
            with self.client("conformance", hold=HOLDS.get(scenario, 0)) as client:
                checks, said = self.conform(client, scenario)
            failed = {check["id"] for check in checks if check["status"] == "FAILURE"}
            print(f"# {scenario}: {sum(check['status'] == 'SUCCESS' for check in checks)} of "
                  f"{len(checks)}; not: {' '.join(sorted(failed))}")
            if failed != set(absent) or "wire-schema-valid" in failed:
                failures.append(f"{scenario}: {failed} fail, not {absent}:\n{said[-9000:]}")
            self.scene.clear()
        assert failures == [], "\n".join(failures)
