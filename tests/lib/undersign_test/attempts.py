# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the agent tries after one mail was approved: the two seed texts' attacks, and some more.

Each attempt returns what was said; the caller looks at the mailbox.  An attempt that ends in another
way than it must raises Surprise.  Cards of attempts are answered by hr.kim, by herself.
"""

import base64
import json
import re
import time

from . import bus, people, policy

OTHER_FROM = "From=ceo@example.com"


class Surprise(Exception):
    """The service did something that it must not do."""


def expect(condition, text):
    if not condition:
        raise Surprise(text)


class Attempts:
    """The attempts, in order, over one world."""

    def __init__(self, world, agent, other, second, mail, done):
        """@mail: the words of the approved request, @done: its id, @second: another approver."""
        self.world, self.agent, self.other = world, agent, other
        self.second, self.mail, self.done = second, mail, done

    def all(self):
        return (("a Bcc added", self.added_bcc),
                ("the file replaced", self.replaced_file),
                ("the same mail once more", self.second_use),
                ("the old approval once more", self.second_answer),
                ("another agent, same words", self.other_agent),
                ("another agent asks for it", self.other_agent_looks),
                ("another run of the agent", self.other_run),
                ("another part of the agent", self.other_part),
                ("the policy edited meanwhile", self.edited_policy),
                ("a restart in between", self.restart),
                ("answered too late", self.expired))

    # --- the pieces ---

    def _new_request(self, words):
        """Asking again is a new request that waits for an approval of its own."""
        found = self.agent.request(*words)
        expect(found["request"] != self.done, "the old request was given for a new action")
        expect(found["state"] == "pending", f"it is {found['state']}")
        found = self.agent.status(found["request"])
        expect(found["executed"] == "no", "something ran")
        status, _ = self.agent.json("withdraw", found["request"])
        expect(status == 0, "it could not be withdrawn")
        return f"pending: {found['request'][:8]}… needs its own approval"

    def _refused(self, agent, words, reason):
        status, found = agent.json(*words)
        expect(status in (6, 126), f"exit status {status}: {found}")
        expect(found["error"]["reason"] == reason, f"refused as {found['error']}")
        return f"{found['error']['name']}: {found['error']['reason']}"

    def _pending(self, *words):
        found = self.agent.request(*(words or self.mail))
        expect(found["state"] == "pending", f"it is {found['state']}")
        return found["request"]

    # --- the attempts ---

    def added_bcc(self):
        return self._new_request([*self.mail, "bcc=mallory@example.net"])

    def replaced_file(self):
        path = f"/home/{self.agent.user}/report.pdf"
        with open(path, "rb") as file:
            content = file.read()
        with open(path, "wb") as file:  # as long as before, under the same name
            file.write(content.replace(b"Quarterly", b"Confident"))
        try:
            return self._new_request(self.mail)
        finally:
            with open(path, "wb") as file:
                file.write(content)

    def second_use(self):
        return self._new_request(self.mail)

    def second_answer(self):
        return self._no_statement(self.done)

    def _no_statement(self, request):
        """An approver asks for another statement to sign, over the bus, as no tool of ours would."""
        passkeys = json.loads(self.world.ctl("passkey", "list", "--json", "--user",
                                             self.second.user))
        credential = base64.urlsafe_b64decode(passkeys["passkeys"][0]["credential"] + "==")
        with bus.Peer(self.second.user) as peer:
            error = peer.error(bus.APPROVER, "GetStatement", "(oa{sv})",
                               (f"{bus.PATH}/request/{request}",
                                {"decision": ("s", "approve"), "credential": ("ay", credential)}))
        return f"{error.name.rpartition('.')[2]}: {error.reason}"

    def other_agent(self):
        words = ["request", *[word for word in self.mail if not word.startswith("attachment")]]
        return self._refused(self.other, words, "unknown-action")

    def other_agent_looks(self):
        return self._refused(self.other, ["status", self.done], "not-found")

    def other_run(self):
        return self._new_request([*[word for word in self.mail if not word.startswith("--run")],
                                  "--run=ticket-9999"])

    def other_part(self):
        return self._new_request([*self.mail, "--part=licences"])

    def edited_policy(self):
        request = self._pending()

        def edit():
            policy.write(actions={**policy.ACTIONS, "mail.send": policy.MAIL.replace(
                "From=offboarding@example.com", OTHER_FROM)})
            self.world.ctl("policy", "reload")

        try:
            answer = self.second.approve(request, before_signing=edit)
            expect(answer.status != 0, "the approval of the older policy was taken")
            found = self.agent.status(request)
            expect((found["state"], found["executed"]) == ("refused", "no"), f"it is {found}")
            successor = self._successor(request)
            changes = self._changes(successor)
            expect(any("ceo@example.com" in change for change in changes),
                   f"the new card does not show the change: {changes}")
        finally:
            policy.write()
            self.world.ctl("policy", "reload")
        self.agent.json("withdraw", successor)
        return (f"refused: {found['reason'].partition(':')[0]}; there is a new card:",
                [f"  {change}" for change in changes])

    def _successor(self, request):
        """It is prepared right after the refusal."""
        for _ in range(600):
            found = self.agent.status(request)
            if found["successor"] is not None:
                return found["successor"]
            time.sleep(0.1)
        raise Surprise("it has no successor")

    def _changes(self, request):
        """What the new card says has changed, old → new."""
        done = self.second.run("show", request, "--json")
        expect(done.returncode == 0, done.stderr)
        return [change_line(row) for row in json.loads(done.stdout)["rows"]
                if row["section"] == "change"]

    def restart(self):
        request = self._pending()
        answer = self.second.approve(request, before_signing=self.world.restart_broker)
        expect(answer.status != 0, "an answer to the card from before the restart was taken")
        found = self.agent.status(request)
        expect((found["state"], found["executed"]) == ("pending", "no"), f"it is {found}")
        self.agent.json("withdraw", request)
        return f"{last_line(answer.text).partition(':')[0]}; it waits, with a new card"

    def expired(self):
        words = [word for word in self.mail if not word.startswith("to=")]
        request = self.agent.request(*words, "to=soon@example.com")["request"]
        found = self.agent.wait(request)
        expect((found["state"], found["executed"]) == ("expired", "no"), f"it is {found}")
        return f"expired; the approver: {self._no_statement(request)}"


def change_line(row):
    """ "LABEL: old → new", digests in short."""
    values = [re.sub(r"^(old|new): *", "", line) for line in row["lines"]]
    return f"{row['label']}: " + " → ".join(re.sub(r"(sha256:[0-9a-f]{8})[0-9a-f]+", r"\1…", value)
                                           for value in values)


def last_line(text):
    lines = [line for line in re.sub(r"\x1b.", "", text).splitlines() if line.strip()]
    return re.sub(r"^undersign: ", "", lines[-1].strip()) if lines else "nothing"


def direct_mail(user):
    """What the agent hears when it goes to the mail server by itself."""
    script = ("import smtplib, ssl\n"
              "s = smtplib.SMTP('smtp.example.com', 587)\n"
              "s.starttls(context=ssl.create_default_context())\n"
              "try:\n"
              "    s.sendmail('offboarding@example.com', ['mallory@example.net'], 'x')\n"
              "except smtplib.SMTPException as error:\n"
              "    print(error.smtp_code, error.smtp_error.decode())\n"
              "    raise SystemExit(1)\n")
    done = people.run_as(user, ["/usr/bin/python3", "-c", script])
    expect(done.returncode == 1 and done.stdout.startswith("530 "), done.stdout + done.stderr)
    return done.stdout.strip()


def steal_credential(user, folder):
    """What it hears when it reads where the runner has its credential."""
    done = people.run_as(user, ["cat", f"{folder}/work-smtp"])
    expect(done.returncode != 0, "the credential can be read")
    return done.stderr.strip()
