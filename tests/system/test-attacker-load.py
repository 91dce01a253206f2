#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""More calls than anybody can answer, callers that leave, and a polkit that says no or nothing.

UNDERSIGN_CALLS sets how many bad calls the flood has, UNDERSIGN_CYCLES how many good requests are made
and withdrawn.  The time is never measured: that everybody is answered before the tests' patience is
over is all that is asked.
"""

import contextlib
import os
import random
import signal
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, crash, cycles, tap, terminal, wire, world  # noqa: E402
from undersign_test.denial import AGENT, LEAD, OTHER, OWNER  # noqa: E402
from undersign_test.hostile import (  # noqa: E402
    ADMIN_PATH, LAUNCHER_PATH, MEMBERS, SEED, TARGET, Attacker, Hostile, simple, wrong_signatures)

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = "/run/undersign-test/units"
POLKIT_RULE = "/etc/polkit-1/rules.d/10-test.rules"
POLKIT_SERVICE = "/usr/share/dbus-1/system-services/org.freedesktop.PolicyKit1.service"
FLOODERS = (AGENT, LEAD, "nobody", "root")
BATCH = 50
SLACK = 2 << 20  # bytes
# What the allocator keeps is up to 1 MiB, and not three times that with three times as many calls; a leak of
# 32 bytes with each of 100000 bad calls is more.
FLOOD_SLACK = 3 << 20
CYCLE_SLACK = 4 << 20  # bytes: a leak of 42 with each of 100000 cycles is more
# Rows of an agent in the queue: QUEUE_KEEP_MAX, and those that have ended since it last submitted.
KEPT = 500 + cycles.WINDOW


class Load(Attacker):
    def good_calls(self, request):
        """One call of each member that may change nothing here, where no systemd starts what is launched,
        right in its form."""
        about = wire.body_of("o", (request,))
        return [
            self.call(bus.AGENT, "GetInfo"), self.call(bus.AGENT, "ListActions"),
            self.call(bus.AGENT, "ListRequests"),
            self.call(bus.AGENT, "DescribeAction", "s", wire.body_of("s", ("test.rehearse",))),
            self.call(bus.AGENT, "OpenRun", "a{sv}", wire.body_of("a{sv}", ({},))),
            self.call(bus.AGENT, "Submit", "ssa{sv}a{sv}", wire.body_of("ssa{sv}a{sv}", (
                self.run_id, "test.rehearse", {"target": ("s", "gone")}, {}))),
            self.call(bus.APPROVER, "Register", "a{sv}", wire.body_of("a{sv}", ({},))),
            self.call(bus.APPROVER, "GetCard", "o", about),
            self.call(bus.APPROVER, "GetReceipt", "o", about),
            self.call(bus.APPROVER, "GetStatement", "oa{sv}", wire.body_of("oa{sv}", (
                request, {"decision": ("s", "approve"),
                          "credential": ("ay", self.keys[LEAD].credential)}))),
            self.call(bus.APPROVER, "Approve", "oaya{sv}", wire.body_of("oaya{sv}", (
                request, b"{}", {name: ("ay", b"x") for name in (
                    "credential", "client-data", "auth-data", "signature")}))),
            self.call(bus.REQUEST, "GetState", path=request),
            self.call(bus.REQUEST, "Watch", path=request),
            self.call(bus.ADMIN, "Status"), self.call(bus.ADMIN, "ListPasskeys"),
            self.call(bus.ADMIN, "ReadAudit", "tu", wire.body_of("tu", (1, 10))),
            self.call(bus.ADMIN, "GetCheckpoint"), *self.launcher_calls("0" * 16)[:3]]

    def admin_calls(self):
        return [self.call(interface, member, right, wire.body_of(right, [
            simple(kind) for kind in bus.split(right)])) for interface, member, right in MEMBERS
                if interface == bus.ADMIN and member != "FinishEnroll"]

    # --- callers that leave ---

    def test_disconnect(self):
        """Callers that leave at once, or soon: whatever waits for them then has nobody to tell."""
        request = self.pending(TARGET)
        self.addCleanup(self.withdraw_all)
        calls = self.good_calls(request)
        for user in (AGENT, LEAD, OWNER, "root"):
            for _ in range(3):
                for call, connection in zip(calls, wire.connect(user, len(calls))):
                    with connection:
                        for _ in range(self.rng.randrange(1, 4)):
                            connection.begin(call)
                        if self.rng.random() < 0.5:
                            # Somewhere between the first step of the call and its last.
                            connection.ask(wire.Call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                     "org.freedesktop.DBus", "GetId", "", b""))
        self.witness()
        self.assert_state(request, "pending")

    def withdraw_all(self):
        for path, _, state in self.requests():
            if state == "pending":
                self.close(path)

    def test_many_connections(self):
        """As many as the bus lets one user have, each with as many calls as it may."""
        connections = []
        for _ in range(10):
            connections += wire.connect("nobody", 20)
        calls = [self.call(bus.AGENT, "GetInfo"), self.call(bus.APPROVER, "Register", "a{sv}",
                                                            wire.body_of("a{sv}", ({},)))]
        for connection in connections:
            self.addCleanup(connection.close)
            for call in calls * 4:
                connection.begin(call)
        self.witness()
        for connection in connections:
            for _ in calls * 4:
                _, answer = connection.answer()
                self.assertIn(answer.name, [bus.ERROR + name for name in (
                    "NotAgent", "NotApprover", "LimitExceeded")])

    # --- thousands ---

    def bad_calls(self, user, rng):
        """Bytes of calls that are refused; the flood gives them their serials."""
        hostile = Hostile(rng)
        made = []
        for interface, member, right in MEMBERS:
            made += [self.call(interface, member, wrong, wire.body_of(wrong, [
                simple(kind) for kind in bus.split(wrong)])) for wrong in wrong_signatures(right)]
            if right and user != "root" and member not in ("OpenRun", "Register"):
                made += [self.call(interface, member, right, hostile.body(right)) for _ in range(8)]
            made.append(self.call(interface, member, right, wire.body_of(right, [
                simple(kind) for kind in bus.split(right)]), path="/nowhere"))
        return [bytearray(wire.call_bytes(call)) for call in made if len(call.body) < 20000]

    def flood(self, user, count):
        """In a process of its own: @count bad calls, as fast as the bus takes them."""
        rng = random.Random(f"{SEED} flood {user}")
        calls = self.bad_calls(user, rng)
        connections = wire.connect(user, 4)
        sent = 0
        while sent < count:
            connection = rng.choice(connections)
            batch = rng.choices(calls, k=min(BATCH, count - sent))
            together = bytearray()
            for one in batch:
                connection.serial += 1
                one[2] = wire.NO_REPLY if rng.random() < 0.5 else 0
                struct.pack_into("<I", one, 8, connection.serial)
                together += one
            connection.send(bytes(together))
            sent += len(batch)
            connection.drain()
        for connection in connections:
            answer = None
            while answer is None or answer.name == bus.ERROR + "LimitExceeded":
                answer = connection.ask(self.call(bus.AGENT, "GetInfo"))
        return 0

    def floods(self, count):
        """All flooders at once, while who has done nothing is served."""
        children = []
        for user in FLOODERS:
            sys.stdout.flush()
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    status = self.flood(user, count // len(FLOODERS))
                except BaseException as error:  # whatever it is must not return into the test
                    print(f"# {user}: {error!r}", flush=True)
                finally:
                    os._exit(status)
            children.append(pid)
        served = 0
        while children:
            self.witness()
            served += 1
            pid, status = os.waitpid(children[0], os.WNOHANG)
            if pid != 0:
                children.remove(pid)
                self.assertEqual(status, 0, "a flooder did not come to its end")
        return served

    def sizes(self):
        """Of each process that stays, once nothing comes or goes: descriptors, threads and bytes."""
        return {pid: (self.settled(pid), self.threads_of(pid), self.private_of(pid))
                for pid in self.all_pids()}

    def test_flood(self):
        """After it the service has what it had before it, but for FLOOD_SLACK.  Before it are a twentieth
        as many calls of the same kind: with them the allocator has its arenas, a connection of each
        flooder has been known once, and every table and buffer has its size."""
        sanitized = crash.sanitized()
        count = int(os.environ.get("UNDERSIGN_CALLS") or (20000 if sanitized else 100000))
        self.request = f"{bus.PATH}/request/{'0' * 32}"
        self.floods(count // 20)
        before = self.sizes()
        served = self.floods(count)
        print(f"# {count} bad calls; meanwhile {served * 2} others were served", flush=True)
        for pid, (_, _, size) in before.items():
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                print(f"# {pid}, {file.read().strip()}: {size} bytes, then {self.private_of(pid)}", flush=True)
        for pid, (fds, threads, size) in before.items():
            world.wait_until(lambda pid=pid, fds=fds, threads=threads: (
                self.fds_of(pid) <= fds and self.threads_of(pid) <= threads),
                             f"process {pid} has the descriptors and threads that it had")
            if not sanitized:  # they keep what was freed, and find what was lost themselves
                world.wait_until(lambda pid=pid, size=size: self.private_of(pid) <= size + FLOOD_SLACK,
                                 f"process {pid} has given back its memory")
        for pid, now in self.sizes().items():
            print(f"# {pid}: descriptors, threads, bytes: {before[pid]}, then {now}", flush=True)

    # --- requests that end ---

    def cycle(self, first, count):
        """@count requests of the agents together are made and withdrawn; others are served meanwhile."""
        agents = [cycles.start(user, run, first, count // 2) for user, run in self.runs]
        self.witness()
        for pid in agents:
            looks = 0
            while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                looks += 1
                if looks % 50 == 0:
                    self.witness()
                time.sleep(0.1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0, "an agent did not come to its end")
        world.wait_until(lambda: cycles.queue_rows()[1] == 0, "the ledger has heard of each end")

    def memory_after(self, count):
        """Of each process that stays, in bytes."""
        memory = {name: cycles.private_memory(pid) for name, pid in self.staying.items()}
        kib = {name: size // 1024 for name, size in memory.items()}
        files = {folder: cycles.size_of(folder) // 1024 for folder in (cycles.STATE, cycles.LEDGER)}
        print(f"# {count} cycles: {kib} KiB of memory, {files} KiB on disk, rows of the queue: "
              f"{cycles.queue_rows()[0]}", flush=True)
        return memory

    def memory_after_reading(self, size):
        """Of undersign-admin, when so many bytes of the log went through it."""
        taken = 0
        while taken < size:
            entries, = self.peer("root").call(bus.ADMIN, "ReadAudit", "(tu)", (1, 1000),
                                              path=ADMIN_PATH)
            taken += sum(len(entry) for _, entry, _ in entries)
        return cycles.private_memory(self.admin_pid)

    def test_cycles(self):
        """What was withdrawn holds no memory, no descriptor and no file, and of the queue as many rows
        as may stay.  The ledger has a row of each for good."""
        sanitized = crash.sanitized()
        count = int(os.environ.get("UNDERSIGN_CYCLES") or (30 if sanitized else 150))
        self.runs = [(AGENT, self.run_id), (OTHER, self.open_run(OTHER))]
        self.staying = {**self.processes, "undersign-admin": self.admin_pid}
        warm = min(count, 3000)
        self.cycle(0, warm)
        before = self.memory_after(warm)
        fds = {pid: self.settled(pid) for pid in self.staying.values()}

        for done in range(0, count, 10000):
            part = min(10000, count - done)
            self.cycle(warm + done, part)
            after = self.memory_after(warm + done + part)
        after["undersign-admin"] = self.memory_after_reading(1 if sanitized else 3 * CYCLE_SLACK)
        for pid, number in fds.items():
            world.wait_until(lambda pid=pid, number=number: self.fds_of(pid) == number,
                             f"process {pid} has the descriptors that it had")
        for name, size in before.items():
            if not sanitized:  # they keep what was freed, and find what was lost themselves
                self.assertLessEqual(after[name], size + CYCLE_SLACK, name)
        for user, _ in self.runs:
            self.assertEqual(self.peer(user).call(bus.AGENT, "GetInfo")[0]["pending"], 0)
        self.assertEqual(os.listdir(cycles.SPOOL), [])
        for uid, rows in cycles.queue_rows()[0].items():
            self.assertLessEqual(rows, KEPT, uid)

        self.expect_run()
        path = self.pending(TARGET)
        self.approve(path)
        self.assertEqual(self.ended(path)[0], "done")

    # --- polkit ---

    @contextlib.contextmanager
    def no_polkit(self):
        """The bus cannot start one; after it there is one again."""
        os.rename(POLKIT_SERVICE, POLKIT_SERVICE + ".away")
        try:
            self.world.reload_bus()
            yield
        finally:
            os.rename(POLKIT_SERVICE + ".away", POLKIT_SERVICE)
            self.world.reload_bus()
            self.world.polkit.restart()

    @contextlib.contextmanager
    def launched(self):
        """A systemd that starts what the launcher has it start, and one command of the owner's; its id.
        Beside that one nothing starts, and nobody else ends it."""
        os.makedirs(UNITS, exist_ok=True)
        systemd = world.Daemon("systemd", ["/usr/bin/python3", "-B", os.path.join(
            HERE, "../lib/undersign_test/systemd.py"), UNITS],
            lambda: world.name_has_owner("org.freedesktop.systemd1"))
        systemd.start()
        try:
            with terminal.Terminal(OWNER, ["undersign", "launch", "--no-run", "offboarding", "--", "cat"]) \
                    as screen:
                screen.wait_for("has the terminal")
                units = os.listdir(UNITS)
                yield self.listed()[0][0]
                # It has heard all that polkit said meanwhile: each call has its own question.
                self.assertEqual([one[2] for one in self.listed()], [os.stat(f"/home/{OWNER}").st_uid])
                self.assertEqual(os.listdir(UNITS), units)
                screen.line("still here")
                screen.wait_for("still here.*still here")
                screen.type("\x04")
                self.assertEqual(screen.wait(), 0, screen.text)
            world.wait_until(lambda: not os.listdir(UNITS), "no unit is left")
        finally:
            systemd.stop()

    def listed(self):
        return self.peer(OWNER).call(bus.LAUNCHER, "List", path=LAUNCHER_PATH)[0]

    def launcher_calls(self, number, words=1):
        """Each member of the launcher's, right in its form: to start a command, and to end one."""
        def launch(command):
            return self.call(bus.LAUNCHER, "Launch", "sasa{sv}", wire.body_of("sasa{sv}", (
                "offboarding", command, {})))
        return [launch(["true"]), self.call(bus.LAUNCHER, "List"),
                self.call(bus.LAUNCHER, "End", "s", wire.body_of("s", (number,))),
                launch(["true"] + ["x" * 100] * words)]

    def meanwhile(self, number):
        """Who needs no word of polkit's has it at once."""
        self.peer(OTHER).call(bus.AGENT, "GetInfo")
        for user, call, reason in ((AGENT, 0, "agent-uid"), (LEAD, 2, "not-found")):
            answer = self.connection(user).ask(self.launcher_calls(number)[call])
            self.assertEqual(answer.text.partition(":")[0], reason, answer)

    def everybody(self, number, before_answers=lambda: None):
        """All members of the administrator's and the launcher's, from every side at once: all are
        denied.  @number: a command of the owner's."""
        waiting = []
        for user in (AGENT, LEAD, "nobody", "root", OWNER):
            calls = self.launcher_calls(number, 1000)
            if user == AGENT:
                calls = calls[1:2]
            elif user not in ("root", OWNER):
                calls = [*calls[:2], calls[3]]
            for calls in (calls, *(self.admin_calls()[at:at + 4]
                                   for at in range(0, len(self.admin_calls()), 4) if user != OWNER)):
                made = self.connection(user)
                for call in calls:
                    made.begin(call)
                waiting.append((made, calls))
        before_answers()
        refused = {bus.ADMIN: 0, bus.LAUNCHER: 0}
        for made, calls in waiting:
            for _ in calls:
                _, answer = made.answer()
                self.assertIn((answer.name, answer.text.partition(":")[0]), (
                    (bus.ERROR + "Refused", "denied-by-rule"),
                    (bus.ERROR + "LimitExceeded", "limit")), answer)
                refused[calls[0].interface] += answer.name == bus.ERROR + "Refused"
        self.assertGreaterEqual(refused[bus.ADMIN], 8 * 4)
        self.assertEqual(refused[bus.LAUNCHER], 4 + 4 + 3 + 3 + 1)

    def test_polkit_denies(self):
        for user in (AGENT, LEAD, "nobody"):
            self.attack(user, self.admin_calls(), ("Refused",))

    def test_polkit_denies_the_launcher(self):
        """Even the owner, by a rule; and who is nobody's owner, without one."""
        with self.launched() as number:
            with open(POLKIT_RULE, "w", encoding="utf-8") as file:
                file.write('polkit.addRule(function (action, subject) {\n'
                           '  if (action.id == "org.undersign1.launch-own")\n'
                           '    return polkit.Result.NO;\n});\n')
            os.chmod(POLKIT_RULE, 0o644)
            try:
                self.world.polkit.restart()
                self.attack(OWNER, self.launcher_calls(number), ("Refused",))
                for user in (LEAD, "nobody"):
                    self.attack(user, self.launcher_calls(number)[:2], ("Refused",))
            finally:
                os.unlink(POLKIT_RULE)
                self.world.polkit.restart()

    def test_polkit_hangs(self):
        """A polkit that is stopped allows nothing, and nothing later; agents do not notice it."""
        polkit = self.world.polkit.process.pid
        with self.launched() as number:
            before = self.memory_of(self.launcher_pid)
            os.kill(polkit, signal.SIGSTOP)
            try:
                self.everybody(number, lambda: self.meanwhile(number))
            finally:
                os.kill(polkit, signal.SIGCONT)
            # Its answers come now, and each would have been a yes to root and the owner.
            self.witness()
            if not crash.sanitized():  # which keep what was freed
                world.wait_until(lambda: self.memory_of(self.launcher_pid) <= before + SLACK,
                                 "the launcher has given back its memory")

    def test_polkit_dies(self):
        """In the middle of its answers."""
        polkit = self.world.polkit
        with self.launched() as number:
            os.kill(polkit.process.pid, signal.SIGSTOP)

            def kill():
                self.meanwhile(number)
                polkit.process.kill()
                polkit.process.wait()

            with self.no_polkit():
                self.everybody(number, kill)

    def test_polkit_is_absent(self):
        with self.launched() as number:
            self.world.polkit.stop()
            with self.no_polkit():
                self.everybody(number, lambda: self.meanwhile(number))


if __name__ == "__main__":
    tap.main("system/attacker-load")
