#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersignctl against a service that answers whatever a test wants: what it sends, shows, exits with.

usage: test-ctl.py CTL [TEST…]   (the program of this folder)
"""

import base64
import hashlib
import json
import os
import pickle
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: E402
from cryptography.hazmat.primitives.serialization import (  # noqa: E402
    Encoding, PublicFormat)

from undersign_test import private_bus, shapes, tap  # noqa: E402

CTL = os.path.abspath(sys.argv[1])
AUDIT_TYPE = b"application/vnd.undersign.audit.v1+json"
CHECKPOINT_TYPE = b"application/vnd.undersign.checkpoint.v1+json"
KEY_TYPE = b"application/vnd.undersign.key.v1+json"
LEDGER = "7" * 32


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


VERBS = ("status", "policy check", "policy reload", "audit show", "audit verify",
         "audit checkpoint", "audit export", "audit prune", "stats", "halt", "resume",
         "resolve", "passkey list", "passkey revoke", "credential set", "credential remove",
         "agent add", "agent login", "agent shares")


PAGE = shapes.Shapes()


def verb_of(arguments):
    return next(verb for verb in VERBS if list(arguments[:verb.count(" ") + 1]) == verb.split())


def canonical(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def pae(kind, body):
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)


def digest(entry):
    return hashlib.sha256(pae(AUDIT_TYPE, entry)).digest()


class HostKey:
    def __init__(self, seed):
        self.key = ed25519.Ed25519PrivateKey.from_private_bytes(seed * 32)
        public = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public = {"algorithm": "EdDSA", "format": "undersign.key/1",
                       "public_key": b64(public)}
        self.id = "sha256:" + hashlib.sha256(pae(KEY_TYPE, canonical(self.public))).hexdigest()

    def checkpoint(self, entry, ledger=LEDGER, **changes):
        """Signed, of an entry of chain()."""
        body = canonical({"format": "undersign.checkpoint/1", "head": "sha256:" + entry[2].hex(),
                          "host": "5" * 32, "key": self.id, "ledger": ledger,
                          "seq": str(entry[0]), "time": "2026-11-30T10:00:00Z"} | changes)
        return canonical({"body": body.decode(), "format": "undersign.signed/1",
                          "key": self.public, "signature": b64(self.key.sign(
                              pae(CHECKPOINT_TYPE, body))), "type": CHECKPOINT_TYPE.decode()})


def chain(*details, event="test", source="executor"):
    """A well-formed log, as ReadAudit gives it; an entry may be (event, source, details)."""
    entries, previous = [], bytes(32)
    for number, content in enumerate(details, 1):
        its_event, its_source, its_details = (content if isinstance(content, tuple)
                                              else (event, source, content))
        entry = canonical({
            "details": its_details, "event": its_event, "format": "undersign.audit/1",
            "previous": "sha256:" + previous.hex(), "seq": str(number), "source": its_source,
            "time": "2026-11-30T09:00:00Z"})
        previous = digest(entry)
        entries.append((number, entry, previous))
    return entries


class Base(private_bus.BusTest):
    uid = os.getuid()
    service = True

    def setUp(self):
        super().setUp()
        for name in ("data", "config", "modules"):
            os.mkdir(f"{self.folder}/{name}")
        self.reply()
        if self.service:
            self.start("admin", ["/usr/bin/python3", "-B", os.path.join(HERE, "admin.py"),
                                 self.address, self.folder],
                       lambda: self.owned("org.undersign1.Admin"))

    def reply(self, **replies):
        with open(f"{self.folder}/replies.new", "wb") as file:
            pickle.dump(replies, file)
        os.rename(f"{self.folder}/replies.new", f"{self.folder}/replies")

    def calls(self):
        found = []
        try:
            with open(f"{self.folder}/calls", "rb") as log:
                while True:
                    found.append(pickle.load(log))
        except (EOFError, FileNotFoundError):
            return found

    def ctl(self, *arguments, text="", status=0):
        done = subprocess.run([CTL, self.address, str(self.uid), self.folder, *arguments],
                              input=text.encode(), capture_output=True, check=False, timeout=120)
        output, errors = done.stdout.decode(), done.stderr.decode()
        self.assertNotIn("Sanitizer", errors)
        self.assertEqual(done.returncode, status, output + errors)
        self.errors = errors
        return output

    def json(self, *arguments, text="", status=0):
        output = self.ctl(*arguments, "--json", text=text, status=status)
        self.assertEqual(self.errors, "")
        found = json.loads(output)
        heading = "error" if "error" in found else verb_of(arguments)
        self.assertEqual(PAGE.faults(f"undersignctl {heading}", found), [])
        self.assertEqual(found.pop("version"), "1")
        return found


class Log(Base):
    def serve(self, entries):
        """Two pages and the end."""
        self.reply(ReadAudit=[("(a(tayay))", (entries[:2],)), ("(a(tayay))", (entries[2:],)),
                              ("(a(tayay))", ([],))] if len(entries) > 2
                   else [("(a(tayay))", (entries,)), ("(a(tayay))", ([],))])


class Usage(Base):
    service = False

    def test_help(self):
        text = self.ctl("--help")
        for line in re.findall("^  .*$", text, re.MULTILINE):
            self.assertRegex(line, r"^.{34} \S")
        for verb in VERBS:
            self.assertIn(f"  {verb} ", text)
            own = self.ctl(*verb.split(), "--help")
            self.assertIn("--json", own)
            self.assertIn(f"undersignctl {verb}", own)
        for group in {verb.split()[0] for verb in VERBS if " " in verb}:
            own = self.ctl(group, "--help")
            for verb in VERBS:
                self.assertEqual(verb.startswith(f"{group} "), f"  {verb} " in own, own)

    def test_wrong_usage(self):
        for arguments in ((), ("frobnicate",), ("policy",), ("policy", "frobnicate"), ("halt",),
                          ("halt", "a", "b"), ("resolve", "x", "done"), ("status", "x"),
                          ("status", "--frobnicate"), ("credential", "set", "mail"),
                          ("audit", "show", "--from", "x")):
            self.ctl(*arguments, status=126)
            self.assertTrue(self.errors.startswith("undersignctl: "), self.errors)
            self.assertIn("error", self.json(*arguments, status=126))
        for arguments, reason, text in (
                (("frobnicate",), "unknown-argument", "frobnicate"),
                (("policy",), "missing-argument", "policy"),
                (("policy", "frobnicate"), "unknown-argument", "frobnicate"),
                (("halt",), "missing-argument", "halt WHY"),
                (("halt", "a", "bee"), "unknown-argument", '"bee"'),
                (("status", "--frobnicate"), "unknown-option", "frobnicate"),
                (("audit", "show", "--from", "six"), "bad-value", "six")):
            found = self.json(*arguments, status=126)
            self.assertEqual(found["reason"], reason, found)
            self.assertIn(text, found["text"])

    def test_values_that_cannot_be(self):
        for arguments in (("resolve", "0" * 31, "done", "x"), ("resolve", "0" * 32, "maybe", "x"),
                          ("passkey", "revoke", "a="), ("passkey", "revoke", ""),
                          ("audit", "show", "--from", "0"), ("audit", "verify", "--head", "x")):
            found = self.json(*arguments, status=126)
            self.assertEqual(found["error"], "InvalidArgument")
            wrong = [word for word in arguments if word in found["text"]]
            self.assertTrue(wrong, found)

    def test_no_service(self):
        for arguments in (("status",), ("halt", "x"), ("policy", "reload"), ("audit", "verify"),
                          ("passkey", "list"), ("credential", "remove", "mail", "x")):
            self.assertEqual(self.json(*arguments, status=127)["reason"], "unreachable")


class Full(Log):
    """What is printed goes to a full disk: that is said on standard error, and the end is no 0."""

    def full(self, *arguments):
        with open("/dev/full", "wb") as full:
            return subprocess.run([CTL, self.address, str(self.uid), self.folder, *arguments],
                                  stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False, timeout=120)

    def test_all_that_is_printed(self):
        key = {"credential": ("ay", b"\1"), "user": ("s", "alice"), "uid": ("u", 1000),
               "kind": ("s", "software"), "label": ("s", "x"), "rp": ("s", "undersign:00"),
               "enrolled": ("x", 0), "active": ("b", True), "key": ("s", "sha256:00")}
        entries = chain({"name": "a"}, {"name": "b" * 70000}, {"name": "c"})
        signed = HostKey(b"k").checkpoint(entries[-1])
        replies = {"GetCheckpoint": ("(ay)", (signed,)), "ListPasskeys": ("(aa{sv})", ([key],)),
                   "Status": ("(a{sv})", ({"running": ("b", True), "policy": ("s", "")},)),
                   "Halt": ("()", ())}
        for words in (("status",), ("halt", "x"), ("passkey", "list"), ("policy", "check"),
                      ("audit", "show"), ("audit", "checkpoint"), ("audit", "export"),
                      ("audit", "verify"), ("audit", "--help"), ("--help",), ("--version",),
                      ("status", "--help")):
            for more in ((), ("--json",)) if words[-1] not in ("--help", "--version") else ((),):
                self.reply(ReadAudit=[("(a(tayay))", (entries,)), ("(a(tayay))", ([],))], **replies)
                with self.subTest(words=(*words, *more)):
                    done = self.full(*words, *more)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertEqual(done.stderr.splitlines()[-1], "undersignctl: internal: cannot "
                                     "write the output: No space left on device")

    def test_what_was_refused_stays_refused(self):
        done = self.full("frobnicate")
        self.assertEqual(done.returncode, 126)
        self.assertNotIn("cannot write", done.stderr)
        done = self.full("frobnicate", "--json")
        self.assertEqual(done.returncode, 126)
        self.assertIn("cannot write", done.stderr)


class AnotherOwner(Base):
    uid = os.getuid() + 1

    def test_the_name_must_be_roots(self):
        self.reply(Status=("(a{sv})", ({"running": ("b", True)},)))
        self.assertEqual(self.json("status", status=127)["reason"], "bad-peer")
        self.assertEqual(self.calls(), [])


class Verbs(Base):
    def test_refused(self):
        self.reply(Halt=(None, ("org.undersign1.Error.Refused", "denied-by-rule: not you\x1b[31m")))
        self.assertEqual(self.json("halt", "x", status=1),
                         {"error": "Refused", "reason": "denied-by-rule", "text": "not you\x1b[31m"})
        self.ctl("halt", "x", status=1)
        self.assertEqual(self.errors, "undersignctl: denied-by-rule: not you\\u{001B}[31m\n")

    def test_simple_verbs(self):
        nothing = ("()", ())
        self.reply(Halt=nothing, Resume=nothing, Resolve=nothing, RevokePasskey=nothing,
                   RemoveCredential=nothing)
        for arguments, call in (
                (("halt", "a b"), ("Halt", ["a b"], True)),
                (("resume", "c"), ("Resume", ["c"], True)),
                (("resolve", "a" * 32, "failed", "n"), ("Resolve", ["a" * 32, "failed", "n"], True)),
                (("passkey", "revoke", "AQL_"), ("RevokePasskey", [b"\1\2\xff"], True)),
                (("credential", "remove", "mail", "x"), ("RemoveCredential", ["mail", "x"], True))):
            self.assertNotEqual(self.ctl(*arguments), "")
            self.assertEqual(self.json(*arguments), {})
            self.assertEqual(self.calls()[-2:], [call, call])

    def test_status(self):
        self.reply(Status=("(a{sv})", ({
            "running": ("b", False), "halted": ("s", "halted: by root: tests"),
            "policy": ("s", "a:1: x\nb:2: y\x1b"), "actions": ("u", 3), "agents": ("u", 2),
            "rules": ("u", 5), "passkeys": ("u", 1), "requests": ("t", 1 << 60),
            "audit": ("t", 17), "head": ("s", "sha256:00")},)))
        self.assertEqual(self.json("status"), {
            "running": False, "halted": "halted: by root: tests", "policy": "a:1: x\nb:2: y\x1b",
            "actions": "3", "agents": "2", "rules": "5", "passkeys": "1",
            "requests": str(1 << 60), "audit": "17", "head": "sha256:00"})
        text = self.ctl("status")
        self.assertTrue(text.startswith(
            "nothing can be executed: execution is halted and policy is invalid\n"), text)
        self.assertIn("  policy fault: b:2: y\\u{001B}\n", text)
        for running, policy, line in (
                (True, "", "execution is running\n"),
                (True, "a:1: x", "nothing can be executed: policy is invalid\n"),
                (False, "", "nothing can be executed: execution is halted\n")):
            self.reply(Status=("(a{sv})", ({"running": ("b", running),
                                            "policy": ("s", policy)},)))
            self.assertTrue(self.ctl("status").startswith(line), line)

    def test_passkeys(self):
        def key(user, credential, active):
            return {"credential": ("ay", credential), "user": ("s", user), "uid": ("u", 1000),
                    "kind": ("s", "software"), "label": ("s", "desk\u202e"),
                    "rp": ("s", "undersign:00"), "enrolled": ("x", 0), "active": ("b", active),
                    "key": ("s", f"sha256:{credential.hex()}")}

        self.reply(ListPasskeys=("(aa{sv})", ([key("hr.jones", b"\1\2\xff", True),
                                               key("alice", b"\3", False)],)))
        found = self.json("passkey", "list")["passkeys"]
        self.assertEqual([entry["credential"] for entry in found], ["AQL_", "Aw"])
        self.assertEqual(found[0]["enrolled"], "1970-01-01T00:00:00Z")
        self.assertEqual([entry["active"] for entry in found], [True, False])
        self.assertEqual([entry["key"] for entry in found], ["sha256:0102ff", "sha256:03"])
        self.assertEqual(self.json("passkey", "list", "--user", "alice"), {"passkeys": found[1:]})
        text = self.ctl("passkey", "list")
        self.assertIn("desk\\u{202E}", text)
        self.assertIn("  public key: sha256:0102ff\n", text)
        self.assertNotIn("\u202e", text)
        incomplete = key("x", b"\1", True)
        for member in list(incomplete):
            less = {name: value for name, value in incomplete.items() if name != member}
            self.reply(ListPasskeys=("(aa{sv})", ([less],)))
            self.json("passkey", "list", status=127)

    def test_credential(self):
        self.reply(SetCredential=("()", ()))
        for arguments, text, sent in (((), "hunter2\n", b"hunter2"), ((), "a\n\n", b"a\n"),
                                      (("--keep-newline",), "hunter2\n", b"hunter2\n"),
                                      ((), "x" * 70000, b"x" * 70000)):
            self.json("credential", "set", "mail", "smtp", *arguments, text=text)
            self.assertEqual(self.calls()[-1], ("SetCredential", ["mail", "smtp", sent], True))
        for text in ("", "\n"):
            self.assertEqual(self.json("credential", "set", "mail", "smtp", text=text, status=1)
                             ["error"], "InvalidArgument")


class Policy(Base):
    service = False

    def rule(self, text):
        os.makedirs(f"{self.folder}/config/rules", exist_ok=True)
        self.write("config/rules/x.rule", text, 0o644)

    def test_empty(self):
        self.assertEqual(self.json("policy", "check"),
                         {"valid": True, "actions": "0", "agents": "0", "rules": "0", "notes": []})
        os.mkdir(f"{self.folder}/config/rule")
        found = self.json("policy", "check", f"{self.folder}/config", status=1)
        self.assertIn("none of the folders actions, agents and rules", found["text"])
        os.rename(f"{self.folder}/config/rule", f"{self.folder}/config/rules")
        self.assertIn("valid: 0 actions", self.ctl("policy", "check", f"{self.folder}/config"))
        self.json("policy", "check", f"{self.folder}/config/rules", status=1)

    def test_notes(self):
        for folder in ("modules", "actions"):
            os.mkdir(f"{self.folder}/config/{folder}")
        self.write("config/modules/m.module", "[Module]\nSummary=S\n", 0o644)
        self.write("config/actions/x.y.action",
                   "[Action]\nSummary=S\n[Executor]\nModule=m\n", 0o644)
        found = self.json("policy", "check", f"{self.folder}/config")["notes"]
        self.assertEqual(found, ["x.y: no rule is about it, so it is always denied"])
        for name in ("undersign.conf", "y.rule", "x\x1b"):
            self.write(f"config/{name}", "", 0o644)
        notes = self.json("policy", "check", f"{self.folder}/config")["notes"]
        self.assertEqual(notes, [*found, "not read: 'x\\x1b'", "not read: 'y.rule'"])
        text = self.ctl("policy", "check", f"{self.folder}/config")
        for note in notes:
            self.assertIn(f"note: {note}\n", text)

    def test_faults(self):
        self.rule("[Rule x]\nDecision=maybe\nFrob\x1bnicate=1\n")
        for arguments in (("policy", "check"), ("policy", "check", f"{self.folder}/config")):
            found = self.json(*arguments, status=1)
            self.assertEqual(found["valid"], False)
            self.assertTrue(all("x.rule:" in fault for fault in found["faults"]), found)
            text = self.ctl(*arguments, status=1)
            self.assertIn("x.rule:3:", text)
            self.assertNotIn("\x1b", text)

    def test_what_the_executor_cannot_read(self):
        self.rule("[Rule x]\nAgents=*\nActions=*\nDecision=deny\n")
        path = f"{self.folder}/config/rules"
        for name, mode in ((f"{path}/x.rule", 0o600), (path, 0o700)):
            good = os.stat(name).st_mode
            os.chmod(name, mode)
            text = self.ctl("policy", "check", status=1)
            self.assertIn(f"{name}: undersign-executor cannot read it", text)
            os.chmod(name, good)
        self.ctl("policy", "check")

    def test_no_folder(self):
        for path, text in ((f"{self.folder}/nowhere", "No such file or directory"),
                           ("/dev/null/x", "Not a directory"), ("/dev/null", "is not a folder")):
            said = self.json("policy", "check", path, status=1)["text"]
            self.assertTrue(path in said and text in said, said)

    def test_users_of_another_host(self):
        os.mkdir(f"{self.folder}/config/agents")
        self.write("config/agents/a.agent",
                   "[Agent]\nSummary=A\nUser=no-such-agent-here\nOwner=no-such-person-here\n", 0o644)
        self.json("policy", "check", status=1)
        self.assertEqual(self.json("policy", "check", "--no-users", f"{self.folder}/config")
                         ["agents"], "1")


class Reload(Base):
    def test_reload(self):
        self.reply(ReloadPolicy=("(s)", ("",)))
        self.assertEqual(self.json("policy", "reload"), {})
        self.reply(ReloadPolicy=("(s)", ("rules/a.rule:3: no such key\nrules/b.rule:1: x",)))
        self.assertEqual(self.json("policy", "reload", status=1)["faults"],
                         ["rules/a.rule:3: no such key", "rules/b.rule:1: x"])


class Audit(Log):
    def test_whole(self):
        entries = chain({"a": "1"}, {"b": "\u00e4"}, {"c": "3"})
        self.serve(entries)
        head = "sha256:" + entries[-1][2].hex()
        self.assertEqual(self.json("audit", "verify"),
                         {"valid": True, "entries": "3", "head": head})
        self.assertEqual([call[1] for call in self.calls()], [[1, 100], [3, 100], [4, 100]])

    def test_a_head_from_before(self):
        entries = chain({"a": "1"}, {"b": "2"})
        self.serve(entries)
        self.assertTrue(self.json("audit", "verify", "--head", "sha256:" + entries[0][2].hex()))

    def test_a_head_that_is_gone(self):
        self.serve(chain({"a": "1"}, {"b": "2"}))
        other = "sha256:" + chain({"a": "1"}, {"b": "3"})[1][2].hex()
        self.assertIn("cut or replaced",
                      self.json("audit", "verify", "--head", other, status=1)["text"])

    def broken(self, change, text):
        entries = chain({"a": "1"}, {"b": "2"}, {"c": "3"})
        change(entries)
        self.serve(entries)
        found = self.json("audit", "verify", status=1)
        self.assertEqual(found["error"], "Refused")
        self.assertIn(text, found["text"])

    def test_a_changed_entry(self):
        def change(entries):
            number, entry, known = entries[1]
            entries[1] = (number, entry.replace(b'"2"', b'"9"', 1), known)
        self.broken(change, "entry 2 ")

    def test_a_changed_entry_with_its_hash(self):
        def change(entries):
            number, entry, _ = entries[0]
            entry = entry.replace(b'"a"', b'"z"')
            entries[0] = (number, entry, digest(entry))
        self.broken(change, "entry 2 does not follow")

    def test_a_missing_entry(self):
        self.broken(lambda entries: entries.pop(1), "entry 2 is missing")

    def test_swapped_entries(self):
        self.broken(lambda entries: entries.insert(0, entries.pop(1)), "entry 3 is missing")

    def test_a_renumbered_entry(self):
        def change(entries):
            number, entry, _ = entries[0]
            entry = entry.replace(b'"seq":"1"', b'"seq":"5"')
            entries[0] = (number, entry, digest(entry))
        self.broken(change, "stands entry 2")

    def test_a_short_hash(self):
        def change(entries):
            entries[0] = (*entries[0][:2], entries[0][2][:31])
        self.broken(change, "entry 1 is missing")

    def test_no_json(self):
        entries = [(1, b"{", digest(b"{"))]
        self.serve(entries)
        self.json("audit", "verify", status=1)

    def test_show(self):
        self.serve(chain({"note": "a\nb\x1b[2J\u202e", "deep": {"x": ["y"]}}, {"b": "2"}))
        text = self.ctl("audit", "show")
        self.assertIn("1  2026-11-30T09:00:00Z  executor  test\n", text)
        self.assertIn("  note: a\\u{000A}b\\u{001B}[2J\\u{202E}\n", text)
        self.assertIn("  deep/x/0: y\n", text)
        self.assertNotIn("\x1b", text)

    def test_show_some(self):
        self.serve(chain({"a": "1"}, {"b": "2"}))
        lines = self.ctl("audit", "show", "--count", "1", "--json").splitlines()
        self.assertEqual([json.loads(line)["seq"] for line in lines], ["1"])


CREATED = ("created", "executor", {"ledger": LEDGER})
KEY, OTHER = HostKey(b"k"), HostKey(b"o")


class Evidence(Log):
    """What is kept elsewhere, and what a log is held against."""

    def file(self, name, *lines):
        with open(f"{self.folder}/{name}", "wb") as file:
            file.write(b"".join(line + b"\n" for line in lines))
        return f"{self.folder}/{name}"

    def export(self, name, entries, *tail):
        return self.file(name, *[entry for _, entry, _ in entries], *tail)

    def refused(self, reason, *arguments):
        found = self.json("audit", "verify", *arguments, status=1)
        self.assertEqual(found["reason"], reason, found)
        return found["text"]

    def test_checkpoint_is_passed_on(self):
        entries = chain(CREATED)
        signed = KEY.checkpoint(entries[0])
        self.reply(GetCheckpoint=("(ay)", (signed,)))
        self.assertEqual(self.ctl("audit", "checkpoint"), signed.decode() + "\n")
        for wrong in (signed.replace(b"seq", b"sep"), b"{}", b"",
                      signed.replace(b'"signature":"', b'"signature":"A')):
            self.reply(GetCheckpoint=("(ay)", (wrong,)))
            self.json("audit", "checkpoint", status=1)

    def test_against(self):
        entries = chain(CREATED, {"a": "1"}, {"b": "2"})
        good = self.file("good", KEY.checkpoint(entries[1]))
        self.serve(entries)
        found = self.json("audit", "verify", "--against", good)
        self.assertEqual([(c["seq"], c["key"], c["key-given"]) for c in found["checkpoints"]],
                         [("2", KEY.id, False)])
        self.serve(entries)
        self.assertIn("not compared", self.ctl("audit", "verify", "--against", good))
        for given in (KEY.id, self.file("key", canonical(KEY.public))):
            self.serve(entries)
            self.assertNotIn("not compared", self.ctl("audit", "verify", "--against", good, "--key",
                                                      given))

    def test_against_what_does_not_hold(self):
        entries, forged = chain(CREATED, {"a": "1"}, {"b": "2"}), chain(CREATED, {"a": "2"})
        signed = KEY.checkpoint(entries[1])
        for reason, checkpoint, *more in (
                ("checkpoint", KEY.checkpoint(forged[1])),
                ("checkpoint", KEY.checkpoint((9, b"", bytes(32)))),
                ("checkpoint", KEY.checkpoint(entries[1], ledger="8" * 32)),
                ("bad-signed", signed.replace(b'":"', b'": "', 1)),
                ("bad-signed", signed + b"\n"),
                ("other-key", signed, "--key", OTHER.id),
                ("signature", signed.replace(b'\\"seq\\":\\"2\\"', b'\\"seq\\":\\"3\\"')),
                ("signature", signed.replace(KEY.public["public_key"].encode(),
                                             OTHER.public["public_key"].encode())),
                ("bad-signed", KEY.checkpoint(entries[1], key=OTHER.id)),
                ("bad-signed", KEY.checkpoint(entries[1], seq="02")),
                ("bad-signed", KEY.checkpoint(entries[1], more="")),
                ("bad-json", signed[:-1])):
            self.serve(entries)
            text = self.refused(reason, "--against", self.file("cp", checkpoint), *more)
            self.assertTrue(text.startswith(f"{self.folder}/cp: "), text)

    def test_keys_that_are_none(self):
        self.serve(chain(CREATED))
        for word in ("sha256:" + "A" * 64, "/nonexistent", self.file("bad", b"{}"),
                     self.file("number", b'{"algorithm":1}')):
            self.assertIn(word, self.json("audit", "verify", "--key", word, status=1)["text"])

    def test_ids_that_are_no_files(self):
        """Nor is one that is not whole judged as the name of a file."""
        self.serve(chain(CREATED))
        self.assertIn("64 lower-case hex digits, not \"sha256:ab\"",
                      self.refused("bad-value", "--key", "sha256:ab"))
        for option in ("--against", "--file"):
            text = self.refused("bad-value", option, KEY.id)
            self.assertIn(KEY.id, text)
            self.assertIn("a file is wanted here", text)

    def test_export_and_file(self):
        entries = chain(CREATED, {"a": "1"}, {"b": "2"}, {"later": "3"})
        signed = KEY.checkpoint(entries[2])
        self.serve(entries)
        with open(f"{self.folder}/replies", "rb") as file:
            self.reply(GetCheckpoint=("(ay)", (signed,)), **pickle.load(file))
        text = self.ctl("audit", "export")
        self.assertEqual(text.encode(), b"".join(
            line + b"\n" for line in [entry for _, entry, _ in entries[:3]] + [signed]))
        self.serve(chain({}))      # whatever the service says does not count
        found = self.json("audit", "verify", "--file", self.file("x", *text.encode().splitlines()),
                          "--key", KEY.id)
        self.assertEqual(found["entries"], "3")
        self.assertEqual(found["checkpoints"][0]["key"], KEY.id)
        self.assertEqual([call[0] for call in self.calls()].count("ReadAudit"), 2)

    def test_files_that_do_not_hold(self):
        entries = chain(CREATED, {"a": "1"}, {"b": "2"})
        end = KEY.checkpoint(entries[2])
        lines = [entry for _, entry, _ in entries]
        for reason, content in (
                ("chain", [lines[0], lines[2]]), ("chain", lines[1:]), ("chain", [b""]),
                ("chain", []), ("chain", [lines[0], b'{"details":{}}']),
                ("chain", [lines[0], lines[1].replace(b'"a":"1"', b'"a": "1"')]),
                ("chain", [lines[0], lines[1].replace(b'"executor"', b'"nobody"'), lines[2]]),
                ("chain", [lines[0] + b" " * (1 << 20)]),
                ("checkpoint", [lines[0], lines[1], end]), ("checkpoint", [end, *lines]),
                ("signature", [*lines, end.replace(b'"signature":"', b'"signature":"A')[:-1]
                               + b"}"][:3] + [KEY.checkpoint(entries[2]).replace(
                                   b"2026-11-30T10", b"2026-11-30T11")])):
            text = self.refused(reason, "--file", self.file("x", *content))
            self.assertTrue(text.startswith(f"{self.folder}/x: "), text)
        with open(f"{self.folder}/x", "wb") as file:
            file.write(lines[0] + b"\n" + lines[1][:-5])
        self.assertIn(f"{self.folder}/x: ", self.refused("chain", "--file", f"{self.folder}/x"))
        self.assertIn("cannot open /nonexistent: ", self.refused("bad-value", "--file", "/nonexistent"))

    def pruned(self, through):
        """A log of which the first entries are gone, and those."""
        whole = chain(CREATED, {"a": "1"}, {"b": "2"}, {"c": "3"})
        head = "sha256:" + whole[through - 1][2].hex()
        whole = chain(CREATED, {"a": "1"}, {"b": "2"}, {"c": "3"}, ("pruned", "admin", {
            "before": "2026-11-30T09:00:00Z", "by": "0", "first": "1", "head": head,
            "ledger": LEDGER, "through": str(through)}))
        return whole[:through], whole[through:]

    def test_a_pruned_log(self):
        old, left = self.pruned(2)
        at_the_cut = self.file("cut", KEY.checkpoint(old[1]))
        later = self.file("later", KEY.checkpoint(left[1]))
        self.serve(left)
        found = self.json("audit", "verify", "--against", at_the_cut, "--against", later)
        self.assertEqual((found["first"], found["entries"]), ("3", "3"))
        self.serve(left)
        self.refused("pruned", "--against", self.file("old", KEY.checkpoint(old[0])))

    def test_an_export_from_before_joins(self):
        old, left = self.pruned(2)
        first = self.export("one", old + left[:1], KEY.checkpoint(left[0]))
        second = self.export("two", left, KEY.checkpoint(left[2]))
        checkpoint = self.file("old", KEY.checkpoint(old[0]))
        self.json("audit", "verify", "--file", first, "--file", second, "--against", checkpoint,
                  "--key", KEY.id)
        short = self.export("short", old[:1])
        self.assertIn("does not reach", self.refused("chain", "--file", short, "--file", second))
        foreign = self.export("foreign", chain(CREATED, {"x": "1"}, {"y": "1"}))
        self.refused("chain", "--file", foreign, "--file", second)

    def test_exports_that_tell_otherwise_where_they_overlap(self):
        """Whoever writes a log anew writes what came after the cut anew: each file is whole."""
        old, left = self.pruned(2)
        told = [json.loads(entry) for _, entry, _ in old + left[:2]]
        told[-1]["details"] = {"c": "not this"}
        line = canonical(told[-1])
        end = KEY.checkpoint((4, line, digest(line)))
        other = self.file("other", *[entry for _, entry, _ in old + left[:1]], line, end)
        self.json("audit", "verify", "--file", other, "--key", KEY.id)
        second = self.export("two", left, KEY.checkpoint(left[2]))
        self.refused("checkpoint", "--file", other, "--file", second)
        other = self.file("other", *[entry for _, entry, _ in old + left[:1]], line)
        self.assertIn("entry 4", self.refused("chain", "--file", other, "--file", second))
        whole, part = self.export("whole", old + left), self.export("part", left[:2])
        self.json("audit", "verify", "--file", whole, "--file", self.export("same", left))
        self.assertIn("ends before entry 5", self.refused("chain", "--file", whole, "--file", part))

    def test_a_log_of_no_ledger(self):
        """A checkpoint is of one ledger; what does not say which it is goes through none."""
        for first in ({}, ("created", "executor", {}), ("created", "executor", {"ledger": "8"})):
            entries = chain(first, {"a": "1"})
            self.serve(entries)
            self.refused("checkpoint", "--against", self.file("cp", KEY.checkpoint(entries[1])))

    def test_a_log_that_was_cut(self):
        _, left = self.pruned(2)
        self.serve(left[:2])
        self.assertIn("begins with entry 3", self.refused("chain"))
        for change in ({"head": "sha256:" + "0" * 64}, {"through": "1"}, {"ledger": "8"}):
            old = chain(CREATED, {"a": "1"}, {"b": "2"})
            details = {"first": "1", "ledger": LEDGER, "through": "2",
                       "head": "sha256:" + old[1][2].hex()} | change
            self.serve(chain(CREATED, {"a": "1"}, {"b": "2"}, ("pruned", "admin", details))[2:])
            self.refused("chain")

    def test_stats(self):
        def answer(name, waited, event="approved"):
            return (event, "signed", {"name": name, "by": name, "waited": str(waited)})
        entries = chain(CREATED, *[answer("hr.kim", n) for n in (2, 60, 3, 4)],
                        answer("it.lead", 90), answer("it.lead", 30, "denied"),
                        answer("alice", 1), ("expired", "broker", {}),
                        ("denied", "broker", {"by": "alice", "waited": "1"}))
        self.serve(entries)
        found = self.json("stats")
        self.assertEqual(found["approvers"], [
            {"answers": "1", "median": "1", "name": "alice", "quick": False},
            {"answers": "4", "median": "3", "name": "hr.kim", "quick": True},
            {"answers": "2", "median": "30", "name": "it.lead", "quick": False}])
        self.assertEqual((found["events"]["denied"], found["events"]["expired"]), ("2", "1"))
        text = self.ctl("stats", "--file", self.export("x", entries))
        self.assertEqual(text.count("warning: half of hr.kim's answers came within 3 s"), 1)
        self.assertEqual(text.count("warning"), 1)
        found = self.json("stats", "--since=2026-12-01", "--file", f"{self.folder}/x")
        self.assertEqual(found["approvers"], [])
        self.assertIn('"x"', self.json("stats", "--since=x", status=126)["text"])
        self.refused("chain", "--file", self.export("y", entries[1:]))

    def test_prune(self):
        self.reply(PruneAudit=[("(tb)", (20000, True)), ("(tb)", (5, False))])
        self.assertEqual(self.json("audit", "prune", "--before=2026-01-01"), {"removed": "20005"})
        self.assertEqual([call[:2] for call in self.calls()][:1],
                         [("PruneAudit", ["2026-01-01T00:00:00Z"])])
        for arguments in ((), ("--before=yesterday",), ("--before=2026-13-01",)):
            self.json("audit", "prune", *arguments, status=126)


if __name__ == "__main__":
    del sys.argv[1]
    os.umask(0o022)     # the files of policy are for others to read
    tap.main("ctl")
