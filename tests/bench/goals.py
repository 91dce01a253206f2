# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests/bench/run measures, and the goals: each a ratio to floors of the same round.

A  a call with twelve texts of 80 bytes to a GDBus service that does nothing
C  one durable commit of one row of 1 KiB, SQLite with a write-ahead log, on the same disk
V  fido_assert_verify(), ES256          S  posix_spawn() of /bin/true, and waiting for it
U  sudo -n true, by rule                X  pkexec true, by rule
T  /bin/true started by Python, to its end; beside it undersign-mcp, to its first answer
"""

import os
import pwd
import statistics
import subprocess
import time

import scale  # beside this file
from undersign_test import people, policy

ACTION = """[Action]
Summary=Measure
Effect=irreversible

[Executor]
Module=null
Marker={marker}

""" + "\n".join(f"[Argument a{i}]\nLabel=Argument {i}\nType=line\n" for i in range(12))
RULE = """[Rule {name}]
Agents={agents}
Actions={action}
Decision={decision}
"""
ASK = "Approvers=it.lead\nSeparation=agent owner\nLifetime=60min\nPasskeys=software\n"
LIMIT = "Limit=100000/1d\n"  # so that what was used is counted
FULL = 1000  # requests that may wait
LIMITS = f"[Limits]\nPending={FULL}\nPendingAll={FULL}\nPendingReserve=0\nSubmitsPerMinute=6000\n" \
    "RunsPerMinute=6000\nDenials=0\n"
CROWD = [f"agent-crowd-{i}" for i in range(32)]
REST = 30000  # microseconds before a call that is alone
SUDO = "/etc/sudoers.d/bench", "alice ALL=(root) NOPASSWD: /bin/true, /usr/bin/true\n"
POLKIT = "/etc/polkit-1/rules.d/10-bench.rules", """polkit.addRule(function (action, subject) {
  if (action.id == "org.freedesktop.policykit.exec" && subject.user == "alice")
    return polkit.Result.YES;
});
"""
BUS = "/etc/dbus-1/system.d/bench.conf", """<!DOCTYPE busconfig PUBLIC
 "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><policy context="default"><allow own="org.undersign1.Bench"/>
