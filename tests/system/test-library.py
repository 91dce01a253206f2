#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libundersign-1 as it is installed: each worked example, in its language, against the real service.

The examples are compiled and run by the agent's user from where they are installed; a person reads
the card at a terminal.  send-report.pl speaks D-Bus without the library.  In each language that reads
the library's description, every function is called.  And what the commands print for other programs is
held against the page that describes it.
"""

import json
import os
import pwd
import subprocess
import sys
import unittest
from xml.etree import ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))

from undersign_test import people, person, policy, shapes, tap, world  # noqa: E402

AGENT, OTHER, LEAD, OWNER = "agent-offboarding", "agent-other", "it.lead", "hr.jones"
EXAMPLES = "/usr/share/doc/undersign/examples"
HOME = f"/home/{AGENT}"
MAIL = policy.MAIL.replace("""Module=mail
Credential=work-smtp
Server=smtp.example.com:587
From=offboarding@example.com
""", f"Module=null\nMarker={policy.MARKER}\n")
# An argument for each add_ of a submission.
EACH = policy.REHEARSE + """
[Argument quiet]
Label=Quiet
Type=boolean

[Argument names]
Label=Names
Type=line-list

[Argument letter]
Label=Letter
Type=file
Required=yes
"""
RULES = {"mail": """[Rule mail]
Agents=offboarding
Actions=mail.send test.each
Decision=ask
Approvers=@it-leads
Passkeys=software
"""}


def library():
    """(path, whether it is one with a sanitizer)."""
    with open(world.INSTALLED, encoding="utf-8") as file:
        path, = [path for path in json.load(file) if path.endswith("/libundersign-1.so.0")]
    with open(path, "rb") as file:
        return path, b"__asan_init" in file.read()


SANITIZED = library()[1]
# A build with a sanitizer is not described for other languages (meson_options.txt).
INTERPRETED = {"perl": ["/usr/bin/perl", f"{EXAMPLES}/send-report.pl"]}
if not SANITIZED:
    INTERPRETED["python"] = ["/usr/bin/python3", "-B", f"{EXAMPLES}/send-report.py"]
    INTERPRETED["javascript"] = ["/usr/bin/gjs", f"{EXAMPLES}/send-report.js"]


def calls(name):
    """The script's text: the agent may not be able to read the file."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../agentlib", name),
              encoding="utf-8") as file:
        return file.read()


CALLS = {} if SANITIZED else {"python": ["/usr/bin/python3", "-Bc", calls("calls.py")],
                              "javascript": ["/usr/bin/gjs", "-c", calls("calls.js")]}


