#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-admin on a bus of its own, with a polkit that allows, denies, hangs or is not there.

usage: test-admin.py DAEMON EXECUTOR [TEST…]   (the two programs of this folder)
"""

import fcntl
import os
import queue
import re
import signal
import stat
import sys
import threading
import time
import unittest
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

import gi  # noqa: E402

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

from undersign_test import bus as raw  # noqa: E402
from undersign_test import private_bus, tap, world  # noqa: E402

NAME, PATH = "org.undersign1.Admin", "/org/undersign1/Admin"
ROOT = os.path.join(HERE, "../..")
DAEMON, EXECUTOR = sys.argv[1:3]
MIB = 1024 * 1024
ENCRYPT = """#!/bin/sh
printf '%s\\n' "$@" > {folder}/arguments
echo begun >> {folder}/begun
while [ -e {folder}/hold ]; do sleep 0.05; done
tr '\\0' '\\n' < /proc/$$/environ > {folder}/environment
secret=$(cat)
case $secret in
  refuse*) echo 'no key here' >&2; exit 1 ;;
esac
echo "encrypted:$(printf %s "$secret" | wc -c)"
"""

CALLS = {
    "BeginEnroll": ("(sa{sv})", ("daemon", {"kind": ("s", "software"), "label": ("s", "desk")})),
    "ListPasskeys": (None, None),
    "RevokePasskey": ("(ay)", (b"\1\2",)),
    "RemoveCredential": ("(ss)", ("mail", "smtp")),
    "ReloadPolicy": (None, None),
    "Halt": ("(s)", ("maintenance",)),
    "Resume": ("(s)", ("done",)),
    "Resolve": ("(sss)", ("0" * 32, "done", "the mail is there")),
    "ReadAudit": ("(tu)", (1, 10)),
    "GetCheckpoint": (None, None),
    "PruneAudit": ("(s)", ("2026-01-02T03:04:05Z",)),
    "Status": (None, None),
}


class Caller:
    """A connection of its own to the test's bus."""

    def __init__(self, address):
        flags = (Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
                 | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
        self.bus = Gio.DBusConnection.new_for_address_sync(address, flags, None, None)

    def message(self, member, signature, value, path=PATH, interface=NAME, fds=()):
        message = Gio.DBusMessage.new_method_call(NAME, path, interface, member)
        if signature is not None:
            message.set_body(raw.build(signature, value))
        if fds:
            message.set_unix_fd_list(Gio.UnixFDList.new_from_array([os.dup(fd) for fd in fds]))
        return message

    def call(self, member, signature=None, value=None, timeout=120, **options):
        message = self.message(member, signature, value, **options)
        reply, _ = self.bus.send_message_with_reply_sync(
            message, Gio.DBusSendMessageFlags.NONE, timeout * 1000, None)
        body = reply.get_body()
        if reply.get_message_type() == Gio.DBusMessageType.ERROR:
            raise raw.BusError(reply.get_error_name(), body.unpack()[0])
        return raw.unpack(body) if body is not None else ()


class Base(private_bus.BusTest):
    checked = ("daemon",)
    # Nothing is to time out but where a test says so, on the slowest machine.
    authorise_seconds, enrolment_seconds, idle_seconds, encrypt_seconds = 120, 600, 600, 600
    polkit = True

    def setUp(self):
        super().setUp()
        for name in ("credentials", "units", "relying-parties.d", "data", "config", "modules"):
            os.mkdir(f"{self.folder}/{name}", 0o700)
        with open(f"{self.folder}/modules/mail.so", "wb"):
            pass
        self.write("encrypt", ENCRYPT.format(folder=self.folder), 0o700)
        self.executor = self.start("executor", [EXECUTOR, f"{self.folder}/executor.sock"],
                                   lambda: "ready" in self.output("executor"))
        self.caller = Caller(self.address)
        if self.polkit:
            self.start("polkit", ["/usr/bin/python3", "-m", "dbusmock", "--system", "--template",
                                  "polkitd"], lambda: self.owned("org.freedesktop.PolicyKit1"),
                       {"DBUS_SYSTEM_BUS_ADDRESS": self.address})
        self.daemon = self.start_daemon(lambda: self.owned(NAME))

    def start_daemon(self, ready):
        return self.start("daemon", [DAEMON, self.address, self.folder, f"{self.folder}/encrypt",
                                     str(self.authorise_seconds), str(self.enrolment_seconds),
                                     str(self.idle_seconds), str(self.encrypt_seconds)], ready)

    def mock(self, member, signature, value):
        """Tells the mock of polkit what to do."""
        return self.caller.bus.call_sync("org.freedesktop.PolicyKit1",
                                         "/org/freedesktop/PolicyKit1/Authority",
                                         "org.freedesktop.DBus.Mock", member,
                                         GLib.Variant(signature, value), None,
                                         Gio.DBusCallFlags.NONE, 120000, None)

    def allow(self, *actions):
        self.mock("SetAllowed", "(as)", ([f"org.undersign1.{action}" for action in actions],))

    def refused(self, name, reason, member, *arguments, **options):
        with self.assertRaises(raw.BusError) as caught:
            self.caller.call(member, *arguments, **options)
        self.assertEqual(caught.exception.name, raw.ERROR + name, caught.exception)
        self.assertEqual(caught.exception.reason, reason, caught.exception)
        return caught.exception

    def handed_over(self):
        return self.output("executor").splitlines()[1:]


class Denied(Base):
    def test_every_member(self):
        for member, (signature, value) in CALLS.items():
            self.refused("Refused", "denied-by-rule", member, signature, value)
        read, write = os.pipe()
        self.addCleanup(os.close, write)
        self.refused("Refused", "denied-by-rule", "SetCredential", "(ssh)", ("mail", "smtp", 0),
                     fds=[read])
        self.assertEqual(self.handed_over(), [])
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])

    def test_another_action_does_not_do(self):
        actions = self.actions()
        for member, (signature, value) in CALLS.items():
            own = re.sub(r"(?<!^)([A-Z])", r"-\1", member).lower().replace("begin-enroll", "enroll")
            self.assertIn(own, actions)
            self.allow(*(actions - {own}))
            self.refused("Refused", "denied-by-rule", member, signature, value)
        self.assertEqual(self.handed_over(), [])

    @staticmethod
    def actions():
        """The actions that are installed, without their common beginning."""
        tree = ElementTree.parse(os.path.join(ROOT, "polkit/org.undersign1.policy"))
        return {action.get("id").rpartition(".")[2] for action in tree.iter("action")}

    def test_no_action_is_kept(self):
        tree = ElementTree.parse(os.path.join(ROOT, "polkit/org.undersign1.policy"))
        for action in tree.iter("action"):
            # The one that the launcher asks only where the caller is the agent's owner.
            own = action.get("id") == "org.undersign1.launch-own"
            self.assertEqual({default.text for default in action.find("defaults")},
                             {"yes" if own else "auth_admin"})

    def test_the_caller_leaves(self):
        self.allow("halt")
        self.mock("SetDelay", "(d)", (1.0,))
        other = Caller(self.address)
        message = other.message("Halt", "(s)", ("gone",))
        other.bus.send_message(message, Gio.DBusSendMessageFlags.NONE)
        other.bus.flush_sync(None)
        other.bus.close_sync(None)
        self.mock("SetDelay", "(d)", (0.0,))
        self.caller.call("Halt", "(s)", ("here",))
        self.assertIn(f"35 ({os.getuid()}, 'here')", self.handed_over())