<allow send_destination="org.undersign1.Bench"/></policy></busconfig>
"""

# name, what of a round, the bound, whether that is the least; of a name that is not there: no row
GOALS = [
    ("validate, canonicalise, digest / A", lambda m: m["record"] / m["A"], 0.15, False),
    ("Submit to durable pending / (A + C)", lambda m: m["submit"] / (m["A"] + m["C"]), 2, False),
    ("refusal by rule / A", lambda m: m["denied"] / m["A"], 1.5, False),
    ("refusal of an unknown action / A", lambda m: m["unknown"] / m["A"], 1.5, False),
    ("Approve / (A + V + 2C)", lambda m: m["approve"] / (m["A"] + m["V"] + 2 * m["C"]), 1.75, False),
    ("Approve to module entered / U", lambda m: m["entered"] / m["U"], 0.5, False),
    ("Approve to module entered / X", lambda m: m["entered"] / m["X"], 0.2, False),
    ("rate of 32 agents / of empty calls", lambda m: m["crowd-empty"] / m["crowd-submit"], 0.5, True),
    ("undersign-mcp to its first answer / T", lambda m: m["first"] / m["T"], 20, False),
    ("undersign-mcp to its first answer, ms", lambda m: m["first"] / 1000, 50, False),
    ("audit verified / flat SHA-256, speed", lambda m: m["flat"] / m["audit"], 0.5, True),
]
# what is measured: key, role, measure, times a round, rest, key of the second clock
SERIES = [
    ("A", "agent", "empty", 15, REST, None), ("C", "root", "commit", 15, REST, None),
    ("V", "root", "verify", 15, REST, None), ("S", "root", "spawn", 10, REST, None),
    ("U", "alice", "sudo", 5, REST, None), ("X", "alice", "pkexec", 3, REST, None),
    ("record", "root", "record", 15, REST, None), ("denied", "agent", "denied", 15, REST, None),
    ("unknown", "agent", "unknown", 15, REST, None), ("submit", "agent", "submit", 15, REST, None),
    ("approve", "person", "approve", 0, REST, "entered"),
    ("crowd-empty", "crowd", "crowd-empty", 8, 0, None),
    ("crowd-submit", "crowd", "crowd-submit", 8, 0, None),
    ("audit", "root", "audit", 1, 0, "flat"),
]
QUEUE = FULL - sum(times for key, _, _, times, _, _ in SERIES if key == "submit")

HELLO = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
STARTED = {"T": ["/bin/true"], "first": ["/usr/bin/undersign-mcp"]}


def first_answer(argv):
    """Microseconds until a program that is just started has said a line, or ended."""
    started = time.monotonic()
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            process.stdin.write(HELLO)
            process.stdin.flush()
        except BrokenPipeError:
            pass  # /bin/true reads nothing
        line = process.stdout.readline()
        taken = time.monotonic() - started
        if not line and argv is not STARTED["T"]:
            raise RuntimeError(f"{argv[0]} said nothing")
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
    return taken * 1e6


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


class Station:
    """One undersign-bench, which measures what it is told to."""

    def __init__(self, role, user=None):
        program = os.path.join(os.environ["UNDERSIGN_BUILD"], "tests/bench/undersign-bench")
        become = (lambda: people.become(user)) if user else None
        self.process = subprocess.Popen([program, role], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, preexec_fn=become, cwd="/",
                                        env=people.environment(user or "root"))

    def wait(self):
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError("undersign-bench did not start")
        return self

    def ask(self, measure, times, rest=0):
        """The two lists of times, in microseconds."""
        self.process.stdin.write(f"{measure} {times} {rest}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"undersign-bench ended at {measure}")
        return [[float(word) for word in part.split()] for part in (line + "|").split("|")[:2]]

    def end(self):
        self.process.kill()
        self.process.wait()


class Bench:
    def __init__(self, rounds, scale=True):
        self.rounds, self.scale = rounds, scale
        self.stations = {}
        self.agents, self.actions, self.empty = {}, {}, None
        self.absent = {key for key, path in (("U", "/usr/bin/sudo"), ("X", "/usr/bin/pkexec"))
                       if not os.path.exists(path)}

    def prepare(self):
        """Users, policy and rules; before anything is started."""
        with open("/etc/passwd", "a", encoding="utf-8") as passwd:
            passwd.writelines(f"{name}:x:{62000 + i}:{62000 + i}::/:/bin/sh\n"
                              for i, name in enumerate(CROWD))
        action = ACTION.format(marker=policy.MARKER)
        agents = {name[len("agent-"):]: f"[Agent]\nSummary=One of many\nUser={name}\n"
                  "Owner=alice\n" for name in CROWD}
        self.agents = {"offboarding": policy.AGENTS["offboarding"], **agents}
        self.actions = {"bench.run": action, "bench.denied": action}
        self.write_policy(0)
        write("/etc/undersign/undersign.conf", LIMITS)
        for path, text in (BUS, POLKIT):
            write(path, text)
        write(*SUDO, mode=0o440)
        with open("/etc/hosts", "a", encoding="ascii") as hosts:
            hosts.write(f"127.0.1.1 {os.uname().nodename}\n")

    def write_policy(self, more):
        """With @more rules that are for another agent."""
        everyone = " ".join(self.agents)
        rules = RULE.format(name="run", agents=everyone, action="bench.run bench.denied",
                            decision="ask") + ASK + LIMIT
        rules += RULE.format(name="denied", agents=everyone, action="bench.denied",
                             decision="deny")
        others = {f"more-{i}": RULE.format(name="more", agents="crowd-31", action="bench.denied",
                                           decision="deny") for i in range(more)}
        policy.write(actions=self.actions, agents=self.agents, rules={"bench": rules, **others})

    def run(self, service):
        idle = self.measure_idle(service)
        entry = pwd.getpwnam("undersign-null")
        write(policy.MARKER, "")
        os.chown(policy.MARKER, entry.pw_uid, entry.pw_gid)
        for key, role, user in (("agent", "caller", "agent-offboarding"), ("root", "caller", None),
                                ("alice", "caller", "alice"), ("person", "person", None),
                                ("crowd", "crowd", None)):
            self.stations[key] = Station(role, user).wait()
        try:
            self.measure_all(service, idle)
        finally:
            for station in (*self.stations.values(), self.empty):
                station.end()

    # --- one phase ---

    def round(self, wanted=None):
        """One of everything in @wanted: key → median."""
        found = {}
        for key, station, measure, times, rest, more in SERIES:
            if key in self.absent or (wanted and key not in wanted):
                continue
            first, second = self.stations[station].ask(measure, times, rest)
            found[key] = statistics.median(first)
            if more:
                found[more] = statistics.median(second)
            if measure == "crowd-submit":
                self.stations["crowd"].ask("crowd-withdraw", 0)
                self.settle()  # or the next round pays for it
            if measure == "submit" and wanted and "approve" not in wanted:
                self.stations["agent"].ask("withdraw", 0)
            if measure == "approve":  # which has ended them
                self.stations["agent"].ask("forget", 0)
        for key, argv in STARTED.items() if not wanted else ():
            found[key] = statistics.median(first_answer(argv) for _ in range(10))
        return found

    def rounds_of(self, wanted=None):
        self.round(wanted)  # whatever is done for the first time
        return [self.round(wanted) for _ in range(self.rounds)]

    def measure_all(self, service, idle):
        print(f"{self.rounds} rounds; load {os.getloadavg()[0]:.1f}", flush=True)
        rounds = self.rounds_of()
        self.print_floors(rounds)
        print(f"{'goal':<46}{'median':>8}   {'spread':<15}{'wanted':>8}")
        for name, ratio, bound, least in GOALS:
            try:
                self.print_row(name, [ratio(measured) for measured in rounds], bound, least)
            except KeyError as error:
                print(f"{name:<46}     not measured: there is no {error.args[0]} here")
        self.print_row("files of the state written by 30 refusals", [self.refusal_writes()], 0, False)
        self.print_row("peak memory, audit of 80,000 entries / 20,000",
                       [scale.peak_memory(80000) / scale.peak_memory(20000)], 1.1, False)
        for name, value, bound in idle:
            self.print_row(name, [value], bound, False)
        if self.scale:
            self.measure_scale(service, rounds)
        print(f"load {os.getloadavg()[0]:.1f}", flush=True)

    @staticmethod
    def print_floors(rounds):
        for key in rounds[0]:
            found = [measured[key] for measured in rounds]
            print(f"  {key:<14}{statistics.median(found):>10.0f} µs   "
                  f"{min(found):.0f}–{max(found):.0f}")

    @staticmethod
    def print_row(name, found, bound, least):
        median = statistics.median(found)
        met = median >= bound if least else median <= bound
        spread = f"{min(found):.2f}–{max(found):.2f}"
        print(f"{name:<46}{median:>8.2f}   {spread:<15}{'≥' if least else '≤':>3} {bound:<6g}"
              f"{'met' if met else 'MISSED'}", flush=True)

    # --- what is no ratio of times ---

    @staticmethod
    def look():
        """Files of the state, and when they were last written to."""
        found = {}
        for folder in ("/var/lib/undersign", "/var/lib/undersign-executor"):
            for name in os.listdir(folder):
                status = os.stat(f"{folder}/{name}")
                if not name.endswith("-shm"):  # shared memory of SQLite
                    found[f"{folder}/{name}"] = (status.st_size, status.st_mtime_ns)
        return found

    def settle(self):
        """Waits for what was withdrawn to reach the ledger."""
        before = None
        for _ in range(60):
            before, earlier = self.look(), before
            if before == earlier:
                break
            time.sleep(1)
        return before

    def refusal_writes(self):
        """Files of the state that differ after refusals."""
        before = self.settle()
        for measure in ("denied", "unknown"):
            self.stations["agent"].ask(measure, 15)
        after = self.look()
        return len([path for path in before.keys() | after.keys()
                    if before.get(path) != after.get(path)])

    def measure_idle(self, service):
        """(name, value, bound) of a broker that nobody has called yet."""
        self.empty = Station("service")
        time.sleep(2)
        pids = service.broker.process.pid, self.empty.process.pid
        switches = [_switches(pid) for pid in pids]
        seconds = 10 if self.rounds > 1 else 2
        time.sleep(seconds)
        woken = [(_switches(pid) - before) / seconds for pid, before in zip(pids, switches)]
        memory = [_memory(pid) for pid in pids]
        return [("idle broker / empty service, private memory", memory[0] / memory[1], 4),
                ("wake-ups of the idle broker a second", woken[0], 1)]

    # --- with much of something ---

    def measure_scale(self, service, rounds):
        wanted = {"A", "C", "V", "submit", "approve"}
        self.compare("1,000 rules", rounds, self.with_rules(service, wanted))
        self.compare(f"{QUEUE} of {FULL:,} waiting", rounds, self.with_queue(wanted))
        self.compare("1,000,000 ledger rows", rounds, self.with_rows(service, wanted))

    def compare(self, what, before, after):
        for name, ratio, _, _ in GOALS:
            if name.startswith("Submit") or \
                    name.startswith("Approve / (") and "approve" in after[0]:
                base = statistics.median(ratio(measured) for measured in before)
                self.print_row(f"{name.split(' ')[0]} with {what} / with none",
                               [ratio(measured) / base for measured in after], 1.2, False)

    def with_rules(self, service, wanted):
        self.write_policy(1000)
        service.ctl("policy", "reload")
        found = self.rounds_of(wanted)
        self.write_policy(0)
        service.ctl("policy", "reload")
        return found

    def with_rows(self, service, wanted):
        service.executor.stop()
        scale.fill("/var/lib/undersign-executor/ledger.db", 1000000)
        service.executor.start()
        return self.rounds_of(wanted)

    def with_queue(self, wanted):
        """Full but for what a round itself submits."""
        each, rest = divmod(QUEUE, len(CROWD))
        one = Station("caller", CROWD[0]).wait()
        try:
            self.stations["crowd"].ask("crowd-submit", each)
            one.ask("submit", rest)
            self.stations["person"].ask("pass-over", 0)
            found = self.rounds_of(wanted)
            one.ask("withdraw", 0)
        finally:
            one.end()
        self.stations["crowd"].ask("crowd-withdraw", 0)
        return found


def _switches(pid):
    """How often any of its threads has gone to sleep."""
    count = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status", encoding="ascii") as status:
            count += sum(int(line.split()[1]) for line in status
                         if line.startswith("voluntary_ctxt_switches"))
    return count


def _memory(pid):
    """KiB that are this process's alone."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
        return sum(int(line.split()[1]) for line in rollup if line.startswith("Private_"))
