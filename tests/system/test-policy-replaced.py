#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Once a reload has said so, nothing is carried out by the policy of before, whoever had connected."""

import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import handover, policy, tap, world  # noqa: E402

ACTIONS = {"test.rehearse": policy.REHEARSE.replace("Effect=irreversible", "Effect=reversible")}
RULE = "[Rule it]\nAgents=offboarding\nActions=test.rehearse\n"
ALLOW, DENY = RULE + "Decision=allow\nLimit=50/1d all-agents\n", RULE + "Decision=deny\n"


class Replaced(unittest.TestCase):
    def put(self, rule):
        policy.write(actions=ACTIONS, rules={"offboarding": rule})

    def test_held_connections(self):
        self.put(ALLOW)
        with world.World(modules=("null",), services=("undersign-executor",)) as service:
            broker = handover.Broker()
            request = handover.Request({"target": "x"})
            broker.prepare(request)
            self.assertEqual(request.decision, "allow")
            # Served by workers that have read the policy of now, and wait for a word.
            with handover.Connection(broker.uid) as first, handover.Connection(broker.uid) as other:
                self.put(DENY)
                self.assertEqual(handover.Admin.reload(), "")
                for connection in (first, other):
                    connection.send(handover.EXECUTE, f"({handover.PREPARED})", (request.built,))
                    with self.assertRaises(handover.Refused) as caught:
                        connection.receive("(s)")
                    self.assertIn(caught.exception.reason, ("policy-replaced", "unknown-action"))
            self.assertEqual(policy.executed(), 0)
            entries = handover.call(0, handover.AUDIT, "(tu)", (1, 50), "(a(tayay))")[0]
            events = [json.loads(bytes(entry))["event"] for _, entry, _ in entries]
            self.assertNotIn("consumed", events)
            self.assertEqual(events.count("policy"), 2)
            # It was not used up by that.
            self.put(ALLOW)
            self.assertEqual(handover.Admin.reload(), "")
            self.assertEqual(broker.execute(request), "done")
            self.assertEqual(policy.executed(), 1)
            service.check_logs()


if __name__ == "__main__":
    tap.main("system/policy-replaced")
