#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Security keys, as a person meets them on the terminal, against a service of the test's own.

usage: test-security-key.py PROGRAM SERVICE KEY-TOOL PLUGGED [TEST…]   (what this folder builds)

libfido2 and its HID code are the real ones; behind the device are authenticators of others, see
tests/authenticator.  UNDERSIGN_AUTHENTICATORS names the folder where they were built; without it
only what needs none is run, and the rest is skipped.
"""

import glob
import os
import subprocess
import sys
import tempfile
import tty
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

import card_case as card  # noqa: E402
from undersign_test import security_key, tap  # noqa: E402


TOOL, PLUGGED = map(os.path.abspath, sys.argv[3:5])
PIN, WRONG = "1234-x", "4321-y"
REQUEST, ME = card.REQUEST, card.ME
TOUCH = "Touch the security key"


def pin_prompt(tries):
    return rf"PIN of \S+ \({tries} {'try' if tries == 1 else 'tries'} left\): $"


class Case(card.Case):
    """A service, a folder of its own, and no passkey yet."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="undersign-keys-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.service = card.Service(cls.folder.name)
        cls.addClassCleanup(cls.service.close)

    def setUp(self):
        for words in (("statement", "good"), ("enrol", "accept"), ("exclude", "no"),
                      ("attestation", "/nonexistent"), ("card", REQUEST, "plain")):
            self.service.tell(*words)
        self.service.reached()

    def place(self):
        folder = tempfile.mkdtemp(dir=self.folder.name)
        os.chmod(folder, 0o755)
        return folder

    def enrol(self, *devices, unattested=False):
        arguments = [word for device in devices for word in ("--device", device)]
        return self.terminal("passkey", "enrol", "--label", "Blue key", *arguments,
                             *(["--unattested"] if unattested else []))

    def sign(self, *devices, **environment):
        return self.approve(REQUEST, *[word for device in devices for word in ("--device", device)],
                            **environment)

    def assert_approved(self, terminal):
        terminal.wait_for("done: sent")
        self.assertEqual(terminal.wait(), 0)
        self.assertRegex(self.service.reached()[0], f"^approve {REQUEST} ok ")

    def assert_ends(self, terminal, pattern, status=1):
        terminal.wait_for(pattern)
        self.assert_nothing(terminal, status)


class WithoutAuthenticators(Case):
    @unittest.skipIf(glob.glob("/dev/hidraw*"), "there may be a real key on this machine")
    def test_none_plugged_in(self):
        with self.terminal("passkey", "enrol", "--security-key") as terminal:
            self.assert_ends(terminal, "key-absent: no security key is plugged in")

    def test_several_plugged_in(self):
        with self.enrol("/dev/null", "/dev/zero") as terminal:
            self.assert_ends(terminal, "key-several: 2 security keys are plugged in")

    def test_no_such_device(self):
        with self.enrol("/nonexistent") as terminal:
            self.assert_ends(terminal, "key-failed: .*/nonexistent does not answer")

    def test_no_device_at_all(self):
        with self.enrol(os.path.join(HERE, "meson.build")) as terminal:
            self.assert_ends(terminal, "key-failed: ")

    def test_silent_device(self):
        master, slave = os.openpty()
        tty.setraw(slave)
        try:
            with self.enrol(os.ttyname(slave)) as terminal:
                self.assert_ends(terminal, "key-failed: .*does not answer")
        finally:
            os.close(master)
            os.close(slave)

    def test_options_that_exclude_each_other(self):
        for options in (["--security-key", "--file"], ["--unattested"], ["--device"]):
            done = self.run_plain("passkey", "enrol", *options)
            self.assertEqual(done.returncode, 126, done.stderr)


