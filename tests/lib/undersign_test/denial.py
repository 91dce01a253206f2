# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the denial tests stand on: the whole service, callers on the raw bus, and three witnesses.

The witnesses are the null module's marker, the mail server's Maildir and the processes of the
service.  Whatever a test tried, after it they must be as they were; a test in which something may
run says so with `expect_run`.  No library of ours is used: every call is a D-Bus message.
"""

import os
import shutil
import sqlite3
import tempfile
import unittest

from . import authenticator, bus, mailserver, policy, world

AGENT, OTHER = "agent-offboarding", "agent-other"
LEAD, KIM, OWNER = "it.lead", "hr.kim", "hr.jones"
STATE = "/var/lib/undersign", "/var/lib/undersign-executor"
LIMITS = """[Limits]
Pending=200
PendingAll=200
SubmitsPerMinute=6000
Denials=0
"""
RULES = {"denial": """[Rule once]
Agents=offboarding
Actions=mail.send test.rehearse
Decision=ask
Approvers=@hr @it-leads
Separation=agent owner
Lifetime=30min
Passkeys=software

[Rule twice]
Agents=offboarding
Actions=test.twice
Decision=ask
Approvers=@hr @it-leads
Separation=agent owner
Count=2
Lifetime=30min
Passkeys=software

[Rule soon]
Agents=offboarding
Actions=test.rehearse
When=target is soon
Decision=ask
Approvers=@hr @it-leads
Separation=agent owner
Lifetime=2s
Passkeys=software

[Rule other]
Agents=other
Actions=test.rehearse
Decision=ask
Approvers=@it-leads
Passkeys=software
"""}
FIXED = """
[Argument fixed]
Label=Fixed
Type=line
Value=as policy says

[Argument amount]
Label=Amount
Type=money

[Argument sure]
Label=Sure
Type=boolean

[Argument short]
Label=Short
Type=line
Pattern=[a-z]{1,8}
"""
ACTIONS = {**policy.ACTIONS, "test.rehearse": policy.REHEARSE + FIXED,
           "test.twice": policy.REHEARSE}


def admin_calls(user, credential):
    """Every member of the administrator's, but for those that carry a file or end an enrolment."""
    return {
        "BeginEnroll": ("(sa{sv})", (user, {"kind": ("s", "software"), "label": ("s", "x")})),
        "ListPasskeys": (None, None),
        "RevokePasskey": ("(ay)", (b"\1",)),
        "RemoveCredential": ("(ss)", credential),
        "ReloadPolicy": (None, None),
        "Halt": ("(s)", ("x",)),
        "Resume": ("(s)", ("x",)),
        "Resolve": ("(sss)", ("0" * 32, "done", "x")),
        "ReadAudit": ("(tu)", (1, 1)),
        "GetCheckpoint": (None, None),
        "PruneAudit": ("(s)", ("2026-01-01T00:00:00Z",)),
        "Status": (None, None),
    }


