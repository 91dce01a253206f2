# SPDX-License-Identifier: LGPL-2.1-or-later
"""The protocol's own conformance suite, which knows a server's tools by names of its own.

Its program gives ours in their place: what the suite wants done soon is asked of a person, who approves it.
"""

import json
import time

from driver import PATIENCE
from steps import Steps

# The scenarios that a server with tools on standard input can be asked, and of each the checks that fail
# there, and must.  All of the other scenarios want HTTP's headers, sessions or streams, prompts or
# resources, elicitation, sampling or roots, which this server never asks for, or a tool that can be
# called as a task alone, of which there is none.
SCENARIOS = {
    "server-initialize": (),
    "ping": (),
    "tools-list": (),
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

    def conformance(self):
        failures = []
        with self.client("conformance") as client:
            for scenario, absent in SCENARIOS.items():
                checks, said = self.conform(client, scenario)
                failed = {check["id"] for check in checks if check["status"] == "FAILURE"}
                print(f"# {scenario}: {sum(check['status'] == 'SUCCESS' for check in checks)} of "
                      f"{len(checks)}; not: {' '.join(sorted(failed))}")
                if failed != set(absent) or "wire-schema-valid" in failed:
                    failures.append(f"{scenario}: {failed} fail, not {absent}:\n{said[-9000:]}")
                self.scene.clear()
        assert failures == [], "\n".join(failures)