class Hangs(Base):
    authorise_seconds = 2

    def test_polkit_hangs(self):
        self.mock("SimulateHang", "(b)", (True,))
        error = self.refused("Refused", "denied-by-rule", "Halt", "(s)", ("x",))
        self.assertIn("in time", error.text)
        self.assertEqual(self.handed_over(), [])
        # A late yes changes nothing.
        self.mock("SimulateHang", "(b)", (False,))
        self.mock("ReleaseHangingCalls", "()", ())
        self.refused("Refused", "denied-by-rule", "Status")
        self.allow("halt")
        self.halt_at_last("y")
        self.assertEqual(self.handed_over(), [f"35 ({os.getuid()}, 'y')"])

    def halt_at_last(self, why):
        """A polkit that is there may still be slower than this daemon's patience."""
        end = time.monotonic() + 120
        while True:
            try:
                return self.caller.call("Halt", "(s)", (why,))
            except raw.BusError as error:
                if "in time" not in error.text or time.monotonic() > end:
                    raise


class Share(Base):
    authorise_seconds = 300

    def test_one_uid_leaves_polkit_to_others(self):
        """The bus lets 128 calls wait for polkit: who has 8 of them is told to wait himself."""
        self.mock("SimulateHang", "(b)", (True,))
        answers = queue.Queue()
        for _ in range(3):
            caller = Caller(self.address)
            for _ in range(3):
                threading.Thread(target=self.ask, args=(caller, answers), daemon=True).start()
        self.assertEqual(answers.get(timeout=60).name, raw.ERROR + "LimitExceeded")
        self.mock("SimulateHang", "(b)", (False,))
        self.mock("ReleaseHangingCalls", "()", ())
        for _ in range(8):
            self.assertEqual(answers.get(timeout=60).name, raw.ERROR + "Refused")
        self.assertEqual(self.handed_over(), [])

    def test_who_leaves_keeps_no_place(self):
        """All eight that may wait leave while polkit is asked; the daemon has heard of it."""
        self.allow("halt")
        self.mock("SimulateHang", "(b)", (True,))
        leaver = Caller(self.address)
        name = leaver.bus.get_unique_name()
        # Of a connection whose uid is not known yet only some may wait, so the first goes ahead.
        self.send_halt(leaver)
        world.wait_until(self.hangs, "polkit is asked")
        for _ in range(7):
            self.send_halt(leaver)
        with self.assertRaises(raw.BusError) as caught:
            leaver.call("Halt", "(s)", ("one more",))
        self.assertEqual(caught.exception.name, raw.ERROR + "LimitExceeded")
        leaver.bus.close_sync(None)
        world.wait_until(lambda: not self.owned(name), "it has left the bus")
        self.mock("SimulateHang", "(b)", (False,))
        self.mock("ReleaseHangingCalls", "()", ())
        world.wait_until(self.halts, "its places are free")
        self.assertIn(f"35 ({os.getuid()}, 'here')", self.handed_over())

    @staticmethod
    def send_halt(caller):
        caller.bus.send_message(caller.message("Halt", "(s)", ("gone",)),
                                Gio.DBusSendMessageFlags.NONE)

    def hangs(self):
        return self.mock("HaveHangingCalls", "()", ()).unpack()[0]

    def halts(self):
        """Whether there is a place to ask polkit."""
        try:
            self.caller.call("Halt", "(s)", ("here",))
        except raw.BusError as error:
            self.assertEqual(error.name, raw.ERROR + "LimitExceeded")
            return False
        return True

    @staticmethod
    def ask(caller, answers):
        try:
            caller.call("Halt", "(s)", ("x",), timeout=120)
            answers.put(raw.BusError("", "it was allowed"))
        except raw.BusError as error:
            answers.put(error.with_traceback(None))  # whose frames hold the message and its pipe


