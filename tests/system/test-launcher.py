#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands as an agent's user, with the real bus, polkit and kernel, and a systemd that pretends."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import termios
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import bus, kernel, people, policy, room, tap, terminal, world  # noqa: E402

LAUNCHER, PATH = bus.LAUNCHER, bus.PATH + "/Launcher"
OWNER, AGENT, UID = "hr.jones", "agent-offboarding", people.AGENTS["agent-offboarding"][0]
HOME = f"/home/{OWNER}"
PROJECT = f"{HOME}/project"
RUN, UNITS = "/run/undersign-launcher", "/run/undersign-test/units"
TRUE = ["/bin/true"]
NEEDS_MAPS = unittest.skipUnless(kernel.maps_tmpfs(), "a tmpfs has maps since Linux 6.3")


@contextlib.contextmanager
def edited(path, old, new):
    """A file in which @new stands for @old."""
    with open(path, encoding="utf-8") as file:
        before = file.read()
    assert old in before, f"{path} has no {old}"
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(before.replace(old, new, 1))
        yield
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(before)


class Folder:
    """What stands for a handle: a folder, opened by whoever calls, however they can."""

    def __init__(self, path, flags=os.O_PATH):
        self.path, self.flags = path, flags

    def open(self):
        return os.open(self.path, self.flags)


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return [line.split()[4] for line in file if line.split()[4].startswith(RUN)]


def nothing_is_left():
    return not mounts() and not os.listdir(RUN) and not os.listdir(UNITS)


def launch(*arguments, user=OWNER, environment=None, **options):
    return terminal.Terminal(user, ["undersign", "launch", *arguments], environment=environment,
                             **options)


def properties():
    """Those of the only unit there is."""
    names = []

    def one():
        names[:] = [name for name in os.listdir(UNITS) if name != ".new"]
        return len(names) == 1
    world.wait_until(one, "there is one unit")
    with open(f"{UNITS}/{names[0]}", encoding="utf-8") as file:
        return json.load(file)


