#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every method of the service with what is none of its arguments, from every role: other types,
values that nobody means, files that are none, messages that are none."""

import collections
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, tap, wire  # noqa: E402
from undersign_test.denial import AGENT, LEAD, OTHER, OWNER  # noqa: E402
from undersign_test.hostile import (  # noqa: E402
    INTROSPECTABLE, MECHANISMS, MEMBERS, ROLES, TARGET, Attacker, Hostile, at_edges, edges, malformed,
    simple, wrong_signatures)


def hang_up(connections):
    for connection in connections:
        connection.close()


def of_no_use(user):
    """How a call ends whose form is wrong: who may make it is told so, and others perhaps of themselves."""
    may = {bus.AGENT: (AGENT, OTHER), bus.APPROVER: (LEAD, OWNER), bus.REQUEST: (AGENT,)}

    def names(call):
        if call.interface in MECHANISMS or (
                user in may.get(call.interface, ()) and call.member != "OpenRunFor"):
            return ("InvalidArgument",)
        return ("InvalidArgument", "NotAgent", "NotApprover", "NotFound")
    return names


class Messages(Attacker):
    def test_signatures(self):
        """Every method, every wrong signature, every role."""
        self.request = self.pending(TARGET)
        calls = [self.call(interface, member, wrong, wire.body_of(wrong, [
            simple(kind) for kind in bus.split(wrong)]))
                 for interface, member, right in MEMBERS for wrong in wrong_signatures(right)]
        for user in ROLES:
            self.attack(user, calls, of_no_use(user))
        print(f"# {len(calls)} calls for each of {len(ROLES)} roles", flush=True)
        self.assert_state(self.request, "pending")

    def test_objects(self):
        """Every method at every object that has none, or that is not the caller's."""
        self.request = self.pending(TARGET)
        for user in ROLES:
            calls = [self.call(interface, member, right, wire.body_of(right, [
                simple(kind) for kind in bus.split(right)]), path=path)
                     for interface, member, right in MEMBERS for path in Hostile.PATHS
                     if path != self.path_of(interface) and interface != INTROSPECTABLE]
            self.attack(user, calls, ("NotFound", "NotAgent", "NotApprover"))


    def test_values(self):
        """Arguments of the right types that nobody means, to every method that has any."""
        self.request = self.pending(TARGET)
        hostile = Hostile(self.rng, (self.request,))
        harmless = ("OpenRun", "Register", "GetCard", "GetReceipt", "ReadAudit", "Resume")
        names = ("InvalidArgument", "NotFound", "NotAgent", "NotApprover", "UnknownAction",
                 "Refused", "LimitExceeded", "WrongState", "WrongAssertion")
        taken = 0
        for user in ROLES:
            calls = [self.call(interface, member, right, hostile.body(right))
                     for interface, member, right in MEMBERS if right
                     and not (user == "root" and member == "Halt") for _ in range(4)]
            for call, answer in zip(calls, self.connection(user).ask_all(calls)):
                taken += answer.name == ""
                if answer.name != "" or call.member not in harmless:
                    self.expect(call, answer, names)
        print(f"# {taken} of them meant something harmless", flush=True)
        self.assert_state(self.request, "pending")

    def edge_bases(self):
        """What is right of a method's other arguments, where no edge of one then means anything."""
        return {"Submit": (self.run_id, "test.rehearse", {"target": ("s", "x")}, {}),
                "Approve": (self.request, b"{}", {}), "GetStatement": (self.request, {}),
                "OpenFile": (self.request, "paper", 0),
                "BeginEnroll": ("alice", {"kind": ("s", "software"), "label": ("s", "x")}),
                "Resolve": ("0" * 32, "done", "x"), "Launch": ("x", ["true"], {})}

    def test_edges(self):
        """Each argument of each method at each edge of its type, by somebody who may call it: he is
        answered for what it is, not for who he is or how often he asks, and none of it runs."""
        self.request = self.pending(TARGET)
        may = {bus.AGENT: AGENT, bus.REQUEST: AGENT, bus.APPROVER: LEAD}
        bases = self.edge_bases()
        harmless = ("OpenRun", "Register", "ReadAudit", "Resume", "Submit")
        names = ("InvalidArgument", "NotFound", "UnknownAction", "WrongState", "WrongAssertion")
        # What is said of a passkey and of a user that are not there.
        own = {"RevokePasskey": "NotApprover", "BeginEnroll": "Refused"}
        met = collections.Counter()
        for user in (AGENT, LEAD, "root"):
            # Halt() with any text is meant, and test_values has it from everybody else.
            calls = [(member, at, what, self.call(interface, member, right, body))
                     for interface, member, right in MEMBERS
                     if may.get(interface, "root") == user and member != "Halt"
                     for at, what, body in at_edges(right, bases.get(member))]
            answers = self.connection(user).ask_all([call for *_, call in calls])
            for (member, at, what, call), answer in zip(calls, answers):
                met[member, at] += 1
                with self.subTest(member=member, argument=at, what=what):
                    if answer.name != "" or member not in harmless:
                        self.expect(call, answer, (*names, own.get(member, "NotFound")))
        wanted = {(member, at): len(edges(kind)) for _, member, right in MEMBERS if member != "Halt"
                  for at, kind in enumerate(bus.split(right))}
        self.assertEqual(met, wanted)
        print(f"# {met.total()} calls, to {len(met)} arguments", flush=True)
        for path, _, state in self.requests():
            if state == "pending" and path != self.request:
                self.close(path)
        self.assert_state(self.request, "pending")

    def nonsense(self):
        """Messages that are none, or whose sender is nobody to send them."""
        whole = wire.call_bytes(self.call(bus.AGENT, "GetInfo"))
        for at, byte in ((0, 0), (0, ord("B")), (1, 0), (1, 5), (1, 255), (2, 255), (3, 2), (4, 1),
                         (7, 255), (8, 0), (12, 1), (15, 255), (21, 255), (len(whole) - 1, 1)):
            yield whole[:at] + bytes([byte]) + whole[at + 1:]
        path, member = (1, "o", bus.PATH), (3, "s", "GetInfo")
        there, of = (6, "s", bus.SERVICE), (2, "s", bus.AGENT)
        for fields in (
                (path, there), (member, there), (path, path, member, there),
                (path, of, member, there, (7, "s", ":1.1")),
                (path, of, member, there, (77, "s", "x")),
                (path, of, member, there, (9, "u", 3)), (path, of, (3, "s", b"Get.Info"), there),
                ((1, "o", "/a" * 20000), of, member, there)):
            yield wire.message(fields)
        for serial in (1, 2, 3, 100):
            yield wire.message([(5, "u", serial), there], b"", wire.RETURN)
            yield wire.message([(5, "u", serial), (4, "s", "a.b"), there], b"", wire.ERROR)
        name = self.peer(LEAD).name
        yield wire.message([(1, "o", "/org/freedesktop/DBus"), (2, "s", "org.freedesktop.DBus"),
                            (3, "s", "NameOwnerChanged"), there, (8, "g", "sss")],
                           wire.body_of("sss", (name, name, "")), wire.SIGNAL)

    def test_nonsense(self):
        """The bus ends it or it is answered, and the one who sent it has no other use."""
        messages = list(self.nonsense())
        for user in (AGENT, "nobody"):
            hung_up = 0
            connections = []
            for at in range(0, len(messages), 16):
                connections += wire.connect(user, len(messages[at:at + 16]))
            for one, connection in zip(messages, connections):
                with connection:
                    try:
                        connection.send(one)
                        answer = connection.ask(self.call(bus.AGENT, "GetInfo"))
                    except wire.HungUp:
                        answer = wire.HUNG_UP
                    hung_up += answer is wire.HUNG_UP
                    if answer is not wire.HUNG_UP:
                        self.assertIn(answer.name, ("", bus.ERROR + "NotAgent"), answer)
            print(f"# {user}: the bus ended {hung_up} of {len(messages)}", flush=True)

    def test_malformed(self):
        """To each member bodies that its signature does not describe: the bus ends who sends one, or it
        is refused, and nobody else notices it."""
        self.request = self.pending(TARGET)
        calls = [self.call(interface, member, right, body) for interface, member, right in MEMBERS
                 if right for body in malformed(right)]
        for user in ROLES:
            answers = collections.Counter()
            connections = []
            for call in calls:
                if not connections:
                    connections = wire.connect(user, 16)
                    self.addCleanup(hang_up, list(connections))
                answer = connections[0].ask(call)
                if answer is wire.HUNG_UP:
                    connections.pop(0).close()
                else:
                    self.expect(call, answer, ("InvalidArgument", "NotAgent", "NotApprover", "NotFound",
                                               "Refused", "LimitExceeded"))
                answers[answer.name] += 1
            print(f"# {user}: {dict(answers)} of {len(calls)}", flush=True)
            hang_up(connections)
        self.assert_state(self.request, "pending")

    # --- files ---

    def descriptors(self):
        """What may stand for a file, none of which is a sealed memfd or a pipe with an end."""
        pipe, self_made = os.pipe(), socket.socketpair()
        closed = os.pipe()
        os.close(closed[0])
        kept = os.memfd_create("test")
        grown = bus.File(b"x", "part-sealed").open()
        return [*pipe, closed[1], *(one.detach() for one in self_made), kept, grown,
                os.open("/", os.O_RDONLY), os.open("/dev/zero", os.O_RDONLY),
                os.open("/dev/null", os.O_WRONLY), os.open("/etc/passwd", os.O_PATH),
                os.open("/tmp", os.O_TMPFILE | os.O_WRONLY),
                os.open("/proc/self/mem", os.O_RDONLY), os.eventfd(0)]

    def test_files(self):
        """Descriptors that are no files, to who takes some, and any to who takes none or fewer."""
        self.request = self.pending(TARGET)
        files = self.descriptors()
        for fd in files:
            self.addCleanup(os.close, fd)
        paper = [("report.txt", 0)]

        def submit(papers, given):
            return self.call(bus.AGENT, "Submit", "ssa{sv}a{sv}", wire.body_of("ssa{sv}a{sv}", (
                self.run_id, "test.rehearse",
                {"target": ("s", "x"), "paper": ("a(sh)", papers)}, {})), files=given)

        def secret(handle, given):
            return self.call(bus.ADMIN, "SetCredential", "ssh", wire.body_of(
                "ssh", ("null", "rehearsal", handle)), files=given)

        self.attack(AGENT, [
            submit(paper, ()), submit([("a", 1)], files[:1]),
            submit([("a", 0xffffffff)], files[:1]), submit(paper * 17, files[:1]),
            *(submit(paper, [fd]) for fd in files),
            submit([("a", at) for at in range(len(files))], files)], ("InvalidArgument",))
        # One for who takes none; and as many as nobody takes but Submit().
        calls = [self.call(interface, member, right, wire.body_of(right, [
            simple(kind) for kind in bus.split(right)]), files=given)
                 for interface, member, right in MEMBERS if member != "Submit"
                 for given in (files[:1], files) if given == files or interface not in MECHANISMS]
        for user in ROLES:
            self.attack(user, calls, of_no_use(user))
        calls = [secret(0, ()), secret(1, files[:1]), secret(0x7fffffff, files[:1]),
                 secret(0, files[:2]), *(secret(0, [fd]) for fd in files[1:])]
        self.attack("root", calls, ("InvalidArgument",))
        self.attack("nobody", calls, ("InvalidArgument", "Refused"))
        # More than the bus itself lets through.
        with wire.connect(AGENT)[0] as connection:
            answer = connection.ask(submit(paper, files[:1] * 17))
            self.assertIn(answer.name, (None, bus.ERROR + "InvalidArgument"), answer)
        self.assert_state(self.request, "pending")

    # --- half a conversation ---

    def test_half_messages(self):
        """Whoever stops in the middle waits for himself alone."""
        whole = wire.call_bytes(self.call(bus.AGENT, "Submit", "ssa{sv}a{sv}", wire.body_of(
            "ssa{sv}a{sv}", (self.run_id, "test.rehearse", {"target": ("s", "x" * 60000)}, {}))))
        connections = [one for user in (AGENT, "nobody") for one in wire.connect(user, 20)]
        for number, connection in enumerate(connections):
            self.addCleanup(connection.close)
            connection.send(whole[:1 + number * len(whole) // len(connections)])
        self.witness()
        for connection in connections:
            connection.close()


if __name__ == "__main__":
    tap.main("system/attacker")
