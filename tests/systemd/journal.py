#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each kind of entry that undersign-executor(8) promises is brought about and found in the journal, by
the fields that journald has indexed.  The phases before have approved, used up and enrolled."""

import datetime
import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, policy, tap  # noqa: E402

ACTION = policy.REHEARSE.replace("Module=null", "Module=null\nOutcome=unknown")
RULE = f"{policy.FOLDER}/rules/doubt.rule"
RULE_TEXT = """[Rule doubt]
Agents=offboarding
Actions=test.doubt
Decision=ask
Approvers=@it-leads
Lifetime={}min
Passkeys=software
"""


def write_rule(minutes):
    with open(RULE, "w", encoding="utf-8") as file:
        file.write(RULE_TEXT.format(minutes))
    booted.command("undersignctl", "policy", "reload")


class Journal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.agent = booted.Agent("agent-offboarding")
        cls.person = booted.Person("it.lead")
        cls.told = booted.Told()
        with open(f"{policy.FOLDER}/actions/test.doubt.action", "w", encoding="utf-8") as file:
            file.write(ACTION)
        write_rule(30)

    def request(self, target):
        return self.agent.request("test.doubt", f"target={target}", "--run=day-2")["request"]

    def test_1_a_request_ends_without_a_signature(self):
        denied, withdrawn = self.request("denied"), self.request("withdrawn")
        done = self.person.run("deny", "--reason", "not-now", denied)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.agent.run("withdraw", withdrawn).returncode, 0)
        entry = self.told("a denial, signed or not", "denied", UNDERSIGN_REQUEST=denied)
        self.assertEqual((entry["UNDERSIGN_SOURCE"], entry["UNDERSIGN_PERSON"]), ("broker", "it.lead"))
        entry = self.told("another end without execution", "withdrawn", UNDERSIGN_REQUEST=withdrawn)
        self.assertEqual(entry["UNDERSIGN_SOURCE"], "broker")

    def test_2_policy_overtakes_an_approval(self):
        before = policy.executed()
        request = self.request("overtaken")
        answer = self.person.approve(request, before_signing=lambda: write_rule(29))
        self.assertNotEqual(answer.status, 0, answer.text)
        entry = self.told("what a person had approved was refused, at its execution or at an approval,"
                          " once a request", "refused", UNDERSIGN_REQUEST=request)
        self.assertEqual((entry["UNDERSIGN_SOURCE"], entry["UNDERSIGN_REASON"]),
                         ("executor", "record-changed"))
        self.assertEqual(policy.executed(), before)

    def test_3_an_administrator_says_how_it_ended(self):
        request = self.request("unknown")
        answer = self.person.approve(request)
        self.assertEqual(self.agent.wait(request)["state"], "unknown", answer.text)
        booted.command("undersignctl", "resolve", request, "failed", "somebody has looked")
        entry = self.told("an administrator said how a request had ended that nobody knew of", "resolved",
                          UNDERSIGN_REQUEST=request)
        self.assertEqual((entry["UNDERSIGN_SOURCE"], entry["UNDERSIGN_BY"]), ("admin", "0"))

    def test_4_a_passkey_is_revoked(self):
        passkeys = json.loads(booted.command("undersignctl", "passkey", "list", "--json"))["passkeys"]
        user, credential = next((one["user"], one["credential"]) for one in passkeys
                                if one["user"] == "hr.kim")
        booted.command("undersignctl", "passkey", "revoke", credential)
        entry = self.told("a passkey was revoked", "revoked", UNDERSIGN_PERSON=user)
        self.assertEqual(entry["UNDERSIGN_BY"], "0")

    def test_5_the_log_is_pruned(self):
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        booted.command("undersignctl", "audit", "prune", f"--before={now}")
        self.told("the oldest entries of the log were removed", "pruned", UNDERSIGN_BY="0")
        booted.command("undersignctl", "audit", "verify")

    def test_6_execution_is_halted(self):
        for verb, state in (("halt", "halted"), ("resume", "resumed")):
            booted.command("undersignctl", verb, "one word of an administrator")
            entry = self.told(f"execution was {state}", state, UNDERSIGN_BY="0")
            self.assertNotIn("one word", json.dumps(entry))

    def test_7_none_is_missing(self):
        """Of those that the page lists; no others are there of the executor's either."""
        user = booted.uid_of("undersign-executor")
        found = booted.journal("--all", "--output=json", "--output-fields=MESSAGE_ID", f"_UID={user}")
        ours = {json.loads(line).get("MESSAGE_ID") for line in found.splitlines()} - {None}
        self.assertEqual(ours, set(self.told.ids.values()))
        self.assertEqual(len(ours), 12)


if __name__ == "__main__":
    tap.main("systemd/journal")
