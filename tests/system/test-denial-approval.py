#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an approval is not good for: another action, a second time, a later policy, a wrong key."""

import os
import shutil
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import authenticator, bus, policy, tap, world  # noqa: E402
from undersign_test.authenticator import AT, BE, BS, UP, UV  # noqa: E402
from undersign_test.denial import ACTIONS, AGENT, KIM, LEAD, OTHER, Denial  # noqa: E402

ED, RESERVED = 0x80, 0x02
ADMIN_PATH = bus.PATH + "/Admin"
MAIL = {"to": ("as", ["security@example.com"]), "subject": "Report", "body": "Attached.",
        "attachment": ("a(sh)", [("report.pdf", 0)])}
REPORT = [bus.File(b"%PDF-1.4 report")]


class Approval(Denial):
    def done(self, arguments, **options):
        """A request that was approved and ran, once."""
        path = self.pending(arguments, **options)
        self.approve(path)
        state, details = self.ended(path)
        self.assertEqual((state, details["executed"]), ("done", "yes"), details)
        self.expect_run()
        return path

    # --- one approval is for one action, once ---

    def test_a_second_use(self):
        path = self.pending({"target": "second use"})
        statement = self.statement(path)
        assertion = self.keys[LEAD].sign(statement)
        self.approve(path, LEAD, statement, assertion)
        self.assertEqual(self.ended(path)[0], "done")
        self.expect_run()
        for _ in range(3):
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, statement, assertion)
            self.assertEqual(caught.exception.name, bus.ERROR + "WrongState", caught.exception)
        with self.assertRaises(bus.BusError) as caught:
            self.statement(path, KIM)
        self.assertEqual(caught.exception.name, bus.ERROR + "WrongState", caught.exception)
        self.assert_state(path, "done", "yes")

    def test_a_race_of_answers(self):
        """The same answer eight times at once runs once."""
        path = self.pending({"target": "race"})
        statement = self.statement(path)
        assertion = self.keys[LEAD].sign(statement)
        peers = [bus.Peer(LEAD) for _ in range(8)]
        try:
            for peer in peers:
                peer.call_later(bus.APPROVER, "Approve", "(oaya{sv})", (path, statement, assertion))
            taken = 0
            for peer in peers:
                try:
                    peer.finish()
                    taken += 1
                except bus.BusError as error:
                    self.assertTrue(error.name.startswith(bus.ERROR), error)
            self.assertGreaterEqual(taken, 1)
        finally:
            for peer in peers:
                peer.close()
        self.assertEqual(self.ended(path)[0], "done")
        self.expect_run()

    def test_an_assertion_replayed_on_a_new_request(self):
        first = self.pending({"target": "replay"})
        statement = self.statement(first)
        assertion = self.keys[LEAD].sign(statement)
        self.approve(first, LEAD, statement, assertion)
        self.assertEqual(self.ended(first)[0], "done")
        self.expect_run()
        second = self.pending({"target": "replay"})
        self.assertNotEqual(first, second)
        fresh = self.statement(second)
        self.not_approved("InvalidArgument", "statement-changed", second, LEAD, statement,
                          assertion)
        self.not_approved("WrongAssertion", "challenge", second, LEAD, fresh, assertion)
        self.assert_state(second, "pending")

    def test_answers_in_another_order(self):
        """Two wait; the answer to one, given for the other, is none."""
        first, second = self.pending({"target": "one"}), self.pending({"target": "two"})
        one, two = self.statement(first), self.statement(second)
        self.not_approved("InvalidArgument", "statement-changed", first, LEAD, two,
                          self.keys[LEAD].sign(two))
        self.not_approved("InvalidArgument", "statement-changed", second, LEAD, one,
                          self.keys[LEAD].sign(one))
        self.peer(LEAD).call(bus.APPROVER, "Deny", "(osa{sv})", (first, "other", {}))
        self.assert_state(first, "denied")
        self.assert_state(second, "pending")

    def test_a_denial_that_says_approve(self):
        path = self.pending({"target": "decision"})
        denial = self.statement(path, decision="deny")
        with self.assertRaises(bus.BusError):
            self.approve(path, LEAD, denial, self.keys[LEAD].sign(denial))
        for decision in ("", "Approve", "yes", "approved"):
            error = self.peer(LEAD).error(bus.APPROVER, "GetStatement", "(oa{sv})", (
                path, {"decision": ("s", decision),
                       "credential": ("ay", self.keys[LEAD].credential)}))
            self.assertEqual(error.name, bus.ERROR + "InvalidArgument", decision)
        self.assert_state(path, "pending")

    def test_a_changed_statement(self):
        path = self.pending({"target": "changed"})
        statement = self.statement(path)
        for changed in (statement + b" ", statement[:-1], b"", b"{}",
                        statement.replace(b"approve", b"Approve")):
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, changed, self.keys[LEAD].sign(changed))
            self.assertEqual(caught.exception.name, bus.ERROR + "InvalidArgument",
                             caught.exception)
        self.assert_state(path, "pending")

    def test_another_agent_part_and_run(self):
        self.done({"target": "same"})
        self.pending({"target": "same"})
        self.pending({"target": "same"}, run=self.open_run(AGENT, label="another"))
        self.pending({"target": "same"}, run=self.open_run(AGENT, part="licences"))
        self.pending({"target": "same"}, run=self.open_run(OTHER), user=OTHER)

    def test_every_other_mail(self):
        """Changed recipient, body, file, name of the file, added Bcc: each is a request of its own."""
        paths = [self.pending(MAIL, action="mail.send", files=REPORT)]
        changes = ({"to": ("as", ["mallory@example.net"])},
                   {"to": ("as", ["security@example.com", "mallory@example.net"])},
                   {"bcc": ("as", ["mallory@example.net"])}, {"cc": ("as", ["a@example.net"])},
                   {"body": "Attached. "}, {"subject": "report"},
                   {"attachment": ("a(sh)", [("report.exe", 0)])})
        for change in changes:
            paths.append(self.pending({**MAIL, **change}, action="mail.send", files=REPORT))
        paths.append(self.pending(MAIL, action="mail.send",
                                  files=[bus.File(b"%PDF-1.4 secret")]))
        self.assertEqual(len(set(paths)), len(paths))
        # What is left out is what policy presets; said in words, it is the same request.
        self.assertEqual(self.submit({**MAIL, "bcc": ("as", [])}, action="mail.send",
                                     files=REPORT)[0], paths[0])
        digests = {self.state(path)[1]["digest"] for path in paths}
        self.assertEqual(len(digests), len(paths))

    def test_a_superseded_request(self):
        old = self.pending({"target": "old"})
        statement = self.statement(old)
        new, state = self.submit({"target": "new"}, supersedes=("o", old))
        self.addCleanup(self.close, new)
        self.assertEqual(state, "pending")
        with self.assertRaises(bus.BusError) as caught:
            self.approve(old, LEAD, statement)
        self.assertEqual(caught.exception.name, bus.ERROR + "WrongState", caught.exception)
        self.assert_state(old, "superseded")
        self.assert_state(new, "pending")

    def test_a_withdrawn_and_a_denied_request(self):
        for target, end in (("withdrawn", lambda path: self.close(path)),
                            ("denied", lambda path: self.peer(LEAD).call(
                                bus.APPROVER, "Deny", "(osa{sv})", (path, "suspicious", {})))):
            path = self.pending({"target": target})
            statement = self.statement(path)
            end(path)
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, statement)
            self.assertEqual(caught.exception.name, bus.ERROR + "WrongState", caught.exception)
            self.assert_state(path, target)

    def statement_in_time(self, target):
        """Of a request that lives for two seconds, which a slow machine may take for asking."""
        for _ in range(20):
            path = self.pending({"target": target})
            try:
                return path, self.statement(path)
            except bus.BusError as error:
                self.assertEqual(error.name, bus.ERROR + "WrongState", error)
        raise AssertionError("no statement came in time")

    def test_an_answer_too_late(self):
        path, statement = self.statement_in_time("soon")
        assertion = self.keys[LEAD].sign(statement)
        time.sleep(2.2)
        with self.assertRaises(bus.BusError) as caught:
            self.approve(path, LEAD, statement, assertion)
        self.assertEqual(caught.exception.name, bus.ERROR + "WrongState", caught.exception)
        self.assertEqual(self.ended(path)[0], "expired")
        self.assert_state(path, "expired")

    # --- the assertion ---

    def wrong(self, reason, **changes):
        path = self.pending({"target": f"wrong {reason}"})
        self.assertEqual(self.attempts(path), 5)
        self.not_approved("WrongAssertion", reason, path, **changes)
        self.assertEqual(self.attempts(path), 4)
        self.assert_state(path, "pending")

    def test_a_wrong_challenge(self):
        self.wrong("challenge", challenge=bytes(32))

    def test_a_wrong_origin(self):
        self.wrong("origin", origin="https://example.com")

    def test_a_wrong_relying_party(self):
        self.wrong("rp-id", rp="example.com")

    def test_a_registration_as_answer(self):
        self.wrong("client-type", kind="webauthn.create")

    def test_nobody_there(self):
        self.wrong("user-presence", flags=UV)

    def test_nobody_verified(self):
        self.wrong("user-verification", flags=UP)

    def test_flags_that_must_not_be(self):
        for flags in (AT, ED, RESERVED):
            with self.subTest(flags):
                self.wrong("flags", flags=UP | UV | flags)
                self.run_id = self.open_run(AGENT, label=f"flags {flags}")

    def test_backup_flags(self):
        for flags in (BS, BE):
            with self.subTest(flags):
                self.wrong("backup-flags", flags=UP | UV | flags)
                self.run_id = self.open_run(AGENT, label=f"backup {flags}")

    def test_another_origin_on_top(self):
        self.wrong("top-origin", topOrigin="https://example.com")

    def test_a_wrong_signature(self):
        path = self.pending({"target": "signature"})
        statement = self.statement(path)
        assertion = self.keys[LEAD].sign(statement)
        signature = bytearray(assertion["signature"][1])
        signature[-1] ^= 1
        self.not_approved("WrongAssertion", "signature", path, LEAD, statement,
                          {**assertion, "signature": ("ay", signature)})
        self.assertEqual(self.attempts(path), 4)
        self.assert_state(path, "pending")

    def test_a_foreign_key(self):
        """Another key pair that claims the credential, and credentials of nobody and another."""
        path = self.pending({"target": "foreign"})
        statement = self.statement(path)
        thief = authenticator.Authenticator()
        thief.rp, thief.origin = self.keys[LEAD].rp, self.keys[LEAD].origin
        unknown = thief.sign(statement)
        thief.credential = self.keys[LEAD].credential
        self.not_approved("WrongAssertion", "signature", path, LEAD, statement,
                          thief.sign(statement))
        for assertion in (unknown, self.keys[KIM].sign(statement)):
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, statement, assertion)
            self.assertTrue(caught.exception.name.startswith(bus.ERROR), caught.exception)
        self.assert_state(path, "pending")

    def test_an_assertion_of_another_form(self):
        path = self.pending({"target": "form"})
        statement = self.statement(path)
        good = self.keys[LEAD].sign(statement)
        for changed in ({}, {**good, "extra": ("s", "x")}, {**good, "signature": ("s", "x")},
                        {key: value for key, value in good.items() if key != "auth-data"}):
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, statement, changed)
            self.assertEqual(caught.exception.name, bus.ERROR + "InvalidArgument",
                             caught.exception)
        self.assert_state(path, "pending")

    def test_five_wrong_answers(self):
        path = self.pending({"target": "five"})
        for left in (4, 3, 2, 1, 0):
            self.not_approved("WrongAssertion", "user-verification", path, flags=UP)
            if left:
                self.assertEqual(self.attempts(path), left)
        with self.assertRaises(bus.BusError) as caught:
            self.approve(path)
        self.assertEqual((caught.exception.name, caught.exception.reason),
                         (bus.ERROR + "WrongAssertion", "attempts"), caught.exception)
        self.assert_state(path, "pending")

    # --- what changes between the answer and the execution ---

    def test_one_person_twice(self):
        path = self.pending({"target": "twice"}, action="test.twice")
        self.assertEqual(self.approve(path), "pending")
        self.assertEqual(self.approve(path), "pending")  # which counts once
        self.assertEqual(self.assert_state(path, "pending")["answers"], 1)

    def test_the_policy_changed_between_two_answers(self):
        path = self.pending({"target": "policy"}, action="test.twice")
        self.assertEqual(self.approve(path, LEAD), "pending")
        statement = self.statement(path, KIM)
        changed = ACTIONS["test.twice"].replace("Label=Target", "Label=Another word")
        self.write_policy(actions={**ACTIONS, "test.twice": changed})
        self.world.ctl("policy", "reload")
        try:
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, KIM, statement)
            self.assertEqual(caught.exception.name, bus.ERROR + "Refused", caught.exception)
            self.assert_state(path, "refused")
            world.wait_until(lambda: "successor" in self.state(path)[1], "it has a successor")
            successor = self.state(path)[1]["successor"]
            self.assertEqual(self.assert_state(successor, "pending")["answers"], 0)
            self.close(successor)
        finally:
            self.write_policy()
            self.world.ctl("policy", "reload")

    def test_the_policy_made_invalid_between(self):
        path = self.pending({"target": "invalid"})
        statement = self.statement(path)
        self.write_policy(rules={"denial": "[Rule once]\nDecison=allow\n"})
        try:
            self.peer("root").call(bus.ADMIN, "ReloadPolicy", path=ADMIN_PATH)
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, statement)
            self.assertEqual(caught.exception.name, bus.ERROR + "PolicyInvalid", caught.exception)
            with self.assertRaises(bus.BusError) as caught:
                self.submit({"target": "invalid too"})
            self.assertEqual(caught.exception.name, bus.ERROR + "PolicyInvalid", caught.exception)
        finally:
            self.write_policy()
            self.world.ctl("policy", "reload")

    def test_the_passkey_revoked_between_two_answers(self):
        path = self.pending({"target": "revoked"}, action="test.twice")
        self.assertEqual(self.approve(path, LEAD), "pending")
        self.peer("root").call(bus.ADMIN, "RevokePasskey", "(ay)", (self.keys[LEAD].credential,),
                               path=ADMIN_PATH)
        try:
            with self.assertRaises(bus.BusError):
                self.approve(path, LEAD)
            try:
                self.assertEqual(self.approve(path, KIM), "pending")
            except bus.BusError as error:
                self.assertTrue(error.name.startswith(bus.ERROR), error)
            self.assertEqual(self.state(path)[1]["executed"], "no")
        finally:
            self.keys[LEAD] = self.enrol(LEAD)

    def test_an_approver_out_of_the_group(self):
        """The first answer is of somebody who is no longer one of them at the second."""
        path = self.pending({"target": "group"}, action="test.twice")
        self.assertEqual(self.approve(path, KIM), "pending")
        with open("/etc/group", encoding="utf-8") as file:
            groups = file.read()
        lines = [line.replace("hr.kim", "").replace(",,", ",").rstrip(",")
                 if line.startswith("hr:") else line for line in groups.splitlines()]
        try:
            self.write_groups("\n".join(lines) + "\n")
            try:
                self.assertEqual(self.approve(path, LEAD), "pending")
            except bus.BusError as error:
                self.assertTrue(error.name.startswith(bus.ERROR), error)
            self.assertEqual(self.state(path)[1]["executed"], "no")
        finally:
            self.write_groups(groups)

    @staticmethod
    def write_groups(text):
        with open("/etc/group", "w", encoding="utf-8") as file:
            file.write(text)

    def test_an_approver_who_became_an_agent(self):
        path = self.pending({"target": "became"})
        statement = self.statement(path)
        self.write_policy(agents={**policy.AGENTS, "lead": "[Agent]\nSummary=Was a person\n"
                                  "User=it.lead\nOwner=alice\n"})
        self.world.ctl("policy", "reload")
        try:
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, statement)
            self.assertEqual(caught.exception.name, bus.ERROR + "NotApprover", caught.exception)
            self.assertEqual(self.state(path)[1]["executed"], "no")
        finally:
            self.write_policy()
            self.world.ctl("policy", "reload")

    def test_a_ledger_that_cannot_be_read(self):
        path = self.pending({"target": "ledger"})
        statement = self.statement(path)
        folder = "/var/lib/undersign-executor"
        self.world.executor.stop()
        shutil.copytree(folder, folder + ".kept")
        try:
            for name in os.listdir(folder):
                if os.path.isfile(f"{folder}/{name}"):
                    with open(f"{folder}/{name}", "r+b") as file:
                        file.write(b"this is no ledger" * 256)
            self.world.executor.start()
            error = self.peer(LEAD).error(bus.APPROVER, "Approve", "(oaya{sv})",
                                          (path, statement, self.keys[LEAD].sign(statement)))
            self.assertEqual(error.name, bus.ERROR + "Unavailable", error)
            self.assertEqual(policy.executed(), self.marker)
        finally:
            self.world.executor.stop()
            self.hang_up()
            self.world.broker.kill()
            for name in os.listdir(folder + ".kept"):
                # Written over, so that owner and mode stay.
                with open(f"{folder}.kept/{name}", "rb") as kept, \
                        open(f"{folder}/{name}", "wb") as file:
                    file.write(kept.read())
            shutil.rmtree(folder + ".kept")
            self.world.executor.start()
            self.world.broker.start()
            self.world.wait_for_broker()
            self.restarted()
        self.assert_state(path, "pending")
        self.world.ctl("audit", "verify")

    def test_halted_between(self):
        path = self.pending({"target": "halted"})
        statement = self.statement(path)
        self.world.ctl("halt", "for a test")
        try:
            self.not_approved("Halted", "halted", path, LEAD, statement)
            error = self.refused("Halted", "halted", {"target": "while halted"})
            # What an administrator writes down is no agent's to read.
            self.assertNotIn("for a test", error.text)
        finally:
            self.world.ctl("resume", "after it")

    # --- a part of the service is away ---

    def take_away(self, service):
        """Ends it and closes its socket, of which this process's children have copies."""
        service.stop()
        self.hang_up()
        service.hang_up()

    def test_no_executor(self):
        path = self.pending({"target": "no executor"})
        statement = self.statement(path)
        self.take_away(self.world.executor)
        try:
            self.refused("Unavailable", "unreachable", {"target": "no executor, new"})
            with self.assertRaises(bus.BusError) as caught:
                self.approve(path, LEAD, statement)
            self.assertEqual(caught.exception.name, bus.ERROR + "Unavailable", caught.exception)
        finally:
            self.world.executor.start()
            self.restarted()

    def test_no_runner(self):
        path = self.pending({"target": "no runner"})
        runner = self.world.runners["null"]
        self.take_away(runner)
        try:
            try:
                self.approve(path)
            except bus.BusError as error:
                self.assertTrue(error.name.startswith(bus.ERROR), error)
            state, details = self.ended(path)
            self.assertEqual((state, details["executed"]), ("failed", "no"), details)
        finally:
            runner.start()
            self.restarted()

    def test_a_restart_in_between(self):
        path = self.pending({"target": "restart"})
        statement = self.statement(path)
        assertion = self.keys[LEAD].sign(statement)
        self.hang_up()
        self.world.restart_broker(kill=True)
        self.restarted()
        with self.assertRaises(bus.BusError) as caught:
            self.approve(path, LEAD, statement, assertion)
        self.assertTrue(caught.exception.name.startswith(bus.ERROR), caught.exception)
        self.assert_state(path, "pending")


if __name__ == "__main__":
    tap.main("system/denial-approval")
