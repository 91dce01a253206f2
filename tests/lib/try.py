# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demonstration behind tests/try: one mail that was approved, and every other that was not."""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from undersign_test import (attempts, builds, mailserver, people, person, policy, sandbox, stage,
                            world)

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STOPPED, DENIED = 3, 4
AGENT, PERSON, SECOND = "agent-offboarding", "it.lead", "hr.kim"
REPORT = f"/home/{AGENT}/report.pdf"
MAIL = ["mail.send", "to=security@example.com", "subject=Quarterly report",
        "body=The report is attached.", f"attachment@={REPORT}", "--run=ticket-4711",
        "--claim=The security team asked for it"]
PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R
/Resources <</Font <</F1 <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>> endobj
4 0 obj <</Length 52>> stream
BT /F1 24 Tf 72 760 Td (Quarterly report) Tj ET     
endstream endobj
trailer <</Root 1 0 R>>
"""


class Stopped(Exception):
    """The person wants no more of it."""


class Demonstration:
    """What happens in the namespace."""

    def __init__(self, out, auto):
        self.out, self.auto = out, auto
        self.world = world.World(modules=("mail",))
        self.server = mailserver.Server()
        self.agent = person.Agent(AGENT)
        self.person = person.Person(PERSON)
        self.second = person.Person(SECOND)

    def run(self):
        self.server.start()
        policy.write()
        person.let_enrol(PERSON, SECOND)
        with open(REPORT, "wb") as file:
            file.write(PDF)
        os.chown(REPORT, people.AGENTS[AGENT][0], -1)
        with self.world:
            try:
                self.set_up()
                self.agent_alone()
                self.enrol()
                request = self.ask()
                end = self.answer(request)
                if end != 0:
                    return end
                self.show_mail(request)
                good = self.attack(request)
                return 0 if self.evidence() and good else 1
            except (Stopped, EOFError, KeyboardInterrupt):
                return STOPPED
            finally:
                self.server.stop()

    # --- before ---

    def set_up(self):
        out = self.out
        out.heading("A machine of its own")
        out.say("""Everything below happens in namespaces of this machine: its own processes, its
            own network, changes to /etc, /usr and /var that are gone when it ends. The bus, polkit
            and the users are real. These run now, each under a user of its own:""")
        out.line()
        for process, user, holds in (
                ("undersignd", "undersign", "the queue; decides nothing"),
                ("undersign-executor", "undersign-executor", "checks, decides, uses approvals up"),
                ("undersign-runner mail", "undersign-mail", "the mail account's password"),
                ("aiosmtpd", people.MAIL_USER, "Debian's mail server: STARTTLS and AUTH"),
                ("the agent", AGENT, "nothing")):
            out.line(f"    {process:<24}{user:<22}{holds}")
        self.world.ctl("credential", "set", "mail", "work-smtp",
                       text=f"{mailserver.USER}\n{mailserver.PASSWORD}\n")
        self.world.runners["mail"].reload_unit()
        self.world.runners["mail"].restart()

    def agent_alone(self):
        out = self.out
        out.heading("The agent, by itself")
        out.say("""It can reach the mail server as any program can. It has no password for it, and
            cannot get one.""")
        out.typed(AGENT, "python3 -c 'smtplib… s.sendmail(…)'")
        out.output(attempts.direct_mail(AGENT))
        folder = self.world.runners["mail"].unit.credentials
        out.typed(AGENT, f"cat {folder}/work-smtp")
        out.output(attempts.steal_credential(AGENT, folder))
        attempts.expect(self.server.mails() == [], "a mail arrived")

    def enrol(self):
        out = self.out
        out.heading("A person enrols a passkey")
        out.say(f"""{'It' if self.auto else 'You are'} {'is ' if self.auto else ''}{PERSON}, who
            answers for what the agent wants. The key is a software passkey here: it lives in the
            person's home, under a passphrase{'' if self.auto else ' that you choose now'}. A rule
            of polkit lets {PERSON} enrol; without it an administrator would have to agree.""")
        out.typed(PERSON, "undersign passkey enrol --file --label demonstration")
        if self.auto:
            out.output(person_view(self.person.enrol("demonstration")))
        else:
            self.enrol_by_hand()
        self.second.enrol("the second person's")

    def enrol_by_hand(self):
        """A passphrase that is mistyped or too short is asked for again, without end."""
        while self.by_hand("passkey", "enrol", "--file", "--label", "demonstration")[0] != 0:
            self.again("No passkey was enrolled.")

    def again(self, text):
        """Goes on when the person wants to; to stop here is no surprise, but no success either."""
        self.out.line()
        self.out.say(text)
        if input("  Enter: once more   q: stop here > ").strip().lower() == "q":
            raise Stopped

    def by_hand(self, *arguments):
        """The person at the keyboard is @PERSON for one command."""
        with self.person.terminal(*arguments) as screen:
            return screen.interact(), screen.text

    # --- the one mail ---

    def ask(self):
        out = self.out
        out.heading("The agent asks")
        words = [word.replace(f"/home/{AGENT}/", "") for word in MAIL]
        out.typed(AGENT, "undersign-agent request " + " ".join(shlex.quote(word) for word in words))
        done = self.agent.run("request", *MAIL)
        out.output(done.stdout + done.stderr)
        attempts.expect(done.returncode == 2, f"exit status {done.returncode}")
        return person.request_id(done.stdout)

    def answer(self, request):
        out = self.out
        out.heading("The card")
        out.say(f"""The card is drawn from the very bytes that will be hashed, signed and run. To
            approve it, {'it.lead types' if self.auto else 'read it to its end and type'} the
            fingerprint that it shows, and the passphrase.""")
        out.typed(PERSON, f"undersign approve {request[:8]}")
        if self.auto:
            answer = self.person.approve(request)
            out.output(answer.card)
            out.line()
            out.output(attempts.last_line(answer.text))
            status = answer.status
        else:
            status = self.answer_by_hand(request)
        found = self.agent.wait(request, 60)
        if found["state"] == "done" and status == 0:
            return 0
        out.verdict(False if self.auto else not self.server.mails(),
                    f"The request is {found['state']}, nothing was sent: the mailbox is empty."
                    if not self.server.mails() else "A mail arrived that nobody approved!")
        return DENIED if found["state"] == "denied" and not self.server.mails() else 1

    def answer_by_hand(self, request):
        """A wrong fingerprint or passphrase and a card that was left are no answer: it waits."""
        while True:
            status, _ = self.by_hand("approve", request)
            if status == 0 or self.agent.wait(request, 1)["state"] != "pending":
                return status
            self.again("That is no answer: the request waits on, and nothing was sent.")

    def show_mail(self, request):
        out = self.out
        out.heading("The mail")
        mails = self.server.mails()
        attempts.expect(len(mails) == 1, f"{len(mails)} mails arrived")
        mail = mails[0]
        out.say("""It is in the Maildir. The server itself noted the envelope, which says to whom it
            was delivered, whatever its headers claim:""")
        out.line()
        out.output(f"envelope from   {mail['X-MailFrom']}\nenvelope to     {mail['X-RcptTo']}")
        out.output("\n".join(f"{name + ':':<15} {mail[name]}"
                             for name in ("From", "To", "Cc", "Bcc", "Subject", "Message-ID")
                             if mail[name] is not None))
        files = [part for part in mail.walk() if part.get_filename()]
        for part in files:
            same = part.get_payload(decode=True) == PDF
            out.output(f"{part.get_filename():<15} {len(part.get_payload(decode=True))} bytes, "
                       + ("the file that was approved" if same else "ANOTHER FILE"))
        attempts.expect(mail["X-RcptTo"] == "security@example.com", "it went to somebody else")
        attempts.expect([part.get_payload(decode=True) for part in files] == [PDF],
                        "the attachment is another")
        attempts.expect(request in mail["Message-ID"], "it does not carry the request's id")

    # --- everything else ---

    def attack(self, request):
        out = self.out
        out.heading("Every other mail")
        out.say(f"""One approval was for one mail. Now the agent, and others, try to get more out of
            it. {SECOND}, another approver, even signs where somebody must.""")
        out.line()
        good = True
        trials = attempts.Attempts(self.world, self.agent, person.Agent("agent-other"), self.second,
                                   MAIL, request)
        for what, attempt in trials.all():
            before = self.server.fingerprint()
            also = []
            try:
                said = attempt()
                if isinstance(said, tuple):
                    said, also = said
                held = self.server.fingerprint() == before
            except (attempts.Surprise, AssertionError) as error:
                said, held = str(error), False
            out.result(held, what, said, also)
            good &= held
        return good

    def evidence(self):
        out = self.out
        out.heading("The log")
        out.typed("root", "undersignctl audit verify")
        done = subprocess.run(["undersignctl", "audit", "verify"], capture_output=True, text=True,
                              check=False)
        out.output(done.stdout + done.stderr)
        return done.returncode == 0


def person_view(text):
    """What stayed on the terminal, without the empty lines."""
    return "\n".join(line for line in text.splitlines() if line.strip())


def compile_source(out, work):
    out.heading("Build")
    out.say("Compiling a copy of this checkout, outside of it…")
    os.mkdir(f"{work}/source", 0o755)
    builds.copy_source(ROOT, f"{work}/source")
    build = builds.Build("release", work, ["--buildtype=debugoptimized", "-Dtests=false"])
    if not build.compile():
        print(build.tail())
        raise SystemExit("tests/try: it does not compile")
    out.say("Done.")
    return build.path


def demonstrate(out, auto, build, work):
    """Runs it in a namespace; the exit status."""
    def inside():
        people.create()
        world.install(build)
        try:
            return Demonstration(out, auto).run()
        except attempts.Surprise as error:
            out.verdict(False, f"Not as it must be: {error}")
            return 1

    return sandbox.enter(sandbox.Run(inside, kept=[ROOT], writable=[work]))


def main():
    parser = argparse.ArgumentParser(prog="tests/try", description="Shows Undersign at work.")
    parser.add_argument("--auto", action="store_true", help="answer by itself")
    parser.add_argument("--build", metavar="DIR", type=builds.given, help="use this build, made before")
    arguments = parser.parse_args()
    out = stage.Stage()
    os.umask(0o022)
    out.title("Undersign: one exact action, end to end",
              """An AI agent asks to send a mail with an attachment. A person sees exactly that mail
              on a card and signs it with a passkey; it is sent, once. Then the same agent tries to
              send every other mail.""")
    work = arguments.build
    try:
        if arguments.build:
            build = work
        else:
            # Whatever ends this while it compiles, the copy goes.
            before = {number: signal.signal(number, lambda number, _: sys.exit(128 + number))
                      for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)}
            work = tempfile.mkdtemp(prefix="undersign-try.", dir="/var/tmp")
            os.chmod(work, 0o755)
            build = compile_source(out, work)
            for number, handler in before.items():
                signal.signal(number, handler)
        status = demonstrate(out, arguments.auto, build, work)
    except sandbox.Forbidden as error:
        out.verdict(False, f"This machine does not allow the namespace: {error}")
        return 77
    finally:
        if not arguments.build:
            shutil.rmtree(work, ignore_errors=True)
    if status == STOPPED:
        out.say("You stopped it. Nothing was approved, and nothing was sent.")
        return 1
    if status == DENIED and not arguments.auto:
        out.say("You denied it, and that is how it ends. Approve it to see the rest.")
        return 1
    out.verdict(status == 0, "One mail was approved and one arrived. Nothing else did."
                if status == 0 else "It did not end as it must.")
    return status


if __name__ == "__main__":
    sys.exit(main())