@unittest.skipUnless(security_key.available(), "UNDERSIGN_AUTHENTICATORS names no authenticators")
class KeyCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = os.path.join(cls.folder.name, "maker")
        os.mkdir(folder)
        cls.maker = security_key.Maker(folder)

    def pin_key(self, pin=PIN, maker=None, **environment):
        key = security_key.PinKey(self.place(), maker or self.maker, environment)
        self.addCleanup(key.unplug)
        if pin:
            subprocess.run([TOOL, key.path, pin], check=True, timeout=60)
        return key

    def uv_key(self, **environment):
        key = security_key.UvKey(self.place(), environment)
        self.addCleanup(key.unplug)
        return key

    def trust(self, *certificates):
        folder = self.place()
        for number, path in enumerate(certificates):
            with open(path, encoding="ascii") as source, \
                 open(os.path.join(folder, f"{number}.pem"), "w", encoding="ascii") as target:
                target.write(source.read())
        self.service.tell("attestation", folder)

    def enrolled(self, key, pin=PIN, unattested=True):
        with self.enrol(key.path, unattested=unattested) as terminal:
            if pin:
                terminal.wait_for(pin_prompt(8))
                terminal.line(pin)
            terminal.wait_for("Enrolled for")
            self.assertEqual(terminal.wait(), 0, terminal.text)
        self.assertEqual(self.service.reached(), ["enrol ok"])
        return key

    def to_signature(self, terminal):
        terminal.line(self.to_end(terminal))
        terminal.wait_for("sign your approval")


class Listed(KeyCase):
    """Keys that nobody names: those that are plugged in, as the library lists them."""

    def setUp(self):
        super().setUp()
        self.list = os.path.join(self.place(), "list")
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        self.listed = {"LD_PRELOAD": PLUGGED, "UNDERSIGN_TEST_KEYS": self.list,
                       "ASAN_OPTIONS": options}

    def plug(self, *keys, gone=()):
        with open(self.list, "w", encoding="ascii") as file:
            file.writelines(f"{path}\n" for path in (*gone, *(key.path for key in keys)))

    def to_pin(self, terminal):
        terminal.wait_for(r"PIN of Listed key \(8 tries left\): $")
        terminal.line(PIN)

    def test_the_only_one_is_enrolled(self):
        self.plug(self.pin_key())
        with self.terminal("passkey", "enrol", "--label", "Blue key", "--security-key",
                           "--unattested", **self.listed) as terminal:
            self.to_pin(terminal)
            terminal.wait_for("Enrolled for")
        self.assertEqual(self.service.reached(), ["enrol ok"])

    def test_of_several_none_is_enrolled(self):
        self.plug(self.pin_key(), self.pin_key())
        with self.terminal("passkey", "enrol", "--label", "Blue key", "--security-key",
                           "--unattested", **self.listed) as terminal:
            self.assert_ends(terminal, "key-several: 2 security keys are plugged in")

    def test_the_one_with_the_passkey_signs(self):
        key = self.enrolled(self.pin_key())
        self.plug(self.pin_key(), key, self.pin_key())
        with self.approve(REQUEST, **self.listed) as terminal:
            self.to_signature(terminal)
            self.to_pin(terminal)
            self.assert_approved(terminal)

    def test_another_until_it_is_plugged_in(self):
        key = self.enrolled(self.pin_key())
        other = self.pin_key()
        for keys in ((), (other,)):
            self.plug(*keys)
            with self.approve(REQUEST, **self.listed) as terminal:
                self.to_signature(terminal)
                terminal.wait_for("Plug your security key in, then press Enter")
                self.plug(other, key)
                terminal.type("\r")
                self.to_pin(terminal)
                self.assert_approved(terminal)

    def test_one_that_is_gone_is_passed_over(self):
        key = self.enrolled(self.pin_key())
        self.plug(key, gone=["/dev/hidraw-that-was"])
        with self.approve(REQUEST, **self.listed) as terminal:
            self.to_signature(terminal)
            self.to_pin(terminal)
            self.assert_approved(terminal)


