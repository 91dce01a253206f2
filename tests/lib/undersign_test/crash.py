# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of crashes and disks stand on: the service with tests/fault/fault.c in every
process, two persons whose passkeys the test holds, and an oracle that looks after each case.

This process is the broker here: it speaks to the executor's socket, so that each hand-over can be
made to fail by itself.
"""

import contextlib
import os
import pwd
import select
import shutil
import time

from . import authenticator, bus, fault, handover, oracle, policy, units, world

LEAD, KIM = "it.lead", "hr.kim"
_ACTION = f"""[Action]
Summary=Rehearse
Effect=%s

[Executor]
Module=null
Marker={policy.MARKER}
%s
[Argument target]
Label=Target
Type=line
Required=yes

[Argument paper]
Label=Papers
Type=file-list
"""
ACTIONS = {"crash.ask": _ACTION % ("irreversible", ""),
           "crash.two": _ACTION % ("irreversible", ""),
           "crash.free": _ACTION % ("reversible", ""),
           "crash.doubt": _ACTION % ("irreversible", "Outcome=unknown\n"),
           "crash.fail": _ACTION % ("irreversible", "Outcome=failed\n"),
           # Nobody knows, and it has not run.
           "crash.free-doubt": (_ACTION % ("reversible", "Outcome=unknown\n")).replace(
               f"Marker={policy.MARKER}\n", ""),
           "crash.free-fail": _ACTION % ("reversible", "Outcome=failed\n")}
# What their module says of them; "done" of the others.
OUTCOMES = {"crash.doubt": "unknown", "crash.fail": "failed", "crash.free-doubt": "unknown",
            "crash.free-fail": "failed"}
FREE = {"crash.free", "crash.free-doubt", "crash.free-fail"}
RULES = {"crash": """[Rule one]
Agents=offboarding
Actions=crash.ask crash.doubt crash.fail
Decision=ask
Approvers=it.lead hr.kim
Separation=agent owner
Lifetime=24h
Passkeys=software

[Rule two]
Agents=offboarding
Actions=crash.two
Decision=ask
Approvers=it.lead hr.kim
Separation=agent owner
Count=2
Lifetime=24h
Passkeys=software

