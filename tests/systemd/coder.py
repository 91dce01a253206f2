#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A coding client that others wrote works in its owner's repository, under the agent's uid.

The client is Codex as the npm registry has it; what a model would say, the test says (fakemodel.py).
Whatever the agent is told comes from what the client itself sent back.
"""

import json
import os
import re
import shlex
import stat
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

import launch  # noqa: E402
from launch import AGENT, HOME, NAME, OWNER, owner  # noqa: E402
from undersign_test import booted, fakemodel, kernel, mailserver, readme, tap, terminal, world  # noqa: E402

REPOSITORY = f"{HOME}/repository"
GIT = ["git", "-c", "user.name=H", "-c", "user.email=h@example.com", "-C", REPOSITORY]
PROGRAM = os.environ["UNDERSIGN_CODER"]
SECRET = "the owner's own words"
PATIENCE = 300.0
# What README has an owner type, from the agent to the first session.
_, _, CONFIGURE, _, LAUNCH = ([{"coder": NAME, "~/src/project": REPOSITORY}.get(word, word)
                               for word in shlex.split(line)]
                              for line in readme.blocks("Install it as a service")[1])
# Connects to a socket, and types into a terminal that is somebody else's.
REACH = """
import fcntl, os, socket, sys, termios
def attempt(what, call, *arguments):
    try:
        call(*arguments)
        print(what, 'REACHED')
    except OSError as error:
        print(what, error.strerror)
def type_into(path):
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(fd, termios.TIOCSTI, b'x')
bus, ours, theirs = sys.argv[1:]
attempt('bus', lambda: socket.socket(socket.AF_UNIX).connect(bus))
for path in (ours, theirs):
    attempt('read', lambda: open(path, 'rb').close())
    attempt('write', lambda: open(path, 'wb').close())
    attempt('type', type_into, path)
"""


class Coder:
    """One run of the client, started by the owner at a terminal; a context manager."""

    def __init__(self, *options, of="gpt-5.5"):
        """@options: of `undersign launch`; @of: whose tools the client offers."""
        self.model = fakemodel.Model()
        self.tty = None
        command = LAUNCH.index("codex")
        self.screen = terminal.Terminal(OWNER, [
            "sh", "-c", 'tty; exec "$@"', "sh", *LAUNCH[:command - 1], *options, "--", "codex", "exec",
            *LAUNCH[command + 1:], "--color=never",
            f"--model={of}", *(f"--config={key}={json.dumps(value)}" for key, value in {
                "model_provider": "test", "model_providers.test.name": "test",
                "model_providers.test.wire_api": "responses",
                "model_providers.test.base_url": f"http://127.0.0.1:{self.model.port}/v1",
                "mcp_servers.undersign.startup_timeout_sec": 120,
                "analytics.enabled": False}.items()), "Do what is to be done."])

    def __enter__(self):
        try:
            self.tty = tty_of(self.screen)
            self.model.begin(self.screen.is_running)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.model.end()
                status = self.screen.wait(PATIENCE)
                self.model.nothing_more()
                if status != 0:
                    raise AssertionError(f"the client ended with {status}")
        finally:
            if kind is not None:
                print("# " + "\n# ".join(self.screen.text[-6000:].splitlines()), flush=True)
            self.screen.close()
            self.model.close()

    def shell(self, command):
        """(exit status, what it printed), as the client told its model."""
        said = self.model.ask("exec_command", {"cmd": command, "yield_time_ms": 30000})
        text = said.partition("Output:\n")[2]
        while (running := re.search(r"^Process running with session ID (\d+)$", said, re.MULTILINE)):
            said = self.model.ask("write_stdin", {"session_id": int(running[1]), "chars": "",
                                                  "yield_time_ms": 30000})
            text += said.partition("Output:\n")[2]
        ended = re.search(r"^Process exited with code (\d+)$", said, re.MULTILINE)
        if ended is None:
            raise AssertionError(f"the client did not run {command!r}: {said}")
        return int(ended[1]), text

    def patch(self, *lines):
        """What comes of a patch by the client's own editor."""
        return self.model.write("apply_patch", "\n".join(
            ["*** Begin Patch", *lines, "*** End Patch", ""]))

    def tool(self, name, arguments):
        """The result of a tool of undersign-mcp, as it reaches the model."""
        said = self.model.ask(name, arguments, self.namespace(name))
        return json.loads(said.partition("Output:\n")[2])

    def namespace(self, name):
        for tool in self.model.tools:
            if tool["type"] == "namespace" and name in [inner["name"] for inner in tool["tools"]]:
                return tool["name"]
        raise AssertionError(f"the client has no {name}: {json.dumps(self.model.tools)[:4000]}")


def tty_of(screen):
    """What tty(1) says there, and no other has said anything yet."""
    return screen.wait_for(r"^(/dev/pts/\d+)\n")[1]


def configure():
    """The configuration that README has the owner make, word by word, and no waiting in it."""
    owner(*[word.replace("--print-config=codex", "--print-config=codex --hold=0") for word in CONFIGURE])


