# SPDX-License-Identifier: LGPL-2.1-or-later
"""Speaks to the executor's socket, written from undersign-executor(8) and service/base/wire.h.

Broker is what a broker does with a request: prepare, answer, execute, close, query; ADMIN is what
undersign-admin does.  The uid of the peer is that of the moment of connecting.
"""

import array
import base64
import fcntl
import functools
import hashlib
import json
import os
import pwd
import select
import socket
import struct
import time

from gi.repository import GLib

from . import authenticator, bus

SOCKET = "/run/undersign/executor.sock"
REPLY, ERROR = 1, 2
PREPARE, ANSWER, EXECUTE, CLOSE, QUERY, POLICY, APPROVER = range(16, 23)
(ENROL, REVOKE, PASSKEYS, HALT, RESUME, RESOLVE, AUDIT, RELOAD, STATUS, CHECKPOINT,
 PRUNE) = range(32, 43)

REQUEST = "(sus(ssss)sa(sv)s(ss))"
FACTS = "a(ss)"
CREDENTIAL = "(ayssss)"
REQUIREMENT = f"(sua(sua{CREDENTIAL}))"
PREPARED = f"({REQUEST}{FACTS}aytay)"
PREPARE_REPLY = f"(s{FACTS}aytaysa{REQUIREMENT})"
ANSWER_BODY = f"({PREPARED}sayaysssayayays)"

_HEADER = struct.Struct("=8sHHIQ")
_SEALS = 0xF
# What a listener says whose workers died young, until one is ready.
NO_WORKER = "no worker can be started"
RECORD_TYPE = b"application/vnd.undersign.record.v1+json"


class Refused(Exception):
    """The typed error of the executor."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name, self.text = name, text
        self.reason = text.partition(":")[0]


class Gone(Exception):
    """No answer: the connection ended, or there was nobody to connect to."""


@functools.cache
def uid_of(user):
    return pwd.getpwnam(user).pw_uid


def sealed(data):
    fd = os.memfd_create("test", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALS)
    return fd


class Connection:
    """One hand-over.  @waiting: called now and then while there is no answer yet."""

    waiting = None

    def __init__(self, uid, timeout=60):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.settimeout(timeout)
        os.seteuid(uid)
        try:
            self.sock.connect(SOCKET)
        except OSError as error:
            self.sock.close()
            raise Gone(str(error)) from None
        finally:
            os.seteuid(0)

    def send(self, kind, signature, value, files=()):
        body = bus.build(signature, value).get_normal_form().get_data_as_bytes().get_data() or b""
        fds = [sealed(body), *(sealed(content) for content in files)]
        try:
            header = _HEADER.pack(b"undersgn", 1, kind, len(files), len(body))
            self.sock.sendmsg([header], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                          array.array("i", fds))])
        except OSError as error:
            raise Gone(str(error)) from None
        finally:
            for fd in fds:
                os.close(fd)

    def receive(self, signature):
        """The body of one reply; raises Refused or Gone."""
        fds = array.array("i")
        try:
            while self.waiting is not None and not select.select([self.sock], [], [], 0.2)[0]:
                self.waiting()
            data, control, _, _ = self.sock.recvmsg(_HEADER.size, socket.CMSG_SPACE(20 * 4))
        except OSError as error:
            raise Gone(str(error)) from None
        for level, kind, content in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(content)
        try:
            if not data:
                raise Gone("it closed the connection")
            _, _, kind, _, size = _HEADER.unpack(data)
            body = os.pread(fds[0], size, 0)
        finally:
            for fd in fds:
                os.close(fd)
        text = signature if kind == REPLY else "(ss)"
        value = bus.unpack(GLib.Variant.new_from_bytes(GLib.VariantType.new(text),
                                                       GLib.Bytes.new(body), False))
        if kind == REPLY:
            return value
        raise Refused(*value)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def call(uid, kind, signature, value, reply="()", files=()):
    with Connection(uid) as connection:
        connection.send(kind, signature, value, files)
        return connection.receive(reply)


class Admin:
    """What uid 0 may ask."""

    @staticmethod
    def enrol(user, key, host, by=0):
        """A software passkey of @user's."""
        challenge = os.urandom(32)
        rp = f"undersign:{host}"
        client, attestation = key.register(challenge, rp, rp)
        return call(0, ENROL, "(sussssayayayu)",
                    (user, pwd.getpwnam(user).pw_uid, "software", "of the tests", rp, rp, challenge,
                     client, attestation, by), "(ay)")[0]

    @staticmethod
    def revoke(credential):
        call(0, REVOKE, "(ayu)", (credential, 0))

    @staticmethod
    def halt(why="a test"):
        call(0, HALT, "(us)", (0, why))

    @staticmethod
    def resume(why="a test"):
        call(0, RESUME, "(us)", (0, why))

    @staticmethod
    def resolve(request, outcome, note="a test"):
        call(0, RESOLVE, "(sssu)", (request, outcome, note, 0))

    @staticmethod
    def reload():
        return call(0, RELOAD, "()", (), "(s)")[0]

    @staticmethod
    def checkpoint():
        return json.loads(call(0, CHECKPOINT, "()", (), "(ay)")[0])

    @staticmethod
    def prune(before):
        """(how many entries went, whether there are more) of before this time."""
        return call(0, PRUNE, "(xu)", (before, 0), "(tb)")

    @staticmethod
    def status():
        return call(0, STATUS, "()", (), "(a{sv})")[0]