class WithPin(KeyCase):
    def test_enrol_and_approve(self):
        key = self.enrolled(self.pin_key())
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            terminal.wait_for(TOUCH)
            self.assert_approved(terminal)
            self.assertNotIn(PIN.encode(), terminal.raw)

    def test_wrong_pin_then_right(self):
        key = self.enrolled(self.pin_key())
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(WRONG)
            terminal.wait_for("not its PIN.*" + pin_prompt(7))
            terminal.line(PIN)
            self.assert_approved(terminal)
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def test_blocked_until_plugged_in_again(self):
        key = self.enrolled(self.pin_key())
        for tries in (8, 5):
            with self.sign(key.path) as terminal:
                self.to_signature(terminal)
                for left in range(tries, tries - 3, -1):
                    terminal.wait_for(pin_prompt(left))
                    terminal.line(WRONG)
                self.assert_ends(terminal, "key-blocked: .*unplug it and plug it in again")
            key.unplug()
            key.plug_in()

    def test_blocked_for_good(self):
        key = self.enrolled(self.pin_key())
        for tries in (8, 5, 2):
            with self.sign(key.path) as terminal:
                self.to_signature(terminal)
                for left in range(tries, max(tries - 3, 0), -1):
                    terminal.wait_for(pin_prompt(left))
                    terminal.line(WRONG)
                self.assert_ends(terminal, "key-blocked: ")
            key.unplug()
            key.plug_in()
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            self.assert_ends(terminal, "key-blocked: .*blocked until it is reset")

    def test_no_pin_is_no_answer_and_no_try(self):
        key = self.enrolled(self.pin_key())
        for typed in ("\r", "\x1b", "\x03"):
            with self.sign(key.path) as terminal:
                self.to_signature(terminal)
                terminal.wait_for(pin_prompt(8))
                terminal.type(typed)
                self.assert_nothing(terminal)

    def test_leaving_while_it_blinks(self):
        key = self.enrolled(self.pin_key())
        key.finger("")
        for typed in ("\x1b", "\x03"):
            with self.sign(key.path) as terminal:
                self.to_signature(terminal)
                terminal.wait_for(pin_prompt(8))
                terminal.line(PIN)
                terminal.wait_for(TOUCH)
                terminal.settle()
                self.assertIsNone(terminal.status)
                terminal.type(typed)
                self.assert_nothing(terminal)
        # it does not wait for its touch any more
        key.finger("touch")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_approved(terminal)

    def test_touched_late(self):
        key = self.enrolled(self.pin_key())
        key.finger("")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            terminal.wait_for(TOUCH)
            terminal.type("keys typed meanwhile\r")
            terminal.settle()
            key.finger("touch")
            self.assert_approved(terminal)

    def test_nobody_touches_it(self):
        key = self.enrolled(self.pin_key(TOUCH_TIMEOUT_MS="700"))
        key.finger("")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_ends(terminal, "key-timeout: .*nobody touched it in time")

    def test_one_that_would_wait_for_ever(self):
        """It says all the time that it waits for its person: we end that, and it is told so."""
        key = self.enrolled(self.pin_key(TOUCH_TIMEOUT_MS="600000"))
        key.finger("")
        with self.sign(key.path, TEST_TOUCH_MS="3000") as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            terminal.wait_for(TOUCH)
            self.assert_ends(terminal, "key-timeout: .*nobody touched it in time")
        # it does not wait for that touch any more
        key.finger("touch")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_approved(terminal)

    def test_pulled_out_while_it_blinks(self):
        key = self.enrolled(self.pin_key())
        key.finger("")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            terminal.wait_for(TOUCH)
            key.unplug()
            try:
                self.assert_ends(terminal, "key-failed: ")
            finally:
                key.plug_in()

    def test_without_pin(self):
        key = self.pin_key(pin=None)
        with self.enrol(key.path) as terminal:
            self.assert_ends(terminal, "key-unfit: .*set a PIN first")

    def test_passkey_that_is_there(self):
        key = self.enrolled(self.pin_key())
        self.service.tell("exclude", "yes")
        with self.enrol(key.path, unattested=True) as terminal:
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_ends(terminal, "credential-exists: ")

    def test_refused_by_the_service(self):
        self.service.tell("enrol", "refuse")
        key = self.pin_key()
        with self.enrol(key.path, unattested=True) as terminal:
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_ends(terminal, "credential-exists: it is there")

    def test_two_keys(self):
        """The one that holds the passkey is found; the other is asked for nothing."""
        other = self.pin_key()
        key = self.enrolled(self.pin_key())
        with self.sign(other.path, key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_approved(terminal)

    def test_other_key_plugged_in(self):
        key = self.enrolled(self.pin_key())
        other = self.pin_key()
        with self.sign(other.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for("Plug your security key in, then press Enter")
            terminal.type("x\r")
            terminal.wait_for("Plug your security key in, then press Enter")
            terminal.type("\x1b")
            self.assert_nothing(terminal)
        self.assertNotEqual(key.path, other.path)

    def test_plugged_in_when_asked(self):
        key = self.enrolled(self.pin_key())
        link = os.path.join(self.place(), "key")
        with self.sign(link) as terminal:
            self.to_signature(terminal)
            terminal.wait_for("Plug your security key in, then press Enter")
            os.symlink(key.path, link)
            terminal.type("\r")
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_approved(terminal)

    def test_spoiled_statement_is_not_signed(self):
        key = self.enrolled(self.pin_key())
        self.service.tell("statement", "deny")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            self.assertNotEqual(terminal.wait(), 0)
            self.assertNotIn("PIN of", terminal.text)
        self.assertEqual(self.service.reached(), [])


class Attestation(KeyCase):
    def enrol_attested(self, maker, pattern, status=1):
        key = self.pin_key(maker=maker)
        with self.enrol(key.path) as terminal:
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            terminal.wait_for(pattern)
            self.assertEqual(terminal.wait(), status, terminal.text)
        return key

    def maker_of(self, **options):
        folder = self.place()
        return security_key.Maker(folder, **options)

    def test_hardware(self):
        self.trust(self.maker.root)
        key = self.enrol_attested(self.maker, "Enrolled for .*, as hardware", status=0)
        self.assertEqual(self.service.reached(), ["enrol ok"])
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(pin_prompt(8))
            terminal.line(PIN)
            self.assert_approved(terminal)

    def test_intermediate_in_the_folder(self):
        maker = self.maker_of(through=True)
        self.trust(maker.root)
        self.enrol_attested(maker, "attestation-chain: .*")
        self.trust(maker.root, maker.intermediate)
        self.enrol_attested(maker, "as hardware", status=0)
        self.trust(maker.intermediate)
        self.enrol_attested(maker, "as hardware", status=0)

    def test_another_maker(self):
        self.trust(self.maker_of().root)
        self.enrol_attested(self.maker, "--unattested.*attestation-chain: ")
        self.assertRegex(self.service.reached()[0], "^enrol refused attestation-chain")

    def test_unattested_names_no_maker(self):
        """With none to trust, and yet taken: no certificate was sent."""
        self.enrolled(self.pin_key())


class WithReader(KeyCase):
    """A key that verifies its person by itself is asked for no PIN."""

    def test_enrol_and_approve(self):
        key = self.enrolled(self.uv_key(), pin=None)
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(TOUCH)
            self.assert_approved(terminal)
            self.assertNotIn("PIN", terminal.text)

    def test_somebody_else(self):
        key = self.enrolled(self.uv_key(), pin=None)
        key.finger("stranger")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            self.assert_ends(terminal, "key-unverified: .*did not recognise its person")

    def test_refused_on_the_key(self):
        key = self.enrolled(self.uv_key(), pin=None)
        key.finger("deny")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            self.assert_ends(terminal, "refused on the key", status=3)

    def test_leaving(self):
        key = self.enrolled(self.uv_key(), pin=None)
        key.finger("")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            terminal.wait_for(TOUCH)
            terminal.type("\x1b")
            self.assert_nothing(terminal)

    def test_nobody_touches_it(self):
        key = self.enrolled(self.uv_key(TOUCH_TIMEOUT_MS="500"), pin=None)
        key.finger("")
        with self.sign(key.path) as terminal:
            self.to_signature(terminal)
            self.assert_ends(terminal, "key-timeout: ")

    def test_no_maker_attests_it(self):
        self.trust(self.maker.root)
        key = self.uv_key()
        with self.enrol(key.path) as terminal:
            self.assert_ends(terminal, "--unattested.*attestation-chain: .*does not attest it")


if __name__ == "__main__":
    del sys.argv[1:5]
    tap.main("card-security-key")
