#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""From a request to a verified file: each end that a request can have, by the commands alone.

The agent asks with undersign-agent, a person answers on a terminal, `undersign receipt` writes the
file, and `undersign receipt verify` takes it, but no file in which one character differs.  What
was written from undersign-receipt(7) alone, tests/vectors/independent, says the same of each file.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../lib"), os.path.join(HERE, "../vectors")]
from independent import evidence, refusal  # noqa: E402: found by the path above

from undersign_test import authenticator, bus, people, person, policy, shapes, tap, world  # noqa: E402

LEAD, KIM = "it.lead", "hr.kim"
REFUSED, MAY_HAVE_RUN, NOT_PROVEN, USAGE = 1, 5, 6, 126
HOSTILE = "<script>alert(1)</script> &"
RULES = {"receipt": """[Rule ask]
Agents=offboarding
Actions=test.rehearse test.doubt
Decision=ask
Approvers=@hr @it-leads
Lifetime=30min
Passkeys=software

[Rule soon]
Agents=offboarding
Actions=test.rehearse
When=target is soon
Decision=ask
Approvers=@hr @it-leads
Lifetime=2s
Passkeys=software

[Rule once]
Agents=offboarding
Actions=test.once
Decision=ask
Approvers=@hr @it-leads
Limit=1/1d
Lifetime=30min
Passkeys=software
"""}
ACTIONS = {"test.rehearse": policy.REHEARSE, "test.once": policy.REHEARSE,
           "test.doubt": policy.REHEARSE.replace("Module=null", "Module=null\nOutcome=unknown")}


