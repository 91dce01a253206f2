# SPDX-License-Identifier: LGPL-2.1-or-later
"""D-Bus without a library: connections of any user, and bytes as only an attacker writes them.

Nothing here looks at what it sends.  Connections are made by a process of the user's and driven by
this one, so that one test can hold hundreds of them.
"""

import collections
import os
import pwd
import select
import socket
import struct


from . import people
from .bus import split

BUS_SOCKET = "/run/dbus/system_bus_socket"
ALIGNMENT = {**dict.fromkeys("ygv", 1), **dict.fromkeys("nq", 2), **dict.fromkeys("biuhsoa", 4),
             **dict.fromkeys("xtd({", 8)}
NUMBERS = {"y": "B", "n": "h", "q": "H", "b": "I", "i": "i", "u": "I", "h": "I", "x": "q", "t": "Q",
           "d": "d"}
CALL, RETURN, ERROR, SIGNAL = 1, 2, 3, 4
NO_REPLY = 1
PATIENCE = 120.0

Call = collections.namedtuple("Call", "destination path interface member signature body files",
                              defaults=((),))
# name: of the error, "" for a success, None where the bus hung up; text: of the error.
Answer = collections.namedtuple("Answer", "name text")
HUNG_UP = Answer(None, "the bus closed the connection")


# --- bytes ---

def _pad(out, alignment):
    out += bytes(-len(out) % alignment)


def pack(out, kind, value):
    """Adds a value of one type; a text may be bytes, a boolean any number; a variant is a pair."""
    first = kind[0]
    _pad(out, ALIGNMENT[first])
    if first in NUMBERS:
        out += struct.pack("<" + NUMBERS[first], value)
    elif first in "sog":
        text = value if isinstance(value, bytes) else value.encode()
        out += struct.pack("<B" if first == "g" else "<I", len(text)) + text + b"\0"
    elif first == "v":
        pack(out, "g", value[0])
        pack(out, *value)
    elif first == "a":
        at = len(out)
        out += bytes(4)
        _pad(out, ALIGNMENT[kind[1]])
        begin = len(out)
        if isinstance(value, bytes):
            out += value
        else:
            for item in value.items() if isinstance(value, dict) else value:
                pack(out, kind[1:], item)
        struct.pack_into("<I", out, at, len(out) - begin)
    else:
        for inner, item in zip(split(kind[1:-1]), value):
            pack(out, inner, item)


def body_of(signature, values):
    out = bytearray()
    for kind, value in zip(split(signature), values):
        pack(out, kind, value)
    return bytes(out)


def message(fields, body=b"", kind=CALL, flags=0, serial=1):
    """A message with header @fields, each (code, type, value)."""
    out = bytearray(struct.pack("<cBBBII", b"l", kind, flags, 1, len(body), serial))
    pack(out, "a(yv)", [(code, (letter, value)) for code, letter, value in fields])
    _pad(out, 8)
    return bytes(out) + body


def call_bytes(call, flags=0, serial=1):
    fields = [(1, "o", call.path), (2, "s", call.interface), (3, "s", call.member),
              (6, "s", call.destination)]
    if call.signature:
        fields.append((8, "g", call.signature))
    if call.files:
        fields.append((9, "u", len(call.files)))
    return message(fields, call.body, CALL, flags, serial)


def _read_fields(data):
    """The header fields of a message that the bus wrote: code → value."""
    end = 16 + struct.unpack_from("<I", data, 12)[0]
    at, found = 16, {}
    while at < end:
        at += -at % 8
        code, letter = data[at], chr(data[at + 2])
        at += 4
        if letter == "g":
            size, at = data[at], at + 1
        elif letter in "so":
            at += -at % 4
            size, at = struct.unpack_from("<I", data, at)[0], at + 4
        else:
            at += -at % 4
            found[code] = struct.unpack_from("<I", data, at)[0]
            at += 4
            continue
        found[code] = data[at:at + size].decode()
        at += size + 1
    return found


# --- connections ---

class HungUp(Exception):
    """The bus closed the connection, as it does to whoever breaks the protocol."""


