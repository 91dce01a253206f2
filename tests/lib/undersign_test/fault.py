# SPDX-License-Identifier: LGPL-2.1-or-later
"""What goes wrong in the service, and when: the test's side of tests/fault/fault.c.

The plan stands in a file that every process of the service has mapped, so that it holds for the
worker that already waits.  A sweep makes the first operation fail, then the second, and so on, until
there are no more: `for n in faults.sweep(…)`.  Where that takes too long, a step is watched once,
and a Chooser picks some of its operations.
"""

import contextlib
import errno
import mmap
import os
import random
import re
import shutil
import signal
import struct
import time

FOLDER = "/run/undersign-test"
LIBRARY, BLOCK = f"{FOLDER}/fault.so", f"{FOLDER}/fault"
_LAYOUT = struct.Struct("<3Ii8I2q160s160s")
_MET, _MET_MAX = struct.Struct("<I60s"), 4096

(BROKER, EXECUTOR, EXECUTOR_WORKER, EXECUTOR_SERVES, RUNNER, RUNNER_WORKER, RUNNER_SERVES,
 SNAPSHOT, OTHER, ADMIN, CTL) = (1 << i for i in range(11))
SERVICE = (1 << 7) - 1
(OPEN, READ, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, LOCK, SOCKET, SPAWN, MEMFD,
 CREATE, LINK, LIST, OWNER) = (1 << i for i in range(16))
NAMES = ("open", "read", "write", "sync", "truncate", "rename", "unlink", "mkdir", "lock", "socket",
         "spawn", "memfd", "create", "link", "list", "owner")
CHANGES = CREATE | WRITE | SYNC | TRUNCATE | RENAME | LINK | MKDIR
# But for LIST and OWNER, which a sweep asks for by their names.
EVERYTHING = (1 << 14) - 1
NOTHING, FAIL, SHORT, TORN, KILL, TORN_KILL, NOTE = range(7)
AIMS, STRUCK = 1, 2

LEDGER, QUEUE, MARK = "/var/lib/undersign-executor/", "/var/lib/undersign/", "/run/undersign-executor/"


class Kind:
    """One way in which a disk fails."""

    def __init__(self, name, action, error=0, operations=CHANGES, sticky=False):
        self.name, self.action, self.error = name, action, error
        self.operations, self.sticky = operations, sticky


FULL = Kind("ENOSPC, and it stays full", FAIL, errno.ENOSPC, sticky=True)
FULL_ONCE = Kind("ENOSPC once", FAIL, errno.ENOSPC)
BROKEN = Kind("EIO, and it stays broken", FAIL, errno.EIO, sticky=True,
              operations=CHANGES | OPEN | READ | UNLINK)
BROKEN_ONCE = Kind("EIO once", FAIL, errno.EIO, operations=CHANGES | OPEN | READ | UNLINK)
CUT = Kind("a short write", SHORT, operations=WRITE)
TORN_WRITE = Kind("a torn write", TORN, errno.EIO, operations=WRITE)
DISKS = (FULL, BROKEN_ONCE, TORN_WRITE, CUT, FULL_ONCE, BROKEN)
DEATH = Kind("kill -9", KILL, operations=EVERYTHING)
TORN_DEATH = Kind("kill -9 in a write", TORN_KILL, operations=WRITE)


def name_of(path):
    """Of a file, without what is another each time."""
    return re.sub(r"[0-9a-f]{16,}|[0-9]+|\.[A-Za-z0-9]{6}$", "#",
                  path.rpartition("/")[2] if path.startswith("/") else path)


