# SPDX-License-Identifier: LGPL-2.1-or-later
"""A person who uses undersign(1): enrols a passkey, reads a card to its end, answers it.

Everything goes over a terminal, as a person would do it: pages are turned, the fingerprint that the
card shows is typed, and the passphrase.  `look` sees each byte that the terminal shows.
"""

import json
import re

from . import people, terminal

PASSPHRASE = "a passphrase of the tests"
RULE = """polkit.addRule(function (action, subject) {
  if (action.id == "org.undersign1.enroll" && [%s].indexOf(subject.user) >= 0)
    return polkit.Result.YES;
});
"""


def let_enrol(*users):
    """A rule of polkit: an administrator trusts these people to enrol their own passkey."""
    with open("/etc/polkit-1/rules.d/20-enrol.rules", "w", encoding="utf-8") as file:
        file.write(RULE % ", ".join(json.dumps(user) for user in users))


class Answer:
    """What came of a card: the exit status, all that was shown, and the pages."""

    def __init__(self, status, text, pages):
        self.status, self.text, self.pages = status, text, pages

    @property
    def card(self):
        return "\n".join(self.pages)


class Person:
    """@user at a terminal of @rows × @columns."""

    def __init__(self, user, passphrase=PASSPHRASE, rows=40, columns=100, look=None):
        self.user, self.passphrase = user, passphrase
        self.rows, self.columns, self.look = rows, columns, look

    def terminal(self, *arguments):
        return terminal.Terminal(self.user, ["undersign", *arguments], rows=self.rows,
                                 columns=self.columns, echo=self.look)

    def run(self, *arguments, **options):
        return people.run_as(self.user, ["undersign", *arguments], **options)

    def enrol(self, label="the tests' key"):
        """A software passkey in a file; returns what was shown."""
        with self.terminal("passkey", "enrol", "--file", "--label", label) as screen:
            screen.wait_for(r"Choose a passphrase: ")
            screen.line(self.passphrase)
            screen.wait_for(r"once more: ")
            screen.line(self.passphrase)
            status = screen.wait()
            if status != 0:
                raise AssertionError(f"{self.user} could not enrol: {screen.text[-2000:]}")
            return screen.text

    def pending(self):
        """The cards that wait, as JSON has them."""
        done = self.run("pending", "--json")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return json.loads(done.stdout)["cards"]

    def read_card(self, screen):
        """Turns pages until the last; returns them and the fingerprint, None where there is none."""
        pages, number = [], 1
        while True:
            match = screen.wait_for(rf"page ({number}) of (\d+)(?=\D)")
            start, count = match.start(), int(match[2])
            if number == count:
                break
            screen.wait_for(r"Space: next page.*?answer")
            pages.append(screen.text[start:screen.position])
            screen.press(" ")
            number += 1
        match = screen.wait_for(r"(?:type the fingerprint (\S+) and press|"
                                r"It can't be approved here)")
        screen.wait_for(r"\n > ")
        pages.append(screen.text[start:screen.position])
        return pages, match[1]

    def approve(self, request, before_signing=None, fingerprint=None, passphrase=None):
        """Reads the card and approves it; @before_signing is called when the passphrase is due."""
        with self.terminal("approve", request) as screen:
            try:
                pages, shown = self.read_card(screen)
            except AssertionError:
                return Answer(screen.wait(), screen.text, [])
            if shown is None:
                screen.type("\x1b")
                return Answer(screen.wait(), screen.text, pages)
            screen.line(fingerprint or shown)
            try:
                screen.wait_for(r"Passphrase of ")
            except AssertionError:
                return Answer(screen.wait(), screen.text, pages)
            if before_signing is not None:
                before_signing()
            screen.line(passphrase or self.passphrase)
            return Answer(screen.wait(), screen.text, pages)

    def deny(self, request, reason=2):
        """Denies on the card itself, giving the reason of that number."""
        with self.terminal("approve", request) as screen:
            pages, _ = self.read_card(screen)
            screen.line("deny")
            screen.wait_for(r"Press 1 to 5")
            screen.press(str(reason))
            return Answer(screen.wait(), screen.text, pages)


class Agent:
    """A program of an agent: what undersign-agent(1) does for it."""

    def __init__(self, user):
        self.user = user

    def run(self, *arguments, **options):
        return people.run_as(self.user, ["undersign-agent", *arguments], **options)

    def json(self, *arguments):
        """(exit status, object)."""
        done = self.run(*arguments, "--json")
        try:
            return done.returncode, json.loads(done.stdout)
        except ValueError:
            raise AssertionError(f"{self.user}: {arguments}: {done.stdout}{done.stderr}") from None

    def request(self, action, *words):
        """A request that must be taken; returns its object."""
        status, found = self.json("request", action, *words)
        if "request" not in found:
            raise AssertionError(f"{self.user} was refused ({status}): {found}")
        return found

    def status(self, request):
        return self.json("status", request)[1]

    def wait(self, request, seconds=120):
        return self.json("wait", request, f"--timeout={seconds}")[1]


def request_id(text):
    return re.search(r"\b[0-9a-f]{32}\b", text)[0]
