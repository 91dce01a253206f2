# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bed of crash.py with a broker in it: agents and persons are callers on the bus.

Nothing waits for a timer of the broker: the boot's clock is moved on until it has fired.
"""

import contextlib
import os
import shutil
import time

from . import bus, crash, fault, handover, oracle, world

AGENT = "agent-offboarding"
SERVICES = ("undersign-executor", "undersignd")
GOING_ON = ("pending", "approved", "executing")
PREFIX = f"{bus.PATH}/request/"
# What the bus itself says where the broker is gone.
GONE = ("org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown",
        "org.freedesktop.DBus.Error.NameHasNoOwner")


# Of a run that is closed, or about to be.
CLOSED = ("not-found: there is no such open run",
          "not-found: the run was not used for a day and is closed")


class BusBed(crash.Bed):
    FILES = {}  # action → its argument for files, where that is not "paper"

    def __init__(self, services=SERVICES, **options):
        super().__init__(services=services, **options)
        self.peers = {}
        self.runs = {}

    def start(self):
        """The bus must not start a broker of its own, without faults, where this one was killed."""
        os.unlink(f"/usr/share/dbus-1/system-services/{bus.SERVICE}.service")
        super().start()

    def stop(self):
        self.hang_up()
        super().stop()

    def hang_up(self):
        while self.peers:
            self.peers.popitem()[1].close()

    def peer(self, user):
        if user not in self.peers:
            self.peers[user] = bus.Peer(user)
        return self.peers[user]

    def revive(self):
        gone = super().revive()
        if self.world.broker in gone:
            self.wait_for_broker()
        return gone

    def wait_for_broker(self):
        """It may end once more at its start, where a fault still strikes."""
        def owned():
            if not self.world.broker.running:
                self.world.broker.kill()
                self.world.broker.start()
            return self._owned()
        world.wait_until(owned, "the broker owns its name", timeout=60)

    def wait_for_broker_or_fault(self):
        """Started with a fault planned: until it runs, or until that has struck."""
        world.wait_until(lambda: self.faults.fired or not self.world.broker.running
                         or self._owned(), "the broker starts or fails")

    def _owned(self):
        return self.peer("root").call("org.freedesktop.DBus", "NameHasOwner", "(s)",
                                      (bus.SERVICE,), path="/org/freedesktop/DBus",
                                      destination="org.freedesktop.DBus")[0]

    def expected(self, error):
        if isinstance(error, bus.BusError):
            return error.name.startswith(bus.ERROR) or error.name in GONE
        return super().expected(error)

    def copy_queue(self, to):
        """The queue as it is now, with the copies of files, for restore_queue()."""
        self.world.broker.stop()
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(fault.QUEUE, to)
        self.revive()

    # --- an agent ---

    def run(self, user=AGENT, label="ticket"):
        if (user, label) not in self.runs:
            self.runs[user, label] = self.open_run(label, user)
        return self.runs[user, label]

    def open_run(self, label, user=AGENT):
        return self.peer(user).call(bus.AGENT, "OpenRun", "(a{sv})", ({"label": ("s", label)},))[0]

    def open_run_for(self, label, user):
        """As the initiator @user."""
        return self.peer(user).call(bus.AGENT, "OpenRunFor", "(sa{sv})",
                                    ("offboarding", {"label": ("s", label)}))[0]

    def close_run(self, run, user=AGENT):
        self.peer(user).call(bus.AGENT, "CloseRun", "(s)", (run,))

    @staticmethod
    def arguments(target, action):
        """All of an action's but its files."""
        return {"target": ("s", target)}

    def submit(self, *arguments, **options):
        """(id, state); of a module that cannot be called it is refused, and may be asked again."""
        end = time.monotonic() + 120
        while True:
            try:
                return self._submit(*arguments, **options)
            except bus.BusError as error:
                if handover.NO_WORKER not in error.text or time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def _submit(self, target, action="crash.ask", user=AGENT, files=(), label="ticket", **options):
        arguments = self.arguments(target, action)
        for file in files:
            self.oracle.add_file(file.content)
        if files:
            arguments[self.FILES.get(action, "paper")] = (
                "a(sh)", [(f"{i}.txt", i) for i in range(len(files))])
        given = {name.replace("_", "-"): ("o" if name == "supersedes" else "s", value)
                 for name, value in options.items()}
        for first in (True, False):
            body = (self.run(user, label), action, arguments, given)
            try:
                path, state = self.peer(user).call(bus.AGENT, "Submit", "(ssa{sv}a{sv})", body,
                                                   files=files)
                return path[len(PREFIX):], state
            except bus.BusError as error:
                # A run that was idle for a day is closed; the clocks of these tests are fast.
                if not first or error.text not in CLOSED:
                    raise
                self.runs.clear()
        return None

    def state(self, name, user=AGENT):
        return self.peer(user).call(bus.REQUEST, "GetState", path=PREFIX + name)

    def withdraw(self, name, user=AGENT):
        self.peer(user).call(bus.REQUEST, "Withdraw", path=PREFIX + name)

    def requests(self, user=AGENT):
        """id → state"""
        return {path[len(PREFIX):]: state
                for path, _, state in self.peer(user).call(bus.AGENT, "ListRequests")[0]}

    # --- a person ---

    def card(self, name, user=crash.LEAD):
        return self.peer(user).call(bus.APPROVER, "GetCard", "(o)", (PREFIX + name,))

    def statement(self, name, user=crash.LEAD, decision="approve", key=None):
        key = key or self.keys[user]
        return self.peer(user).call(bus.APPROVER, "GetStatement", "(oa{sv})", (
            PREFIX + name, {"decision": ("s", decision),
                            "credential": ("ay", key.credential)}))[0]

    def approve(self, name, user=crash.LEAD, statement=None, key=None):
        key = key or self.keys[user]
        statement = statement or self.statement(name, user, key=key)
        return self.peer(user).call(bus.APPROVER, "Approve", "(oaya{sv})",
                                    (PREFIX + name, statement, key.sign(statement)))[0]

    def deny(self, name, user=crash.LEAD, reason="other"):
        return self.peer(user).call(bus.APPROVER, "Deny", "(osa{sv})",
                                    (PREFIX + name, reason, {}))[0]

    def deny_signed(self, name, user=crash.LEAD, reason="other"):
        statement = self.statement(name, user, "deny")
        answer = {"statement": ("ay", statement), **self.keys[user].sign(statement)}
        return self.peer(user).call(bus.APPROVER, "Deny", "(osa{sv})",
                                    (PREFIX + name, reason, answer))[0]

    def pause(self, seconds, user=crash.LEAD):
        self.peer(user).call(bus.APPROVER, "PauseAgent", "(su)", ("offboarding", seconds))

    # --- time ---

    def pass_time(self, seconds):
        """The boot's clock moves on, and the broker's timer fires where it is due."""
        broker = self.world.broker
        self.faults.move_clocks(boottime=seconds,
                                processes=[broker.process.pid] if broker.running else [])

    def wait_for(self, condition, what, timeout=240, step=5.0):
        """As world.wait_until(), while the boot's clock moves on.

        What the broker tries again after ten minutes takes 120 rounds: half a minute and more where
        the machine is busy.
        """
        end = time.monotonic() + timeout
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > end:
                raise TimeoutError(f"not true after {timeout} s: {what}")
            time.sleep(0.01)
            self.pass_time(step)

    def ended(self, name, user=AGENT):
        """(state, details) once no timer and no reply can change it, but a person."""
        def look():
            state, details = self.state(name, user)
            if state == "pending":
                try:
                    self.card(name)
                except bus.BusError as error:
                    oracle.demand(error.reason == "unreachable", error)
                    return None
                # It may have ended since: of one that has, there is a card, too.
                state, details = self.state(name, user)
            return (state, details) if state not in ("approved", "executing") else None
        return self.wait_for(look, f"{name} ends")

    def closed(self, name, why):
        """The ledger has heard of the end that the broker told."""
        self.wait_for(lambda: self.broker.query(name)[:2] == ("closed", why),
                      f"{name} is {why} in the ledger")


def restore_queue(source):
    """Puts the copy in place of the queue; nobody may have it open."""
    for name in ("queue.db", "queue.db-wal", "queue.db-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{fault.QUEUE}{name}")
        if os.path.exists(f"{source}/{name}"):
            shutil.copy2(f"{source}/{name}", f"{fault.QUEUE}{name}")
            shutil.chown(f"{fault.QUEUE}{name}", "undersign", "undersign")