def leaves(value, path=()):
    """(path, value) of each text and boolean in it."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return [(path, value)]
    return [leaf for key, child in items for leaf in leaves(child, (*path, key))]


def changed(receipt, path):
    """The receipt with one character of it another, or the boolean turned."""
    fresh = json.loads(receipt)
    there = fresh
    for key in path[:-1]:
        there = there[key]
    value = there[path[-1]]
    if isinstance(value, bool):
        value = not value
    else:
        middle = len(value) // 2
        other = "B" if value[middle:middle + 1] == "A" else "A"
        value = value[:middle] + other + value[middle + 1:]
    there[path[-1]] = value
    return json.dumps(fresh, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


class Receipt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        policy.write(actions=ACTIONS, rules=RULES)
        with open(f"{policy.FOLDER}/undersign.conf", "w", encoding="utf-8") as file:
            file.write("[Limits]\nDenials=0\n")  # the third would pause the agent
        cls.world = world.World(modules=("null",))
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.let_enrol(LEAD)
        cls.folder = tempfile.TemporaryDirectory(dir="/run/undersign-test")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.agent, cls.lead = person.Agent("agent-offboarding"), person.Person(LEAD)
        cls.key = re.findall("sha256:[0-9a-f]{64}", cls.lead.enrol())[0]
        cls.held = cls.enrol(KIM)
        entries = map(json.loads, cls.world.ctl("audit", "show", "--json").splitlines())
        cls.other_key = [entry["details"]["key"] for entry in entries
                         if entry["event"] == "enrolled" and entry["details"]["name"] == KIM][0]

    def ask(self, target, action="test.rehearse"):
        found = self.agent.request(action, f"target={target}")
        self.assertEqual(found["state"], "pending")
        return found["request"]

    def test_keys(self):
        """Who enrolled a passkey was told what both lists say its public key is."""
        own = json.loads(self.lead.run("passkey", "list", "--json").stdout)["passkeys"]
        self.assertEqual([key["key"] for key in own], [self.key])
        self.assertIn(f"public key {self.key}\n", self.lead.run("passkey", "list").stdout)
        listed = json.loads(self.world.ctl("passkey", "list", "--json"))["passkeys"]
        self.assertEqual({key["user"]: key["key"] for key in listed},
                         {LEAD: self.key, KIM: self.other_key})
        self.assertIn(f"  public key: {self.key}\n", self.world.ctl("passkey", "list"))

    def host_key(self):
        """The id that an administrator hands on."""
        return json.loads(json.loads(self.world.ctl("audit", "checkpoint"))["body"])["key"]

    def show(self, request, form=None, user=LEAD):
        options = [] if form is None else [f"--format={form}"]
        return people.run_as(user, ["undersign", "receipt", request, *options])

    def verify(self, path, *keys, form="text"):
        return subprocess.run(["undersign", "receipt", "verify", path, f"--format={form}",
                               *[f"--key={key}" for key in keys]],
                              capture_output=True, text=True, check=False, timeout=120)

    def check_report(self, path, outcome, *keys):
        """What verify prints for programs is as the page says, and says the same."""
        done = self.verify(path, *keys, form="json")
        found = json.loads(done.stdout)
        self.assertEqual(shapes.Shapes().faults("undersign receipt verify", found), [], found)
        self.assertEqual((done.returncode == 0, found["request"], found["state"]),
                         (found["proven"], outcome["request"], outcome["state"]))
        self.assertEqual(found["proven"], bool(keys))

    def write(self, text, suffix=""):
        path = f"{self.folder.name}/receipt{suffix}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def judge(self, path, *keys):
        """What our program says of it, which must be what the independent one says."""
        done = self.verify(path, *keys)
        with open(path, "rb") as file:
            data = file.read()
        try:
            verdict = 0 if evidence.verify_receipt(data, keys) else NOT_PROVEN
        except refusal.Refused:
            verdict = REFUSED
        self.assertEqual(done.returncode, verdict, (path, done.stderr))
        return done

    def check(self, request, state, *keys):
        """Its receipt says so, in each form, and holds; the outcome."""
        done = self.show(request)
        self.assertEqual(done.returncode, 0, done.stderr)
        receipt = done.stdout.rstrip("\n")
        outcome = json.loads(json.loads(receipt)["outcome"]["body"])
        self.assertEqual((outcome["request"], outcome["state"]), (request, state))
        path = self.write(done.stdout)

        proven = self.verify(path, self.host_key(), *keys)
        self.assertEqual(proven.returncode, 0, proven.stdout + proven.stderr)
        self.assertIn(state, proven.stdout)
        self.check_report(path, outcome)
        self.check_report(path, outcome, self.host_key(), *keys)
        unproven = self.verify(path)
        self.assertEqual(unproven.returncode, NOT_PROVEN, unproven.stderr)
        for form, start in (("text", ""), ("html", "<!DOCTYPE html>")):
            shown = self.show(request, form)
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertTrue(shown.stdout.startswith(start), shown.stdout)
            for word in (request, state):
                self.assertIn(word, shown.stdout)
            # what is for reading is no receipt
            refused = self.judge(self.write(shown.stdout, f".{form}"))
            self.assertEqual(refused.returncode, REFUSED, refused.stdout)
        for given in ((self.host_key(), *keys), (), keys):
            self.judge(path, *given)
        self.check_changes(receipt, *keys)
        return outcome

    def check_changes(self, receipt, *keys):
        keys = (self.host_key(), *keys)
        parts = leaves(json.loads(receipt))
        self.assertEqual(changed(receipt, parts[0][0]).count("\n"), 0)
        for path, _ in parts:
            other = changed(receipt, path)
            self.assertNotEqual(other, receipt, path)
            refused = self.judge(self.write(other, ".changed"), *keys)
            self.assertEqual((refused.returncode, refused.stdout), (REFUSED, ""), path)
            self.assertRegex(refused.stderr, "^undersign: [a-z-]+: ", path)
        for cut in (receipt[:-1], receipt[:len(receipt) // 2], receipt + " ", ""):
            refused = self.judge(self.write(cut, ".changed"), *keys)
            self.assertEqual((refused.returncode, refused.stdout), (REFUSED, ""))

    # --- the ends ---

    def test_done(self):
        request = self.ask(HOSTILE)
        self.assertEqual(self.lead.approve(request).status, 0)
        self.assertEqual(self.agent.wait(request)["state"], "done")
        self.check(request, "done", self.key)
        page = self.show(request, "html").stdout
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;alert(1)", page)
        # the host's key alone does not prove the person's signature, nor hers the outcome
        path = self.write(self.show(request).stdout)
        for key in (self.host_key(), self.key):
            self.assertEqual(self.judge(path, key).returncode, NOT_PROVEN)

    def test_denied_without_a_signature(self):
        request = self.ask("unsigned")
        done = self.lead.run("deny", "--reason=wrong-target", request)
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = self.check(request, "denied")
        self.assertEqual((outcome["by"], outcome["reason"], outcome["source"]),
                         (LEAD, "wrong-target", "broker"))

    def test_denied_with_a_signature(self):
        request = self.ask("signed")
        with self.lead.terminal("deny", "--sign", "--reason=suspicious", request) as screen:
            _, shown = self.lead.read_card(screen)
            self.assertIsNone(shown)
            screen.line("deny")
            screen.wait_for("Passphrase of ")
            screen.line(self.lead.passphrase)
            self.assertEqual(screen.wait(), 0, screen.text)
        outcome = self.check(request, "denied", self.key)
        self.assertEqual((outcome["by"], outcome["source"], outcome["reason"]),
                         (LEAD, "signed", "suspicious"))
        self.assertEqual(self.agent.status(request)["state"], "denied")

    def test_denied_with_a_signature_of_another_program(self):
        request = self.ask("signed elsewhere")
        path = f"{bus.PATH}/request/{request}"
        with bus.Peer(KIM) as peer:
            statement = peer.call(bus.APPROVER, "GetStatement", "(oa{sv})", (path, {
                "decision": ("s", "deny"), "credential": ("ay", self.held.credential)}))[0]
            peer.call(bus.APPROVER, "Deny", "(osa{sv})", (path, "suspicious", {
                **self.held.sign(statement), "statement": ("ay", statement)}))
        outcome = self.check(request, "denied", self.other_key)
        self.assertEqual((outcome["by"], outcome["source"]), (KIM, "signed"))

    @staticmethod
    def enrol(user):
        """A passkey of @user's that the test holds, as another program would."""
        key = authenticator.Authenticator()
        with bus.Peer("root") as root:
            there = bus.PATH + "/Admin"
            enrolment, challenge, wanted = root.call(
                bus.ADMIN, "BeginEnroll", "(sa{sv})",
                (user, {"kind": ("s", "software"), "label": ("s", "of the tests")}), path=there)
            client, attestation = key.register(challenge, wanted["rp"], wanted["origin"])
            root.call(bus.ADMIN, "FinishEnroll", "(sa{sv})",
                      (enrolment, {"client-data": ("ay", client),
                                   "attestation": ("ay", attestation)}), path=there)
        return key

    def test_expired(self):
        request = self.agent.request("test.rehearse", "target=soon")["request"]
        self.assertEqual(self.agent.wait(request)["state"], "expired")
        self.assertEqual(self.check(request, "expired")["by"], "")

    def test_withdrawn(self):
        request = self.ask("withdrawn")
        self.assertEqual(self.agent.json("withdraw", request)[0], 0)
        self.check(request, "withdrawn")

    def test_refused(self):
        """Both were approved, and only one may run."""
        first, second = self.ask("first", "test.once"), self.ask("second", "test.once")
        self.assertEqual(self.lead.approve(first).status, 0)
        self.assertEqual(self.agent.wait(first)["state"], "done")
        self.assertNotEqual(self.lead.approve(second).status, 0)
        self.assert_refused(second)
        outcome = self.check(second, "refused", self.key)
        self.assertEqual((outcome["source"], outcome["reason"]), ("executor", "limit"))

    def assert_refused(self, request):
        found = self.agent.wait(request)
        self.assertEqual((found["state"], found["executed"]), ("refused", "no"))

    def edit(self, label="Label=Another word"):
        policy.write(actions={name: text.replace("Label=Target", label)
                              for name, text in ACTIONS.items()}, rules=RULES)
        self.world.ctl("policy", "reload")

    def test_refused_what_is_another_action_now(self):
        """Policy changed between card and signature: the receipt says what came of the approval."""
        request = self.ask("refused")
        self.addCleanup(self.edit, "Label=Target")
        self.assertNotEqual(self.lead.approve(request, before_signing=self.edit).status, 0)
        self.assert_refused(request)
        outcome = self.check(request, "refused")
        self.assertEqual((outcome["source"], outcome["reason"], outcome["answers"]),
                         ("executor", "record-changed", []))
        noted = [entry["details"] for entry in map(json.loads, self.world.ctl(
            "audit", "show", "--json").splitlines()) if entry["event"] == "refused"]
        self.assertEqual([details["reason"] for details in noted if details["request"] == request],
                         ["record-changed"])

    def test_unknown(self):
        request = self.ask("doubt", "test.doubt")
        self.lead.approve(request)
        self.assertEqual(self.agent.wait(request)["state"], "unknown")
        self.check(request, "unknown", self.key)
        self.world.ctl("resolve", request, "done", "seen in the mailbox")
        self.assertEqual(self.check(request, "done", self.key)["source"], "admin")

    # --- to where ---

    def test_full_disk(self):
        """A file that is not whole is no evidence: none of the commands that make some ends with 0."""
        request = self.ask("full")
        path = self.write(self.show(request).stdout)
        self.agent.json("withdraw", request)
        for user, command in ((LEAD, f"undersign receipt {request}"),
                              (LEAD, f"undersign receipt {request} --format=html"),
                              ("root", f"undersign receipt verify {path} --key={self.host_key()}"),
                              ("root", "undersignctl audit checkpoint"),
                              ("root", "undersignctl audit export"),
                              ("root", "undersignctl audit show --json"),
                              (LEAD, "undersign passkey list --json")):
            done = people.run_as(user, ["sh", "-c", f"exec {command} >/dev/full"])
            self.assertEqual(done.returncode, REFUSED, command)
            self.assertIn("internal: cannot write the output: No space left on device\n",
                          done.stderr, command)
        done = people.run_as("agent-offboarding",
                             ["sh", "-c", "exec undersign-agent list >/dev/full"])
        self.assertEqual(done.returncode, MAY_HAVE_RUN, done.stderr)

    # --- for whom ---

    def test_pending(self):
        request = self.ask("pending")
        self.check(request, "none")
        self.agent.json("withdraw", request)

    def test_nobody_else(self):
        request = self.ask("mine")
        before = request, "0" * 32
        for user in ("alice", "agent-offboarding", "agent-other", "root"):
            for name in before:
                refused = self.show(name, user=user)
                self.assertEqual((refused.returncode, refused.stdout), (REFUSED, ""), user)
        self.agent.json("withdraw", request)

    def test_wrong_usage(self):
        for words in ((), ("00",), ("verify",), ("verify", "a", "b"),
                      ("0" * 32, "--format=pdf"), ("verify", "--format=pdf", "a")):
            done = people.run_as(LEAD, ["undersign", "receipt", *words])
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), words)
        for words, says in ((("/nonexistent",), "/nonexistent"), (("/",), "/"),
                            ((self.write("{}"), "--key=sha256:00"), "sha256:00"),
                            ((self.write("{}"), "--key=/nonexistent"), "/nonexistent")):
            done = people.run_as("root", ["undersign", "receipt", "verify", *words])
            self.assertEqual((done.returncode, done.stdout), (REFUSED, ""), words)
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    tap.main("receipt")