class Connection:
    """One connection to the system bus, past Hello()."""

    def __init__(self, sock, uid):
        self.sock, self.data, self.serial = sock, bytearray(), 1
        sock.setblocking(True)
        sock.settimeout(PATIENCE)
        sock.sendall(b"\0AUTH EXTERNAL " + str(uid).encode().hex().encode() + b"\r\n")
        self._line(b"OK")
        sock.sendall(b"NEGOTIATE_UNIX_FD\r\n")
        self._line(b"AGREE_UNIX_FD")
        sock.sendall(b"BEGIN\r\n")
        answer = self.ask(Call("org.freedesktop.DBus", "/org/freedesktop/DBus",
                               "org.freedesktop.DBus", "Hello", "", b""))
        if answer.name != "":
            raise RuntimeError(f"no connection to the bus: {answer}")

    def _line(self, expected):
        while not self.data.endswith(b"\r\n"):
            self.data += self.sock.recv(1) or b"closed\r\n"
        if not self.data.startswith(expected):
            raise RuntimeError(f"the bus said {bytes(self.data)!r}")
        self.data.clear()

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data, files=()):
        """All of @data, with descriptors that stay the caller's.  May raise HungUp."""
        try:
            sent = socket.send_fds(self.sock, [data], list(files)) if files else 0
            self.sock.sendall(data[sent:])
        except (BrokenPipeError, ConnectionResetError) as error:
            raise HungUp from error

    def begin(self, call, flags=0):
        """Sends a call; its serial."""
        self.serial += 1
        self.send(call_bytes(call, flags, self.serial), call.files)
        return self.serial

    def receive(self):
        """The next message: its kind, its fields and its body.  May raise HungUp."""
        while True:
            if len(self.data) >= 16:
                size = 16 + struct.unpack_from("<I", self.data, 12)[0]
                size += -size % 8
                end = size + struct.unpack_from("<I", self.data, 4)[0]
                if len(self.data) >= end:
                    one = bytes(self.data[:end])
                    del self.data[:end]
                    return one[1], _read_fields(one), one[size:]
            try:
                more, files, _, _ = socket.recv_fds(self.sock, 65536, 64)
            except ConnectionResetError as error:
                raise HungUp from error
            for fd in files:
                os.close(fd)
            if not more:
                raise HungUp
            self.data += more

    def answer(self):
        """(serial, Answer) of the next reply; signals are passed by."""
        while True:
            kind, fields, body = self.receive()
            if kind == RETURN:
                return fields[5], Answer("", "")
            if kind == ERROR:
                size = struct.unpack_from("<I", body)[0] if body else 0
                return fields[5], Answer(fields[4], body[4:4 + size].decode())

    def ask(self, call):
        """The Answer to one call, HUNG_UP where the bus does not take it."""
        try:
            serial = self.begin(call)
            while True:
                found, answer = self.answer()
                if found == serial:
                    return answer
        except HungUp:
            return HUNG_UP

    def ask_all(self, calls, window=4):
        """The Answers, with at most @window calls under way; raises HungUp."""
        waiting, answers = {}, [None] * len(calls)
        for number, call in enumerate(calls):
            waiting[self.begin(call)] = number
            while len(waiting) >= window or (waiting and number == len(calls) - 1):
                serial, answer = self.answer()
                answers[waiting.pop(serial)] = answer
        return answers

    def drain(self):
        """Throws away what has come; whether the connection is still there."""
        while select.select([self.sock], [], [], 0)[0]:
            try:
                more, files, _, _ = socket.recv_fds(self.sock, 1 << 20, 64)
            except ConnectionResetError:
                return False
            for fd in files:
                os.close(fd)
            if not more:
                return False
        return True


def connect(user, count=1):
    """Connections of @user's, each to be closed."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            people.become(user)
            for _ in range(count):
                with socket.socket(socket.AF_UNIX) as sock:
                    sock.connect(BUS_SOCKET)
                    socket.send_fds(theirs, [b"x"], [sock.fileno()])
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    made = []
    with ours:
        for _ in range(count):
            _, files, _, _ = socket.recv_fds(ours, 1, 1)
            made += [socket.socket(fileno=fd) for fd in files]
    os.waitpid(pid, 0)
    if len(made) != count:
        raise RuntimeError(f"the bus let {user} connect {len(made)} times, not {count}")
    return [Connection(sock, pwd.getpwnam(user).pw_uid) for sock in made]