class NoPolkit(Base):
    polkit = False

    def test_every_member(self):
        for member, (signature, value) in CALLS.items():
            self.refused("Refused", "denied-by-rule", member, signature, value)
        self.assertEqual(self.handed_over(), [])


class Table(Base):
    def setUp(self):
        super().setUp()
        self.mock("AllowUnknown", "(b)", (True,))

    def test_the_table_is_the_interface(self):
        tree = ElementTree.parse(os.path.join(ROOT, "dbus/org.undersign1.Admin.xml"))
        for method in tree.iter("method"):
            signature = "".join(arg.get("type") for arg in method.iter("arg")
                                if arg.get("direction") == "in")
            # A value of another type is refused with the signature that the table has.
            error = self.refused("InvalidArgument", "wrong-type", method.get("name"), "(x)", (1,))
            self.assertIn(f"takes ({signature})", error.text)
        self.assertEqual(self.handed_over(), [])

    def test_what_is_not_in_it(self):
        for member, options in (
                ("Quit", {}), ("halt", {}), ("Halt", {"path": "/"}),
                ("Halt", {"path": PATH + "/x"}), ("Halt", {"interface": "org.undersign1.Agent"}),
                ("Introspect", {"interface": "org.freedesktop.DBus.Introspectable"}),
                ("Ping", {"interface": "org.freedesktop.DBus.Peer"}),
                ("GetAll", {"interface": "org.freedesktop.DBus.Properties"})):
            self.refused("NotFound", "not-found", member, "(s)", ("x",), **options)
        self.assertEqual(self.handed_over(), [])

    def test_too_large(self):
        """Refused by the header: what is in it is not read, and its files are closed."""
        self.refused("InvalidArgument", "too-large", "Halt", "(s)", ("x" * 20_000_000,))
        self.refused("InvalidArgument", "wrong-type", "Status", "(ay)", (bytes(20_000_000),))
        self.refused("InvalidArgument", "too-large", "Halt", "(s)", ("x",), fds=[0, 0])
        self.refused("InvalidArgument", "too-large", "BeginEnroll", "(sa{sv})",
                     ("daemon", {"kind": ("av", [("y", 1)] * 2000 + [("ay", bytes(9000))])}))
        self.assertEqual(self.handed_over(), [])

    def test_bad_values(self):
        line = "x\n"
        for member, signature, value, reason in (
                ("RevokePasskey", "(ay)", (b"",), "bad-value"),
                ("RevokePasskey", "(ay)", (b"x" * 1024,), "bad-value"),
                ("Halt", "(s)", ("",), "bad-value"),
                ("Halt", "(s)", (line,), "bad-value"),
                ("Resume", "(s)", ("x" * 201,), "bad-value"),
                ("Resolve", "(sss)", ("0" * 31, "done", "x"), "bad-value"),
                ("Resolve", "(sss)", ("G" * 32, "done", "x"), "bad-value"),
                ("Resolve", "(sss)", ("0" * 32, "unknown", "x"), "bad-value"),
                ("Resolve", "(sss)", ("0" * 32, "done", ""), "bad-value"),
                ("ReadAudit", "(tu)", (0, 1), "bad-value"),
                ("ReadAudit", "(tu)", (1, 0), "bad-value"),
                ("PruneAudit", "(s)", ("2026-01-02",), "bad-value"),
                ("RemoveCredential", "(ss)", ("../mail", "x"), "bad-value"),
                ("RemoveCredential", "(ss)", ("mail", "x/y"), "bad-value"),
                ("RemoveCredential", "(ss)", ("mail", ""), "bad-value")):
            self.refused("InvalidArgument", reason, member, signature, value)
        self.assertEqual(self.handed_over(), [])

    def test_what_is_handed_over(self):
        uid = os.getuid()
        for member, expected, reply in (
                ("RevokePasskey", f"33 ([0x01, 0x02], {uid})", ()),
                ("Halt", f"35 ({uid}, 'maintenance')", ()),
                ("Resume", f"36 ({uid}, 'done')", ()),
                ("Resolve", f"37 ('{'0' * 32}', 'done', 'the mail is there', {uid})", ()),
                ("ReadAudit", "38 (1, 10)", ([(7, b"{}", b"\xff")],)),
                ("ReloadPolicy", "39 ()", ("rules/a.rule:3: no such key",)),
                ("GetCheckpoint", "41 ()", (b"{}",)),
                ("PruneAudit", f"42 (1767323045, {uid})", (7, True)),
                ("Status", "40 ()", ({"running": True, "halted": ""},))):
            self.assertEqual(self.caller.call(member, *CALLS[member]), reply, member)
            self.assertEqual(self.handed_over()[-1], expected)
        passkeys = self.caller.call("ListPasskeys")[0]
        self.assertEqual([(key["user"], key["label"], key["active"], key["key"])
                          for key in passkeys],
                         [("daemon", "one", True, "sha256:00"), ("daemon", "two", False, "sha256:01"),
                          ("games", "three", True, "sha256:02")])

    def test_the_executor_refuses_or_is_gone(self):
        self.refused("Halted", "halted", "Halt", "(s)", ("break",))
        self.refused("Unavailable", "unreachable", "Halt", "(s)", ("hang up",))
        self.executor.kill()
        self.executor.wait()
        self.refused("Unavailable", "unreachable", "Halt", "(s)", ("x",))
        self.refused("Unavailable", "unreachable", "Status")


