#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An agent works in its owner's repository, under a uid of its own; the owner works on."""

import contextlib
import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

from undersign_test import booted, kernel, people, policy, tap, terminal, world  # noqa: E402

OWNER, AGENT, NAME = "hr.jones", "agent-offboarding", "offboarding"
HOME = f"/home/{OWNER}"
PROJECT = f"{HOME}/project"
RUN = "/run/undersign-launcher"
FILE = f"{policy.FOLDER}/agents/{NAME}.agent"
NEEDS_MAPS = unittest.skipUnless(kernel.maps_tmpfs(), "a tmpfs has maps since Linux 6.3")
GIT = ["git", "-c", "user.name=H", "-c", "user.email=h@example.com", "-C", PROJECT]
# Each would make a set-user-ID file of the owner's, or the means to; by number, as of x86-64 and arm64
# for those that are newer than the C library.
RAW_CALLS = """
import ctypes, os, struct
call = ctypes.CDLL(None).syscall
os.close(os.open("raw", os.O_CREAT | os.O_WRONLY, 0o755))
print(call(452, -100, b"raw", 0o4755, 0))
print(call(437, -100, b"raw2", struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0), 24))
print(call(425, 1, ctypes.create_string_buffer(120)))
os.unlink("raw")
"""

# By the agent itself, on the system bus: each member, other signatures, other interfaces, what systemd
# is said to say, and more than anybody waits for.
RAW_BUS = """
import gi, threading
gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib
BUS, NAME, PATH = Gio.bus_get_sync(Gio.BusType.SYSTEM), "org.undersign1.Launcher", "/org/undersign1/Launcher"
LAUNCH = GLib.Variant("(sasa{sv})", ("offboarding", ["sh"], {}))
def call(member, body=None, name=NAME, path=PATH, interface=NAME):
    try:
        return str(BUS.call_sync(name, path, interface, member, body, None, 0, 100000))
    except GLib.Error as error:
        return Gio.DBusError.get_remote_error(error).rpartition(".")[2]
print("List", call("List"))
print("End", call("End", GLib.Variant("(s)", ("0" * 16,))))
print("Launch", call("Launch", LAUNCH))
for kind, value in (("(s)", ("x",)), ("(sava{sv})", ("x", [], {})), ("(sasa{sv}s)", ("x", [], {}, ""))):
    print("kind", call("Launch", GLib.Variant(kind, value)))
many = ["x" * 1000] * 1000
print("large", call("Launch", GLib.Variant("(sasa{sv})", ("offboarding", many, {}))))
print("path", call("List", path="/"))
print("GetAll", call("GetAll", GLib.Variant("(s)", (NAME,)), interface="org.freedesktop.DBus.Properties"))
print("Quit", call("Quit"))
BUS.emit_signal(NAME, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "JobRemoved",
                GLib.Variant("(uoss)", (1, "/x", "undersign-launch-0.service", "done")))
SYSTEMD = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
print("StopUnit", call("StopUnit", GLib.Variant("(ss)", ("undersign-launcher.service", "fail")), *SYSTEMD))
found = set()
threads = [threading.Thread(target=lambda: found.update(call("Launch", LAUNCH) for _ in range(20)))
           for _ in range(10)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("many", *sorted(found))
"""

# Displays of the owner's, and somebody who would look at them.
LISTEN = """
import os, socket, sys, time
sockets = []
for path in sys.argv[1:]:
    sockets.append(socket.socket(socket.AF_UNIX))
    sockets[-1].bind(path)
    os.chmod(path, 0o777)
    sockets[-1].listen()
print("there", flush=True)
time.sleep(600)
"""
CONNECT = """
import socket, sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("yes")
    except OSError:
        print("no")
"""

# A client as they are: its server gets no environment at all.
CLIENT = """
import json, subprocess
server = subprocess.Popen(["/usr/bin/undersign-mcp", "--hold=0"], env={}, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(method, **params):
    print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}),
          file=server.stdin, flush=True)
    return json.loads(server.stdout.readline())["result"]
def call(name, **arguments):
    return ask("tools/call", name=name, arguments=arguments)["structuredContent"]
ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "x", "version": "1"})
request = call("test_rehearse", target="a run")
print(request["state"], call("request_cancel", request_id=request["request_id"])["state"])
server.stdin.close()
print(server.wait())
"""