class Request:
    """A request as a broker holds it, with what prepare gave."""

    def __init__(self, arguments, action="test.rehearse", agent="agent-offboarding", run=None,
                 label="ticket", files=(), supersedes=None):
        self.id = os.urandom(16).hex()
        self.run = run or os.urandom(16).hex()
        self.arguments, self.action, self.label = arguments, action, label
        self.uid = uid_of(agent)
        self.files, self.supersedes = files, supersedes
        self.decision = self.prepared = self.expires = self.result = None
        self.wire = self.built = None  # what is asked for, and that with what prepare gave

    def body(self):
        older = ("", "") if self.supersedes is None else (self.supersedes.id,
                                                          self.supersedes.digest)
        values = [(name, ("s", value) if isinstance(value, str) else value)
                  for name, value in self.arguments.items()]
        return (self.id, self.uid, "main", (self.run, self.label, "", ""), self.action, values, "",
                older)

    @property
    def digest(self):
        return "sha256:" + hashlib.sha256(authenticator.pae(RECORD_TYPE, self.record)).hexdigest()

    @property
    def record(self):
        return self.prepared[2]


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Broker:
    """As uid undersign."""

    def __init__(self):
        self.uid = pwd.getpwnam("undersign").pw_uid

    def prepare(self, request, timeout=120):
        """While a module cannot be called, it is refused and may be asked again: nothing was done."""
        end = time.monotonic() + timeout
        while True:
            try:
                return self._prepare(request)
            except Refused as error:
                if NO_WORKER not in error.text or time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def _prepare(self, request):
        request.wire = bus.build(REQUEST, request.body())
        decision, facts, record, deadline, seal, expires, _ = call(
            self.uid, PREPARE, REQUEST, request.wire, PREPARE_REPLY, request.files)
        request.decision, request.expires = decision, expires
        request.prepared = (request.wire, facts, record, deadline, seal)
        request.built = bus.build(PREPARED, request.prepared)
        return request

    @staticmethod
    def statement(request, user, key, decision="approve"):
        """The bytes that are signed, and nonce and time of issue."""
        nonce, issued = base64url(os.urandom(32)), "2026-11-30T09:00:00Z"
        members = {"approver": {"name": user, "uid": str(uid_of(user))},
                   "credential": base64url(key.credential), "decision": decision,
                   "expires": request.expires, "format": "undersign.statement/1",
                   "issued": issued, "nonce": nonce, "record": request.digest,
                   "request": request.id, "rp": key.rp, "seal": base64url(request.prepared[4])}
        if request.supersedes is not None:
            members["supersedes"] = {"digest": request.supersedes.digest,
                                     "request": request.supersedes.id}
        text = json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode(), nonce, issued

    def sign(self, request, user, key, decision="approve", reason=""):
        """The body of an answer."""
        statement, nonce, issued = self.statement(request, user, key, decision)
        assertion = key.sign(statement)
        return (request.built, decision, statement, key.credential, nonce, issued,
                request.expires, *(assertion[name][1] for name in ("client-data", "auth-data",
                                                                   "signature")), reason)

    def answer(self, request, body):
        return call(self.uid, ANSWER, ANSWER_BODY, body, "(suu)", request.files)[0]

    def execute(self, request, on_consumed=None):
        """The outcome; @on_consumed is called between the two replies."""
        with Connection(self.uid) as connection:
            connection.send(EXECUTE, f"({PREPARED})", (request.built,), request.files)
            word = connection.receive("(s)")[0]
            if word != "consumed":
                # The first reply was lost to a fault, and this is the second, of another type.
                raise Gone("the first reply makes no sense")
            if on_consumed is not None:
                on_consumed()
            outcome, request.result = connection.receive("(ss)")
            return outcome

    def close(self, request, why="withdrawn", by="", reason=""):
        call(self.uid, CLOSE, "(saysss)", (request.id, request.record, why, by, reason))

    def query(self, request):
        """(state, why, by, reason, result)"""
        name = request if isinstance(request, str) else request.id
        return call(self.uid, QUERY, "(s)", (name,), "(sssss)")

    def state(self, request):
        return self.query(request)[0]
