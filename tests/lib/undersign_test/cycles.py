# SPDX-License-Identifier: LGPL-2.1-or-later
"""Requests that are made and withdrawn as fast as the service takes them, and what is left of them.

Whatever of a request may hold something is in use: one of four has a file, one of four an
idempotency key, and one of four is superseded before its successor is withdrawn.
"""

import contextlib
import os
import re
import sqlite3
import struct
import sys
import time

from . import bus, wire

WINDOW = 6  # cycles of one agent that are under way at once
STATE = "/var/lib/undersign"
SPOOL = f"{STATE}/spool"
LEDGER = "/var/lib/undersign-executor"
TOO_FAST = bus.ERROR + "LimitExceeded"  # a little later it is taken


class Cycles:
    """Of one agent: its connection, and the calls that are under way there."""

    def __init__(self, user, run):
        self.connection = wire.connect(user)[0]
        self.run = run
        self.paper = bus.File(b"x" * 5000).open()
        self.waiting = {}  # serial → the call, and what is done with the path that it gives

    def begin(self, call, then):
        self.waiting[self.connection.begin(call)] = call, then

    def submit(self, target, then, options=None, with_paper=False):
        arguments, files = {"target": ("s", target)}, ()
        if with_paper:
            arguments["paper"], files = ("a(sh)", [("report.txt", 0)]), (self.paper,)
        body = wire.body_of("ssa{sv}a{sv}", (self.run, "test.rehearse", arguments, options or {}))
        self.begin(wire.Call(bus.SERVICE, bus.PATH, bus.AGENT, "Submit", "ssa{sv}a{sv}", body,
                             files), then)

    def cycle(self, number):
        target = f"cycle {number}"
        if number % 4 == 1:
            self.submit(target, self.withdraw, with_paper=True)
        elif number % 4 == 2:
            self.submit(target, self.withdraw, {"idempotency-key": ("s", f"key-{number}")})
        elif number % 4 == 3:
            self.submit(target, lambda path: self.submit(f"{target} anew", self.withdraw,
                                                         {"supersedes": ("o", path)}))
        else:
            self.submit(target, self.withdraw)

    def withdraw(self, path):
        self.begin(wire.Call(bus.SERVICE, path, bus.REQUEST, "Withdraw", "", b""), None)

    def reply(self):
        """Takes one reply; whether a cycle has ended with it."""
        kind, fields, body = self.connection.receive()
        if kind not in (wire.RETURN, wire.ERROR):
            return False
        call, then = self.waiting.pop(fields[5])
        if kind == wire.ERROR:
            if fields[4] != TOO_FAST:
                raise RuntimeError(f"{call.member}: {fields[4]}: {body[4:]!r}")
            time.sleep(0.05)
            self.begin(call, then)
        elif then is not None:
            then(body[4:4 + struct.unpack_from("<I", body)[0]].decode())
        else:
            return True
        return False

    def run_all(self, first, count):
        begun = ended = 0
        with self.connection:
            while ended < count:
                while begun < count and begun - ended < WINDOW:
                    self.cycle(first + begun)
                    begun += 1
                ended += self.reply()
        os.close(self.paper)


def start(user, run, first, count):
    """The pid of a process that ends with 0 once @count requests of @user's are withdrawn."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            Cycles(user, run).run_all(first, count)
            status = 0
        except BaseException as error:  # whatever it is must not return into the test
            print(f"# {user}: {error!r}", flush=True)
        finally:
            os._exit(status)
    return pid


def private_memory(pid):
    """Bytes that no other process has a part in."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(size) for size in re.findall(r"^Private_(?:Clean|Dirty): +(\d+) kB$",
                                                    file.read(), re.MULTILINE)) * 1024


def size_of(folder):
    """Bytes of the files in it."""
    return sum(os.stat(f"{top}/{name}").st_size for top, _, names in os.walk(folder)
               for name in names)


def queue_rows():
    """How many rows there are of each uid, and of how many the ledger does not know the end yet."""
    database = sqlite3.connect(f"file:{STATE}/queue.db?mode=ro", uri=True)
    with contextlib.closing(database):
        (due,), = database.execute("SELECT count (*) FROM requests WHERE live OR close_due")
        return dict(database.execute("SELECT uid, count (*) FROM requests GROUP BY uid")), due
