# SPDX-License-Identifier: LGPL-2.1-or-later
"""Inside a booted machine: units as systemctl(1) shows them, and people who have logged in.

A person's session is made by login(1) on a terminal, an agent's by systemd with PAM; logind knows
both.  Whatever a person does is typed into the shell that login started.
"""

import json
import os
import re
import shlex
import subprocess
import termios

from . import mailserver, people, person, policy, terminal, world

EXECUTORS_PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "../../../service/executor/undersign-executor.8")
ROOT_PASSWORD = "the administrator's password"
# What one phase leaves for the next.
NOTES = "/root/undersign-test.json"
BROKER, EXECUTOR = "undersignd.service", "undersign-executor.service"
ADMIN, MAIL = "undersign-admin.service", "undersign-runner@mail.service"
NULL = "undersign-runner@null.service"
LAUNCHER = "undersign-launcher.service"
SERVICES = (BROKER, EXECUTOR, ADMIN, MAIL, NULL, LAUNCHER)
SOCKETS = ("undersign-executor.socket", "undersign-runner@mail.socket",
           "undersign-runner@null.socket")


# Two persons must approve it; the policy of the other tests has none such.
BOTH = "test.both"
ACTIONS = {**policy.ACTIONS, BOTH: policy.REHEARSE.replace("Summary=Rehearse", "Summary=Both")}
RULES = {**policy.RULES, "both": f"""[Rule both]
Agents=offboarding
Actions={BOTH}
Decision=ask
Approvers=@hr @it-leads
Separation=agent owner
Lifetime=30min
Passkeys=software
Count=2
"""}
# What a mail of these tests says; the journal must not repeat it.
BODY = "The salaries are in the annex"


def command(*argv, text=None, status=0, timeout=180):
    """Runs @argv as root; what it printed.  It must end with @status, None: with any."""
    done = subprocess.run(argv, input=text, stdin=subprocess.DEVNULL if text is None else None,
                          capture_output=True, text=True, errors="replace", timeout=timeout,
                          check=False)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{' '.join(argv)}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def remember(**values):
    known = {**recall(), **values}
    with open(NOTES, "w", encoding="utf-8") as file:
        json.dump(known, file)


def recall():
    try:
        with open(NOTES, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def unit(name, key):
    """One property of a unit."""
    return command("systemctl", "show", "--value", f"--property={key}", name).strip()


def wait_for_unit(name, state, timeout=300.0):
    try:
        world.wait_until(lambda: unit(name, "ActiveState") == state, f"{name} is {state}", timeout)
    except TimeoutError:
        print(command("systemctl", "status", "--full", name, status=None))
        raise


def was_started(name):
    """Since this boot, whether or not it has ended again and systemd has forgotten it."""
    return re.search(r"^Started ", journal("--boot", f"--unit={name}"), re.MULTILINE) is not None


def failed_units():
    """Ours; whatever else of the host fails in here is not our business."""
    lines = command("systemctl", "list-units", "--failed", "--plain", "--no-legend",
                    "undersign*").splitlines()
    return sorted(line.split()[0] for line in lines)


def journal(*arguments):
    """All that was said until now."""
    command("journalctl", "--sync")
    return command("journalctl", "--no-pager", "--output=cat", "--quiet", *arguments)


class Told:
    """What the executor promises to those who watch the journal."""

    def __init__(self):
        """ids: when → MESSAGE_ID, as the page has them."""
        with open(EXECUTORS_PAGE, encoding="utf-8") as file:
            self.ids = {when: number for number, when in re.findall(
                r"^\.It Li ([0-9a-f]{32}) Ta (.+)$", file.read(), re.M)}

    def __call__(self, when, state, **fields):
        """The one entry of this kind, found by its fields as journald has indexed them."""
        words = [f"{key}={value}" for key, value in {**fields, "MESSAGE_ID": self.ids[when]}.items()]

        def found():
            return journal("--all", "--output=json", *words).splitlines()
        world.wait_until(found, f"the journal has {words}", 60)
        entries = [json.loads(line) for line in found()]
        # which unit it was journald does not know where the worker has ended before it looks
        told = [(entry["_UID"], entry["UNDERSIGN_STATE"]) for entry in entries]
        if told != [(str(uid_of("undersign-executor")), state)]:
            raise AssertionError(f"{words}: {told}, not one {state}")
        return entries[0]


def processes(name):
    """The pids of a unit."""
    group = unit(name, "ControlGroup")
    if not group:
        return []
    with open(f"/sys/fs/cgroup{group}/cgroup.procs", encoding="ascii") as file:
        return [int(line) for line in file]


def exposure(name, offline):
    """What systemd-analyze(1) makes of the unit's sandbox: 0.0 is the best, 10.0 the worst."""
    text = command("systemd-analyze", "security", "--no-pager", f"--offline={offline}", name)
    return float(re.search(r"Overall exposure level for \S+ (\d+\.\d)", text)[1])


def sessions(user):
    lines = command("loginctl", "list-sessions", "--no-legend").splitlines()
    return [line.split()[0] for line in lines if user in line.split()]


class Login(terminal.Terminal):
    """One command of somebody who has just logged in, and logs out after it."""

    def __init__(self, user, argv, **options):
        super().__init__("root", ["login", "-p", "-f", user], **options)
        self.wait_for(r"^\$ ")
        self.session = sessions(user)
        # The shell shows what is typed: that must not look like what it prints.
        self.line(f"{shlex.join(argv)}; echo \"the end\"=$?; exit")

    def wait(self, timeout=60.0):
        super().wait(timeout)
        match = re.search(r"the end=(\d+)", self.text)
        if match is None:
            raise AssertionError("the shell has not said how it ended: " + self.text[-2000:])
        return int(match[1])


    def secret(self, text):
        """Answers a prompt that hides what is typed, and drops what was typed before it did."""
        world.wait_until(lambda: not termios.tcgetattr(self.master)[3] & termios.ECHO,
                         "the terminal shows no more what is typed", 60)
        self.line(text)


class Person(person.Person):
    """Somebody with a session of their own for each command."""

    def terminal(self, *arguments):
        return Login(self.user, ["undersign", *arguments], rows=self.rows, columns=self.columns,
                     echo=self.look)

    def enrol_as_administrator(self, password):
        """Enrols a passkey where polkit wants an administrator's password first."""
        with self.terminal("passkey", "enrol", "--file") as screen:
            screen.wait_for(r"AUTHENTICATING FOR org\.undersign1\.enroll")
            screen.wait_for(r"Password: ")
            screen.secret(password)
            if screen.wait_for(r"Choose a passphrase: |the end=")[0] == "the end=":
                return screen.wait(), screen.text, screen.session
            screen.line(self.passphrase)
            screen.wait_for(r"once more: ")
            screen.line(self.passphrase)
            return screen.wait(), screen.text, screen.session


class Agent(person.Agent):
    """An agent whose programs systemd starts, in sessions of the agent's user."""

    def session(self, *argv):
        return subprocess.run(
            ["systemd-run", "--quiet", "--pipe", "--wait", "--collect", f"--uid={self.user}",
             "--property=PAMName=login", "--property=WorkingDirectory=~", *argv],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False)

    def run(self, *arguments, **options):
        return self.session("/usr/bin/undersign-agent", *arguments)


def uid_of(name):
    return people.pwd.getpwnam(name).pw_uid


def is_installed(name):
    return os.path.exists(f"/usr/lib/systemd/system/{name}")