class Denial(unittest.TestCase):
    """One world for all tests of a class."""

    modules = ("null", "mail")

    @classmethod
    def setUpClass(cls):
        os.makedirs(policy.FOLDER, mode=0o755, exist_ok=True)
        with open(f"{policy.FOLDER}/undersign.conf", "w", encoding="utf-8") as file:
            file.write(LIMITS)
        cls.write_policy()
        cls.server = mailserver.Server()
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        cls.world = world.World(modules=cls.modules)
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        cls.world.ctl("credential", "set", "mail", "work-smtp",
                      text=f"{mailserver.USER}\n{mailserver.PASSWORD}\n")
        cls.world.runners["mail"].reload_unit()
        cls.world.runners["mail"].restart()
        cls.peers = {}
        cls.addClassCleanup(cls.hang_up)
        cls.keys = {user: cls.enrol(user) for user in (LEAD, KIM, OWNER)}
        cls.run_id = cls.open_run(AGENT)

    @staticmethod
    def write_policy(actions=None, rules=None, agents=None):
        policy.write(actions=actions or ACTIONS, rules=rules or RULES, agents=agents)

    @classmethod
    def peer(cls, user):
        if user not in cls.peers:
            cls.peers[user] = bus.Peer(user)
        return cls.peers[user]

    @classmethod
    def hang_up(cls):
        """Ends every connection: the bus may have ended some after what a test sent."""
        while cls.peers:
            cls.peers.popitem()[1].close()

    @classmethod
    def enrol(cls, user):
        """A software passkey of @user's, enrolled by root; it is the test that holds it."""
        key = authenticator.Authenticator()
        root = cls.peer("root")
        there = bus.PATH + "/Admin"
        enrolment, challenge, parameters = root.call(
            bus.ADMIN, "BeginEnroll", "(sa{sv})",
            (user, {"kind": ("s", "software"), "label": ("s", "of the tests")}), path=there)
        client, attestation = key.register(challenge, parameters["rp"], parameters["origin"])
        root.call(bus.ADMIN, "FinishEnroll", "(sa{sv})",
                  (enrolment, {"client-data": ("ay", client), "attestation": ("ay", attestation)}),
                  path=there)
        return key

    @classmethod
    def open_run(cls, user, **options):
        return cls.peer(user).call(bus.AGENT, "OpenRun", "(a{sv})", (
            {key: ("s", value) for key, value in options.items()},))[0]

    # --- the witnesses ---

    @staticmethod
    def files():
        """Of the state: path → size and when it was last written to."""
        found = {}
        for top in STATE:
            for folder, _, names in os.walk(top):
                for name in names:
                    status = os.stat(f"{folder}/{name}")
                    if not name.endswith("-shm"):  # shared memory of SQLite
                        found[f"{folder}/{name}"] = status.st_size, status.st_mtime_ns
        return found

    @classmethod
    def kept(cls):
        """Every row and every file's name; that a log of SQLite's was written back is no other state."""
        files = {path for path in cls.files() if not path.endswith("-wal")}
        rows = {}
        for path in (path for path in files if path.endswith(".db")):
            with tempfile.TemporaryDirectory() as folder:
                for suffix in ("", "-wal"):
                    if os.path.exists(path + suffix):
                        shutil.copy(path + suffix, f"{folder}/db{suffix}")
                with sqlite3.connect(f"{folder}/db") as database:
                    rows[path] = list(database.iterdump())
                database.close()
        return files, rows

    def setUp(self):
        self.addCleanup(self.hang_up)
        self.may_run = 0
        self.processes = self.pids()
        world.wait_until(self.everybody_is_known, "the broker has seen what the last test put back")
        self.marker, self.mailbox = policy.executed(), self.server.fingerprint()
        self.addCleanup(self.look)

    def everybody_is_known(self):
        """The broker looks at policy once a second, and at who has no passkey every two."""
        if isinstance(self.requests(AGENT), str):
            return False
        return all(self.peer(user).error(bus.APPROVER, "GetCard", "(o)", ("/",)).reason == "not-found"
                   for user in self.keys)

    def pids(self):
        return {service.name: service.process.pid for service in self.world.services()
                if service.running}

    def look(self):
        """Nothing ran but what might, no mail went out, and no daemon died."""
        self.assertEqual(policy.executed() - self.marker, self.may_run, "the marker")
        self.assertEqual(self.server.fingerprint(), self.mailbox, "the mailbox has changed")
        self.assertEqual(self.pids(), self.processes, "a daemon died")
        self.assertEqual(len(self.processes), len(self.world.services()))

    def expect_run(self):
        """One more execution is as it should be."""
        self.may_run += 1

    def restarted(self):
        """The test itself ended a daemon and started it again."""
        self.processes = self.pids()

    # --- an agent's calls ---

    def submit(self, arguments, action="test.rehearse", run=None, user=AGENT, files=(), **options):
        """(path, state); an argument of type str stands for itself, others are (signature, value).

        GVariant text is passed on as it is.
        """
        if not isinstance(arguments, str):
            arguments = {name: ("s", value) if isinstance(value, str) else value
                         for name, value in arguments.items()}
        given = {name.replace("_", "-"): ("s", value) if isinstance(value, str) else value
                 for name, value in options.items()}
        run = self.run_id if run is None else run
        body = (run, action, arguments, given)
        if isinstance(arguments, str):
            body = f"('{run}', '{action}', {arguments}, @a{{sv}} {{}})"
        return self.peer(user).call(bus.AGENT, "Submit", "(ssa{sv}a{sv})", body, files=files)

    def refused(self, error, reason, *arguments, **options):
        """A Submit() that ends in @error: @reason and leaves no request behind; the error."""
        before = self.requests(options.get("user", AGENT))
        with self.assertRaises(bus.BusError) as caught:
            self.submit(*arguments, **options)
        found = caught.exception
        self.assertEqual((found.name, found.reason), (bus.ERROR + error, reason), found.text)
        self.assertEqual(self.requests(options.get("user", AGENT)), before)
        return found

    def requests(self, user=AGENT):
        try:
            return self.peer(user).call(bus.AGENT, "ListRequests")[0]
        except bus.BusError as error:
            return error.name

    def pending(self, arguments, **options):
        """The path of a new request that waits for a person."""
        path, state = self.submit(arguments, **options)
        self.assertEqual(state, "pending")
        self.addCleanup(self.close, path, options.get("user", AGENT))
        return path

    def close(self, path, user=AGENT):
        try:
            self.peer(user).call(bus.REQUEST, "Withdraw", path=path)
        except bus.BusError as error:
            self.assertEqual(error.reason, "too-late", error)

    def state(self, path, user=AGENT):
        """The state, and all else that GetState() says."""
        return self.peer(user).call(bus.REQUEST, "GetState", path=path)

    def assert_state(self, path, state, executed="no", user=AGENT):
        found, details = self.state(path, user)
        self.assertEqual((found, details["executed"]), (state, executed), details)
        return details

    def ended(self, path, user=AGENT, timeout=120):
        """The state once it is none of those that go on."""
        world.wait_until(lambda: self.state(path, user)[0] not in ("approved", "executing",
                                                                   "pending"),
                         f"{path} ends", timeout)
        return self.state(path, user)

    # --- an approver's calls ---

    def statement(self, path, user=LEAD, decision="approve", key=None):
        key = key or self.keys[user]
        return self.peer(user).call(bus.APPROVER, "GetStatement", "(oa{sv})", (
            path, {"decision": ("s", decision), "credential": ("ay", key.credential)}))[0]

    def approve(self, path, user=LEAD, statement=None, assertion=None, **changes):
        """Approves as @user; @changes go to the authenticator.  The state."""
        if statement is None:
            statement = self.statement(path, user)
        if assertion is None:
            assertion = self.keys[user].sign(statement, **changes)
        return self.peer(user).call(bus.APPROVER, "Approve", "(oaya{sv})",
                                    (path, statement, assertion))[0]

    def not_approved(self, error, reason, path, *arguments, **options):
        with self.assertRaises(bus.BusError) as caught:
            self.approve(path, *arguments, **options)
        found = caught.exception
        self.assertEqual((found.name, found.reason), (bus.ERROR + error, reason), found.text)
        return found

    def attempts(self, path, user=LEAD):
        return self.peer(user).call(bus.APPROVER, "GetCard", "(o)", (path,))[1]["attempts"]