class Enrolling(Base):
    def setUp(self):
        super().setUp()
        self.allow("enroll")

    def begin(self, user="daemon", caller=None, **options):
        values = {"kind": ("s", "software"), "label": ("s", "desk"), **options}
        return (caller or self.caller).call("BeginEnroll", "(sa{sv})", (user, values))

    def finish(self, identifier, caller=None):
        return (caller or self.caller).call(
            "FinishEnroll", "(sa{sv})",
            (identifier, {"client-data": ("ay", b"{}"), "attestation": ("ay", b"\xa0")}))


class Enrolment(Enrolling):
    def test_one_is_enrolled(self):
        identifier, challenge, parameters = self.begin()
        while challenge[-1] == 0:  # which is printed as a text
            identifier, challenge, parameters = self.begin()
        self.assertEqual(len(identifier), 32)
        self.assertEqual(len(challenge), 32)
        self.assertRegex(parameters["rp"], "^undersign:[0-9a-f]{32}$")
        self.assertEqual(parameters["origin"], parameters["rp"])
        self.assertEqual(parameters["algorithms"], [-8, -7])
        self.assertEqual(self.finish(identifier), (b"\x0b\x16",))
        line = self.handed_over()[-1]
        self.assertTrue(line.startswith(f"32 ('daemon', 1, 'software', 'desk', '{parameters['rp']}'"
                                        ", '', "), line)
        self.assertIn(", ".join(f"0x{byte:02x}" for byte in challenge), line)
        self.assertTrue(line.endswith(f"[0xa0], {os.getuid()})"), line)

    def test_each_challenge_is_new(self):
        self.assertNotEqual(self.begin()[1], self.begin()[1])
        self.assertEqual(self.begin()[2]["user-id"], self.begin()[2]["user-id"])

    def test_it_is_used_once(self):
        identifier = self.begin()[0]
        self.finish(identifier)
        with self.assertRaises(raw.BusError) as caught:
            self.finish(identifier)
        self.assertEqual(caught.exception.reason, "not-found")
        # A wrong registration uses it up as well.
        identifier = self.begin()[0]
        self.refused("InvalidArgument", "missing-argument", "FinishEnroll", "(sa{sv})",
                     (identifier, {"client-data": ("ay", b"{}")}))
        with self.assertRaises(raw.BusError):
            self.finish(identifier)
        self.assertEqual(sum(line.startswith("32 ") for line in self.handed_over()), 1)

    def test_it_is_the_callers(self):
        identifier = self.begin()[0]
        with self.assertRaises(raw.BusError) as caught:
            self.finish(identifier, Caller(self.address))
        self.assertEqual(caught.exception.name, raw.ERROR + "NotFound")
        self.finish(identifier)

    def test_too_many(self):
        for _ in range(4):
            self.begin()
        with self.assertRaises(raw.BusError) as caught:
            self.begin()
        self.assertEqual(caught.exception.name, raw.ERROR + "LimitExceeded")
        self.begin(caller=Caller(self.address))

    def test_who_and_what(self):
        with self.assertRaises(raw.BusError) as caught:
            self.begin("root")
        self.assertEqual(caught.exception.reason, "agent-uid")
        with self.assertRaises(raw.BusError) as caught:
            self.begin("no-such-user-here")
        self.assertEqual(caught.exception.reason, "identity")
        for options, reason in (
                ({"kind": ("s", "Software")}, "bad-value"),
                ({"kind": ("u", 1)}, "wrong-type"),
                ({"label": ("s", "")}, "bad-value"),
                ({"label": ("s", "x" * 65)}, "bad-value"),
                ({"label": ("s", "a\u202eb")}, "bad-value"),
                ({"rp": ("s", "example.com")}, "bad-value"),
                ({"rp": ("s", "../config")}, "bad-value"),
                ({"uid": ("u", 0)}, "unknown-option")):
            with self.assertRaises(raw.BusError) as caught:
                self.begin(**options)
            self.assertEqual(caught.exception.reason, reason, caught.exception)
        self.refused("InvalidArgument", "duplicate-argument", "BeginEnroll", "(sa{sv})",
                     ("daemon", [("kind", ("s", "phone")), ("kind", ("s", "software"))]))

    def test_a_configured_relying_party(self):
        self.write("relying-parties.d/example.com", "Origin=https://phone.example.com:8443\n")
        parameters = self.begin(rp=("s", "example.com"))[2]
        self.assertEqual(parameters["origin"], "https://phone.example.com:8443")
        self.assertEqual(parameters["exclude"], [b"\1"])
        for text in ("", "Origin=http://example.com\n", "Origin=https://a\nOrigin=https://b\n"):
            self.write("relying-parties.d/example.com", text)
            with self.assertRaises(raw.BusError):
                self.begin(rp=("s", "example.com"))
        self.write("relying-parties.d/example.com", "Origin=https://example.com\n", 0o620)
        with self.assertRaises(raw.BusError):
            self.begin(rp=("s", "example.com"))

    def test_a_broken_policy_enrols_nobody(self):
        os.mkdir(f"{self.folder}/config/rules", 0o700)
        self.write("config/rules/x.rule", "[Rule x]\nDecision=maybe\n")
        with self.assertRaises(raw.BusError) as caught:
            self.begin()
        self.assertEqual(caught.exception.name, raw.ERROR + "PolicyInvalid")