def git_folder():
    """All that is in .git: what it is and holds."""
    found = {}
    for folder, folders, names in os.walk(f"{REPOSITORY}/.git"):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            with open(path if stat.S_ISREG(status.st_mode) else os.devnull, "rb") as file:
                found[path] = (status.st_mode, status.st_uid, file.read())
    return found


@unittest.skipUnless(kernel.maps_tmpfs(), "a tmpfs has maps since Linux 6.3")
class Code(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.person = booted.Person("it.lead")
        os.symlink(PROGRAM, "/usr/local/bin/codex")
        configure()
        owner("git", "init", "--quiet", REPOSITORY)
        owner("sh", "-c", f"cd {REPOSITORY}; echo one >first; echo two >second; echo report >report;"
              f"echo \"{SECRET}\" >~/secret; chmod 644 ~/secret")
        owner(*GIT, "add", ".")
        owner(*GIT, "commit", "--quiet", "--message=first")

    def tearDown(self):
        world.wait_until(launch.nothing_is_left, "no unit, mount, folder or process is left", 120)
        self.assertEqual(booted.command("undersignctl", "agent", "shares"), "")

    def is_the_owners(self, name, content):
        status = os.stat(f"{REPOSITORY}/{name}")
        uid = booted.uid_of(OWNER)
        self.assertEqual((status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)),
                         (uid, uid, 0o644), name)
        self.assertEqual(owner("cat", f"{REPOSITORY}/{name}"), content)

    def test_1_both_edit_commit_and_delete_the_same_files(self):
        with Coder() as coder:
            self.assertEqual(coder.shell("id -u; pwd; cat first; git status --porcelain"),
                             (0, f"{booted.uid_of(AGENT)}\n{REPOSITORY}\none\n"))
            self.assertIn(REPOSITORY, booted.command("undersignctl", "agent", "shares"))
            said = coder.patch("*** Update File: first", "@@", "-one", "+uno",
                               "*** Add File: folder/added", "+made by the agent")
            self.assertIn("Success", said)
            self.is_the_owners("first", "uno\n")
            self.is_the_owners("folder/added", "made by the agent\n")
            status, said = coder.shell("git diff --stat; git status --porcelain")
            self.assertEqual((status, said.count("1 insertion(+), 1 deletion(-)")), (0, 1), said)
            self.assertEqual(said.splitlines()[-2:], [" M first", "?? folder/"])

            owner("sh", "-c", f"cd {REPOSITORY}; echo and by me >>folder/added; echo mine >>first")
            owner(*GIT, "add", "--all")
            owner(*GIT, "commit", "--quiet", "--message=second")
            self.assertEqual(coder.shell("git status --porcelain; git log -1 --format=%s; cat folder/*"),
                             (0, "second\nmade by the agent\nand by me\n"))
            said = coder.patch("*** Update File: folder/added", "@@", " made by the agent",
                               "-and by me", "+and by both", "*** Update File: first", "@@", " uno",
                               "-mine", "+ours")
            self.assertIn("Success", said)
            self.is_the_owners("folder/added", "made by the agent\nand by both\n")
            self.is_the_owners("first", "uno\nours\n")

            owner(*GIT, "commit", "--quiet", "--all", "--message=third")
            owner(*GIT, "rm", "--quiet", "-r", "first", "folder")
            owner(*GIT, "commit", "--quiet", "--message=fourth")
            self.assertEqual(coder.shell("ls; git status --porcelain; cat first")[0], 1)
            self.assertIn("Success", coder.patch("*** Add File: first", "+once more",
                                                 "*** Add File: folder/added", "+once more"))
            self.is_the_owners("first", "once more\n")
            owner("rm", "-r", f"{REPOSITORY}/first", f"{REPOSITORY}/folder")
            self.assertEqual(coder.shell("ls"), (0, "report\nsecond\n"))
        self.assertEqual(owner(*GIT, "log", "--format=%s"), "fourth\nthird\nsecond\nfirst\n")
        self.assertEqual(owner(*GIT, "status", "--porcelain"), "")

    def test_2_what_git_runs_is_not_the_agents_to_write(self):
        before = git_folder()
        with Coder() as coder:
            for command in ("echo x >.git/hooks/pre-commit", "git config core.pager x",
                            "echo x >>.git/config", "echo x >.git/info/attributes",
                            "git add report && git commit --allow-empty --message=x",
                            "chmod 777 .git/hooks", "find .git/hooks -delete"):
                status, said = coder.shell(command)
                self.assertNotEqual(status, 0, command)
                self.assertIn("Read-only file system", said, command)
            self.assertNotEqual(coder.shell("mv .git away")[0], 0)
            self.assertIn("Failed to write", coder.patch("*** Add File: .git/hooks/post-commit", "+x"))
            self.assertEqual(coder.shell("git status --porcelain; git show --stat --format=%s"
                                         )[0], 0)
        self.assertEqual(git_folder(), before)

    def test_3_nothing_else_of_the_owners(self):
        uid = booted.uid_of(OWNER)
        bus = f"/run/user/{uid}/bus"
        booted.command("loginctl", "enable-linger", OWNER)
        self.addCleanup(booted.command, "loginctl", "disable-linger", OWNER)
        world.wait_until(lambda: os.path.exists(bus), "the owner has a bus", PATIENCE)
        reached = owner("busctl", f"--address=unix:path={bus}", "call", "org.freedesktop.DBus", "/",
                        "org.freedesktop.DBus", "GetId")
        self.assertTrue(reached.startswith("s "), reached)
        with terminal.Terminal(OWNER, ["sh", "-c", "tty; exec cat >typed"]) as idle, \
                Coder() as coder:
            theirs = tty_of(idle)
            before = idle.text
            for command in ("cat ~hr.jones/secret", f"cat {HOME}/secret",
                            f"cat {REPOSITORY}/../secret", f"cat /proc/{idle.pid}/cwd/secret",
                            f"ln -s {HOME}/secret link && cat link", f"ls /run/user/{uid}",
                            f"busctl --address=unix:path={bus} list", "busctl --user list",
                            f"ls /proc/{idle.pid}", f"kill -9 {idle.pid}", f"touch {HOME}/made",
                            f"echo x >{coder.tty}", f"echo x >{theirs}", f"echo x >/proc/{idle.pid}/fd/0"):
                status, said = coder.shell(command)
                self.assertNotEqual(status, 0, f"{command}: {said}")
                self.assertNotIn(SECRET, said, command)
            status, said = coder.shell(f"ls -A {HOME}; env")
            words = said.split()
            self.assertEqual((status, words[0]), (0, "repository"), said)
            self.assertEqual([word for word in words if word.startswith(
                ("DBUS_", "DISPLAY", "WAYLAND", "XDG_", "SSH_", "SUDO_"))], [])
            status, said = coder.shell(f"python3 - {bus} {coder.tty} {theirs} <<'END'{REACH}END")
            self.assertEqual(status, 0, said)
            self.assertEqual([line.split()[0] for line in said.splitlines()],
                             ["bus", *["read", "write", "type"] * 2], said)
            self.assertNotIn("REACHED", said)
            self.assertEqual(coder.shell("rm link"), (0, ""))
            idle.settle()
            self.assertTrue(idle.is_running())
            self.assertEqual(idle.text, before)
        self.assertEqual(owner("cat", f"{HOME}/typed"), "")
        self.assertFalse(os.path.exists(f"{HOME}/made"))

    def test_4_an_action_waits_for_a_person_and_runs_once(self):
        server = mailserver.Server()
        server.start()
        self.addCleanup(server.stop)
        before = len(server.mails())
        wanted = {"to": ["security@example.com"], "subject": "From the client",
                  "body": booted.BODY, "attachment": [f"{REPOSITORY}/report"]}
        with Coder("--run=ticket-4711", of="test") as coder:
            request = self.waits(coder.tool("mail_send", wanted))
            self.assertEqual(self.cards(), [request])
            # What becomes of the file is not what was asked for.
            self.assertEqual(coder.shell("echo another >report"), (0, ""))
            answer = self.person.approve(request)
            self.assertEqual(answer.status, 0, answer.text)
            for pattern in (r"Run +ticket-4711", rf"Started by +{OWNER}", "security@example.com"):
                self.assertRegex(answer.card, pattern)
            self.assertEqual(self.ended(coder, request), ("done", "yes"))
            mail, = server.mails()[before:]
            files = [part.get_payload(decode=True) for part in mail.walk() if part.get_filename()]
            self.assertEqual((mail["X-RcptTo"], mail["Subject"], files),
                             ("security@example.com", wanted["subject"], [b"report\n"]))
            # The approval is used up, also for the same call.
            self.assertEqual(coder.shell("echo report >report"), (0, ""))
            again = self.waits(coder.tool("mail_send", wanted))
            self.assertNotEqual(again, request)
            self.assertEqual(self.cards(), [again])
            said = coder.tool("request_cancel", {"request_id": again})
            self.assertEqual((said["state"], said["executed"]), ("withdrawn", "no"))
        self.assertEqual(self.cards(), [])
        self.assertEqual(len(server.mails()), before + 1)

    def cards(self):
        return [card["request"] for card in self.person.pending()]

    def waits(self, said):
        """Of a call that nobody has answered; the request."""
        self.assertEqual((said["state"], said["executed"]), ("pending", "no"), said)
        self.assertIn("Nothing was executed", said["note"])
        return said["request_id"]

    def ended(self, coder, request):
        """What the model hears of it once it has ended."""
        end = time.monotonic() + PATIENCE
        while True:
            said = coder.tool("request_status", {"request_id": request})
            if said["state"] not in ("approved", "executing") or time.monotonic() > end:
                return said["state"], said["executed"]
            time.sleep(0.2)

    def test_5_what_the_client_left_running_ends(self):
        with Coder() as coder:
            # Nothing is printed before it has left the group that the client ends.
            status, said = coder.shell("echo $(setsid --fork sh -c \"trap '' HUP; echo \\$\\$; "
                                       "exec sleep infinity >/dev/null 2>&1 </dev/null\")")
            self.assertEqual(status, 0, said)
            self.assertIn(said.strip(), launch.running())


if __name__ == "__main__":
    tap.main("systemd/coder")
