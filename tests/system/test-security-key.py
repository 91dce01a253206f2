#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Passkeys=hardware, from the maker's root to the effect: the installed service, and a security key
behind libfido2's own HID code, whose PIN is typed on a terminal."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import person, policy, security_key, tap, world  # noqa: E402

LEAD, KIM = "it.lead", "hr.kim"
PIN = "1234-x"
KEY_ID = re.compile("sha256:[0-9a-f]{64}")
NOT_PROVEN = 6
ROOTS = f"{policy.FOLDER}/attestation.d"
RULES = {"metal": """[Rule metal]
Agents=offboarding
Actions=test.rehearse
Decision=ask
Approvers=@hr @it-leads
Lifetime=30min
Passkeys=hardware
"""}


@unittest.skipUnless(security_key.available(), "UNDERSIGN_AUTHENTICATORS names no authenticators")
class Hardware(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        policy.write(rules=RULES)
        cls.world = world.World(modules=("null",))
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.let_enrol(LEAD, KIM)
        cls.maker = security_key.Maker(cls.folder())
        person.Person(KIM).enrol()

    @classmethod
    def folder(cls):
        path = tempfile.mkdtemp(dir="/run/undersign-test")
        cls.addClassCleanup(shutil.rmtree, path)
        return path

    def key(self):
        """A key with a PIN, for LEAD's hands alone."""
        key = security_key.PinKey(self.folder(), self.maker)
        self.addCleanup(key.unplug)
        key.give(LEAD, PIN)
        return key

    def enrol(self, key, *options):
        with person.Person(LEAD).terminal("passkey", "enrol", "--device", key.path,
                                          *options) as screen:
            self.say_pin(screen)
            return screen.wait(), screen.text

    @staticmethod
    def say_pin(screen):
        screen.wait_for(r"PIN of \S+ \(8 tries left\): ")
        screen.line(PIN)

    def kinds(self):
        done = self.world.ctl("passkey", "list")
        return sorted(line.split()[-1] for line in done.splitlines()
                      if line.strip().startswith("kind"))

    def sign(self, screen):
        _, shown = person.Person(LEAD).read_card(screen)
        screen.line(shown)

    def test_from_maker_to_effect(self):
        agent = person.Agent("agent-offboarding")
        # a software passkey is enrolled, and no approver's for this rule
        status, refused = agent.json("request", "test.rehearse", "target=nobody")
        self.assertNotEqual(status, 0)
        self.assertIn("no-approver", str(refused))

        # nobody trusts the maker: not hardware, whatever is asked for
        key, other = self.key(), self.key()
        status, text = self.enrol(key)
        self.assertEqual(status, 1, text)
        self.assertIn("attestation-chain: /etc/undersign/attestation.d names no maker", text)

        os.makedirs(ROOTS, mode=0o755)
        self.addCleanup(shutil.rmtree, ROOTS)
        shutil.copy(self.maker.root, f"{ROOTS}/test.pem")
        os.chmod(f"{ROOTS}/test.pem", 0o644)
        status, text = self.enrol(key)
        self.assertEqual(status, 0, text)
        self.assertIn("as hardware", text)
        said = KEY_ID.findall(text)
        self.assertEqual(len(said), 1, text)
        status, text = self.enrol(other, "--unattested")
        self.assertEqual(status, 0, text)
        self.assertEqual(self.kinds(), ["hardware", "software", "unattested"])
        self.check_ids(hardware=said, unattested=KEY_ID.findall(text))

        request = agent.request("test.rehearse", "target=metal")["request"]
        self.assertEqual(person.Person(KIM).pending(), [])
        # the key that no maker vouched for does not sign it
        with person.Person(LEAD).terminal("approve", "--device", other.path, request) as screen:
            self.sign(screen)
            screen.wait_for("Plug your security key in")
            screen.type("\x1b")
            self.assertEqual(screen.wait(), 3, screen.text)
        self.assertEqual(policy.executed(), 0)
        with person.Person(LEAD).terminal("approve", "--device", other.path, "--device", key.path,
                                          request) as screen:
            self.sign(screen)
            self.say_pin(screen)
            screen.wait_for("Touch the security key")
            self.assertEqual(screen.wait(), 0, screen.text)
            self.assertNotIn(PIN.encode(), screen.raw)
        self.assertEqual(agent.wait(request)["state"], "done")
        self.assertEqual(policy.executed(), 1)
        self.check_receipt(request, said[0], *KEY_ID.findall(text))

    def check_ids(self, **said):
        """What a person is told at the enrolment is what the administrator is shown."""
        listed = json.loads(self.world.ctl("passkey", "list", "--json"))["passkeys"]
        for kind, ids in said.items():
            self.assertEqual([key["key"] for key in listed if key["kind"] == kind], ids)

    def check_receipt(self, request, right, wrong):
        """It is proven by the id that was said when the key was enrolled, and by no other."""
        host = json.loads(json.loads(self.world.ctl("audit", "checkpoint"))["body"])["key"]
        path = f"{self.folder()}/receipt"
        done = person.Person(LEAD).run("receipt", request)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "w", encoding="utf-8") as file:
            file.write(done.stdout)
        for key, status in ((right, 0), (wrong, NOT_PROVEN)):
            done = subprocess.run(["undersign", "receipt", "verify", path, f"--key={host}",
                                   f"--key={key}"], capture_output=True, text=True, check=False,
                                  timeout=120)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)


if __name__ == "__main__":
    tap.main("security-key")
