#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Units are restarted while a mail is on its way, and the machine before two requests are answered."""

import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, mailserver, policy, tap, world  # noqa: E402

UNITS = (booted.MAIL, booted.EXECUTOR, booted.BROKER)
# The longest that a unit waits for what it is doing.
DRAIN_SECONDS = 300


def main_pid(name):
    return int(booted.unit(name, "MainPID"))


class Interrupt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        cls.agent = booted.Agent("agent-offboarding")
        cls.person = booted.Person("it.lead")
        cls.before = len(cls.server.mails())

    def held(self):
        with open(mailserver.LOG, encoding="utf-8") as log:
            return log.read().count("holding")

    def send_slowly(self):
        """A mail that the server takes and does not acknowledge; returns its request."""
        with open(mailserver.HOLD, "w", encoding="ascii"):
            pass
        found = self.agent.request("mail.send", f"to={mailserver.SLOW}", "subject=Slow",
                                   f"body={booted.BODY}", "--run=day-1")
        answering = subprocess.Popen(
            ["/usr/bin/python3", "-B", "-c",
             f"import sys; sys.path[:0] = {sys.path!r}\n"
             "from undersign_test import booted\n"
             f"booted.Person('it.lead').approve({found['request']!r})\n"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(answering.wait, 300)
        world.wait_until(self.held, "the mail is at the server", 120)
        return found["request"]

    def restart_units(self):
        """Restarts all three; only those that were at work are still there."""
        old = {name: main_pid(name) for name in UNITS}
        at_work = {name: set(booted.processes(name)) - {old[name]} for name in UNITS}
        booted.command("systemctl", "restart", "--no-block", *UNITS)
        world.wait_until(lambda: all(main_pid(name) not in (old[name], 0) or
                                     booted.unit(name, "ActiveState") == "deactivating"
                                     for name in UNITS), "each unit was asked to end", 60)
        for name in (booted.MAIL, booted.EXECUTOR):
            world.wait_until(lambda unit=name: len(set(booted.processes(unit)) & at_work[unit]) == 1,
                             f"the idle worker of {name} has gone", 60)
        return old

    def test_1_a_restart_ends_no_mail_on_its_way(self):
        request = self.send_slowly()
        start = time.monotonic()
        old = self.restart_units()
        held = self.held()
        world.wait_until(lambda: self.held() > held, "the mail is still on its way", 30)
        for name in (booted.MAIL, booted.EXECUTOR):
            self.assertEqual(booted.unit(name, "ActiveState"), "deactivating", name)
        self.assertEqual(len(self.server.mails()), self.before)
        os.unlink(mailserver.HOLD)
        print(f"# held for {time.monotonic() - start:.1f} s, of the module's 52", flush=True)

        for name in UNITS:
            world.wait_until(lambda unit=name: main_pid(unit) not in (old[unit], 0),
                             f"{name} is there again", DRAIN_SECONDS)
            booted.wait_for_unit(name, "active")
        outcome = self.agent.wait(request, 300)
        self.assertEqual((outcome["state"], outcome["executed"]), ("done", "yes"), outcome)
        self.assertEqual(len(self.server.mails()), self.before + 1)

    def test_2_after_it_all_is_as_before(self):
        before = len(self.server.mails())
        found = self.agent.request("mail.send", "to=security@example.com", "subject=Next",
                                   f"body={booted.BODY}", "--run=day-1")
        answer = self.person.approve(found["request"])
        self.assertEqual(answer.status, 0, answer.text)
        self.assertEqual(self.agent.wait(found["request"])["state"], "done")
        self.assertEqual(len(self.server.mails()), before + 1)
        self.assertEqual(booted.failed_units(), [])

    def test_3_requests_wait_for_the_next_boot(self):
        waits = self.agent.request("mail.send", "to=security@example.com", "subject=Waits",
                                   f"body={booted.BODY}", "--run=day-1")
        both = self.agent.request(booted.BOTH, "target=mailbox", "--run=day-1")
        answer = self.person.approve(both["request"])
        print(f"# {answer.status}: {answer.text.splitlines()[-2:]}")
        self.assertEqual(self.agent.status(both["request"])["state"], "pending")
        self.assertEqual(policy.executed(), 0)
        booted.remember(waits=waits["request"], both=both["request"])

    def test_4_the_mechanism_ends_when_it_is_idle(self):
        self.assertTrue(booted.was_started(booted.ADMIN))
        booted.wait_for_unit(booted.ADMIN, "inactive", timeout=300)
        self.assertEqual(booted.unit(booted.ADMIN, "Result"), "success")
        booted.command("undersignctl", "status")


if __name__ == "__main__":
    tap.main("systemd/interrupt")