class Chooser:
    """
    Which operations of a step fail, where not each of them is tried: of each file and each way of
    touching it one, with each kind of fault at least once; and a kill also before and after whatever
    makes something durable or visible.
    @most: how many of one step, None for as many as that comes to.
    """

    def __init__(self, seed, most=None):
        self.random, self.most, self.turn = random.Random(seed), most, 0

    def choose(self, noted, kinds):
        """[(kind, n)] of the operations that were noted."""
        places = {}
        chosen, marked = [], []
        for kind in kinds:
            met = [(operation, name_of(path)) for operation, path in noted
                   if operation & kind.operations]
            for n, place in enumerate(met, 1):
                places.setdefault(place, {}).setdefault(kind, []).append(n)
                if kind.action == KILL and place[0] & (SYNC | RENAME | LINK):
                    marked += [(kind, n), (kind, n + 1)]
        order = sorted(places)
        self.random.shuffle(order)
        left = list(kinds)
        for place in order:
            able = [kind for kind in kinds if kind in places[place]]
            fresh = [kind for kind in able if kind in left]
            kind = fresh[0] if fresh else able[self.turn % len(able)]
            self.turn += 1
            if kind in left:
                left.remove(kind)
                chosen.insert(0, (kind, self.random.choice(places[place][kind])))
            else:
                chosen.append((kind, self.random.choice(places[place][kind])))
        chosen = list(dict.fromkeys(marked + chosen))
        if self.most is None or len(chosen) <= self.most:
            return chosen
        # The kinds' first come first; of what becomes durable or visible some, all along the step.
        first = (marked or chosen[:len(kinds)])
        first = first[::-(-len(first) // (self.most // 2 if marked else self.most))]
        rest = [case for case in chosen if case not in first]
        chosen = first + self.random.sample(rest, self.most - len(first))
        return chosen


def _lives(pid):
    """Whether a process is there and no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Faults:
    """The block, and the library where every user of the service can load it."""

    def __init__(self, build=None):
        build = build or os.environ["UNDERSIGN_BUILD"]
        os.makedirs(FOLDER, mode=0o755, exist_ok=True)
        shutil.copy(f"{build}/tests/fault/fault.so", LIBRARY)
        os.chmod(LIBRARY, 0o755)
        with open(BLOCK, "wb") as file:
            file.truncate(_LAYOUT.size + _MET.size * _MET_MAX)
        os.chmod(BLOCK, 0o666)
        with open(BLOCK, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.realtime = self.boottime = 0
        self.kind = NOTHING
        self.armed = None
        self.synced = False

    @staticmethod
    def environment(forks=False):
        """For world.World().  @forks: workers are forks of their listeners, which makes them cheap."""
        options = os.environ.get("ASAN_OPTIONS", "detect_stack_use_after_return=0")
        return {"LD_PRELOAD": LIBRARY, "UNDERSIGN_FAULT": BLOCK,
                **({"UNDERSIGN_FAULT_FORKS": "1", "LD_BIND_NOW": "1"} if forks else {}),
                "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0"}

    def _write(self, action, roles=0, operations=0, error=0, sticky=False, at=0, prefix=""):
        block = _LAYOUT.pack(NOTHING, roles, operations, error, int(sticky), at, 0, 0, 0, 0,
                             int(self.synced), 0, self.realtime, self.boottime, prefix.encode(),
                             b"")
        self.memory[:len(block)] = block
        self.kind = action
        self.memory[0:4] = struct.pack("<I", action)

    def arm(self, kind, at, roles=SERVICE, prefix="", operations=None):
        self.armed = kind, at, roles, prefix, operations
        self._write(kind.action, roles, kind.operations if operations is None else operations,
                    kind.error, kind.sticky, at, prefix)

    def begin_anew(self):
        """The same plan: whatever was done since it was armed does not count."""
        self.arm(*self.armed)

    def disarm(self):
        """Takes the plan back; whether it came to it.  From here on nothing more goes wrong: who was to
        die is dead."""
        self.memory[0:4] = bytes(4)
        fired = self.fired
        if self.killed():
            while _lives(self._block[11]):
                time.sleep(0.001)
        return fired

    @contextlib.contextmanager
    def paused(self):
        """What is done within is neither counted nor harmed."""
        action = self.memory[0:4]
        self.memory[0:4] = bytes(4)
        yield
        self.memory[0:4] = action

    @property
    def _block(self):
        return _LAYOUT.unpack(self.memory[:_LAYOUT.size])

    @property
    def fired(self):
        while self._block[7] == AIMS:
            time.sleep(0.001)
        return self._block[7] == STRUCK

    @property
    def seen(self):
        return self._block[6]

    def killed(self):
        """The role of the process that was killed, 0 for none."""
        block = self._block
        return block[9] if block[7] == STRUCK and self.kind in (KILL, TORN_KILL) else 0

    def killed_pid(self):
        return self._block[11] if self.killed() else 0

    def forget(self):
        """The process that was killed has been started again."""
        if self.memory[0:4] == bytes(4):
            self.kind = NOTHING

    def what(self):
        """The operation that it came to, in words."""
        block = self._block
        if not block[7]:
            return "nothing"
        return f"{NAMES[block[8].bit_length() - 1]} {block[15].rstrip(bytes(1)).decode()}"

    def place(self):
        """(operation, file) that it came to, in words."""
        block = self._block
        return NAMES[block[8].bit_length() - 1], name_of(block[15].rstrip(bytes(1)).decode())

    def noted(self):
        """[(operation, path)] since a kind with NOTE was armed."""
        count = min(self.seen, _MET_MAX)
        block = self.memory[_LAYOUT.size:_LAYOUT.size + count * _MET.size]
        return [(operation, path.partition(b"\0")[0].decode(errors="replace"))
                for operation, path in _MET.iter_unpack(block)]

    def sweep(self, kind, roles=SERVICE, prefix="", operations=None, stride=1, most=2000):
        """
        Yields n with the n-th operation planned, until it no longer occurs; the caller does what
        there is to do, disarms, and looks.
        """
        for n in range(1, most, stride):
            self.arm(kind, n, roles, prefix, operations)
            yield n
            if not self.disarm():
                return
        raise AssertionError(f"there are {most} operations and more")

    # --- clocks ---

    def move_clocks(self, realtime=0.0, boottime=0.0, processes=()):
        """Moves the clocks by seconds; @processes are those with a timer of CLOCK_BOOTTIME."""
        self.realtime += int(realtime * 1e9)
        self.boottime += int(boottime * 1e9)
        self.memory[48:64] = struct.pack("<2q", self.realtime, self.boottime)
        for pid in processes:
            os.kill(pid, signal.SIGUSR2)

    def copy_synced(self, yes=True):
        """Whether each fsync keeps beside a database what a power failure would leave of it."""
        self.synced = yes
        self.memory[40:44] = struct.pack("<I", int(yes))