def owner(*argv, status=0):
    done = people.run_as(OWNER, list(argv))
    if status is not None and done.returncode != status:
        raise AssertionError(f"{shlex.join(argv)}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def launch(*arguments, status=0):
    return owner("undersign", "launch", NAME, *arguments, status=status)


def agent(script, *options):
    """What a shell of the agent's says to @script, with the project shared."""
    return launch("--share", PROJECT, *options, "--", "sh", "-c", script)


def units():
    return booted.command("systemctl", "list-units", "--all", "--no-legend", "--plain",
                          "undersign-launch-*").split("\n")[:-1]


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        return [line for line in file if RUN in line]


def nothing_is_left():
    return not units() and not mounts() and not os.listdir(RUN) and not running()


def properties(*names):
    """Of the only unit there is."""
    name = units()[0].split()[0]
    return {key: booted.unit(name, key) for key in names}


def runs():
    with contextlib.closing(sqlite3.connect("file:/var/lib/undersign/queue.db?mode=ro",
                                            uri=True)) as queue:
        return set(queue.execute("SELECT uid, label, part, initiator FROM runs"))


def running():
    done = subprocess.run(["pgrep", "-u", AGENT], capture_output=True, text=True, check=False)
    return done.stdout.split()


class Launch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.mkdir(PROJECT)
        os.chown(PROJECT, booted.uid_of(OWNER), booted.uid_of(OWNER))
        owner("git", "init", "--quiet", PROJECT)
        owner("sh", "-c", f"echo one > {PROJECT}/first; echo two > {PROJECT}/second")
        owner("sh", "-c", f"echo secret > {HOME}/secret; chmod 644 {HOME}/secret")
        owner(*GIT, "add", ".")
        owner(*GIT, "commit", "--quiet", "--message=first")

    def tearDown(self):
        world.wait_until(nothing_is_left, "no unit, mount, folder or process is left", 120)

    @NEEDS_MAPS
    def test_1_the_agent_edits_and_the_owner_commits(self):
        said = agent("id -u; pwd; umask 077; echo three > third; echo more >> first; rm second;"
                     "mkdir folder; echo deep > folder/deep; stat -c %u first third; git status --porcelain")
        lines = said.split()
        uid = str(booted.uid_of(AGENT))
        self.assertEqual(lines[:4], [uid, PROJECT, uid, uid], said)
        for entry in (" M first", " D second", "?? third", "?? folder/"):
            self.assertIn(entry, said.replace("\r", "").split("\n"))
        for path in ("first", "third", "folder", "folder/deep"):
            status = os.stat(f"{PROJECT}/{path}")
            self.assertEqual((status.st_uid, status.st_gid), (booted.uid_of(OWNER),) * 2, path)
        self.assertEqual(owner("cat", f"{PROJECT}/third"), "three\n")
        owner("sh", "-c", f"echo mine >> {PROJECT}/third")
        owner(*GIT, "add", "--all")
        owner(*GIT, "commit", "--quiet", "--message=second")
        self.assertEqual(owner(*GIT, "status", "--short"), "")
        owner("rm", "-r", f"{PROJECT}/folder", f"{PROJECT}/third")
        self.assertIn(" D third", agent("git status --porcelain").replace("\r", "").split("\n"))

    @NEEDS_MAPS
    def test_2_git_is_read_only_unless_asked(self):
        hook = f"{PROJECT}/.git/hooks/pre-commit"
        said = agent("echo x > .git/hooks/pre-commit; echo x >> .git/config; mv .git away;"
                     "rm -rf .git; echo end")
        self.assertGreaterEqual(said.count("Read-only file system") + said.count("busy"), 3, said)
        self.assertFalse(os.path.exists(hook))
        self.assertEqual(owner(*GIT, "log", "--oneline").count("\n"), 2)
        said = launch("--share", f"{PROJECT}:git", "--", "sh", "-c",
                      "git config user.name A; git config user.email a@example.com;"
                      "git commit --quiet --all --message=third && echo done")
        self.assertIn("done", said)
        self.assertEqual(owner(*GIT, "log", "--oneline").count("\n"), 3)

    @NEEDS_MAPS
    def test_3_read_only(self):
        said = launch("--share", f"{PROJECT}:ro", "--", "sh", "-c", "cat first; echo x > first; true")
        self.assertIn("one", said)
        self.assertIn("Read-only file system", said)

    @NEEDS_MAPS
    def test_4_nothing_else_of_the_owner(self):
        with terminal.Terminal(OWNER, ["sh", "-c", "tty; exec sleep infinity"]) as screen:
            tty = screen.wait_for(r"/dev/pts/\d+")[0]
            said = agent(f"ls -A {HOME}; cat {HOME}/secret; ls -A /home /root /run/user /tmp;"
                         f"echo x > {tty}; cat < {tty}; ls /proc/{screen.pid}; ls {RUN};"
                         f"kill {screen.pid}; env; ls /dev/fuse; true")
            words = said.split()
            self.assertEqual(os.waitpid(screen.pid, os.WNOHANG), (0, 0))
        self.assertNotIn("secret\n", said.replace("\r", "").replace(f"{HOME}/secret", ""))
        self.assertEqual(said.count("Permission denied") + said.count("cannot access"), 5, said)
        self.assertIn("project", words)
        self.assertNotIn("alice", words)
        self.assertEqual([word for word in words if word.startswith(
            ("DBUS_", "DISPLAY", "WAYLAND", "XDG_", "SSH_", "SUDO_"))], [])
        self.assertIn(f"HOME=/var/lib/undersign-agents/{NAME}", words)

    @NEEDS_MAPS
    def test_4_no_display(self):
        """Whoever may connect to one sees what its owner types, and types for him."""
        folder = f"/run/user/{booted.uid_of(OWNER)}"
        if not os.path.exists(folder):
            os.mkdir(folder, 0o700)
            shutil.chown(folder, OWNER)
        os.makedirs("/tmp/.X11-unix", 0o1777, exist_ok=True)
        os.chmod("/tmp/.X11-unix", 0o1777)
        displays = [f"{folder}/wayland-9", "/tmp/.X11-unix/X9"]
        with terminal.Terminal(OWNER, ["python3", "-c", LISTEN, *displays]) as screen:
            screen.wait_for("there")
            self.assertEqual(owner("python3", "-c", CONNECT, *displays).split(), ["yes", "yes"])
            said = launch("--share", PROJECT, "--", "python3", "-c", CONNECT, *displays)
            self.assertEqual(said.split(), ["no", "no"])

    @NEEDS_MAPS
    def test_5_no_way_to_more(self):
        # What chmod(1) and install(1) do not use: fchmodat2(), openat2() and io_uring.
        said = launch("--share", PROJECT, "--", "python3", "-c", RAW_CALLS)
        self.assertEqual(said.split(), ["-1"] * 3, said)
        self.assertEqual([name for name in os.listdir(PROJECT) if name.startswith("raw")
                          and os.stat(f"{PROJECT}/{name}").st_mode & 0o6000], [])
        said = agent("cp /bin/true t; chmod u+s t; chmod g+s t; unshare --user true; sudo -n true;"
                     "install -m 4755 /bin/true u; ls -l t u; grep -E 'NoNewPrivs|CapBnd' "
                     "/proc/self/status; mount -t tmpfs x /tmp; rm -f t u")
        self.assertNotRegex(said, r"-rws|-..x..s")
        self.assertRegex(said, r"NoNewPrivs:\s+1")
        self.assertRegex(said, r"CapBnd:\s+0000000000000000")
        self.assertIn("unshare", said)

    def test_5_raw_calls(self):
        said = launch("--no-run", "--", "python3", "-c", RAW_BUS).replace("\r", "").splitlines()
        self.assertEqual(said[:-2], [
            "List (@a(ssua(ss)) [],)", "End NotFound", "Launch Refused", *["kind InvalidArgument"] * 3,
            "large InvalidArgument", "path NotFound", "GetAll AccessDenied", "Quit AccessDenied"])
        self.assertIn(said[-2], ("StopUnit InteractiveAuthorizationRequired", "StopUnit AccessDenied"))
        self.assertLessEqual(set(said[-1].split()), {"many", "LimitExceeded", "Refused"})
        self.assertIn("served", launch("--no-run", "--", "echo", "served"))

    def test_5_the_run_is_found_without_the_environment(self):
        before = runs()
        said = launch("--run=ticket-9", "--", "python3", "-c", CLIENT)
        self.assertEqual(said.split(), ["pending", "withdrawn", "0"], said)
        self.assertEqual(runs() - before, {(booted.uid_of(AGENT), "ticket-9", "main", OWNER)})

    def test_5_the_run_ends_with_a_launch_that_was_killed(self):
        before = runs()
        with terminal.Terminal(OWNER, ["undersign", "launch", NAME, "--", "sh", "-c",
                                       "echo up; exec sleep infinity"]) as screen:
            screen.wait_for(r"^up")
            opened, = runs() - before
            self.assertEqual((opened[0], opened[3]), (booted.uid_of(AGENT), OWNER))
            screen.close()  # by SIGKILL
        world.wait_until(lambda: runs() == before, "the run is closed", 120)

    def test_6_a_home_that_stays(self):
        launch("--", "sh", "-c", "echo mine > ~/note; chmod 600 ~/note")
        self.assertIn("mine", launch("--no-run", "--", "cat",
                                     f"/var/lib/undersign-agents/{NAME}/note"))
        self.assertEqual(people.run_as(OWNER, ["ls", f"/var/lib/undersign-agents/{NAME}"]).returncode,
                         2)

    def test_7_leftovers_end(self):
        launch("--", "sh", "-c", "setsid sleep infinity & trap '' HUP; sleep infinity & exit 3",
               status=3)
        world.wait_until(nothing_is_left, "nothing is left", 120)

    @NEEDS_MAPS
    def test_8_it_ends_with_who_had_it_started(self):
        with terminal.Terminal(OWNER, ["undersign", "launch", NAME, "--share", PROJECT, "--", "sh",
                                       "-c", "trap '' HUP TERM; echo up; while :; do sleep 9; done"
                                       ]) as screen:
            screen.wait_for(r"^up")
            self.assertEqual(len(mounts()), 1)
            self.assertEqual(len(units()), 1)
            screen.close()
            world.wait_until(nothing_is_left, "nothing is left", 120)

    def test_limits(self):
        """Those that hold without a word, then those of the agent's file."""
        with open("/proc/meminfo", encoding="ascii") as file:
            memory = int(file.readline().split()[1]) * 1024
        names = ("MemoryMax", "MemorySwapMax", "TasksMax", "CPUWeight", "RuntimeMaxUSec",
                 "OOMScoreAdjust")
        found = self.limits(*names)
        self.assertLess(abs(int(found["MemoryMax"]) - memory // 2), memory // 100, found)
        self.assertEqual(found["MemorySwapMax"], found["MemoryMax"])
        self.assertEqual([found[name] for name in names[2:]], ["2048", "50", "infinity", "500"])
        with open(FILE, encoding="utf-8") as file:
            before = file.read()
        self.addCleanup(self.write, before)
        self.write(before + "[Launch]\nMemoryMax=256M\nTasksMax=20\nCPUWeight=7\nRuntimeMax=2h\n")
        self.assertEqual(list(self.limits(*names).values()),
                         ["268435456", "268435456", "20", "7", "2h", "500"])
        with open("/sys/fs/cgroup/cgroup.controllers", encoding="ascii") as file:
            has_pids = "pids" in file.read().split()
        if has_pids:  # or the host has kept them for itself
            said = launch("--", "sh", "-c", "for i in $(seq 40); do sleep 5 & done; echo end",
                          status=None)
            self.assertRegex(said, "fork|Resource temporarily unavailable")
        self.write(before + "[Launch]\nMemoryMax=lots\n")
        done = people.run_as(OWNER, ["undersign", "launch", "--no-run", NAME, "--", "true"])
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{FILE}:{before.count(chr(10)) + 2}: MemoryMax=", done.stderr)

    @staticmethod
    def write(text):
        with open(FILE, "w", encoding="utf-8") as file:
            file.write(text)
        time.sleep(1.1)  # policy is read once a second for each user

    @staticmethod
    def limits(*names):
        with terminal.Terminal(OWNER, ["undersign", "launch", "--no-run", NAME, "--", "sh", "-c",
                                       "echo up; exec sleep infinity"]) as screen:
            screen.wait_for(r"^up")
            return properties(*names)

    @NEEDS_MAPS
    def test_9_it_ends_with_the_launcher(self):
        with terminal.Terminal(OWNER, ["undersign", "launch", NAME, "--share", PROJECT, "--", "sh",
                                       "-c", "echo up; sleep infinity"]) as screen:
            screen.wait_for(r"^up")
            booted.command("systemctl", "kill", "--signal=KILL", booted.LAUNCHER)
            self.assertEqual(screen.wait(), 255)
        world.wait_until(lambda: not units() and not running(), "its unit was stopped", 120)
        # The next one unmounts what it left.
        launch("--", "true")
        booted.command("systemctl", "reset-failed", booted.LAUNCHER)


if __name__ == "__main__":
    tap.main("systemd/launch")