class EnrolmentEnds(Enrolling):
    enrolment_seconds = 2

    def test_it_ends(self):
        identifier = self.begin()[0]
        time.sleep(2.2)
        with self.assertRaises(raw.BusError) as caught:
            self.finish(identifier)
        self.assertEqual(caught.exception.reason, "not-found")
        self.assertFalse(any(line.startswith("32 ") for line in self.handed_over()))


class Storing(Base):
    SECRET = b"hunter2 and a long one"

    def setUp(self):
        super().setUp()
        self.allow("set-credential", "remove-credential")

    def put(self, secret, module="mail", name="work-smtp", caller=None):
        fd = raw.File(secret).open()
        try:
            return (caller or self.caller).call("SetCredential", "(ssh)", (module, name, 0), fds=[fd])
        finally:
            os.close(fd)


class Credentials(Storing):
    def test_it_is_stored(self):
        self.put(self.SECRET)
        path = f"{self.folder}/credentials/undersign-mail.work-smtp"
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(self.read("credentials/undersign-mail.work-smtp"),
                         f"encrypted:{len(self.SECRET)}\n")
        self.assertIn(f"LoadCredentialEncrypted=work-smtp:{path}\n",
                      self.read("units/undersign-runner@mail.service.d/"
                                "undersign-credential-work-smtp.conf"))
        self.put(b"another")
        self.assertEqual(self.read("credentials/undersign-mail.work-smtp"), "encrypted:7\n")
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), ["undersign-mail.work-smtp"])

    def test_the_secret_is_nowhere_else(self):
        self.put(self.SECRET)
        self.assertEqual(self.read("arguments"), "encrypt\n--name=work-smtp\n-\n-\n")
        for name in ("arguments", "environment", "daemon.log", "executor.log",
                     "credentials/undersign-mail.work-smtp"):
            self.assertNotIn("hunter2", self.read(name))
        with self.assertRaises(raw.BusError) as caught:
            self.put(b"refuse hunter2")
        self.assertEqual(caught.exception.reason, "internal")
        self.assertIn("no key here", caught.exception.text)
        self.assertNotIn("hunter2", caught.exception.text)
        self.assertNotIn("hunter2", self.read("daemon.log"))
        self.assertEqual(self.read("credentials/undersign-mail.work-smtp"),
                         f"encrypted:{len(self.SECRET)}\n")

    def test_what_it_may_come_in(self):
        for kind in ("zero", "regular", "fifo", "unsealed", "part-sealed", "path-only"):
            fd = raw.File(self.SECRET, kind).open()
            self.refused("InvalidArgument", "bad-value", "SetCredential", "(ssh)",
                         ("mail", "work-smtp", 0), fds=[fd])
            os.close(fd)
        self.refused("InvalidArgument", "bad-handle", "SetCredential", "(ssh)",
                     ("mail", "work-smtp", 0))
        with self.assertRaises(raw.BusError):
            self.put(b"")
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])
        self.assertFalse(os.path.exists(f"{self.folder}/begun"))

    def test_a_pipe_is_not_touched(self):
        """Whoever reads one waits for who writes, in the kernel."""
        read, write = os.pipe()
        os.write(write, self.SECRET)
        self.refused("InvalidArgument", "bad-value", "SetCredential", "(ssh)",
                     ("mail", "work-smtp", 0), fds=[read])
        self.assertEqual(os.read(read, 100), self.SECRET)
        os.close(read)
        os.close(write)

    def test_wherever_it_stands(self):
        fd = raw.File(self.SECRET).open()
        for at in (0, 5, len(self.SECRET)):
            os.lseek(fd, at, os.SEEK_SET)
            self.caller.call("SetCredential", "(ssh)", ("mail", "work-smtp", 0), fds=[fd])
            self.assertEqual(self.read("credentials/undersign-mail.work-smtp"),
                             f"encrypted:{len(self.SECRET)}\n")
            self.assertEqual(os.lseek(fd, 0, os.SEEK_CUR), at)
        os.close(fd)

    def test_too_large(self):
        self.put(b"x" * MIB)
        with self.assertRaises(raw.BusError) as caught:
            self.put(b"x" * (MIB + 1), name="other")
        self.assertEqual(caught.exception.reason, "too-large")
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), ["undersign-mail.work-smtp"])

    def begin(self, name, caller=None):
        """Has one encrypted by a program that holds; returns what comes of it."""
        before = self.begun()
        self.write("hold", "")
        answers = queue.Queue()
        threading.Thread(target=self.answer, args=(caller or Caller(self.address), name, answers),
                         daemon=True).start()
        world.wait_until(lambda: self.begun() > before, "it is being encrypted")
        return answers

    def begun(self):
        path = f"{self.folder}/begun"
        return os.path.getsize(path) if os.path.exists(path) else 0

    def answer(self, caller, name, answers):
        try:
            answers.put(self.put(self.SECRET, name=name, caller=caller))
        except (raw.BusError, GLib.Error) as error:
            answers.put(error.with_traceback(None))  # whose frames hold the message and its file

    def release(self):
        os.unlink(f"{self.folder}/hold")

    def test_a_slow_program_keeps_nobody_waiting(self):
        self.allow("set-credential", "halt")
        answers = self.begin("slow")
        self.caller.call("Halt", "(s)", ("now",), timeout=60)
        self.assertEqual(self.handed_over(), [f"35 ({os.getuid()}, 'now')"])
        self.assertTrue(answers.empty())
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])
        self.release()
        self.assertEqual(answers.get(timeout=60), ())
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), ["undersign-mail.slow"])

    def test_the_end_waits_for_no_program(self):
        answers = self.begin("slow")
        self.daemon.terminate()
        self.assertEqual(answers.get(timeout=60).reason, "unreachable")
        self.assertEqual(self.daemon.wait(60), 0)
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])

    def test_removed_stays_removed(self):
        """What is being encrypted does not bring back what was removed meanwhile."""
        self.put(b"old", name="smtp")
        answers = self.begin("smtp")
        self.caller.call("RemoveCredential", "(ss)", ("mail", "smtp"))
        self.release()
        self.assertEqual(answers.get(timeout=60).reason, "too-late")
        self.put(self.SECRET, name="other")
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), ["undersign-mail.other"])
        self.assertEqual(os.listdir(f"{self.folder}/units/undersign-runner@mail.service.d"), [
            "undersign-credential-other.conf"])

    def test_what_is_not_there_yet_is_removed(self):
        answers = self.begin("smtp")
        self.caller.call("RemoveCredential", "(ss)", ("mail", "smtp"))
        self.assertEqual(answers.get(timeout=60).reason, "too-late")
        self.refused("NotFound", "not-found", "RemoveCredential", "(ss)", ("mail", "smtp"))
        self.release()
        self.put(self.SECRET, name="other")
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), ["undersign-mail.other"])

    def test_the_later_one_counts(self):
        another = self.begin("another")
        first, later = self.begin("smtp"), self.begin("smtp")
        self.assertEqual(first.get(timeout=60).reason, "too-late")
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])
        self.release()
        self.assertEqual((later.get(timeout=60), another.get(timeout=60)), ((), ()))
        self.assertEqual(sorted(os.listdir(f"{self.folder}/credentials")),
                         ["undersign-mail.another", "undersign-mail.smtp"])

    def test_a_lease_keeps_nobody_waiting(self):
        """Who has a lease on a memfd is asked for it by whoever opens it, and may take his time."""
        self.allow("set-credential")
        self.addCleanup(signal.signal, signal.SIGIO, signal.signal(signal.SIGIO, signal.SIG_IGN))
        fd = raw.File(self.SECRET).open()
        own = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)
        fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        with self.assertRaises(raw.BusError) as caught:
            self.caller.call("SetCredential", "(ssh)", ("mail", "leased", 0), fds=[fd])
        self.assertEqual(caught.exception.name, raw.ERROR + "Unavailable")
        self.assertNotEqual(fcntl.fcntl(own, fcntl.F_GETLEASE), fcntl.F_UNLCK)
        os.close(own)
        os.close(fd)
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])

    def test_so_many_are_encrypted(self):
        answers = [self.begin(f"s{i}") for i in range(4)]
        with self.assertRaises(raw.BusError) as caught:
            self.put(self.SECRET, name="s4")
        self.assertEqual(caught.exception.name, raw.ERROR + "LimitExceeded")
        self.assertIn("4 secrets", caught.exception.text)
        self.release()
        for answer in answers:
            self.assertEqual(answer.get(timeout=60), ())
        self.put(self.SECRET)
        self.assertEqual(len(os.listdir(f"{self.folder}/credentials")), 5)

    def test_no_such_module(self):
        for module in ("http", "mail.so"):
            with self.assertRaises(raw.BusError):
                self.put(self.SECRET, module)
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])

    def test_it_is_removed(self):
        self.put(self.SECRET)
        self.caller.call("RemoveCredential", "(ss)", ("mail", "work-smtp"))
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])
        self.assertEqual(os.listdir(f"{self.folder}/units"), [])
        self.refused("NotFound", "not-found", "RemoveCredential", "(ss)", ("mail", "work-smtp"))

    def test_drop_ins_of_others_stay(self):
        self.put(self.SECRET)
        place = f"{self.folder}/units/undersign-runner@mail.service.d"
        with open(f"{place}/site.conf", "w", encoding="ascii"):
            pass
        self.caller.call("RemoveCredential", "(ss)", ("mail", "work-smtp"))
        self.assertEqual(os.listdir(place), ["site.conf"])

    def test_no_program(self):
        os.unlink(f"{self.folder}/encrypt")
        with self.assertRaises(raw.BusError) as caught:
            self.put(self.SECRET)
        self.assertEqual(caught.exception.name, raw.ERROR + "Unavailable")
        self.assertIn("No such file", caught.exception.text)


