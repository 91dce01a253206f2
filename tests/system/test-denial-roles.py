#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may not: other agents, agents as approvers, nobody, and members that do not exist.

UNDERSIGN_CYCLES sets how many requests are made and withdrawn beside clients that do not read.
"""

import collections
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, crash, policy, tap, world  # noqa: E402
from undersign_test.denial import (  # noqa: E402
    AGENT, KIM, LEAD, OTHER, OWNER, Denial, admin_calls)

TARGET = {"target": "x"}
SANITIZED = crash.sanitized()
WARM = 10 if SANITIZED else 50
CYCLES = int(os.environ.get("UNDERSIGN_CYCLES") or (30 if SANITIZED else 150))
SLACK = 4096  # KiB: what the queue's database may cache; a leak of 28 KiB with each of 150 is more
ROOT = "/org/undersign1"
ASSERTION = {name: ("ay", b"x") for name in ("credential", "client-data", "auth-data", "signature")}


def approver_calls(path):
    """Every member of an approver, about one request."""
    return {
        "Register": ("(a{sv})", ({},)),
        "GetCard": ("(o)", (path,)),
        "GetStatement": ("(oa{sv})", (path, {"decision": ("s", "approve"),
                                             "credential": ("ay", b"x")})),
        "OpenFile": ("(osu)", (path, "paper", 0)),
        "Approve": ("(oaya{sv})", (path, b"{}", ASSERTION)),
        "Deny": ("(osa{sv})", (path, "other", {})),
        "GetReceipt": ("(o)", (path,)),
        "PauseAgent": ("(su)", ("offboarding", 60)),
    }


def agent_calls(run):
    """Every member of an agent, about one run."""
    return {
        "GetInfo": (None, None),
        "OpenRun": ("(a{sv})", ({},)),
        "CloseRun": ("(s)", (run,)),
        "ListActions": (None, None),
        "DescribeAction": ("(s)", ("test.rehearse",)),
        "ListRequests": (None, None),
        "Submit": ("(ssa{sv}a{sv})", (run, "test.rehearse", {"target": ("s", "x")}, {})),
    }


class Roles(Denial):
    def all_refused(self, user, interface, calls, name, path=ROOT):
        peer = self.peer(user)
        for member, (signature, value) in calls.items():
            error = peer.error(interface, member, signature, value, path=path)
            self.assertEqual(error.name, bus.ERROR + name, f"{user} {member}: {error.text}")

    def test_another_agents_run(self):
        run = self.open_run(OTHER)
        self.refused("NotFound", "not-found", TARGET, run=run)
        self.refused("NotFound", "not-found", TARGET, run=self.run_id, user=OTHER)
        for name in ("", "0" * 32, "../" + run, run.upper()):
            self.refused("NotFound", "not-found", TARGET, run=name)
        error = self.peer(OTHER).error(bus.AGENT, "CloseRun", "(s)", (self.run_id,))
        self.assertEqual(error.reason, "not-found")
        self.pending(TARGET)  # the run is open still

    def test_another_agents_request(self):
        path = self.pending({"target": "mine"})
        other = self.peer(OTHER)
        for member in ("GetState", "Watch", "Unwatch", "Leave", "Withdraw"):
            error = other.error(bus.REQUEST, member, path=path)
            nothing = other.error(bus.REQUEST, member, path=f"{ROOT}/request/{'0' * 32}")
            self.assertEqual((error.name, error.text), (bus.ERROR + "NotFound", nothing.text))
        run = self.open_run(OTHER)
        self.refused("NotFound", "not-found", TARGET, run=run, user=OTHER, supersedes=("o", path))
        self.assertEqual(self.requests(OTHER), [])
        self.assert_state(path, "pending")

    def test_an_action_of_another_agent(self):
        run = self.open_run(OTHER)
        self.refused("UnknownAction", "unknown-action", {"to": ("as", ["a@example.com"])},
                     action="mail.send", run=run, user=OTHER)
        error = self.peer(OTHER).error(bus.AGENT, "DescribeAction", "(s)", ("mail.send",))
        self.assertEqual(error.reason, "unknown-action")

    def test_a_closed_run(self):
        run = self.open_run(AGENT, label="closed")
        self.peer(AGENT).call(bus.AGENT, "CloseRun", "(s)", (run,))
        self.refused("NotFound", "not-found", TARGET, run=run)

    def test_an_unknown_part(self):
        error = self.peer(AGENT).error(bus.AGENT, "OpenRun", "(a{sv})",
                                       ({"part": ("s", "root")},))
        self.assertEqual((error.name, error.reason), (bus.ERROR + "InvalidArgument", "bad-value"))
        error = self.peer(AGENT).error(bus.AGENT, "OpenRunFor", "(sa{sv})", ("other", {}))
        self.assertEqual(error.reason, "not-found")

    def test_an_agent_that_approves(self):
        path = self.pending(TARGET)
        for user in (AGENT, OTHER):
            self.all_refused(user, bus.APPROVER, approver_calls(path), "NotApprover")
        self.assert_state(path, "pending")
        self.assertFalse(self.peer(AGENT).call(bus.AGENT, "GetInfo")[0]["paused"])

    def test_an_agent_with_a_persons_assertion(self):
        """Even the right bytes, signed by the right person, are worth nothing from an agent."""
        path = self.pending(TARGET)
        statement = self.statement(path)
        assertion = self.keys[LEAD].sign(statement)
        for user in (AGENT, OTHER, "root", "nobody"):
            error = self.peer(user).error(bus.APPROVER, "Approve", "(oaya{sv})",
                                          (path, statement, assertion))
            self.assertEqual(error.name, bus.ERROR + "NotApprover", user)
        self.assert_state(path, "pending")

    def test_a_person_with_anothers_assertion(self):
        path = self.pending(TARGET)
        statement = self.statement(path)
        assertion = self.keys[LEAD].sign(statement)
        with self.assertRaises(bus.BusError) as caught:
            self.approve(path, KIM, statement, assertion)
        self.assertEqual(caught.exception.name, bus.ERROR + "InvalidArgument", caught.exception)
        self.assert_state(path, "pending")

    def test_the_agents_owner(self):
        path = self.pending(TARGET)
        peer = self.peer(OWNER)
        key = self.keys[OWNER]
        error = peer.error(bus.APPROVER, "GetStatement", "(oa{sv})", (
            path, {"decision": ("s", "approve"), "credential": ("ay", key.credential)}))
        self.assertEqual(error.name, bus.ERROR + "NotFound", error.text)
        statement = self.statement(path)
        error = peer.error(bus.APPROVER, "Approve", "(oaya{sv})",
                           (path, statement, key.sign(statement)))
        self.assertEqual(error.name, bus.ERROR + "NotFound", error.text)
        self.assert_state(path, "pending")

    def test_an_agents_passkey(self):
        for user in (AGENT, OTHER, "undersign", "undersign-executor", "root"):
            error = self.peer("root").error(
                bus.ADMIN, "BeginEnroll", "(sa{sv})",
                (user, {"kind": ("s", "software"), "label": ("s", "x")}), path=ROOT + "/Admin")
            self.assertEqual((error.name, error.reason), (bus.ERROR + "Refused", "agent-uid"), user)

    def test_admin(self):
        calls = admin_calls(AGENT, ("mail", "work-smtp"))
        for user in (AGENT, OTHER, "nobody"):
            self.all_refused(user, bus.ADMIN, calls, "Refused", ROOT + "/Admin")
            error = self.peer(user).error(bus.ADMIN, "SetCredential", "(ssh)",
                                          ("mail", "work-smtp", 0), path=ROOT + "/Admin",
                                          files=[bus.File(b"secret")])
            self.assertEqual(error.reason, "denied-by-rule")
            error = self.peer(user).error(
                bus.ADMIN, "FinishEnroll", "(sa{sv})",
                ("0" * 32, {"client-data": ("ay", b"x"), "attestation": ("ay", b"x")}),
                path=ROOT + "/Admin")
            self.assertEqual(error.reason, "not-found")  # it began none
        self.assertTrue(self.peer("root").call(bus.ADMIN, "Status",
                                               path=ROOT + "/Admin")[0]["running"])

    def test_nobody(self):
        path = self.pending(TARGET)
        for user in ("nobody", "undersign-null", "alice"):
            self.all_refused(user, bus.AGENT, agent_calls(self.run_id), "NotAgent")
            self.all_refused(user, bus.APPROVER, approver_calls(path), "NotApprover")
            members = ("GetState", "Watch", "Unwatch", "Leave", "Withdraw")
            self.all_refused(user, bus.REQUEST, dict.fromkeys(members, (None, None)), "NotFound",
                             path)
        self.assert_state(path, "pending")

    def test_a_person_is_no_agent(self):
        for user in (LEAD, OWNER, "root"):
            self.all_refused(user, bus.AGENT, agent_calls(self.run_id), "NotAgent")

    def test_members_that_do_not_exist(self):
        path = self.pending(TARGET)
        calls = (("org.freedesktop.DBus.Properties", "Get", "(ss)", (bus.REQUEST, "State")),
                 ("org.freedesktop.DBus.Properties", "GetAll", "(s)", (bus.REQUEST,)),
                 ("org.freedesktop.DBus.Properties", "Set", "(ssv)",
                  (bus.REQUEST, "State", ("s", "approved"))),
                 ("org.freedesktop.DBus.Peer", "Ping", None, None),
                 ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects", None, None),
                 (bus.AGENT, "Quit", None, None), (bus.AGENT, "Execute", "(o)", (path,)),
                 (bus.REQUEST, "Approve", None, None), (bus.REQUEST, "SetState", "(s)", ("done",)),
                 (bus.ADMIN, "Halt", "(s)", ("x",)), ("com.example.Debug", "Stop", None, None))
        for user in (AGENT, LEAD, "nobody", "root"):
            for interface, member, signature, value in calls:
                for place in (ROOT, path, "/"):
                    error = self.peer(user).error(interface, member, signature, value, path=place,
                                                  destination=bus.SERVICE)
                    self.assertIn(error.name, ("org.freedesktop.DBus.Error.AccessDenied",
                                               bus.ERROR + "NotFound"), f"{user} {member}")
        self.assert_state(path, "pending")

    def test_introspection_tells_nothing(self):
        path = self.pending(TARGET)
        for place in (ROOT, ROOT + "/request"):
            try:
                found = self.peer(OTHER).call("org.freedesktop.DBus.Introspectable", "Introspect",
                                              path=place)[0]
            except bus.BusError as error:
                self.assertEqual(error.name, bus.ERROR + "NotFound")
                continue
            self.assertNotIn(path.rpartition("/")[2], found)

    def test_names_of_ours(self):
        """A forged signal or an owned name: the bus lets nobody be the service."""
        path = self.pending(TARGET)
        agent, other = self.peer(AGENT), self.peer(OTHER)
        agent.call(bus.REQUEST, "Watch", path=path)
        other.emit(agent.name, path, bus.REQUEST, "Changed", "(s)", ("done",))
        for name in (bus.SERVICE, bus.ADMIN, bus.LAUNCHER):
            with self.assertRaises(bus.BusError) as caught:
                other.own_name(name)
            self.assertEqual(caught.exception.name, "org.freedesktop.DBus.Error.AccessDenied")
        self.assert_state(path, "pending")

    def test_the_caller_comes_before_the_body(self):
        """Who may not call is told so, whatever was sent: the body is not looked at."""
        for user, name in (("nobody", "NotAgent"), (LEAD, "NotAgent")):
            for signature, value in ((None, None), ("(i)", (1,)), ("(s)", ("x" * 100_000,)),
                                     ("(a{sv})", "({'a': <1>, 'a': <2>},)")):
                for member in agent_calls(""):
                    error = self.peer(user).error(bus.AGENT, member, signature, value)
                    self.assertEqual(error.name, bus.ERROR + name, f"{user} {member}")

    def cycles(self, count, target):
        """As many requests that wait, and no longer."""
        for number in range(count):
            self.close(self.submit({"target": f"{target} {number}"})[0])

    def memory(self):
        """Of each process that stays: but for its workers."""
        found = {}
        for name, pid in self.processes.items():
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                found[name] = int(re.search(r"^VmRSS:\s+(\d+)", status.read(), re.MULTILINE)[1])
        return found

    def assert_no_more(self, before):
        """Sanitizers keep what was freed, and find what was lost themselves."""
        after = self.memory()
        print(f"# KiB before: {before}; after: {after}", flush=True)
        for name, size in before.items():
            if not SANITIZED:
                self.assertLessEqual(after[name], size + SLACK, name)

    def test_a_client_that_does_not_read(self):
        """An agent that watches and an approver that is told of each card stand still: nobody waits for
        them, and nothing is kept for them here."""
        path = self.pending({"target": "watched"})
        watcher, approver, reader = bus.Peer(AGENT), bus.Peer(LEAD), bus.Peer(KIM)
        try:
            watcher.call(bus.REQUEST, "Watch", path=path)
            reader.subscribe(bus.APPROVER)
            for peer in (approver, reader):
                peer.call(bus.APPROVER, "Register", "(a{sv})", ({},))
            for peer in (watcher, approver):
                os.kill(peer.pid, signal.SIGSTOP)
            self.cycles(WARM, "warm")
            before = self.memory()
            self.cycles(CYCLES, "more")
            self.assert_no_more(before)
            self.assert_state(path, "pending")
            self.peer(LEAD).call(bus.APPROVER, "GetCard", "(o)", (path,))
            self.peer(OTHER).call(bus.AGENT, "GetInfo")
            told = collections.Counter()
            while told["CardRemoved"] < WARM + CYCLES:
                signals = reader.signals(60)
                self.assertTrue(signals, told)
                told.update(member for _, _, _, member, _ in signals)
            self.assertEqual(told["CardAdded"], told["CardRemoved"], told)
        finally:
            watcher.close()
            approver.close()
            reader.close()

    def test_a_uid_in_the_arguments(self):
        for name in ("uid", "user", "sender", "owner"):
            error = self.peer(AGENT).error(bus.AGENT, "OpenRun", "(a{sv})",
                                           ({name: ("s", OTHER)},))
            self.assertEqual(error.reason, "unknown-option")

    def test_no_process_can_be_dumped(self):
        """Neither into a core nor by its own user, who owns nothing of it below /proc: the secrets of
        modules, assertions and the key that seals are in there.  The broker's core is its unit's."""
        def look(pid):
            with open(f"/proc/{pid}/limits", encoding="ascii") as file:
                limits = next(line for line in file if line.startswith("Max core file size"))
            return os.stat(f"/proc/{pid}/environ").st_uid, limits.split()[4:6]

        for name, listener in self.processes.items():
            with self.subTest(name=name):
                owner, core = look(listener)
                self.assertEqual(owner, 0)
                if name == "undersignd":
                    continue
                self.assertEqual(core, ["0", "0"])
                found = []

                def workers(found=found, listener=listener):
                    """Those that are ready: one may end, or not be hardened yet."""
                    with open(f"/proc/{listener}/task/{listener}/children", encoding="ascii") as file:
                        children = file.read().split()
                    try:
                        found[:] = map(look, children)
                    except (FileNotFoundError, ProcessLookupError, StopIteration):
                        return False
                    return bool(found) and all(one == (0, ["0", "0"]) for one in found)

                world.wait_until(workers, f"the workers of {name} cannot be dumped", 30)

    def test_the_agent_is_gone_after_asking(self):
        """Who asked leaves the bus at once; the request is its own still, and waits."""
        path = self.pending({"target": "gone"})
        name = self.peer(AGENT).name
        self.hang_up()
        self.assertNotEqual(self.peer(AGENT).name, name)
        self.assert_state(path, "pending")
        self.assertEqual(policy.executed(), self.marker)


if __name__ == "__main__":
    tap.main("system/denial-roles")
