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
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import private_bus, tap  # noqa: E402

CTL = os.path.abspath(sys.argv[1])
AUDIT_TYPE = b"application/vnd.undersign.audit.v1+json"
VERBS = ("status", "policy check", "policy reload", "audit show", "audit verify", "halt", "resume",
         "resolve", "passkey list", "passkey revoke", "credential set", "credential remove")


def digest(entry):
    body = b"DSSEv1 %d %s %d %s" % (len(AUDIT_TYPE), AUDIT_TYPE, len(entry), entry)
    return hashlib.sha256(body).digest()


def chain(*details):
    """A well-formed log, as ReadAudit gives it."""
    entries, previous = [], bytes(32)
    for number, content in enumerate(details, 1):
        entry = json.dumps({
            "details": content, "event": "test", "format": "undersign.audit/1",
            "previous": "sha256:" + previous.hex(), "seq": str(number), "source": "executor",
            "time": "2026-11-30T09:00:00Z"}, separators=(",", ":"), ensure_ascii=False).encode()
        previous = digest(entry)
        entries.append((number, entry, previous))
    return entries


class Base(private_bus.BusTest):
    uid = os.getuid()
    service = True

    def setUp(self):
        super().setUp()
        for name in ("data", "config", "modules"):
            os.mkdir(f"{self.folder}/{name}", 0o700)
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
                              input=text.encode(), capture_output=True, check=False, timeout=60)
        output, errors = done.stdout.decode(), done.stderr.decode()
        self.assertNotIn("Sanitizer", errors)
        self.assertEqual(done.returncode, status, output + errors)
        self.errors = errors
        return output

    def json(self, *arguments, text="", status=0):
        output = self.ctl(*arguments, "--json", text=text, status=status)
        self.assertEqual(self.errors, "")
        return json.loads(output)


class Usage(Base):
    service = False

    def test_help(self):
        text = self.ctl("--help")
        for verb in VERBS:
            self.assertIn(f"  {verb} ", text)
            own = self.ctl(*verb.split(), "--help")
            self.assertIn("--json", own)
            self.assertIn(f"undersignctl {verb}", own)

    def test_wrong_usage(self):
        for arguments in ((), ("frobnicate",), ("policy",), ("policy", "frobnicate"), ("halt",),
                          ("halt", "a", "b"), ("resolve", "x", "done"), ("status", "x"),
                          ("status", "--frobnicate"), ("credential", "set", "mail"),
                          ("audit", "show", "--from", "x")):
            self.ctl(*arguments, status=126)
            self.assertTrue(self.errors.startswith("undersignctl: "), self.errors)
            self.assertIn("error", self.json(*arguments, status=126))

    def test_values_that_cannot_be(self):
        for arguments in (("resolve", "0" * 31, "done", "x"), ("resolve", "0" * 32, "maybe", "x"),
                          ("passkey", "revoke", "a="), ("passkey", "revoke", ""),
                          ("audit", "show", "--from", "0"), ("audit", "verify", "--head", "x")):
            self.assertEqual(self.json(*arguments, status=1)["error"], "InvalidArgument")

    def test_no_service(self):
        for arguments in (("status",), ("halt", "x"), ("policy", "reload"), ("audit", "verify"),
                          ("passkey", "list"), ("credential", "remove", "mail", "x")):
            self.assertEqual(self.json(*arguments, status=127)["reason"], "unreachable")


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
        self.assertIn("nothing is executed\n", text)
        self.assertIn("  policy fault: b:2: y\\u{001B}\n", text)

    def test_passkeys(self):
        def key(user, credential, active):
            return {"credential": ("ay", credential), "user": ("s", user), "uid": ("u", 1000),
                    "kind": ("s", "software"), "label": ("s", "desk\u202e"),
                    "rp": ("s", "undersign:00"), "enrolled": ("x", 0), "active": ("b", active)}

        self.reply(ListPasskeys=("(aa{sv})", ([key("hr.jones", b"\1\2\xff", True),
                                               key("alice", b"\3", False)],)))
        found = self.json("passkey", "list")
        self.assertEqual([entry["credential"] for entry in found], ["AQL_", "Aw"])
        self.assertEqual(found[0]["enrolled"], "1970-01-01T00:00:00Z")
        self.assertEqual([entry["active"] for entry in found], [True, False])
        self.assertEqual(self.json("passkey", "list", "--user", "alice"), found[1:])
        text = self.ctl("passkey", "list")
        self.assertIn("desk\\u{202E}", text)
        self.assertNotIn("\u202e", text)
        incomplete = key("x", b"\1", True)
        del incomplete["active"]
        self.reply(ListPasskeys=("(aa{sv})", ([incomplete],)))
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
        os.makedirs(f"{self.folder}/config/rules", mode=0o700, exist_ok=True)
        self.write("config/rules/x.rule", text)

    def test_empty(self):
        self.assertEqual(self.json("policy", "check"),
                         {"valid": True, "actions": "0", "agents": "0", "rules": "0"})
        self.assertIn("valid: 0 actions", self.ctl("policy", "check", f"{self.folder}/config"))

    def test_faults(self):
        self.rule("[Rule x]\nDecision=maybe\nFrob\x1bnicate=1\n")
        for arguments in (("policy", "check"), ("policy", "check", f"{self.folder}/config")):
            found = self.json(*arguments, status=1)
            self.assertEqual(found["valid"], False)
            self.assertTrue(all("x.rule:" in fault for fault in found["faults"]), found)
            text = self.ctl(*arguments, status=1)
            self.assertIn("x.rule:3:", text)
            self.assertNotIn("\x1b", text)

    def test_no_folder(self):
        self.json("policy", "check", f"{self.folder}/nowhere", status=1)

    def test_users_of_another_host(self):
        os.mkdir(f"{self.folder}/config/agents", 0o700)
        self.write("config/agents/a.agent",
                   "[Agent]\nSummary=A\nUser=no-such-agent-here\nOwner=no-such-person-here\n")
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


class Audit(Base):
    def serve(self, entries):
        """Two pages and the end."""
        self.reply(ReadAudit=[("(a(tayay))", (entries[:2],)), ("(a(tayay))", (entries[2:],)),
                              ("(a(tayay))", ([],))] if len(entries) > 2
                   else [("(a(tayay))", (entries,)), ("(a(tayay))", ([],))])

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
        self.broken(lambda entries: entries.insert(0, entries.pop(1)), "entry 1 is missing")

    def test_a_renumbered_entry(self):
        def change(entries):
            number, entry, _ = entries[0]
            entry = entry.replace(b'"seq":"1"', b'"seq":"5"')
            entries[0] = (number, entry, digest(entry))
        self.broken(change, "entry 1 has another number")

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


if __name__ == "__main__":
    del sys.argv[1]
    tap.main("ctl")