class Launcher(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        room.keep_logs()
        os.makedirs(UNITS, exist_ok=True)
        policy.write()
        cls.world = world.World()
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        cls.systemd = world.Daemon(
            "systemd", ["/usr/bin/python3", "-B", f"{HERE}/../lib/undersign_test/systemd.py", UNITS],
            lambda: world.name_has_owner("org.freedesktop.systemd1"))
        cls.systemd.start()
        cls.addClassCleanup(cls.systemd.stop)
        for path in (PROJECT, f"{PROJECT}/.git", f"{PROJECT}/sub"):
            os.mkdir(path)
            os.chown(path, people.PEOPLE[OWNER][0], people.PEOPLE[OWNER][0])
        os.symlink(PROJECT, f"{HOME}/link")
        os.mkdir(f"{HOME}/alien")

    def tearDown(self):
        if os.path.isdir(RUN):
            world.wait_until(nothing_is_left, "no unit, no mount, no folder is left")

    def refused(self, user, agent="offboarding", command=TRUE, options=None, folders=()):
        with bus.Peer(user) as peer:
            error = peer.error(LAUNCHER, "Launch", "(sasa{sv})", (agent, command, options or {}),
                               path=PATH, destination=LAUNCHER, files=folders)
        self.assertTrue(error.name.startswith(bus.ERROR), error)
        return error.name.removeprefix(bus.ERROR), error.reason

    def not_shared(self, path, user=OWNER, access="read-write", flags=os.O_PATH):
        return self.refused(user, options={"shares": ("a(hs)", [(0, access)])},
                            folders=[Folder(path, flags)])

    # --- who may not ---

    def test_who_does_not_own_the_agent(self):
        for user in ("alice", "hr.kim", "nobody"):
            self.assertEqual(self.refused(user), ("Refused", "denied-by-rule"), user)
            # Whether there is such an agent is not said either.
            self.assertEqual(self.refused(user, "nobody-s"), ("Refused", "denied-by-rule"), user)

    def test_an_agent(self):
        for user in (AGENT, "agent-other"):
            self.assertEqual(self.refused(user), ("Refused", "agent-uid"), user)

    def test_an_agent_that_is_not_there(self):
        self.assertEqual(self.refused("root", "nobody-s"), ("NotFound", "not-found"))
        self.assertEqual(self.refused(OWNER, "nobody-s"), ("Refused", "denied-by-rule"))

    def test_a_user_that_is_not_the_agents_alone(self):
        entry = f"{AGENT}:x:{UID}:"
        for path, old, new in (
                ("/etc/passwd", f"/home/{AGENT}:/usr/sbin/nologin", f"/home/{AGENT}:/bin/sh"),
                ("/etc/passwd", f"{AGENT}:x:{UID}:{UID}:",
                 f"{AGENT}:x:{UID}:{people.GROUPS['it-leads']}:"),
                ("/etc/passwd", "alice:x:{0}:{0}:".format(people.PEOPLE["alice"][0]),
                 f"alice:x:{people.PEOPLE['alice'][0]}:{UID}:"),
                ("/etc/group", "it-leads:x:61302:", f"it-leads:x:61302:{AGENT},"),
                ("/etc/group", entry, f"{entry}alice"),
                ("/etc/group", entry, f"x{entry}")):
            with edited(path, old, new):
                self.assertEqual(self.refused(OWNER), ("Refused", "identity"), new)
                # That is not for others to hear, nor that there is such an agent.
                self.assertEqual(self.refused("alice"), ("Refused", "denied-by-rule"), new)

    def test_an_owners_home_that_cannot_be_kept_from_the_agent(self):
        """One elsewhere that is not there, is no folder, or is not root's to place."""
        home = f":{HOME}:"
        for path in ("/srv/not-there", "/etc/passwd", f"{HOME}/../../tmp/{OWNER}", "srv"):
            with edited("/etc/passwd", home, f":{path}:"):
                self.assertEqual(self.refused(OWNER), ("Refused", "identity"), path)
                self.assertEqual(self.refused("alice"), ("Refused", "denied-by-rule"), path)
        with edited("/etc/passwd", home, ":/home/not-there:"), launch("offboarding", "--", "true") as screen:
            self.assertEqual(screen.wait(), 0, screen.text)

    def test_a_rule_of_polkit_has_the_last_word(self):
        path = "/etc/polkit-1/rules.d/10-test.rules"
        with open(path, "w", encoding="utf-8") as file:
            file.write('polkit.addRule(function (action, subject) {\n'
                       '  if (action.id == "org.undersign1.launch-own" &&\n'
                       '      action.lookup("agent") == "offboarding" &&\n'
                       '      action.lookup("command") == "/bin/true")\n'
                       '    return polkit.Result.NO;\n});\n')
        os.chmod(path, 0o644)
        self.addCleanup(self.world.polkit.restart)
        self.addCleanup(os.unlink, path)
        self.world.polkit.restart()
        self.assertEqual(self.refused(OWNER), ("Refused", "denied-by-rule"))

    def test_invalid_policy(self):
        path = f"{policy.FOLDER}/agents/bad.agent"
        with open(path, "w", encoding="utf-8") as file:
            file.write("[Agent]\n")
        # It is read once a second for each user.
        self.addCleanup(time.sleep, 1.1)
        self.addCleanup(os.unlink, path)
        time.sleep(1.1)
        self.assertEqual(self.refused(OWNER), ("PolicyInvalid", "policy-invalid"))

    def test_no_systemd(self):
        self.systemd.stop()
        self.addCleanup(self.systemd.start)
        world.wait_until(lambda: not world.name_has_owner("org.freedesktop.systemd1"), "it is away")
        self.assertEqual(self.refused(OWNER), ("Unavailable", "unreachable"))

    @NEEDS_MAPS
    def test_no_room_in_run(self):
        """Wherever it ends, nothing is started and nothing is left; nor where it cannot even begin."""
        command = ["undersign", "launch", "offboarding", "--share", PROJECT, "--", "true"]
        self.assertEqual(people.run_as(OWNER, command).returncode, 0)
        before = self.runs_of_launches()
        for files in (0, 1):
            with room.none_in_run(files):
                done = people.run_as(OWNER, command)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertRegex(done.stderr, rf"cannot make {RUN}/[0-9a-f/]+: No space left on device")
                self.assertTrue(nothing_is_left(), (mounts(), os.listdir(RUN)))
            self.assertEqual(self.runs_of_launches(), before)
        os.rename(RUN, f"{RUN}.away")
        self.addCleanup(os.rename, f"{RUN}.away", RUN)
        with room.none_in_run():
            done = subprocess.run(["/usr/libexec/undersign-launcher"], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"cannot make {RUN}: No space left on device", done.stderr)
        self.doCleanups()
        self.assertEqual(people.run_as(OWNER, command).returncode, 0)

    def test_what_the_bus_itself_refuses(self):
        with bus.Peer(OWNER) as peer:
            for interface, member in (("org.freedesktop.DBus.Introspectable", "Introspect"),
                                      ("org.freedesktop.DBus.Properties", "GetAll"),
                                      (LAUNCHER, "Quit")):
                error = peer.error(interface, member, path=PATH, destination=LAUNCHER)
                self.assertEqual(error.name, "org.freedesktop.DBus.Error.AccessDenied")

    # --- what may not be asked ---

    def test_words(self):
        for command, reason in (([], "missing-argument"), ([""], "bad-value"), (["."], "bad-value"),
                                (["bin/true"], "bad-value"), (["/bin/"], "bad-value"),
                                (["true"] * 1025, "too-large"), (["true", "x" * 131072], "too-large")):
            self.assertEqual(self.refused(OWNER, command=command), ("InvalidArgument", reason))

    def test_options(self):
        for options, reason in (({"uid": ("u", 0)}, "unknown-option"),
                                ({"run": ("u", 0)}, "wrong-type"),
                                ({"run": ("s", "")}, "bad-value"),
                                ({"run": ("s", "a\nb")}, "bad-value"),
                                ({"environment": ("a{ss}", {"LD_PRELOAD": "x"})}, "unknown-option"),
                                ({"environment": ("a{ss}", {"TERM": "x\ny"})}, "bad-value"),
                                ({"environment": ("a{ss}", {"LANG": "a/b"})}, "bad-value"),
                                ({"directory": ("s", HOME)}, "bad-value"),
                                ({"size": ("(qq)", (1001, 1))}, "bad-value"),
                                ({"shares": ("a(hs)", [(0, "read-write")])}, "bad-handle"),
                                ({"shares": ("a(hs)", [(5, "read-write")] * 9)}, "bad-handle")):
            self.assertEqual(self.refused(OWNER, options=options), ("InvalidArgument", reason),
                             options)

    def test_shares(self):
        os.symlink("/", f"{HOME}/root")
        self.addCleanup(os.unlink, f"{HOME}/root")
        for path in ("/", HOME, "/home", "/etc", "/proc/self", "/dev/shm", "/home/alice",
                     f"{HOME}/alien", RUN, "/usr/share"):
            self.assertEqual(self.not_shared(path)[0], "Refused", path)
        self.assertEqual(self.not_shared(f"{HOME}/alien"), ("Refused", "bad-share"))
        self.assertEqual(self.not_shared(HOME), ("Refused", "bad-share"))
        self.assertEqual(self.not_shared(f"{HOME}/link", flags=os.O_PATH | os.O_NOFOLLOW),
                         ("Refused", "bad-share"))
        self.assertEqual(self.not_shared("/bin/true")[0], "Refused")
        os.mkfifo(f"{HOME}/fifo")
        os.chown(f"{HOME}/fifo", people.PEOPLE[OWNER][0], -1)
        self.addCleanup(os.unlink, f"{HOME}/fifo")
        for flags in (os.O_PATH, os.O_RDWR):
            self.assertEqual(self.not_shared(f"{HOME}/fifo", flags=flags)[0], "Refused")
        for path in ("/proc/self/ns/mnt", "/proc/self/ns/user", "/dev/null"):
            self.assertEqual(self.not_shared(path, flags=os.O_RDONLY)[0], "Refused", path)
        self.assertEqual(self.not_shared(PROJECT, access="all"), ("InvalidArgument", "bad-value"))
        # The owner's folder, but it is not the owner who gives it.
        self.assertEqual(self.not_shared(PROJECT, user="root"), ("Refused", "bad-share"))

    @NEEDS_MAPS
    def test_what_a_unit_would_take_apart(self):
        for name in ("a b", "a :x", "a\nb", "a%h", "a\\b", 'a"b', "a'b", "a$b", "a;b"):
            path = f"{HOME}/{name}"
            os.mkdir(path)
            self.addCleanup(os.rmdir, path)
            os.chown(path, people.PEOPLE[OWNER][0], -1)
            self.assertEqual(self.not_shared(path), ("Refused", "bad-share"), name)
            options = {"shares": ("a(hs)", [(0, "read-write")]),
                       "directory": ("s", f"{PROJECT}/{name}")}
            self.assertEqual(self.refused(OWNER, options=options, folders=[Folder(PROJECT)]),
                             ("InvalidArgument", "bad-value"), name)

    @NEEDS_MAPS
    def test_a_share_that_can_be_led_elsewhere(self):
        top = "/srv"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", top], check=True)
        self.addCleanup(subprocess.run, ["umount", top], check=True)
        for folder in ("own", "own/project", "all", "all/project", "project"):
            os.mkdir(f"{top}/{folder}")
            os.chown(f"{top}/{folder}", people.PEOPLE[OWNER][0], -1)
        os.chown(f"{top}/all", 0, 0)
        os.chmod(f"{top}/all", 0o1777)
        for folder in ("own", "all"):
            self.assertEqual(self.not_shared(f"{top}/{folder}/project"), ("Refused", "bad-share"))
        done = people.run_as(OWNER, ["undersign", "launch", "offboarding", "--share",
                                     f"{top}/project", "--", "true"])
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_file_system_without_maps(self):
        # The overlay of these tests.
        path = "/var/tmp/of-the-owner"
        os.mkdir(path)
        self.addCleanup(os.rmdir, path)
        os.chown(path, people.PEOPLE[OWNER][0], -1)
        self.assertEqual(self.not_shared(path), ("Refused", "no-idmap"))

    def test_shares_within_each_other(self):
        for one, other in ((PROJECT, PROJECT), (PROJECT, f"{PROJECT}/sub"),
                           (f"{PROJECT}/sub", PROJECT)):
            found = self.refused(
                OWNER, options={"shares": ("a(hs)", [(0, "read-write"), (1, "read-only")])},
                folders=[Folder(one), Folder(other)])
            self.assertEqual(found, ("Refused", "bad-share"))

    def test_the_command_line(self):
        for arguments, status, text in (
                (("offboarding",), 126, "missing-argument"), (("--", "true"), 126, "missing-argument"),
                (("offboarding", "--"), 126, "missing-argument"),
                (("offboarding", "--no-run", "--run=x", "--", "true"), 126, "bad-value"),
                ((b"\xff", "--", "true"), 126, "the name of the agent is not valid UTF-8"),
                (("offboarding", "--share", f"{HOME}/link", "--", "true"), 1, "bad-share"),
                (("offboarding", "--share", "/nowhere", "--", "true"), 1, "bad-share"),
                (("offboarding", "--part", "x", "--", "true"), 1, "bad-value"),
                (("other", "--", "true"), 1, 'not-found: agent "other": there is no such agent'),
                (("other", "--", "true"), 1, "undersignctl agent add"),
                (("other", "--no-run", "--", "true"), 1, "denied-by-rule"),
                (("offboarding", "--", "/nowhere"), 1, "not-found")):
            done = people.run_as(OWNER, ["undersign", "launch", *arguments])
            self.assertEqual((done.returncode, text in done.stderr), (status, True),
                             f"{arguments}: {done.stderr}")

    def test_a_git_that_is_no_folder(self):
        git = f"{PROJECT}/sub/.git"

        def write():
            with open(git, "w", encoding="utf-8") as file:
                file.write("gitdir: ./.bare\n")
        for make in (lambda: os.symlink("elsewhere", git), write):
            make()
            os.chown(git, people.PEOPLE[OWNER][0], -1, follow_symlinks=False)
            try:
                done = people.run_as(OWNER, ["undersign", "launch", "offboarding", "--share",
                                             f"{PROJECT}/sub", "--", "true"])
                self.assertEqual((done.returncode, "bad-share" in done.stderr, ":git" in done.stderr),
                                 (1, True, True), done.stderr)
                # Nor by who asks the launcher itself.
                self.assertEqual(self.not_shared(f"{PROJECT}/sub")[0], "Refused")
            finally:
                os.unlink(git)

    # --- who may ---

    def test_status_and_identity(self):
        done = people.run_as(OWNER, ["undersign", "launch", "offboarding", "--", "sh", "-c",
                                     "id -u; tty; exit 7"])
        self.assertEqual(done.returncode, 7, done.stderr)
        lines = done.stdout.split()
        self.assertEqual(lines[0], str(UID))
        self.assertTrue(lines[1].startswith("/dev/pts/"), lines)
        killed = people.run_as(OWNER, ["undersign", "launch", "offboarding", "--", "sh", "-c",
                                       "kill -TERM $$"])
        self.assertEqual(killed.returncode, 128 + 15, killed.stderr)

    def test_the_environment_is_a_list(self):
        with launch("offboarding", "--run=ticket-1", "--", "env",
                    environment={"SECRET": "hunter2", "SSH_AUTH_SOCK": "/x"}) as screen:
            self.assertEqual(screen.wait(), 0)
        names = {line.partition("=")[0] for line in screen.text.splitlines() if "=" in line}
        self.assertLessEqual(names, {"HOME", "SHELL", "LANG", "TERM", "PATH", "UNDERSIGN_RUN", "PWD",
                                     "SHLVL", "_"})
        self.assertIn("UNDERSIGN_RUN=ticket-1", screen.text)
        self.assertIn("HOME=/var/lib/undersign-agents/offboarding", screen.text)
        self.assertNotIn("hunter2", screen.text)

    def test_the_run_is_the_owners(self):
        with launch("offboarding", "--run=ticket-2", "--", "true") as screen:
            self.assertEqual(screen.wait(), 0)
        with contextlib.closing(sqlite3.connect("file:/var/lib/undersign/queue.db?mode=ro",
                                                uri=True)) as queue:
            found = queue.execute("SELECT uid, initiator FROM runs WHERE label = 'ticket-2'")
            self.assertEqual(found.fetchall(), [(UID, OWNER)])

    @staticmethod
    def runs_of_launches():
        with contextlib.closing(sqlite3.connect("file:/var/lib/undersign/queue.db?mode=ro",
                                                uri=True)) as queue:
            return set(queue.execute("SELECT label, initiator FROM runs"
                                     " WHERE label LIKE 'launch-%'"))

    def test_a_run_of_its_own_ends_with_the_command(self):
        before = self.runs_of_launches()
        with launch("offboarding", "--", "cat") as screen:
            screen.wait_for("has the terminal")
            self.assertEqual([run[1] for run in self.runs_of_launches() - before], [OWNER])
            screen.type("\x04")
            self.assertEqual(screen.wait(), 0)
        self.assertEqual(self.runs_of_launches(), before)
        for arguments in (["--", "/nowhere"], ["--share", "/etc", "--", "true"]):
            done = people.run_as(OWNER, ["undersign", "launch", "offboarding", *arguments])
            self.assertEqual((done.returncode, self.runs_of_launches()), (1, before), done.stderr)

    def test_who_has_the_terminal_hangs_up(self):
        before = self.runs_of_launches()
        with launch("offboarding", "--", "sleep", "infinity") as screen:
            screen.wait_for("has the terminal")
            os.kill(screen.pid, signal.SIGHUP)
            self.assertEqual(screen.wait(), 129)
        self.run_ends(before)

    def test_who_leaves_while_polkit_is_asked(self):
        before = self.runs_of_launches()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(self.world.polkit.process.pid, signal.SIGSTOP)
            try:
                with launch("offboarding", "--", "true") as screen:
                    world.wait_until(lambda: self.runs_of_launches() != before, "a run is opened")
                    os.kill(screen.pid, number)
                    self.assertEqual(screen.wait(), 128 + number)
                    self.assertIn("no-answer: ended before", screen.text)
                self.assertEqual(self.runs_of_launches(), before)
            finally:
                os.kill(self.world.polkit.process.pid, signal.SIGCONT)

    def run_ends(self, before):
        """Nobody is there any more who could close it, so that the agent is had to."""
        world.wait_until(lambda: self.runs_of_launches() == before, "the run is closed", 120)

    def test_the_terminal_is_another(self):
        with launch("offboarding", "--", "sh", "-c",
                    "stty size; read line; echo got:$line; tty; echo done") as screen:
            screen.wait_for(r"40 100")
            mine = os.ttyname(screen.master) if os.isatty(screen.master) else ""
            screen.line("hello")
            screen.wait_for(r"got:hello")
            self.assertEqual(screen.wait(), 0)
        theirs = [line for line in screen.text.splitlines() if line.startswith("/dev/pts/")]
        self.assertEqual(len(theirs), 1)
        self.assertNotEqual(theirs[0], mine)

    @NEEDS_MAPS
    def test_a_share_is_the_agents_there_and_the_owners_here(self):
        with launch("offboarding", "--share", PROJECT, "--", "cat") as screen:
            known = dict(properties())
            self.assertEqual(len(mounts()), 1)
            bind = known["BindPaths"][0]
            self.assertEqual(bind[1:], [PROJECT, False, 0])
            self.assertEqual(os.stat(bind[0]).st_uid, UID)
            self.assertEqual(os.stat(PROJECT).st_uid, people.PEOPLE[OWNER][0])
            # Nobody but root gets there.
            self.assertEqual(os.stat(RUN).st_mode & 0o777, 0o700)
            self.assertEqual(known["ReadOnlyPaths"], [f"-{PROJECT}/.git"])
            self.assertEqual(known["WorkingDirectory"], PROJECT)
            self.assertIn(f"GIT_CONFIG_VALUE_0={PROJECT}", known["Environment"])
            with open("/proc/self/mountinfo", encoding="utf-8") as file:
                options = [line for line in file if line.split()[4].startswith(RUN)][0].split()[5]
            self.assertLessEqual({"nosuid", "nodev"}, set(options.split(",")))
            screen.wait_for("has the terminal")
            screen.type("\x04")
            self.assertEqual(screen.wait(), 0)

    @NEEDS_MAPS
    def test_a_share_by_another_path(self):
        os.symlink(f"{HOME}", f"{HOME}/around")
        self.addCleanup(os.unlink, f"{HOME}/around")
        for place, share in ((f"{HOME}/link", "."), (f"{HOME}/link/sub", PROJECT),
                             (f"{HOME}/around/project/sub", f"{HOME}/around/project")):
            command = ["sh", "-c", 'cd "$0" && exec undersign launch offboarding --share "$1" -- cat',
                       place, share]
            with terminal.Terminal(OWNER, command) as screen:
                screen.wait_for(f"{os.path.realpath(PROJECT)} is shared, but for a .git")
                screen.wait_for("has the terminal")
                known = properties()
                self.assertEqual(dict(known)["WorkingDirectory"], os.path.realpath(place))
                screen.type("\x04")
                self.assertEqual(screen.wait(), 0)
            world.wait_until(nothing_is_left, "it is gone")

    @NEEDS_MAPS
    def test_read_only_and_git(self):
        with launch("offboarding", "--share", f"{PROJECT}/sub:ro", "--share", f"{PROJECT}/.git:git",
                    "--", "cat") as screen:
            known = dict(properties())
            self.assertEqual(known["BindReadOnlyPaths"][0][1], f"{PROJECT}/sub")
            self.assertTrue(os.statvfs(known["BindReadOnlyPaths"][0][0]).f_flag & os.ST_RDONLY)
            self.assertEqual(known["BindPaths"][0][1], f"{PROJECT}/.git")
            self.assertEqual(known["ReadOnlyPaths"], [])
            screen.wait_for("has the terminal")
            screen.type("\x04")
            self.assertEqual(screen.wait(), 0)

    def test_what_no_caller_can_change(self):
        with launch("offboarding", "--", "cat") as screen:
            known = dict(properties())
            for key, value in {"NoNewPrivileges": True, "PrivateDevices": True, "PrivateTmp": True,
                               "ProtectHome": "tmpfs", "ProtectSystem": "strict",
                               "RestrictSUIDSGID": True, "RestrictNamespaces": 0,
                               "CapabilityBoundingSet": 0, "KillMode": "control-group",
                               "BindsTo": ["undersign-launcher.service"], "User": AGENT}.items():
                self.assertEqual(known[key], value, key)
            screen.wait_for("has the terminal")
            screen.type("\x04")
            self.assertEqual(screen.wait(), 0)

    # --- how it ends ---

    @NEEDS_MAPS
    def test_leaving(self):
        with launch("offboarding", "--share", PROJECT, "--", "sleep", "infinity") as screen:
            before = termios.tcgetattr(screen.master)
            screen.wait_for("has the terminal")
            properties()
            screen.type("\x1d\x1d\x1d")
            self.assertEqual(screen.wait(), 129)
            self.assertEqual(termios.tcgetattr(screen.master)[3] & termios.ECHO,
                             termios.ECHO, before)

    @NEEDS_MAPS
    def test_the_command_dies_with_who_had_it_started(self):
        with launch("offboarding", "--share", PROJECT, "--", "sleep", "infinity") as screen:
            screen.wait_for("has the terminal")
            properties()
            screen.close()

    def test_the_run_of_a_command_is_closed_after_who_had_it_started(self):
        before = self.runs_of_launches()
        with launch("offboarding", "--", "sleep", "infinity") as screen:
            screen.wait_for("has the terminal")
            self.assertEqual([run[1] for run in self.runs_of_launches() - before], [OWNER])
            screen.close()
        self.run_ends(before)
        # One that has a name is not this command's alone.
        with launch("offboarding", "--run=launch-named", "--", "sleep", "infinity") as screen:
            screen.wait_for("has the terminal")
            screen.close()
        world.wait_until(nothing_is_left, "the unit has ended", 120)
        self.assertEqual(self.runs_of_launches() - before, {("launch-named", OWNER)})

    @NEEDS_MAPS
    def test_list_and_end(self):
        with launch("offboarding", "--share", PROJECT, "--", "sleep", "infinity") as screen:
            screen.wait_for("has the terminal")
            found = {}
            for user in ("root", OWNER, "alice", AGENT):
                with bus.Peer(user) as peer:
                    found[user] = peer.call(LAUNCHER, "List", path=PATH, destination=LAUNCHER)[0]
            self.assertEqual(found["alice"], [])
            self.assertEqual(found[AGENT], [])
            self.assertEqual(found["root"], found[OWNER])
            number, agent, uid, shares = found[OWNER][0]
            self.assertEqual((agent, uid, shares), ("offboarding", people.PEOPLE[OWNER][0],
                                                    [(PROJECT, "read-write")]))
            for user, wanted in (("alice", number), (AGENT, number), (OWNER, "0" * 16)):
                with bus.Peer(user) as peer:
                    error = peer.error(LAUNCHER, "End", "(s)", (wanted,), path=PATH,
                                       destination=LAUNCHER)
                self.assertEqual(error.reason, "not-found", user)
            with bus.Peer(OWNER) as peer:
                peer.call(LAUNCHER, "End", "(s)", (number,), path=PATH, destination=LAUNCHER)
            self.assertEqual(screen.wait(), 128 + 9)

    # --- undersignctl agent ---

    def ctl(self, *arguments, user="root", status=0):
        done = people.run_as(user, ["undersignctl", "agent", *arguments])
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def test_a_new_agent(self):
        files = [f"{policy.FOLDER}/agents/new.agent", f"{policy.FOLDER}/rules/new.rule",
                 "/etc/sysusers.d/undersign-agent-new.conf"]

        def forget():
            for path in files:
                os.unlink(path)
        said = self.ctl("add", "new", "--owner", "alice", "--action=test.rehearse")
        self.addCleanup(forget)
        for path in files:
            with open(path, encoding="utf-8") as file:
                self.assertIn(f"{path}:\n{file.read()}", said)
            self.assertEqual((os.stat(path).st_uid, os.stat(path).st_mode & 0o777), (0, 0o644))
        self.assertTrue(people.pwd.getpwnam("agent-new").pw_shell.endswith("nologin"))
        self.world.ctl("policy", "check")
        self.assertIn("exists", self.ctl("add", "new", "--owner", "alice", status=1))
        self.assertEqual(self.ctl("login", "new", "--", "sh", "-c", "id -un", user="alice").strip(),
                         "agent-new")
        self.assertIn("denied-by-rule", self.ctl("login", "new", "--", "true", user=OWNER, status=1))

    def test_no_new_agent(self):
        before = {folder: sorted(os.listdir(folder)) for folder in (
            f"{policy.FOLDER}/agents", f"{policy.FOLDER}/rules", "/etc/sysusers.d")}
        for arguments, status, text in (
                (("x_y", "--owner", OWNER), 126, "bad-value"), (("x",), 126, "bad-value"),
                (("X", "--owner", OWNER), 126, "bad-value"),
                (("x" * 26, "--owner", OWNER), 126, "bad-value"),
                (("x", "--owner", "nobody-s"), 126, "bad-value"),
                (("x", "--owner", OWNER, "--action", "../x"), 126, "bad-value"),
                (("x", "--owner", OWNER, "--action", "no.such"), 1, "policy-invalid"),
                (("x", "--owner", "root"), 1, "policy-invalid"),
                (("x", "--owner", AGENT), 1, "policy-invalid"),
                (("offboarding", "--owner", OWNER), 1, "wrong-state")):
            self.assertIn(text, self.ctl("add", *arguments, status=status))
        self.assertIn("identity", self.ctl("add", "x", "--owner", OWNER, user=OWNER, status=1))
        for folder, names in before.items():
            self.assertEqual(sorted(os.listdir(folder)), names)
        self.assertRaises(KeyError, people.pwd.getpwnam, "agent-x")

    def test_a_user_that_cannot_be_made(self):
        tool = "/usr/bin/systemd-sysusers"
        os.rename(tool, tool + ".away")
        self.addCleanup(os.rename, tool + ".away", tool)
        os.symlink("/bin/false", tool)
        self.assertIn("internal", self.ctl("add", "y", "--owner", OWNER, status=1))
        for path in (f"{policy.FOLDER}/agents/y.agent", f"{policy.FOLDER}/rules/y.rule",
                     "/etc/sysusers.d/undersign-agent-y.conf"):
            self.assertFalse(os.path.exists(path), path)

    def test_no_shares(self):
        """A person is told so; a program counts no lines."""
        with terminal.Terminal(OWNER, ["undersignctl", "agent", "shares"]) as screen:
            screen.wait_for("no folder is shared at the moment")
            self.assertEqual(screen.wait(), 0)
        self.assertEqual(self.ctl("shares", user=OWNER), "")
        self.assertEqual(json.loads(self.ctl("shares", "--json")), {"shares": [], "version": "1"})

    @NEEDS_MAPS
    def test_shares_are_listed_and_undone(self):
        with launch("offboarding", "--share", f"{PROJECT}:ro", "--", "sleep", "infinity") as screen:
            screen.wait_for("has the terminal")
            said = self.ctl("shares", user=OWNER)
            self.assertRegex(said, rf"[0-9a-f]{{16}}: {PROJECT} for offboarding, read-only")
            self.assertEqual(self.ctl("shares", "offboarding"), said)
            self.assertEqual(self.ctl("shares", "other"), "")
            self.assertEqual(self.ctl("shares", user="alice"), "")
            number = said.split(":")[0].strip()
            self.assertIn("not-found", self.ctl("shares", "--end", number, user="alice", status=1))
            self.ctl("shares", "--end", number, user=OWNER)
            self.assertEqual(screen.wait(), 128 + 9)
        self.assertEqual(self.ctl("shares"), "")

    @NEEDS_MAPS
    def test_another_one_takes_no_share_away(self):
        with launch("offboarding", "--share", PROJECT, "--", "cat") as screen:
            screen.wait_for("has the terminal")
            self.assertEqual(len(mounts()), 1)
            done = subprocess.run(["/usr/libexec/undersign-launcher"], capture_output=True,
                                  check=False)
            self.assertEqual((done.returncode, len(mounts())), (1, 1), done.stderr)
            screen.type("\x04")
            self.assertEqual(screen.wait(), 0)

    def test_a_user_of_a_service(self):
        """One that nobody logs in as and that is in no group; the file names it by mistake."""
        path = f"{policy.FOLDER}/agents/offboarding.agent"
        with edited("/etc/passwd", f"{AGENT}:x:", "some-service:x:"), \
                edited("/etc/group", f"{AGENT}:x:", "some-service:x:"), \
                edited(path, f"User={AGENT}", "User=some-service"):
            self.assertEqual(self.refused(OWNER), ("Refused", "identity"))
            home = "/var/lib/undersign-agents/offboarding"
            with edited("/etc/passwd", f":/home/{AGENT}:", f":{home}:"):
                done = people.run_as(OWNER, ["undersign", "launch", "--no-run", "offboarding", "--",
                                             "id", "-un"])
                self.assertEqual(done.stdout.split(), ["some-service"], done.stderr)

    def test_it_is_started_by_the_bus_and_by_nobody_else(self):
        done = people.run_as("alice", ["/usr/libexec/undersign-launcher"])
        self.assertNotEqual(done.returncode, 0)
        done = subprocess.run(["/usr/libexec/undersign-launcher", "x"], capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 126)


if __name__ == "__main__":
    tap.main("system/launcher")
