# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whoever may reach the system bus and wants the service gone: what he sends, and what is watched.

The calls are bytes of our own over connections of real users.  After each test broker, executor,
runners and administrator's mechanism are the processes that they were, with the descriptors that
they had, and so is the launcher where it is there still; whoever did nothing is served, and nothing
ran.

What is picked at random is the same in each run; UNDERSIGN_SEED picks something else, and "random"
something new.
"""

import glob
import os
import random
import re
import time
import xml.etree.ElementTree as ElementTree

from . import bus, cycles, wire, world
from .denial import AGENT, LEAD, OTHER, OWNER, Denial

XML = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../dbus/*.xml")
SEED = os.environ.get("UNDERSIGN_SEED") or "1"
if SEED == "random":
    SEED = f"{random.randrange(1 << 64):016x}"
TARGET = {"target": "x"}
ROLES = (AGENT, OTHER, LEAD, OWNER, "nobody", "root")
ADMIN_PATH, LAUNCHER_PATH = f"{bus.PATH}/Admin", f"{bus.PATH}/Launcher"
# Those that have a name of their own.
MECHANISMS = {bus.ADMIN: ADMIN_PATH, bus.LAUNCHER: LAUNCHER_PATH}
INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
SIMPLE = {"s": "x", "o": "/", "u": 0, "t": 0, "b": 0, "h": 0, "ay": b"", "v": ("s", "x"),
          "a{sv}": {}, "av": [], "as": [], "y": 0, "g": "s", "d": 0.0, "a{ss}": {}}


def members():
    """(interface, member, signature) of every method there is."""
    found = [(INTROSPECTABLE, "Introspect", "")]
    for path in glob.glob(XML):
        for interface in ElementTree.parse(path).iter("interface"):
            for method in interface.iter("method"):
                found.append((interface.get("name"), method.get("name"), "".join(
                    arg.get("type") for arg in method.iter("arg") if arg.get("direction") == "in")))
    return sorted(found)


MEMBERS = members()


def wrong_signatures(right):
    """One argument less, more, or of another type, and the same arguments in another form."""
    kinds = bus.split(right)
    found = {"", "".join(reversed(kinds)), f"({right})" if right else "s", "av", "a{sv}a{sv}"}
    for more in SIMPLE:
        found.add(right + more)
        for at in range(len(kinds)):
            found.add("".join(kinds[:at] + kinds[at + 1:]))
            found.add("".join(kinds[:at] + [more] + kinds[at + 1:]))
    return sorted(found - {right})


def simple(kind):
    if kind[0] == "(":
        return tuple(simple(inner) for inner in bus.split(kind[1:-1]))
    return SIMPLE[kind]


# What no value of its type is, in a variant.
NO_VALUES = (
    ("b", 2), ("b", 0xffffffff), ("s", b"\xff\xfe"), ("s", b"a\0b"), ("s", b"\xed\xa0\x80"),
    ("o", b"no/path"), ("o", b"/a//b"), ("o", b"/a/"), ("g", b"(("), ("g", b"a"), ("av", b"\1"),
    ("as", b"\xff\0\0\0"), ("a(yy)", b"\1\2\3\4"), ("ab", b"\2\0\0\0"))


def malformed(right):
    """Bodies that their signature, @right, does not describe: cut off, too long, with lengths beyond
    their end, texts that are none, and padding that says something."""
    kinds = bus.split(right)
    values = [simple(kind) for kind in kinds]
    good = wire.body_of(right, values)
    found = [good + b"\1", good + bytes(8), *(good[:at] for at in {0, len(good) // 2, len(good) - 1})]
    for at, kind in enumerate(kinds):
        start = bytearray(wire.body_of("".join(kinds[:at]), values[:at]))
        start += bytes(-len(start) % wire.ALIGNMENT[kind[0]])
        if kind[0] in "so":
            found += [wire.body_of(right, [*values[:at], bad, *values[at + 1:]])
                      for bad in (b"\xff\xfe", b"a\0b", b"\xed\xa0\x80", b"a/")[:3 + (kind == "o")]]
        if kind[0] in "soa":
            found += [bytes(start) + length + good[len(start) + 4:]
                      for length in (b"\xff\xff\xff\xff", b"\xff\xff\xff\3", b"\1\1\0\0")]
        if kind == "a{sv}":
            found += [wire.body_of(right, [*values[:at], [("label", bad)], *values[at + 1:]])
                      for bad in NO_VALUES]
    first = good.find(bytes(4), 5)  # of a string's end and what pads it, where there is any
    if first > 0 and right.startswith("s"):
        found.append(good[:first + 1] + b"\1" + good[first + 2:])
    return [body for body in dict.fromkeys(found) if body != good]


def nested(depth):
    value = ("s", "x")
    for _ in range(depth):
        value = ("v", value)
    return value


def around(*limits):
    return sorted({at for limit in limits for at in (limit - 1, limit, limit + 1)})


# Limits of texts, bytes, words and members, of the service's own and of what is in it.
LENGTHS_OF_TEXT = (0, *around(20, 32, 64, 128, 200, 255, 500, 1000, 4096, 8192))
DEPTHS, MEMBERS_OF_DICT, WORDS = around(14, 16, 32), (*around(16), 300), (0, *around(1024), 16385)
PATHS_AT_EDGE = ("/", f"/{'a' * 254}", f"/{'a' * 255}", f"/{'a' * 256}", "/a" * 2000, bus.PATH,
                 *(f"{bus.PATH}/request/{'0' * at}" for at in around(32)))


def edges(kind):
    """{what it is: a value} of a type, at the edges of what is taken."""
    number = {"u": 32, "t": 64, "h": 32}.get(kind)
    if number is not None:
        return {hex(at): at for at in (0, 1, (1 << number - 1) - 1, 1 << number - 1, (1 << number) - 1)}
    if kind == "s":
        return {f"{at} bytes": "a" * at for at in LENGTHS_OF_TEXT}
    if kind == "ay":
        return {f"{at} bytes": b"a" * at for at in LENGTHS_OF_TEXT}
    if kind == "o":
        return {f"path {at}": path for at, path in enumerate(PATHS_AT_EDGE)}
    if kind == "as":
        return {f"{at} words": ["a"] * at for at in WORDS}
    assert kind == "a{sv}", kind
    return {"empty": {}, **{f"name of {at}": {"a" * at: ("s", "")} for at in (0, *around(64, 255))},
            **{f"{at} deep": {"label": nested(at)} for at in DEPTHS},
            **{f"{at} members": {f"n{one}": ("b", 1) for one in range(at)} for at in MEMBERS_OF_DICT},
            **{f"{at} values": {"label": ("as", [""] * at)} for at in around(16384)}}


def at_edges(right, base=None):
    """(which argument, what it is, body): each argument at each of its edges, the others as in @base,
    or simple."""
    kinds = bus.split(right)
    for at, kind in enumerate(kinds):
        for what, value in edges(kind).items():
            values = list(base or map(simple, kinds))
            values[at] = value
            yield at, what, wire.body_of(right, values)


class Hostile:
    """Values of the right type that no method means, picked by a seeded random."""

    LENGTHS = (0, 1, 254, 255, 256, 1023, 1024, 4095, 4096, 8191, 8192, 15000, 16383, 16384, 65536)
    TEXTS = ("\n", "\x1b[2J", "\u202e", "\u200b", "%s%n%s%n", "../../../etc/passwd", "$(reboot)",
             "'; DROP TABLE request; --", "\ufffe", "0" * 31, "G" * 32, "-1", "true", "null",
             "{}", "\U0010ffff", "a" * 70000)
    PATHS = ("/", "/org", bus.PATH, ADMIN_PATH, LAUNCHER_PATH, f"{bus.PATH}/request",
             f"{bus.PATH}/request/_",
             f"{bus.PATH}/request/{'0' * 32}", f"{bus.PATH}/request/{'f' * 32}",
             f"{bus.PATH}/request/{'A' * 32}", "/" + "a" * 255, "/a" * 2000)
    NAMES = ("label", "part", "claim", "idempotency-key", "supersedes", "kind", "decision",
             "credential", "client-data", "auth-data", "signature", "attestation", "observe", "",
             "uid", "approved", "x" * 300, "target", "paper")
    KINDS = ("s", "b", "u", "ay", "o", "v", "as", "a{sv}", "av", "h", "t", "d", "y", "g")

    def __init__(self, rng, paths=()):
        self.rng, self.paths = rng, (*self.PATHS, *paths)

    def variant(self):
        kind = self.rng.choice(self.KINDS)
        if kind == "v":
            return nested(self.rng.choice((1, 2, 7, 8, 14, 15, 16, 17, 31, 40)))
        if kind in ("as", "av", "a{sv}"):
            item = {"as": "", "av": ("y", 0), "a{sv}": ("k", ("b", 1))}[kind]
            return kind, [item] * self.rng.choice((0, 1, 2, 1000, 1001, 1500))
        return kind, self.value(kind)

    def value(self, kind):
        choice = self.rng.choice
        if kind in ("u", "h"):
            return choice((0, 1, 17, 0x7fffffff, 0x80000000, 0xffffffff))
        if kind == "t":
            return choice((0, 1, 1 << 31, 1 << 63, (1 << 64) - 1))
        if kind == "o":
            return choice(self.paths)
        if kind == "ay":
            return self.rng.randbytes(choice(self.LENGTHS))
        if kind == "s":
            return choice(self.TEXTS) if self.rng.random() < 0.7 else "x" * choice(self.LENGTHS)
        if kind == "a{sv}":
            return [(choice(self.NAMES), self.variant()) for _ in range(choice((0, 1, 2, 3, 300)))]
        return simple(kind)

    def body(self, signature):
        return wire.body_of(signature, [self.value(kind) for kind in bus.split(signature)])


class Attacker(Denial):
    most = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"# UNDERSIGN_SEED={SEED}", flush=True)

    def setUp(self):
        super().setUp()
        self.request = None
        # As long as one is open undersign-admin does not end because it is idle.
        self.peer("root").call(bus.ADMIN, "BeginEnroll", "(sa{sv})", (
            "alice", {"kind": ("s", "software"), "label": ("s", "x")}), path=ADMIN_PATH)
        self.rng = random.Random(f"{SEED} {self.id()}")
        self.admin_pid = self.pid_of(bus.ADMIN)
        self.launcher_pid = self.pid_of(bus.LAUNCHER)
        # What a test leaves is found at its end, so the most there ever was at a beginning is right.
        self.fds = {pid: max(self.most.get(pid, 0), self.settled(pid)) for pid in self.all_pids()}
        self.most.update(self.fds)

    def tearDown(self):
        """Everybody is answered still, by who was there before, and nothing is left of the rest."""
        self.witness()
        self.assertEqual(self.pid_of(bus.ADMIN), self.admin_pid, "another undersign-admin")
        for pid, count in self.fds.items():
            try:
                world.wait_until(lambda pid=pid, count=count: self.fds_of(pid) <= count,
                                 f"process {pid} has closed what came to it")
            except TimeoutError:
                print(f"# {count} expected: {self.links_of(pid)}", flush=True)
                raise

    # --- what is watched ---

    def pid_of(self, name):
        """Of one that the bus starts where it is not there, which any call does; or the world."""
        peer, member = self.peer("root"), {bus.ADMIN: "Status", bus.LAUNCHER: "List"}[name]
        for left in range(19, -1, -1):
            try:
                self.world.start_mechanisms()
                peer.call(name, member, path=MECHANISMS[name])
                return peer.call("org.freedesktop.DBus", "GetConnectionUnixProcessID", "(s)", (name,),
                                 path="/", destination="org.freedesktop.DBus")[0]
            except bus.BusError as error:  # it was idle for so long that it ends just now
                if not left or not error.name.startswith("org.freedesktop.DBus.Error."):
                    raise
        return None

    def all_pids(self):
        """The listeners alone of those that have workers."""
        return [*self.processes.values(), self.admin_pid, self.launcher_pid]

    def or_gone(self, pid, look):
        """What @look finds of a process.  The launcher may end when it was idle for a minute, and has
        given everything back then."""
        try:
            return look(pid)
        except (FileNotFoundError, ProcessLookupError, TypeError):
            if pid != self.launcher_pid:
                raise
            return 0

    @staticmethod
    def workers_of(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()

    def fds_of(self, pid):
        return self.or_gone(pid, self._fds_of)

    def _fds_of(self, pid):
        """But for the one that a listener has for each of its workers, who come and go."""
        return len(os.listdir(f"/proc/{pid}/fd")) - len(self.workers_of(pid))

    def settled(self, pid):
        """The most descriptors while no worker comes or goes: one that ends has closed its own, and
        is a child still."""
        workers, found = None, []
        while len(found) < 10:
            now = self.or_gone(pid, self.workers_of)
            if now != workers:
                workers, found = now, []
            found.append(self.fds_of(pid))
            time.sleep(0.03)
        return max(found)

    @staticmethod
    def links_of(pid):
        return sorted(os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd"))

    def threads_of(self, pid):
        return self.or_gone(pid, lambda pid: len(os.listdir(f"/proc/{pid}/task")))

    def private_of(self, pid):
        return self.or_gone(pid, cycles.private_memory)

    def memory_of(self, pid):
        return self.or_gone(pid, self._memory_of)

    @staticmethod
    def _memory_of(pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return int(re.search(r"^VmRSS:\s+(\d+)", status.read(), re.MULTILINE)[1]) * 1024

    def witness(self):
        """One agent and one administrator, who have done nothing, are served."""
        self.peer(OTHER).call(bus.AGENT, "GetInfo")
        self.assertTrue(self.peer("root").call(bus.ADMIN, "Status", path=ADMIN_PATH)[0]["running"])

    # --- calls ---

    def connection(self, user):
        made = wire.connect(user)[0]
        self.addCleanup(made.close)
        return made

    def path_of(self, interface):
        if interface in MECHANISMS:
            return MECHANISMS[interface]
        return self.request if interface == bus.REQUEST else bus.PATH

    def call(self, interface, member, signature="", body=b"", path=None, files=()):
        destination = interface if interface in MECHANISMS else bus.SERVICE
        return wire.Call(destination, path or self.path_of(interface), interface, member, signature,
                         body, files)

    def expect(self, call, answer, names):
        allowed = [bus.ERROR + name for name in names]
        self.assertIn(answer.name, allowed, f"{call.interface}.{call.member}({call.signature}) at "
                      f"{call.path[:80]}: {answer.text[:200]}")

    def attack(self, user, calls, names):
        """Each of @calls ends in one of these errors.  @names: by call, or the same for all."""
        for call, answer in zip(calls, self.connection(user).ask_all(calls)):
            self.expect(call, answer, names(call) if callable(names) else names)
