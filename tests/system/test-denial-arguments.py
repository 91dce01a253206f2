#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an agent can send that is no request: arguments, options and files, over the raw bus."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import bus, denial, tap, world  # noqa: E402
from undersign_test.denial import AGENT, KIM, LEAD, OTHER, Denial  # noqa: E402

TARGET = {"target": "x"}
PAPER = ("a(sh)", [("report.txt", 0)])
RULES = {**denial.RULES, "more": """[Rule never]
Agents=offboarding
Actions=test.twice
When=target is never
Decision=deny

[Rule nobody]
Agents=offboarding
Actions=test.rehearse
When=target is nobody
Decision=ask
Approvers=alice
Passkeys=software

[Rule none]
Agents=offboarding
Actions=test.rehearse
When=target is limited
Decision=ask
Approvers=it.lead
Passkeys=software
Limit=1/1d
"""}


class Arguments(Denial):
    def test_a_refusal_writes_nothing(self):
        """Neither a row nor a file: not of what the broker refuses, and not of what is refused by who
        looks at people and at the ledger."""
        self.addCleanup(self.world.ctl, "policy", "reload")
        self.addCleanup(self.write_policy)
        self.write_policy(rules=RULES)
        self.world.ctl("policy", "reload")
        path = self.pending({"target": "limited"})
        self.expect_run()
        for user in (LEAD, KIM):  # of two rules that match, each has one
            self.approve(path, user)
        self.assertEqual(self.ended(path)[0], "done")

        def by_policy():
            self.refused("UnknownAction", "unknown-action", TARGET, action="test.made-up")
            self.refused("Refused", "denied-by-rule", {"target": "never"}, action="test.twice")

        def by_the_executor():
            self.refused("InvalidArgument", "bad-value", {"target": "a\nb"})
            self.refused("InvalidArgument", "not-sealed", {**TARGET, "paper": PAPER},
                         files=[bus.File(b"content", "unsealed")])
            self.refused("NoApprover", "no-approver", {"target": "nobody"})
            self.refused("LimitExceeded", "limit", {"target": "limited"})

        for refuse, look in ((by_policy, self.files), (by_the_executor, self.kept)):
            refuse()  # what is read for the first time is in the audit log
            world.wait_until(lambda look=look: self.settled(look), "nothing is written any more", 120)
            before = look()
            refuse()
            self.assertEqual(look(), before)

    @staticmethod
    def settled(look):
        before = look()
        time.sleep(1)
        return look() == before

    def test_unknown_action(self):
        self.refused("UnknownAction", "unknown-action", TARGET, action="test.made-up")
        for action in ("", "../test.rehearse", "test.rehearse ", "TEST.REHEARSE", "a" * 5000):
            with self.assertRaises(bus.BusError) as caught:
                self.submit(TARGET, action=action)
            self.assertTrue(caught.exception.name.startswith(bus.ERROR), caught.exception)

    def test_unknown_argument(self):
        found = self.refused("InvalidArgument", "unknown-argument", {**TARGET, "colour": "red"})
        self.assertIn("colour", found.text)
        for name in ("approved", "agent", "uid", "part", "run", "state"):
            self.refused("InvalidArgument", "unknown-argument", {**TARGET, name: "yes"})

    def test_duplicate_key(self):
        for second in ("x", "y"):
            self.refused("InvalidArgument", "duplicate-argument",
                         f"{{'target': <'x'>, 'target': <'{second}'>}}")

    def test_duplicate_option(self):
        agent = self.peer(AGENT)
        before = self.requests()
        error = agent.error(bus.AGENT, "Submit", "(ssa{sv}a{sv})",
                            f"('{self.run_id}', 'test.rehearse', {{'target': <'x'>}}, "
                            "{'claim': <'a'>, 'claim': <'b'>})")
        self.assertEqual(error.name, bus.ERROR + "InvalidArgument", error.text)
        self.assertEqual(self.requests(), before)

    def test_missing_argument(self):
        found = self.refused("InvalidArgument", "missing-argument", {"note": "x"})
        self.assertIn("target", found.text)
        self.refused("InvalidArgument", "missing-argument", {})

    def test_constant_argument(self):
        for value in ("as policy says", "another", ""):
            self.refused("InvalidArgument", "constant-argument", {**TARGET, "fixed": value})

    def test_wrong_type(self):
        for value in (("i", 1), ("as", ["x"]), ("ay", b"x"), ("v", ("s", "x")), ("b", True),
                      ("o", "/x"), ("g", "s")):
            found = self.refused("InvalidArgument", "wrong-type", {"target": value})
            self.assertIn("target", found.text)
        self.refused("InvalidArgument", "wrong-type", {**TARGET, "sure": "yes"})
        self.refused("InvalidArgument", "wrong-type", {**TARGET, "paper": "report.txt"})

    def test_wrong_signature(self):
        agent = self.peer(AGENT)
        for signature, value in (("(sss)", ("a", "b", "c")), (None, None), ("(i)", (1,)),
                                 ("(ssa{ss}a{sv})", (self.run_id, "test.rehearse", TARGET, {})),
                                 ("(ssa{sv}a{sv}s)", (self.run_id, "test.rehearse", {}, {}, "x"))):
            error = agent.error(bus.AGENT, "Submit", signature, value)
            self.assertEqual((error.name, error.reason),
                             (bus.ERROR + "InvalidArgument", "wrong-type"), signature)

    def test_not_canonical(self):
        for given, canonical in (("12.5 EUR", "12.50 EUR"), ("012.50 EUR", "12.50 EUR")):
            found = self.refused("InvalidArgument", "not-canonical", {**TARGET, "amount": given})
            self.assertIn("amount", found.text)
            self.assertIn(canonical, found.text)

    def test_bad_value(self):
        for value in ("a\nb", "a\x01b", "a\u202eb", "a\u200bb", "\x1b[2K"):
            found = self.refused("InvalidArgument", "bad-value", {"target": value})
            self.assertNotIn(value, found.text)
        self.refused("InvalidArgument", "bad-value", {**TARGET, "short": "TOO LOUD"})

    def test_header_injection(self):
        mail = {"to": ("as", ["a@example.com"]), "subject": "x\r\nBcc: mallory@example.net"}
        self.refused("InvalidArgument", "bad-value", mail, action="mail.send")
        mail = {"to": ("as", ["a@example.com\r\nRCPT TO:<mallory@example.net>"]), "subject": "x"}
        self.refused("InvalidArgument", "bad-value", mail, action="mail.send")

    def test_too_large(self):
        before = self.requests()
        for name in ("target", "note"):
            with self.assertRaises(bus.BusError) as caught:
                self.submit({**TARGET, name: "x" * 3_000_000})
            self.assertEqual(caught.exception.name, bus.ERROR + "InvalidArgument", caught.exception)
            self.assertIn(caught.exception.reason, ("too-large", "bad-value"))
        self.assertEqual(self.requests(), before)

    def largest(self, name):
        """The most memory that a daemon has had, in MiB."""
        with open(f"/proc/{self.processes[name]}/status", encoding="ascii") as status:
            found = [line.split()[1] for line in status if line.startswith("VmHWM:")]
        return int(found[0]) // 1024

    def test_large_message(self):
        """The bus delivers 30 MB; the service reads none of it, and answers others meanwhile."""
        content = bytes(30_000_000)
        agent, other, nobody = self.peer(AGENT), self.peer(OTHER), self.peer("nobody")
        before = self.largest("undersignd")
        for peer, interface, member, error in (
                (other, bus.AGENT, "Submit", "InvalidArgument"),
                (other, bus.AGENT, "GetInfo", "InvalidArgument"),
                (nobody, bus.AGENT, "Submit", "NotAgent"),
                (nobody, bus.APPROVER, "GetCard", "NotApprover")):
            peer.call_later(interface, member, "(ay)", (content,), timeout=60)
            agent.call(bus.AGENT, "GetInfo")
            with self.assertRaises(bus.BusError) as caught:
                peer.finish()
            self.assertEqual(caught.exception.name, bus.ERROR + error, caught.exception)
        self.assertLess(self.largest("undersignd"), before + 50)
        error = nobody.error(bus.ADMIN, "Halt", "(ay)", (content,), path=f"{bus.PATH}/Admin",
                             timeout=60)
        self.assertEqual((error.name, error.reason), (bus.ERROR + "InvalidArgument", "wrong-type"))

    def test_many_values(self):
        """Few bytes, but each a value of its own."""
        for value in ([("y", 1)] * 20000, [("v", ("v", ("v", ("s", "x"))))] * 5000):
            self.refused("InvalidArgument", "too-large", {"target": ("av", value)})
        deep = ("s", "x")
        for _ in range(40):
            deep = ("v", deep)
        self.refused("InvalidArgument", "too-large", {"target": deep})

    def test_unknown_option(self):
        for name in ("approved", "uid", "agent", "lifetime", "part"):
            self.refused("InvalidArgument", "unknown-option", TARGET, **{name: "x"})

    def test_unsealed_file(self):
        for kind in ("unsealed", "part-sealed", "fifo", "zero", "directory", "regular",
                     "/etc/passwd"):
            self.refused("InvalidArgument", "not-sealed", {**TARGET, "paper": PAPER},
                         files=[bus.File(b"content", kind)])

    def test_path_only_descriptor(self):
        self.refused("InvalidArgument", "not-sealed", {**TARGET, "paper": PAPER},
                     files=[bus.File(kind="path-only")])

    def test_handle_out_of_range(self):
        for index, files in ((0, []), (1, [bus.File(b"x")]), (-1, [bus.File(b"x")]),
                             (2**31 - 1, [bus.File(b"x")])):
            self.refused("InvalidArgument", "bad-handle",
                         {**TARGET, "paper": ("a(sh)", [("a.txt", index)])}, files=files)

    def test_handle_used_twice(self):
        self.refused("InvalidArgument", "bad-handle",
                     {**TARGET, "paper": ("a(sh)", [("a.txt", 0), ("b.txt", 0)])},
                     files=[bus.File(b"x")])

    def test_file_name(self):
        for name in ("../passwd", "/etc/passwd", "", "a\nb", "a/b", "..", "a\u202etxt.exe"):
            self.refused("InvalidArgument", "bad-value",
                         {**TARGET, "paper": ("a(sh)", [(name, 0)])}, files=[bus.File(b"x")])

    def test_too_many_files(self):
        before = self.requests()
        paper = ("a(sh)", [(f"{number}.txt", number) for number in range(17)])
        with self.assertRaises(bus.BusError) as caught:
            self.submit({**TARGET, "paper": paper}, files=[bus.File(b"x")] * 17)
        # dbus-daemon hands on no more than 16 descriptors and hangs up on who sends more; dbus-broker
        # leaves that to who is called.
        if os.environ.get("UNDERSIGN_BUS") == "dbus-broker":
            self.assertEqual((caught.exception.name, caught.exception.reason),
                             (bus.ERROR + "InvalidArgument", "too-large"), caught.exception)
        else:
            self.assertEqual(caught.exception.name, "local", caught.exception)
        self.hang_up()
        self.assertEqual(self.requests(), before)

    def test_file_too_large(self):
        self.refused("InvalidArgument", "too-large", {**TARGET, "paper": PAPER},
                     files=[bus.File(bytes(25 * 1024 * 1024 + 1))])

    def test_key_reused(self):
        path = self.pending({"target": "keyed"}, idempotency_key="key-1")
        self.assertEqual(self.submit({"target": "keyed"}, idempotency_key="key-1")[0], path)
        self.refused("InvalidArgument", "key-reused", {"target": "another"},
                     idempotency_key="key-1")
        self.refused("InvalidArgument", "bad-value", TARGET, idempotency_key="a b")
        self.assert_state(path, "pending")

    def test_malformed_object_paths(self):
        agent = self.peer(AGENT)
        for name in ("x", "0" * 31, "0" * 33, "A" * 32, "0" * 32, "x" * 20000,
                     "0" * 32 + "/child"):
            error = agent.error(bus.REQUEST, "GetState", path=f"{bus.PATH}/request/{name}")
            self.assertEqual((error.name, error.reason), (bus.ERROR + "NotFound", "not-found"))


if __name__ == "__main__":
    tap.main("system/denial-arguments")