class CredentialLate(Storing):
    encrypt_seconds = 2

    def test_a_program_that_never_ends(self):
        self.write("hold", "")
        with self.assertRaises(raw.BusError) as caught:
            self.put(self.SECRET)
        self.assertIn("took too long", caught.exception.text)
        self.assertEqual(os.listdir(f"{self.folder}/credentials"), [])


class Idle(Base):
    idle_seconds = 2

    def start_daemon(self, ready):
        """Not waited for: it may have ended before it is seen."""
        return super().start_daemon(lambda: True)

    def test_it_ends(self):
        self.daemon.wait(120)
        self.assertEqual(self.daemon.returncode, 0)
        self.assertFalse(self.owned(NAME))

    def test_not_while_an_enrolment_is_open(self):
        self.allow("enroll")
        self.begin_while_it_is_there()
        time.sleep(2 * self.idle_seconds + 0.5)
        self.assertIsNone(self.daemon.poll())

    def begin_while_it_is_there(self):
        end = time.monotonic() + 120
        while True:
            try:
                return self.caller.call("BeginEnroll", *CALLS["BeginEnroll"])
            except raw.BusError as error:
                if "ServiceUnknown" not in error.name or time.monotonic() > end:
                    raise
            if self.daemon.poll() is not None:
                self.daemon = self.start_daemon(None)
            time.sleep(0.02)


if __name__ == "__main__":
    del sys.argv[1:3]
    tap.main("admin")