def functions():
    """Those that the library's description has of each type, but what a language does by itself."""
    core = "{http://www.gtk.org/introspection/core/1.0}"
    types = ElementTree.parse("/usr/share/gir-1.0/Undersign-1.gir").getroot().find(f"{core}namespace")
    found = {f"{kind.get('name')}.{one.get('name')}" for kind in types for one in kind
             if kind.tag in (f"{core}class", f"{core}record")
             and one.tag in (f"{core}constructor", f"{core}method", f"{core}function")}
    return found - {"Status.ref", "Status.unref"}


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        policy.write(actions={"mail.send": MAIL, "test.each": EACH}, rules=RULES)
        with open(f"{policy.FOLDER}/undersign.conf", "w", encoding="utf-8") as file:
            file.write("[Limits]\nDenials=0\nSubmitsPerMinute=600\n")  # the third would pause the agent
        cls.world = world.World()
        cls.world.start()
        cls.addClassCleanup(cls.world.check_logs)
        cls.addClassCleanup(cls.world.stop)
        person.let_enrol(LEAD)
        cls.lead = person.Person(LEAD)
        cls.lead.enrol()
        cls.commands = {"c": cls.compile(), **INTERPRETED}
        cls.report = f"{HOME}/report.pdf"
        with open(cls.report, "w", encoding="ascii") as file:
            file.write("for the agent alone")
        os.chmod(cls.report, 0o600)
        os.chown(cls.report, pwd.getpwnam(AGENT).pw_uid, -1)

    @classmethod
    def compile(cls):
        """As the example says, with what pkg-config says and nothing else."""
        more = "-fsanitize=address,undefined" if SANITIZED else ""
        done = people.run_as(AGENT, ["sh", "-c", f"cc -Wall -Wextra -Werror {more} "
                                     f"{EXAMPLES}/send-report.c -o {HOME}/send-report "
                                     "$(pkg-config --cflags --libs undersign-1)"])
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return [f"{HOME}/send-report"]

    def ask(self, name, answer):
        """Runs the example @name, has @answer answer its request; (exit status, last line)."""
        with subprocess.Popen([*self.commands[name], "security@example.com", self.report],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=HOME,
                              env=people.environment(AGENT),
                              preexec_fn=lambda: people.become(AGENT)) as process:
            try:
                first = process.stdout.readline()
                self.assertRegex(first, r"^/org/undersign1/request/[0-9a-f]{32}: pending\n$")
                answer(person.request_id(first))
                rest, _ = process.communicate(timeout=120)
            except BaseException:
                process.kill()
                raise
        return process.returncode, rest.splitlines()[-1] if rest else ""

    # --- what must not run ---

    def test_denied(self):
        before = policy.executed()

        def deny(request):
            done = self.lead.run("deny", "--reason=wrong-target", request)
            self.assertEqual(done.returncode, 0, done.stderr)

        for name in self.commands:
            with self.subTest(name):
                self.assertEqual(self.ask(name, deny),
                                 (1, "denied, executed: no (wrong-target)"))
        self.assertEqual(policy.executed(), before)

    def test_refused(self):
        """An agent to whom no rule gives the action, and a person who is no agent."""
        paper = "/etc/hostname" if os.path.exists("/etc/hostname") else "/etc/passwd"
        for name, command in self.commands.items():
            if name == "c":
                os.chmod(HOME, 0o711)
            for user, word in ((OTHER, "unknown-action: "), ("alice", "not-agent: ")):
                with self.subTest(f"{name} as {user}"):
                    done = people.run_as(user, [*command, "security@example.com", paper])
                    self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
                    self.assertIn(word, done.stderr)

    # --- what runs, once ---

    def test_approved(self):
        for name in self.commands:
            with self.subTest(name):
                before, cards = policy.executed(), []

                def approve(request):
                    answer = self.lead.approve(request)
                    self.assertEqual(answer.status, 0, answer.text)
                    cards.append(answer.card)

                status, line = self.ask(name, approve)
                self.assertEqual((status, line),
                                 (0, "done, executed: yes (nothing was done, as intended)"))
                self.assertEqual(policy.executed(), before + 1)
                for shown in ("security@example.com", "report.pdf", "The report is attached.",
                              "monthly-report", "It is the end of the month."):
                    self.assertIn(shown, cards[0])

    # --- every function, where a language has the library's description ---

    def call(self, user, language, *words):
        """What the script of that language printed, run as @user: (a call, what came of either form)."""
        done = people.run_as(user, [*CALLS[language], *words])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        called = lines.pop()
        self.assertEqual(called.pop(0), "called")
        return iter(lines), set(called)

    def gave(self, lines, call, fields=None):
        """What the next of @lines, a @call, gave in either form; of a status its @fields alone."""
        name, *found = next(lines)
        self.assertEqual(name, call)
        if fields is None:
            return found
        return [[status[f"get_{field}"] for field in fields.split()] for status in found]

    def assert_told(self, lines):
        """What an agent is told of itself and its actions."""
        for info in self.gave(lines, "get_info"):
            self.assertEqual((info["agent"], info["owner"], info["parts"], info["paused"]),
                             ("offboarding", OWNER, ["main", "licences"], False))
        for actions in self.gave(lines, "list_actions"):
            self.assertEqual(set(actions), {"mail.send", "test.each"})
            self.assertEqual(actions["test.each"]["effect"], "irreversible")
        for action in self.gave(lines, "describe_action"):
            self.assertEqual({one["name"]: one["signature"] for one in action["arguments"]},
                             {"target": "s", "note": "s", "quiet": "b", "names": "as", "letter": "(sh)",
                              "paper": "a(sh)"})

    def submitted(self, lines):
        found = self.gave(lines, "submit")
        self.assertEqual([state for _, state in found], ["pending"] * 2)
        return [request for request, _ in found]

    def assert_asked(self, lines, run):
        """What became of all that was asked for, in an order that calls.py has; what waits still."""
        self.assertEqual(self.gave(lines, "open_run"), [run] * 2)
        runs = self.gave(lines, "open_run")
        self.assertEqual(len({run, *runs}), 3)
        first = self.submitted(lines)
        self.assertEqual(self.gave(lines, "get_state", "state executed action run made_here successor"),
                         [["pending", "no", "test.each", run, True, None] for run in runs])
        self.assertEqual(self.gave(lines, "wait", "state executed watchers needed answers reason result"),
                         [["pending", "no", 1, 1, 0, "", ""]] * 2)
        second = self.submitted(lines)
        self.assertEqual(self.gave(lines, "get_state", "state executed successor"),
                         [["superseded", "no", request] for request in second])
        for _ in ("withdrawn", "once more"):
            self.assertEqual(self.gave(lines, "withdraw"), [True] * 2)
        for error in self.gave(lines, "withdraw"):
            self.assertTrue(error.startswith("too-late: "), error)
        self.assertEqual(self.gave(lines, "wait", "state executed supersedes"),
                         [["withdrawn", "no", request] for request in first])
        third = self.submitted(lines)
        self.assertEqual(self.gave(lines, "leave"), [True] * 2)
        self.assertEqual(self.gave(lines, "get_state", "state executed"), [["withdrawn", "no"]] * 2)
        left = self.submitted(lines)
        self.assertEqual(self.gave(lines, "close_run"), [True] * 2)
        for error in self.gave(lines, "submit"):
            self.assertTrue(error.startswith("not-found: "), error)
        states = ["superseded"] * 2 + ["withdrawn"] * 4 + ["pending"] * 2
        listed = [[request, "test.each", state]
                  for request, state in zip(first + second + third + left, states)]
        for found in self.gave(lines, "list_requests"):
            self.assertEqual(found[:8], listed[::-1])
        return left

    def test_every_call(self):
        for language in CALLS:
            with self.subTest(language):
                before, label = policy.executed(), f"calls-{language}"
                started, called = self.call(OWNER, language, "start", label, "offboarding")
                runs = self.gave(started, "open_run_for")
                self.assertRegex(runs[0], r"^[0-9a-f]{32}$")
                self.assertEqual(runs, runs[:1] * 2)
                lines, more = self.call(AGENT, language, "ask", label, self.report, "test.each")
                self.assertEqual(functions() - called - more, set())
                self.assert_told(lines)
                for request in self.assert_asked(lines, runs[0]):
                    self.assert_waits(person.request_id(request))
                self.assertEqual(policy.executed(), before)

    def assert_waits(self, request):
        """A person sees all of it, and the agent takes it back."""
        card = self.lead.run("show", request)
        for shown in ("Target +söme target", "Quiet +yes", r"Names +name-one\s+name-two",
                      'Letter +"report.pdf"', 'Papers +1: "report.pdf"', "It is due."):
            self.assertRegex(card.stdout, shown, card.stderr)
        self.assertEqual(person.Agent(AGENT).json("withdraw", request)[0], 0)

    def test_run_for_an_agent(self):
        """Only its owner opens it: nobody else, and not of an agent that is none."""
        for language in CALLS:
            for user, agent in (("alice", "offboarding"), (OWNER, "no-such-agent")):
                lines, _ = self.call(user, language, "start", "ticket-9", agent)
                for line in self.gave(lines, "open_run_for"):
                    self.assertTrue(line.startswith("not-found: "), line)

    # --- what the commands print ---

    def printed(self, user, *words):
        done = people.run_as(user, [*words, "--json"]) if user != "root" else \
            subprocess.run([*words, "--json"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    def test_json_is_as_documented(self):
        known, agent = shapes.Shapes(), person.Agent(AGENT)
        request = agent.request("mail.send", "to=a@example.com", "subject=JSON",
                                f"attachment@={self.report}")["request"]
        for user, verb, *words in (
                (AGENT, "undersign-agent list"), (AGENT, "undersign-agent actions"),
                (AGENT, "undersign-agent status", request), (AGENT, "undersign-agent info"),
                (AGENT, "undersign-agent describe", "mail.send"), (LEAD, "undersign pending"),
                (LEAD, "undersign passkey list"), ("root", "undersignctl status"),
                ("root", "undersignctl policy check"), ("root", "undersignctl passkey list"),
                ("root", "undersignctl audit verify"), ("root", "undersignctl stats")):
            found = self.printed(user, *verb.split(), *words)
            self.assertEqual(known.faults(verb, found), [], found)
            if verb == "undersign pending":
                self.assertIn(request, [card["request"] for card in found["cards"]])
        card = self.printed(LEAD, "undersign", "show", request)
        self.assertEqual((card.pop("version"), known.faults("undersign pending", {
            "cards": [card], "version": "1"})), ("1", []))
        self.assertEqual(agent.json("withdraw", request)[0], 0)
        ended = self.printed(LEAD, "undersign", "show", request)
        self.assertEqual((known.faults("undersign show", ended), ended["state"]), ([], "withdrawn"))
        self.assertNotEqual(known.faults("undersignctl status", {"version": "1"}), [])
        self.assertNotEqual(known.faults("undersign-agent list", {"requests": [], "version": 1}), [])

    # --- what is installed ---

    def test_soname(self):
        path, _ = library()
        done = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True)
        self.assertIn("SONAME               libundersign-1.so.0\n", done.stdout)

    def test_described(self):
        """For each language but in a build with a sanitizer."""
        with open(world.INSTALLED, encoding="utf-8") as file:
            names = {os.path.basename(path) for path in json.load(file)}
        self.assertEqual({"Undersign-1.gir", "Undersign-1.typelib"} <= names, not SANITIZED)


if __name__ == "__main__":
    tap.main("system/library")
