#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign(1) around the card: what it refuses, its command line, enrolment, and the watch.

usage: test-program.py PROGRAM SERVICE [TEST…]   (the two programs of this folder)
"""

import ctypes
import json
import base64
import os
import re
import subprocess
import tempfile

import card_case
from card_case import PASSPHRASE, PROGRAM, REQUEST, Case

# The number is known of what was written last.
UNSEEN = "undersign: the keyring was not looked at: there is no session bus\n"
UNPRINTED = (r"^undersign: internal: cannot write the output: "
             r"(No space left on device|not all of it was taken)\n$")


class Refusals(Case):
    def test_tampered_record(self):
        self.service.tell("card", REQUEST, "tampered")
        with self.approve() as terminal:
            terminal.wait_for("record-changed")
            self.assert_nothing(terminal, status=1)
            self.assertNotIn("example.org", terminal.text)
        self.assertIn("record-changed", self.run_plain("show", REQUEST).stderr)

    def test_statement_that_says_something_else(self):
        cases = {"deny": "statement-changed", "request": "statement-changed",
                 "record": "statement-changed", "user": "statement-changed",
                 "uid": "statement-changed", "credential": "statement-changed",
                 "rp": "statement-changed", "expired": "deadline-passed"}
        for how, reason in cases.items():
            self.service.tell("statement", how)
            with self.subTest(how=how), self.approve() as terminal:
                terminal.line(self.to_end(terminal))
                terminal.wait_for(reason)
                self.assert_nothing(terminal, status=1)
                self.assertNotIn("Passphrase", terminal.text)

    def test_deny_only_card(self):
        self.service.tell("card", REQUEST, "answered")
        with self.approve() as terminal:
            self.to_end(terminal)
            fingerprint = re.search(r"Fingerprint\s+(\S+)", terminal.text).group(1)
            terminal.line(fingerprint)
            self.assert_nothing(terminal)

    def test_ended_request(self):
        """Whose card is still there: nobody is told that it waits."""
        self.service.tell("card", REQUEST, "ended")
        with self.approve() as terminal:
            terminal.wait_for("no longer waits: expired. Nothing was answered")
            self.assert_nothing(terminal)
            self.assertNotIn("page 1 of", terminal.text)
        self.service.tell("outcome", "expired", "-")
        self.assertIn(f"{REQUEST}: expired\n", self.run_plain("show", REQUEST).stdout)

    def test_no_terminal(self):
        for stdin, stdout in ((True, False), (False, True), (False, False)):
            with self.subTest(stdin=stdin, stdout=stdout):
                master, slave = os.openpty()
                done = subprocess.run(
                    [PROGRAM, "approve", REQUEST], stderr=subprocess.PIPE, text=True, timeout=120,
                    stdin=slave if stdin else subprocess.DEVNULL,
                    stdout=slave if stdout else subprocess.DEVNULL,
                    env={**os.environ, **self.service.environment}, start_new_session=True)
                os.close(slave)
                os.close(master)
                self.assertEqual(done.returncode, 5, done.stderr)
                self.assertIn("no-terminal", done.stderr)
        self.assertEqual(self.service.reached(), [])

    def test_no_controlling_terminal(self):
        master, slave = os.openpty()
        done = subprocess.run([PROGRAM, "approve", REQUEST], stdin=slave, stdout=slave,
                              stderr=subprocess.PIPE, text=True, timeout=120, start_new_session=True,
                              env={**os.environ, **self.service.environment})
        os.close(slave)
        os.close(master)
        self.assertEqual(done.returncode, 5)
        self.assertIn("no controlling terminal", done.stderr)

    def test_no_scripted_answer(self):
        for arguments in (["approve", REQUEST, "--yes"], ["approve", REQUEST, "22b0-d14c-d90f"],
                          ["approve", "--fingerprint=22b0-d14c-d90f", REQUEST]):
            done = self.run_plain(*arguments)
            self.assertEqual(done.returncode, 126, done.stderr)
        self.assertEqual(self.service.reached(), [])

    def test_another_owner_of_the_name(self):
        for arguments in (["pending"], ["deny", REQUEST]):
            done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True,
                                  env={**os.environ, **self.service.environment,
                                       "TEST_OTHER_OWNER": "1"}, timeout=120)
            self.assertEqual(done.returncode, 127)
            self.assertIn("bad-peer", done.stderr)
        self.assertEqual(self.service.reached(), [])

    def test_usage(self):
        for arguments, reason in ((["nothing"], "unknown-argument"), (["approve"], "missing-argument"),
                                  (["show", REQUEST, REQUEST], "unknown-argument"),
                                  (["deny", "--reason", "because", REQUEST], "bad-value"),
                                  ([], "missing-argument"), (["passkey"], "missing-argument"),
                                  (["receipt", REQUEST, "--format", "pdf"], "bad-value"),
                                  (["pending", "--nonsense"], "unknown-option")):
            done = self.run_plain(*arguments)
            self.assertEqual(done.returncode, 126, (arguments, done.stderr))
            self.assertTrue(done.stderr.startswith(f"undersign: {reason}: "), done.stderr)
            if reason not in ("missing-argument",):
                bad = [word for word in arguments if word.strip("-") in done.stderr]
                self.assertTrue(bad, done.stderr)
        done = self.run_plain("deny", "ffff")
        self.assertEqual(done.returncode, 1, done.stderr)

    def test_bad_id(self):
        """Whoever mistypes is told so, not that nobody can be reached."""
        nobody = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"}
        for verb in ("deny", "show", "approve", "receipt"):
            for name in ("00", "zz112233", "0011-2233", "../etc", "*"):
                done = subprocess.run([PROGRAM, verb, name], capture_output=True, text=True,
                                      timeout=120, env={**os.environ, **nobody})
                self.assertEqual(done.returncode, 126, (name, done.stderr))
                self.assertIn(f'"{name}" is no request', done.stderr)
        done = subprocess.run([PROGRAM, "pending"], capture_output=True, text=True, timeout=120,
                              env={**os.environ, **nobody})
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertEqual(self.service.reached(), [])

    def test_help(self):
        for arguments in ([], ["pending"], ["show"], ["approve"], ["deny"], ["watch"], ["receipt"],
                          ["receipt", "verify"], ["passkey"], ["passkey", "enrol"],
                          ["passkey", "list"], ["passkey", "revoke"]):
            done = self.run_plain(*arguments, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Usage:", done.stdout)

    def test_deny(self):
        done = self.run_plain("deny", "--reason", "not-now", REQUEST[:8])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.service.reached(), [f"deny {REQUEST} not-now"])


class SignedDenials(Case):
    """`deny --sign`: the card, a denial, the signature; whatever else is typed answers nothing."""

    def setUp(self):
        super().setUp()
        self.service.tell("statement", "deny")  # what the service asks to be signed

    def deny(self, *arguments):
        return self.terminal("deny", "--sign", *arguments, REQUEST)

    def to_passphrase(self, terminal):
        self.assertIsNone(self.to_end(terminal))
        terminal.line("deny")

    def test_with_a_reason(self):
        with self.deny("--reason", "wrong-target") as terminal:
            self.to_passphrase(terminal)
            terminal.wait_for(r"sign your denial.*Passphrase of .*: $")
            terminal.line(PASSPHRASE)
            terminal.wait_for(f"{REQUEST}: denied")
            self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.service.reached(), [f"deny {REQUEST} wrong-target signed"])

    def test_without_one_it_is_asked_for(self):
        with self.deny() as terminal:
            self.to_passphrase(terminal)
            terminal.wait_for("Press 1 to 5")
            terminal.press("4")
            terminal.wait_for(r"Passphrase of .*: $")
            terminal.line(PASSPHRASE)
            self.assertEqual(terminal.wait(), 0, terminal.text)
        self.assertEqual(self.service.reached(), [f"deny {REQUEST} suspicious signed"])

    def test_what_is_no_denial(self):
        shown = json.loads(self.run_plain("show", "--json", REQUEST).stdout)["fingerprint"]
        with self.deny() as terminal:
            self.to_end(terminal)
            terminal.line(shown)
            self.assert_nothing(terminal)
        with self.deny("--reason", "other") as terminal:
            self.to_passphrase(terminal)
            terminal.wait_for(r"Passphrase of .*: $")
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def test_a_statement_that_approves(self):
        self.service.tell("statement", "good")
        with self.deny("--reason", "other") as terminal:
            self.to_passphrase(terminal)
            terminal.wait_for("statement-changed")
            self.assert_nothing(terminal, status=1)
            self.assertNotIn("Passphrase", terminal.text)

    def test_usage(self):
        for words, status, reason in ((("--sign", REQUEST), 5, "no-terminal"),
                                      (("--device=/dev/null", REQUEST), 126, "bad-value"),
                                      (("--security-key", REQUEST), 126, "bad-value"),
                                      (("--sign", "--reason=because", REQUEST), 126, "bad-value"),
                                      (("--sign", "00"), 126, "bad-value")):
            done = self.run_plain("deny", *words)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertTrue(done.stderr.startswith(f"undersign: {reason}: "), done.stderr)
        self.assertEqual(self.service.reached(), [])


class Full(Case):
    """What it prints goes to a full disk: it says so, and does not end as if there were something."""

    def test_all_that_is_printed(self):
        for arguments in (("pending",), ("pending", "--json"), ("show", REQUEST),
                          ("show", "--json", REQUEST), ("passkey", "list"),
                          ("passkey", "list", "--json"), ("--help",), ("--version",),
                          ("passkey", "--help"), ("receipt", "--help"),
                          ("receipt", "verify", "--help")):
            with self.subTest(arguments=arguments):
                done = self.run_full(*arguments)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr.removeprefix(UNSEEN), UNPRINTED)

    def test_what_was_refused_stays_refused(self):
        for arguments, status, reason in ((("receipt", REQUEST, "--format=pdf"), 126, "bad-value"),
                                          (("receipt", "verify", "/dev/null"), 1, "bad-json")):
            done = self.run_full(*arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertRegex(done.stderr, f'^undersign: {reason}: [^\n]*\n(Try "[a-z -]+"\\.\n)?$')

    def run_full(self, *arguments):
        with open("/dev/full", "wb") as full:
            return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=120,
                                  env={**os.environ, "LANG": "C.UTF-8", **self.service.environment})


class Receipts(Case):
    """What `receipt verify` prints; what it takes, tests/vectors say."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="undersign-receipts-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.vectors, verdicts = ({entry["id"]: entry for entry in cls.read(name)}
                                 for name in ("receipts", "receipt-verdicts"))
        cls.ids = {proven: next(name for name, verdict in verdicts.items()
                                if verdict.get("proven") is proven) for proven in (True, False)}
        cls.bad = next(name for name, verdict in verdicts.items() if verdict["verdict"] != "ok")

    def setUp(self):
        """Nobody is asked."""

    @staticmethod
    def read(name):
        with open(os.path.join(card_case.HERE, f"../vectors/record/{name}.json"),
                  encoding="utf-8") as file:
            return json.load(file)

    def verify(self, name, *options, **streams):
        path = os.path.join(self.folder.name, "receipt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.vectors[name]["receipt"])
        words = [f"--key={key}" for key in self.vectors[name]["keys"]]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        return subprocess.run([PROGRAM, "receipt", "verify", path, *words, *options],
                              text=True, timeout=120, **streams,
                              env={**os.environ, "LANG": "C.UTF-8",
                                   "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"})

    def test_json(self):
        for proven, name in self.ids.items():
            done = self.verify(name, "--format=json")
            self.assertEqual(done.returncode, 0 if proven else 6, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual(sorted(report), ["lines", "proven", "request", "state", "version"])
            outcome = json.loads(json.loads(self.vectors[name]["receipt"])["outcome"]["body"])
            self.assertEqual((report["proven"], report["request"], report["state"]),
                             (proven, outcome["request"], outcome["state"]))
            for line in report["lines"]:
                self.assertEqual(sorted(line), ["text", "trust", "who"])
                self.assertIn(line["trust"], ("proven", "claimed", "said"))

    def test_text_and_page(self):
        for proven, name in self.ids.items():
            lines = json.loads(self.verify(name, "--format=json").stdout)["lines"]
            for form in ("text", "html"):
                done = self.verify(name, f"--format={form}")
                self.assertEqual(done.returncode, 0 if proven else 6, done.stderr)
                self.assertTrue(done.stdout.endswith("\n"))
                self.assertEqual(done.stdout.startswith("<!DOCTYPE html>"), form == "html")
                for line in lines:
                    self.assertIn(line["trust"], done.stdout.lower())

    def test_full_disk(self):
        """What is proven where nobody can read it is not said to be; the rest stays as it is."""
        for proven, name in self.ids.items():
            for form in ("text", "html", "json"):
                with open("/dev/full", "wb") as full:
                    done = self.verify(name, f"--format={form}", stdout=full)
                self.assertEqual(done.returncode, 1 if proven else 6, form)
                self.assertRegex(done.stderr, UNPRINTED)

    def test_refused(self):
        done = self.verify(self.bad)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^undersign: [a-z-]+: ")

    def test_without_an_answer(self):
        """It says that there was no signature to check, whatever key it was given."""
        for name in self.vectors:
            done = self.verify(name)
            if done.returncode == 1:
                continue
            answers = json.loads(self.vectors[name]["receipt"])["answers"]
            self.assertEqual("no signature of a person was here to check" in done.stdout,
                             answers == [], name)

    def test_unreadable(self):
        digest = "sha256:" + "0" * 64
        for words, says in ((("/nonexistent",), "cannot open /nonexistent: No such file"),
                            ((self.folder.name,), f"{self.folder.name}: Is a directory"),
                            ((digest,), f"cannot open {digest}: .*a file is wanted here"),
                            (("/dev/null",), "/dev/null: "),
                            (("/dev/null", "--key=sha256:0"), "digits, not \"sha256:0\""),
                            (("/dev/null", "--key=/dev/null"), "/dev/null")):
            done = self.run_plain("receipt", "verify", *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertRegex(done.stderr, f"^undersign: bad-[a-z]+: .*{says}")

    def run_plain(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


class Enrolment(Case):
    def keys(self):
        return json.loads(self.run_plain("passkey", "list", "--json").stdout)["passkeys"]

    def test_passphrases_that_differ(self):
        before = self.keys()
        with self.terminal("passkey", "enrol", "--file") as terminal:
            terminal.wait_for("Choose a passphrase: $")
            terminal.line(PASSPHRASE)
            terminal.wait_for("once more:  $")
            terminal.line(PASSPHRASE + "x")
            terminal.wait_for("differ")
            self.assert_nothing(terminal)
        self.assertEqual(self.keys(), before)

    def test_weak_passphrase(self):
        before = self.keys()
        with self.terminal("passkey", "enrol", "--file") as terminal:
            terminal.wait_for("Choose a passphrase: $")
            terminal.line("short")
            terminal.wait_for("passphrase: a passphrase has")
            self.assert_nothing(terminal, status=1)
            self.assertNotIn("once more", terminal.text)
        self.assertEqual(self.keys(), before)

    def test_invalid_policy(self):
        """A message of several lines is one line, of the first of them."""
        before = self.keys()
        self.service.tell("enrol", "invalid")
        with self.terminal("passkey", "enrol", "--file") as terminal:
            terminal.wait_for("policy-invalid: ")
            self.assert_nothing(terminal, status=1)
            self.assertIn("undersign: policy-invalid: a.rule:1: \\u{001B}[2J (and 2 more)\n",
                          terminal.text)
            self.assertNotIn("b.rule", terminal.text)
        self.service.tell("enrol", "accept")
        self.assertEqual(self.keys(), before)

    def test_refused_by_the_service(self):
        before = self.keys()
        self.service.tell("enrol", "refuse")
        with self.terminal("passkey", "enrol", "--file") as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line(PASSPHRASE)
            terminal.wait_for("credential-exists")
            self.assertEqual(terminal.wait(), 1)
        self.service.tell("enrol", "accept")
        self.service.reached()
        self.assertEqual(self.keys(), before)

    def test_the_answer_is_lost(self):
        """It may be enrolled, so it is kept; once more tells."""
        command = ("passkey", "enrol", "--file", "--label", "Lost")
        self.service.tell("enrol", "lose")
        with self.terminal(*command) as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line(PASSPHRASE)
            terminal.wait_for("not known")
            self.assertEqual(terminal.wait(), 127)
        self.service.tell("enrol", "accept")
        self.service.reached()
        lost = [key for key in self.keys() if key["label"] == "Lost"]
        self.assertEqual(len(lost), 1)
        self.service.tell("exclude", "yes")
        with self.terminal(*command) as terminal:
            terminal.wait_for("keeps an enrolled passkey already: Lost")
            self.assertEqual(terminal.wait(), 1)
        self.service.tell("exclude", "no")
        done = self.run_plain("passkey", "revoke", "--", lost[0]["credential"][:12])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.service.reached()

    def test_enrolment_for_another_party(self):
        before = self.keys()
        self.service.tell("enrol", "example.org")
        with self.terminal("passkey", "enrol", "--file") as terminal:
            terminal.wait_for("not for undersign:")
            self.assert_nothing(terminal, status=127)
        self.service.tell("enrol", "accept")
        self.assertEqual(self.keys(), before)

    def test_needs_a_terminal(self):
        done = self.run_plain("passkey", "enrol", "--file", input=f"{PASSPHRASE}\n" * 2, stdin=None)
        self.assertEqual(done.returncode, 5)
        self.assertEqual(self.service.reached(), [])

    def test_revoke(self):
        with self.terminal("passkey", "enrol", "--file", "--label", "Second") as terminal:
            for prompt in ("Choose a passphrase: $", "once more:  $"):
                terminal.wait_for(prompt)
                terminal.line(PASSPHRASE)
            self.assertEqual(terminal.wait(), 0)
        self.service.reached()
        second = [key for key in self.keys() if key["label"] == "Second"][0]
        self.assertIn(second["key"], terminal.text)
        self.assertIn(f'public key {second["key"]}\n', self.run_plain("passkey", "list").stdout)
        second = second["credential"]
        done = self.run_plain("passkey", "revoke", "--", second[:12])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.service.reached(), ["revoke"])
        self.assertNotIn("Second", [key["label"] for key in self.keys()])

    def test_no_session_bus(self):
        """A passkey in the keyring would be taken for gone."""
        nobodys = base64.urlsafe_b64encode(bytes([2] * 32)).decode().rstrip("=")
        bus = {**self.service.environment,
               "DBUS_SESSION_BUS_ADDRESS": self.service.environment["DBUS_SYSTEM_BUS_ADDRESS"]}
        for arguments in (("list",), ("list", "--json"), ("revoke", "--", nobodys)):
            done = self.run_plain("passkey", *arguments)
            self.assertTrue(done.stderr.endswith(UNSEEN.removeprefix("undersign: ")), done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertNotIn("looked", done.stdout)
            done = self.run_plain("passkey", *arguments, env={**os.environ, **bus})
            self.assertNotIn("looked", done.stderr)
        self.service.reached()
        with self.approve(XDG_DATA_HOME=f"{self.folder.name}/empty") as terminal:
            terminal.wait_for(r"keyring\s+was\s+not\s+looked\s+at: there\s+is\s+no\s+session\s+bus")
            terminal.press("\x1b")
            self.assertNotEqual(terminal.wait(), 0)
        self.assertEqual(self.service.reached(), [])

    def test_revoke_what_nobody_knows(self):
        """It may be the beginning of an id: that it is not enrolled would be taken for done."""
        done = self.run_plain("passkey", "revoke", "--", base64.urlsafe_b64encode(bytes([2] * 32)).decode().rstrip("="))
        self.assertEqual((done.returncode, self.service.reached()), (1, ["revoke"]))
        self.assertIn("credential-unknown: ", done.stderr)
        self.assertEqual(done.stdout, "")
        # One that was revoked before is done, whether or not it was kept here.
        done = self.run_plain("passkey", "revoke", "--", base64.urlsafe_b64encode(bytes([1] * 32)).decode().rstrip("="))
        self.assertEqual((done.returncode, self.service.reached()), (0, ["revoke"]), done.stderr)

    def test_revoke_what_cannot_be_listed(self):
        """The service first, by a whole id; what it does not know may be the beginning of one."""
        before = self.keys()
        folder = os.path.join(self.service.environment["XDG_DATA_HOME"], "undersign/passkeys")
        whole = "A" * 43
        os.chmod(folder, 0o300)
        try:
            self.assertEqual(self.run_bound("passkey", "list").returncode, 1)
            for name in ("AAAAAA", before[0]["credential"][:11]):
                done = self.run_bound("passkey", "revoke", "--", name)
                self.assertEqual((done.returncode, self.service.reached()), (1, []))
                self.assertIn("key-store: ", done.stderr)
            done = self.run_bound("passkey", "revoke", "--", whole)
            self.assertEqual((done.returncode, self.service.reached()), (1, ["revoke"]))
            self.assertIn("key-store: it is revoked, but may be kept here still: ", done.stderr)
        finally:
            os.chmod(folder, 0o700)
        self.assertEqual(self.keys(), before)

    def run_bound(self, *arguments):
        """Bound by the modes of files, also where the tests are root's."""
        def drop():
            for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
                prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP, which nobody else needs or may

        prctl = ctypes.CDLL(None).prctl
        return self.run_plain(*arguments, preexec_fn=drop)

    def test_list_what_cannot_be_read(self):
        """It is named, hides no other, and can be revoked."""
        before = self.keys()
        name = "B" * 42 + "A"
        path = os.path.join(self.service.environment["XDG_DATA_HOME"], "undersign/passkeys", name + ".passkey")
        with open(path, "w", encoding="ascii") as file:
            os.fchmod(file.fileno(), 0o600)
        bad = [key for key in self.keys() if key["credential"] == name]
        self.assertEqual([key for key in self.keys() if key["credential"] != name], before)
        self.assertEqual(sorted(bad[0]), ["credential", "fault", "place"])
        self.assertIn(f"{name}  file, cannot be read: the stored passkey",
                      self.run_plain("passkey", "list").stdout)
        done = self.run_plain("passkey", "revoke", "--", name[:12])
        self.assertEqual((done.returncode, self.service.reached()), (0, ["revoke"]), done.stderr)
        self.assertEqual(self.keys(), before)


class Watching(Case):
    def test_cards_come_and_go(self):
        watch = subprocess.Popen([PROGRAM, "watch"], stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, **self.service.environment})
        try:
            self.assertIn("undersign approve 00112233", watch.stdout.readline())
            other = "ab" * 16
            self.service.tell("card", other, "nasty")
            self.assertRegex(watch.stdout.readline(), "^abababab  Send an e-mail")
            self.service.tell("remove", other, "expired")
            self.assertEqual(watch.stdout.readline(), "abababab  no longer waits: expired\n")
        finally:
            watch.terminate()
            watch.wait()
            watch.stdout.close()


if __name__ == "__main__":
    card_case.main("card-program", globals())