[Rule free]
Agents=offboarding
Actions=crash.free crash.free-doubt crash.free-fail
Decision=allow
Limit=100000/1d all-agents
"""}
NEEDED = {"crash.ask": 1, "crash.doubt": 1, "crash.fail": 1, "crash.two": 2,
          **dict.fromkeys(FREE, 0)}
LIMITS = """[Limits]
Pending=1000
PendingAll=1000
SubmitsPerMinute=6000
RunsPerMinute=6000
Denials=0
DiskReserve=0
"""
# Errors that a caller may meet while the disk or a process is failing.
TYPED = ("Unavailable", "Halted", "Refused", "WrongState", "LimitExceeded", "NoApprover",
         "PolicyInvalid")


def write_policy(actions=None, rules=None):
    policy.write(actions=actions or ACTIONS, rules=rules or RULES)
    with open(f"{policy.FOLDER}/undersign.conf", "w", encoding="utf-8") as file:
        file.write(LIMITS)


def sanitized():
    """Whether the installed build has sanitizers, which make everything several times slower."""
    with open("/usr/libexec/undersign-executor", "rb") as file:
        return b"__asan_init" in file.read()


class Bed:
    """The world, its faults and its witnesses.

    Of each step some operations fail, chosen by the seed in $UNDERSIGN_FAULTS, or all of them where
    that is "all".
    """

    def __init__(self, services=("undersign-executor",), modules=("null",), most=None,
                 forks=False, stays=False, mailbox=None):
        write_policy()
        self.faults = fault.Faults()
        self.world = world.World(modules=modules, services=services,
                                 environment=self.faults.environment(forks))
        self.broker = handover.Broker()
        self.admin = handover.Admin
        self.oracle = oracle.Oracle(NEEDED, stays=stays, mailbox=mailbox)
        self.keys = {}
        self.ends = {}
        self.sanitized = sanitized()
        wanted = os.environ.get("UNDERSIGN_FAULTS", "1")
        self.every = wanted == "all"
        self.chooser = fault.Chooser(wanted, most)
        self.covered = {}
        handover.Connection.waiting = staticmethod(self.revive_killed)

    def start(self):
        print("# every operation fails" if self.every else
              f"# chosen operations fail: UNDERSIGN_FAULTS={os.environ.get('UNDERSIGN_FAULTS', '1')}",
              flush=True)
        self.world.start()
        with open("/etc/machine-id", encoding="ascii"):
            self.host = self._host()
        for user in (LEAD, KIM):
            self.enrol(user)

    def stop(self):
        self.world.stop()

    @staticmethod
    def _host():
        """As records have it: the first half of HMAC-SHA256 (machine id, "org.undersign1 host")."""
        import hmac
        with open("/etc/machine-id", encoding="ascii") as file:
            machine = bytes.fromhex(file.read().strip())
        return hmac.digest(machine, b"org.undersign1 host", "sha256").hex()[:32]

    def enrol(self, user):
        key = authenticator.Authenticator()
        self.admin.enrol(user, key, self.host)
        self.keys[user] = key
        self.oracle.add_key(user, pwd.getpwnam(user).pw_uid, key)
        return key

    # --- a request, unharmed ---

    def prepared(self, action="crash.ask", target=None, **options):
        target = target or os.urandom(8).hex()
        return self.broker.prepare(handover.Request({"target": target}, action, **options))

    def approved(self, *arguments, users=(LEAD,), **options):
        request = self.prepared(*arguments, **options)
        for user in users:
            self.broker.answer(request, self.broker.sign(request, user, self.keys[user]))
        return request

    def once_more(self, request):
        """The same wish as a new request."""
        return self.broker.prepare(handover.Request(request.arguments, request.action))

    # --- a step that may fail ---

    @contextlib.contextmanager
    def harmed(self):
        """Around a call that a fault may meet: catches what a broker would hear; `ended` holds it."""
        ended = Ended()
        try:
            yield ended
        except (handover.Refused, handover.Gone, bus.BusError) as error:
            ended.error = error
        finally:
            self.faults.disarm()
        if ended.error is not None:
            self.awake()
        self.revive()
        if ended.error is not None:
            oracle.demand(self.expected(ended.error), f"{ended.error} is not typed")

    def expected(self, error):
        """Whether this is an error that a caller can make something of."""
        return isinstance(error, handover.Gone) or error.name in TYPED

    def look(self):
        self.oracle.look()

    # --- after an execution that a fault may have met ---

    def settle(self, request, ended):
        """What a broker does next, and what must then be true; leaves the request at its end."""
        state = self.broker.state(request)
        if ended.value is not None:
            oracle.demand(ended.value in (state, "unknown"),
                          f"it heard {ended.value}, the ledger says {state}")
        if state == "none":
            oracle.demand(not self.oracle_ran(request), "it ran, and the ledger knows of nothing")
            state = self.broker.execute(request)
            oracle.demand(state == "done" or self.runner_refused(request, state),
                          f"handed over again, it is {state}: {request.result}")
        elif state == "executing":
            world.wait_until(lambda: self.broker.state(request) != "executing", "its worker ends")
            state = self.broker.state(request)
        oracle.demand(state in ("done", "failed", "unknown"), f"the ledger says {state}")
        self.ends[state] = self.ends.get(state, 0) + 1
        if state == "unknown":
            state = self.resolve(request)
        self.assert_refused("already-consumed", self.broker.execute, request)
        self.look()
        return state

    def oracle_ran(self, request):
        with contextlib.suppress(FileNotFoundError), open(policy.MARKER, encoding="ascii") as file:
            return request.id in file.read()
        return False

    def resolve(self, request):
        """An unknown outcome blocks the same wish until a person has ended it; the state then.

        Where a disk failed while it synced, what was written may turn up after all.
        """
        try:
            again = self.once_more(request)
        except handover.Refused as error:
            oracle.demand(error.reason == "intent-unknown", f"refused as {error}")
            self.admin.resolve(request.id, "done" if self.oracle_ran(request) else "failed")
            again = self.once_more(request)
        self.broker.close(again)
        state = self.broker.state(request)
        oracle.demand(state == ("done" if self.oracle_ran(request) else "failed"),
                      f"the ledger says {state}")
        return state

    @staticmethod
    def assert_refused(reason, function, *arguments):
        try:
            value = function(*arguments)
        except (handover.Refused, bus.BusError) as error:
            oracle.demand(error.reason == reason, f"refused as {error}, not as {reason}")
            return error
        raise oracle.Wrong(f"not refused as {reason}: {value!r}")

    def sweep(self, case, step, kinds, **options):
        """Has @step meet faults, each time within a subtest of @case; how many there were."""
        if self.every:
            return sum(self._sweep_all(case, step, kind, options) for kind in kinds)
        operations = 0
        for kind in kinds:
            operations |= kind.operations
        self.faults.arm(fault.Kind("", fault.NOTE, operations=operations), 0, **options)
        step()
        self.faults.disarm()
        cases = self.chooser.choose(self.faults.noted(), kinds)
        for kind, n in cases:
            self.faults.arm(kind, n, **options)
            self.case(case, step, kind, n)
        return len(cases)

    def _sweep_all(self, case, step, kind, options):
        count = 0
        for n in self.faults.sweep(kind, **options):
            self.case(case, step, kind, n)
            count += 1
        return count - 1

    def case(self, case, step, kind, n):
        with case.subTest(f"{kind.name}, operation {n}"):
            try:
                step()
            except BaseException:
                print(f"# {kind.name} at operation {n}: {self.faults.what()}", flush=True)
                raise
            finally:
                if self.faults.disarm():
                    operation, name = self.faults.place()
                    self.covered.setdefault(name, {}).setdefault(operation, set()).add(kind.name)

    def say_covered(self):
        for name in sorted(self.covered):
            met = self.covered[name]
            print(f"# met: {name}: " + ", ".join(f"{operation} ({len(met[operation])})"
                                                 for operation in sorted(met)), flush=True)

    def cover(self, case, step, kinds, paths, roles):
        """Meets what no choice has met: the first operation of a kind, and the first on a file."""
        met = {kind for name in self.covered.values() for found in name.values() for kind in found}
        left = [(kind, paths[0]) for kind in kinds if kind.name not in met]
        left += [(kinds[0], path) for path in paths if fault.name_of(path) not in self.covered]
        for kind, prefix in left:
            self.faults.arm(kind, 1, roles, prefix)
            self.case(case, step, kind, 1)
        met = {kind for name in self.covered.values() for found in name.values() for kind in found}
        oracle.demand(met >= {kind.name for kind in kinds}, f"only {sorted(met)} were met")
        for path in paths:
            oracle.demand(fault.name_of(path) in self.covered, f"{path} was never met")

    def each(self, case, step, roles, prefix, cases):
        """Whatever was chosen: the first operation of such a sort on such a file fails so."""
        for kind, operation in cases:
            self.faults.arm(kind, 1, roles, prefix, operation)
            self.case(case, step, kind, 1)
            oracle.demand(self.faults.fired, f"no {fault.NAMES[operation.bit_length() - 1]} on {prefix}")

    def revive(self):
        """What systemd does about a service that is gone: it ends the rest of it and starts it anew.

        Returns those.
        """
        killed = self.faults.killed_pid()
        for service in (*self.world.services(), self.world.admin):
            if service is not None and service.process is not None and service.process.pid == killed:
                world.wait_until(lambda: not service.running, f"{service.name} is gone")
        gone = [service for service in self.world.services() if not service.running]
        for service in gone:
            service.kill()
            service.start()
        self.faults.forget()
        return gone

    def revive_killed(self):
        """A listener that was killed leaves its callers in its queue, for the one that follows."""
        if self.faults.killed() in (fault.EXECUTOR, fault.RUNNER):
            self.faults.disarm()
            self.revive()

    def awake(self, timeout=120):
        """A worker is there again: while none can be started, the listener itself refuses."""
        end = time.monotonic() + timeout
        while True:
            self.revive()
            try:
                return self.admin.status()
            except handover.Refused as error:
                if error.reason != "unreachable" or time.monotonic() > end:
                    raise
            except handover.Gone:
                if time.monotonic() > end:
                    raise
            time.sleep(0.02)

    @staticmethod
    def runner_refused(request, state):
        """Whether it failed since the runner, whose workers died young, waits before it starts another."""
        return state == "failed" and handover.NO_WORKER in request.result

    def works(self, timeout=120):
        """A whole request, from its beginning to its one execution, as soon as there are workers again."""
        end = time.monotonic() + timeout
        while True:
            self.awake(timeout)
            request = self.approved()
            state = self.broker.execute(request)
            if not self.runner_refused(request, state) or time.monotonic() > end:
                break
            time.sleep(0.05)
        oracle.demand(state == "done", f"it does not work any more: {state}, {request.result}")
        self.look()

    # --- the executor's beginning ---

    def start_harmed(self, timeout=60):
        """Starts the executor; returns once a worker answers or the fault has struck."""
        self.world.executor.start()
        connection = None
        try:
            connection = handover.Connection(0)
            connection.send(handover.STATUS, "()", ())
            end = time.monotonic() + timeout
            while time.monotonic() < end:
                if select.select([connection.sock], [], [], 0.005)[0]:
                    connection.receive("(a{sv})")
                    return
                if self.faults.fired:
                    self.faults.disarm()
        except (handover.Refused, handover.Gone):
            return
        finally:
            if connection is not None:
                connection.close()
        raise oracle.Wrong("no worker is ready")

    def new_ledger(self):
        """As before the first start of all: no state, no boot."""
        self.world.executor.kill()
        for folder in ("/var/lib/undersign-executor", "/run/undersign-executor"):
            for name in os.listdir(folder):
                os.unlink(f"{folder}/{name}")
        self.oracle.reset(marker=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(policy.MARKER)

    def new_boot(self):
        """What a reboot leaves of the executor."""
        self.world.executor.kill()
        for name in os.listdir("/run/undersign-executor"):
            os.unlink(f"/run/undersign-executor/{name}")


class Ended:
    """How a harmed step ended: with a value or an error."""

    def __init__(self):
        self.value = self.error = None


def copy_ledger(to):
    """The ledger's files as they are on disk now."""
    os.makedirs(to, exist_ok=True)
    for name in ("ledger.db", "ledger.db-wal"):
        source = f"{fault.LEDGER}{name}"
        if os.path.exists(source):
            shutil.copy2(source, f"{to}/{name}")
            status = os.stat(source)
            os.chown(f"{to}/{name}", status.st_uid, status.st_gid)
        elif os.path.exists(f"{to}/{name}"):
            os.unlink(f"{to}/{name}")


def copy_synced(executor, faults):
    """From here on each fsync keeps what a power failure would leave; of what is there it is all."""
    executor.stop()
    faults.copy_synced()
    for name in os.listdir(fault.LEDGER):
        if name.startswith("ledger.db") and not name.endswith((".synced", ".copy")):
            shutil.copy2(f"{fault.LEDGER}{name}", f"{fault.LEDGER}{name}.synced")
    executor.start()


def restore_ledger(source):
    """Puts the copy in place of the ledger; nobody may have it open."""
    for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{fault.LEDGER}{name}")
        if os.path.exists(f"{source}/{name}"):
            shutil.copy2(f"{source}/{name}", f"{fault.LEDGER}{name}")
            status = os.stat(f"{source}/{name}")
            os.chown(f"{fault.LEDGER}{name}", status.st_uid, status.st_gid)


def log_lines(name):
    with contextlib.suppress(FileNotFoundError), \
            open(f"{units.LOGS}/{name}.log", encoding="utf-8", errors="replace") as log:
        return log.read()
    return ""
