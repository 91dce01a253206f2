#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-mcp against the real service: an agent's client asks, a person answers at a terminal.

Each call is made as a client makes it, over the pipes of a process that the agent's user runs; the
null module's marker tells what ran.
"""

import json
import os
import pwd
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, mcp, person, policy, tap, world  # noqa: E402

AGENT, OTHER, LEAD = "agent-offboarding", "agent-other", "it.lead"
READ = f"""[Action]
Summary=Look
Effect=read

[Executor]
Module=null
Marker={policy.MARKER}
Outcome=OUTCOME

[Argument target]
Label=Target
Type=line
Required=yes
"""
RULES = {"mcp": """[Rule ask]
Agents=offboarding
Actions=test.rehearse
Decision=ask
Approvers=@it-leads
Passkeys=software

[Rule soon]
Agents=offboarding
Actions=test.soon
Decision=ask
Approvers=@it-leads
Lifetime=2s
Passkeys=software

[Rule look]
Agents=offboarding
Actions=test.look test.fail test.crash
Decision=allow
Limit=50/1d all-agents
"""}


class Mcp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        looks = {f"test.{name}": READ.replace("OUTCOME", outcome) for name, outcome in
                 (("look", "done"), ("fail", "failed"), ("crash", "crash"))}
        policy.write(actions={"test.rehearse": policy.REHEARSE, "test.soon": policy.REHEARSE, **looks},
                     rules=RULES)
        with open("/etc/undersign/undersign.conf", "w", encoding="utf-8") as file:
            file.write("[Limits]\nSubmitsPerMinute=6000\n")
        cls.world = world.World()
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.let_enrol(LEAD)
        cls.lead = person.Person(LEAD)
        cls.lead.enrol()
        cls.agent = bus.Peer(AGENT)
        cls.addClassCleanup(cls.agent.close)

    def setUp(self):
        self.before = policy.executed()

    def ran(self, count):
        self.assertEqual(policy.executed() - self.before, count)

    def check(self, result, state, executed, is_error):
        """Both halves say so; the request's id."""
        structured = result["structuredContent"]
        self.assertEqual((structured["state"], structured["executed"], result["isError"]),
                         (state, executed, is_error), result)
        self.assertEqual(json.loads(result["content"][1]["text"]), structured)
        words = {"no": "Nothing was executed.", "yes": "It was executed.",
                 "unknown": "It may have been executed."}[executed]
        self.assertIn(words, result["content"][0]["text"])
        self.assertNotIn(LEAD, json.dumps(result))
        return structured.get("request_id")

    def pending(self, server, **arguments):
        return self.check(server.call("test_rehearse", **arguments), "pending", "no", False)

    def ended(self, server, request):
        """What request_status says once it has ended."""
        return server.call("request_status", request_id=request, wait_ms=120000)

    def cards(self):
        return [card["request"] for card in self.lead.pending()]

    def watchers(self, request):
        return self.agent.call(bus.REQUEST, "GetState", path=f"{bus.PATH}/request/{request}")[1][
            "watchers"]

    # --- what must not run ---

    def test_denied(self):
        with mcp.Server(AGENT, "--hold=0", "--run=denied") as server:
            request = self.pending(server, target="denied")
            self.assertEqual(self.lead.run("deny", "--reason=wrong-target", request).returncode, 0)
            result = server.call("request_status", request_id=request)
            self.check(result, "denied", "no", True)
            self.assertEqual(result["structuredContent"]["reason"], "wrong-target")
        self.ran(0)

    def test_malformed_lines(self):
        with mcp.Server(AGENT, "--hold=0", "--run=malformed") as server:
            call = json.dumps({"jsonrpc": "2.0", "method": "tools/call", "params": {
                "name": "test_look", "arguments": {"target": "x"}}})
            for line in ("{", "[]", "x" * 2000000, '{"jsonrpc":"2.0","id":null,"method":"ping"}',
                         call[:-1] + ',"id":1,"id":1}', call[:-1] + ',"id":{}}'):
                server.write(line)
                self.assertIn("error", server.read())
            server.write(call)
            self.check(server.call("test_look", target=7), "refused", "no", True)
            self.check(server.call("test_look"), "refused", "no", True)
            self.check(server.call("test_look", target="x", bcc="y"), "refused", "no", True)
            self.assertEqual(server.request("ping"), {})
        self.ran(0)

    def test_of_another_agent(self):
        with mcp.Server(AGENT, "--hold=0", "--run=other") as server, \
                mcp.Server(OTHER, "--hold=0") as other:
            request = self.pending(server, target="other")
            for tool in ("request_status", "request_cancel"):
                result = other.call(tool, request_id=request)
                self.assertEqual(result["structuredContent"]["executed"], "unknown", result)
            names = [tool["name"] for tool in other.request("tools/list")["tools"]]
            self.assertEqual(names, ["request_status", "request_cancel"])
            self.check(server.call("request_cancel", request_id=request), "withdrawn", "no", False)

    def test_a_file_that_the_agent_may_not_read(self):
        with mcp.Server(AGENT, "--hold=0", "--run=file") as server:
            result = server.call("test_rehearse", target="file", paper=["/etc/shadow"])
            self.check(result, "refused", "no", True)
        self.assertEqual(self.cards(), [])

    def test_who_leaves_in_the_hold(self):
        """Two processes hold it, and both leave, in each order: the last one withdraws it."""
        for first in (0, 1):
            wanted = {"name": "test_rehearse", "arguments": {"target": f"leaving {first}"}}
            with mcp.Server(AGENT, "--hold=3600", "--run=leaving") as server, \
                    mcp.Server(AGENT, "--hold=3600", "--run=leaving") as second:
                both = [(server, server.send("tools/call", **wanted))]
                world.wait_until(lambda: len(self.cards()) == 1, "a card waits")
                request = self.cards()[0]
                both.append((second, second.send("tools/call", **wanted)))
                world.wait_until(lambda: self.watchers(request) == 2, "both wait")
                goes, number = both.pop(first)
                goes.cancel(number)
                world.wait_until(lambda: self.watchers(request) == 1, "one waits")
                self.assertEqual(self.cards(), [request])
                stays, number = both.pop()
                stays.cancel(number)
                world.wait_until(lambda: self.cards() == [], "the card is gone")
                self.check(self.ended(server, request), "withdrawn", "no", True)
                self.assertEqual((server.answers, second.answers), ({}, {}))
        self.ran(0)

    def test_who_leaves_what_another_was_given(self):
        """Whoever was given its id is gone, and nobody waits but the one who leaves: it stays."""
        def by_agent(target):
            done = person.Agent(AGENT).json("request", "test.rehearse", "--run=given",
                                            f"target={target}", "--wait=0")[1]
            return done["request"]

        def by_server(target):
            with mcp.Server(AGENT, "--hold=0", "--run=given") as other:
                return self.pending(other, target=target)

        for given in (by_agent, by_server):
            wanted = {"name": "test_rehearse", "arguments": {"target": given.__name__}}
            with mcp.Server(AGENT, "--hold=3600", "--run=given") as server:
                number = server.send("tools/call", **wanted)
                world.wait_until(lambda: len(self.cards()) == 1, "a card waits")
                request = given(given.__name__)
                world.wait_until(lambda: self.watchers(request) == 1, "only one waits")
                server.cancel(number)
            self.assertEqual(self.cards(), [request])
            self.agent.call(bus.REQUEST, "Withdraw", path=f"{bus.PATH}/request/{request}")
        self.ran(0)

    def test_who_leaves_while_another_waits(self):
        """Two processes, one request: the first goes, and the second still hears of the answer."""
        wanted = {"name": "test_rehearse", "arguments": {"target": "two"}}
        with mcp.Server(AGENT, "--hold=3600", "--run=two") as second:
            with mcp.Server(AGENT, "--hold=3600", "--run=two") as first:
                first.send("tools/call", **wanted)
                world.wait_until(lambda: len(self.cards()) == 1, "a card waits")
                request = self.cards()[0]
                number = second.send("tools/call", **wanted)
                world.wait_until(lambda: self.watchers(request) == 2, "both wait")
            self.assertEqual(self.cards(), [request])
            self.assertEqual(self.lead.run("deny", "--reason=not-now", request).returncode, 0)
            answer = second.receive(number)["result"]
            self.assertEqual(self.check(answer, "denied", "no", True), request)
        self.ran(0)

    # --- what runs, once ---

    def test_a_read(self):
        for version in (mcp.LEGACY, mcp.MODERN):
            with mcp.Server(AGENT, "--hold=120", "--run=read", version=version) as server:
                print(f"# first answer after {server.first_answer * 1000:.0f} ms ({version})")
                self.check(server.call("test_look", target=f"at {version}"), "done", "yes", False)
        self.ran(2)

    def test_approved(self):
        """A process for each call; the same call is one request and one card; another is another."""
        meta = {"org.undersign1/run": "ticket-4711", "org.undersign1/call": "toolu_7"}
        paper = f"{pwd.getpwnam(AGENT).pw_dir}/paper"
        with open(paper, "w", encoding="utf-8") as file:
            file.write("for the agent alone")
        os.chmod(paper, 0o600)
        os.chown(paper, pwd.getpwnam(AGENT).pw_uid, -1)
        wanted = {"target": "approved", "paper": [paper]}
        with mcp.Server(AGENT, "--hold=0", "--run=not-this-one") as server:
            request = self.check(server.call("test_rehearse", meta, **wanted), "pending", "no", False)
            again = [server.send("tools/call", name="test_rehearse", arguments=wanted, _meta=meta)
                     for _ in range(3)]
            for number in again:
                self.assertEqual(self.check(server.receive(number)["result"], "pending", "no", False),
                                 request)
        with mcp.Server(AGENT, "--hold=0", "--run=ticket-4711") as server:
            self.assertEqual(self.pending(server, **wanted), request)
            self.assertEqual(self.cards(), [request])
        answer = self.lead.approve(request)
        self.assertEqual(answer.status, 0, answer.text)
        for shown in ("ticket-4711", "call toolu_7", "approved", "paper"):
            self.assertIn(shown, answer.card)
        with mcp.Server(AGENT, "--hold=3600", "--run=ticket-4711") as server:
            result = self.ended(server, request)
            self.check(result, "done", "yes", False)
            self.assertEqual(result["structuredContent"]["output"], "nothing was done, as intended")
            self.ran(1)
            # What was approved is used up, and was never for anything else.
            for changed in ({"target": "Approved"}, {"note": "more"}, {"paper": []}, {}):
                late = server.send("tools/call", name="test_rehearse",
                                   arguments={**wanted, **changed})
                world.wait_until(lambda: len(self.cards()) == 1, "a card waits")
                waits = self.cards()[0]
                self.assertNotEqual(waits, request)
                self.check(server.call("request_cancel", request_id=waits), "withdrawn", "no", False)
                self.check(server.receive(late)["result"], "withdrawn", "no", True)
        self.ran(1)

    # --- how it can end ---

    def again(self, server, request, *how):
        """That it ended so is what each process says, for the request and as a task of both kinds."""
        self.assertEqual(self.check(server.call("request_status", request_id=request), *how), request)
        status = "completed" if how[0] == "done" else "failed"
        with mcp.Server(AGENT, version=mcp.TASKS) as other:
            self.assertEqual(other.request("tasks/get", taskId=request)["status"], status)
            self.check(other.request("tasks/result", taskId=request), *how)
            late = other.receive(other.send("tasks/cancel", taskId=request))
            self.assertEqual(late["error"]["code"], -32602)
            self.assertEqual(other.request("tasks/get", taskId=request)["status"], status)
        with mcp.Server(AGENT, version=mcp.MODERN, capabilities=mcp.WITH_TASKS) as other:
            other.request("tasks/cancel", taskId=request)
            task = other.request("tasks/get", taskId=request)
            self.assertEqual(task["status"], "completed")
            self.check(task["result"], *how)
        late = server.call("request_cancel", request_id=request)
        self.check(late, how[0], how[1], True)
        self.assertIn("TOO LATE", late["content"][0]["text"])

    def test_unknown(self):
        """The module's worker dies in the middle: nobody says that it ran, or that it did not."""
        with mcp.Server(AGENT, "--hold=120", "--run=unknown") as server:
            result = server.call("test_crash", target="unknown")
            request = self.check(result, "unknown", "unknown", True)
            self.assertEqual(result["_meta"]["org.undersign1/disposition"], "outcome-unknown")
            self.assertIn("Do not repeat the call.", result["content"][0]["text"])
            self.again(server, request, "unknown", "unknown", True)
        self.ran(1)

    def test_failed(self):
        with mcp.Server(AGENT, "--hold=120", "--run=failed") as server:
            result = server.call("test_fail", target="failed")
            request = self.check(result, "failed", "no", True)
            self.assertEqual(result["_meta"]["org.undersign1/disposition"], "execution-error")
            self.again(server, request, "failed", "no", True)
        self.ran(0)

    def test_expired(self):
        with mcp.Server(AGENT, "--hold=120", "--run=expired") as server:
            result = server.call("test_soon", target="soon")
            request = self.check(result, "expired", "no", True)
            self.again(server, request, "expired", "no", True)
        self.ran(0)

    def test_done_and_cancelled(self):
        with mcp.Server(AGENT, "--hold=120", "--run=done") as server:
            request = self.check(server.call("test_look", target="done"), "done", "yes", False)
            self.again(server, request, "done", "yes", False)
        self.ran(1)

    # --- as tasks ---

    def test_tasks_of_2025(self):
        with mcp.Server(AGENT, "--run=tasks-2025", version=mcp.TASKS) as server:
            def begin(target):
                task = server.request("tools/call", name="test_rehearse", task={"ttl": 600000},
                                      arguments={"target": target})["task"]
                self.assertEqual((task["status"], self.cards()), ("working", [task["taskId"]]))
                return task["taskId"]

            request = begin("a task of 2025")
            waiting = server.send("tasks/result", taskId=request)
            self.assertEqual(server.request("tasks/get", taskId=request)["status"], "working")
            self.ran(0)
            self.assertEqual(self.lead.approve(request).status, 0)
            self.check(server.receive(waiting)["result"], "done", "yes", False)
            self.assertEqual(server.request("tasks/get", taskId=request)["status"], "completed")
            self.ran(1)
            request = begin("a task of 2025 that is cancelled")
            self.assertEqual(server.request("tasks/cancel", taskId=request)["status"], "cancelled")
            self.assertEqual(self.cards(), [])
            self.check(server.request("tasks/result", taskId=request), "withdrawn", "no", True)
        self.ran(1)

    def test_tasks_of_2026(self):
        with mcp.Server(AGENT, "--run=tasks-2026", version=mcp.MODERN,
                        capabilities=mcp.WITH_TASKS) as server:
            def begin(target):
                task = server.call("test_rehearse", target=target)
                self.assertEqual((task["resultType"], task["status"], self.cards()),
                                 ("task", "working", [task["taskId"]]))
                return task["taskId"]

            request = begin("a task of 2026")
            self.assertEqual(server.request("tasks/get", taskId=request)["status"], "working")
            self.ran(0)
            self.assertEqual(self.lead.approve(request).status, 0)
            world.wait_until(lambda: server.request("tasks/get", taskId=request)["status"] !=
                             "working", "the task has ended")
            task = server.request("tasks/get", taskId=request)
            self.assertEqual(task["status"], "completed")
            self.check(task["result"], "done", "yes", False)
            self.ran(1)
            request = begin("a task of 2026 that is cancelled")
            server.request("tasks/cancel", taskId=request)
            task = server.request("tasks/get", taskId=request)
            self.assertEqual((task["status"], self.cards()), ("cancelled", []))
            self.assertNotIn("result", task)
        self.ran(1)


if __name__ == "__main__":
    tap.main("system/mcp")
