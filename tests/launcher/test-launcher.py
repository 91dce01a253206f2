#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-launcher on a bus of its own: what happens while polkit or systemd takes its time.

usage: test-launcher.py DAEMON [TEST…]   (the program of this folder)
"""

import os
import queue
import signal
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../lib"))

import gi  # noqa: E402

gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib  # noqa: E402

from undersign_test import bus as raw  # noqa: E402
from undersign_test import private_bus, systemd, tap, world  # noqa: E402

NAME, PATH = "org.undersign1.Launcher", "/org/undersign1/Launcher"
POLKIT, POLKIT_PATH = "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority"
SYSTEMD, SYSTEMD_PATH = systemd.NAME, systemd.PATH
MANAGER, UNIT, _ = systemd.INTERFACES.interfaces
AGENT = "[Agent]\nSummary=A test\nUser=games\nOwner={owner}\n"
DAEMON = sys.argv[1]


def connect(address):
    flags = (Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
             | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION)
    return Gio.DBusConnection.new_for_address_sync(address, flags, None, None)


class Systemd(threading.Thread):
    """Takes calls and starts nothing: no job of it is ever done but where a test says so."""

    def __init__(self, address, deaf=(), errors=()):
        """Answers no call of a name in @deaf, and the first of each in @errors by what they say."""
        super().__init__(daemon=True)
        self.address, self.deaf, self.errors = address, deaf, dict(errors)
        self.calls, self.unanswered = [], []
        self.states = {}
        self.ready = threading.Event()
        self.loop = self.bus = None
        self.start()
        self.ready.wait()

    def run(self):
        context = GLib.MainContext()
        context.push_thread_default()
        self.loop = GLib.MainLoop(context)
        self.bus = connect(self.address)
        self.bus.register_object(SYSTEMD_PATH, MANAGER, self.call, None, None)
        self.bus.call_sync("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                           "RequestName", GLib.Variant("(su)", (SYSTEMD, 0)), None,
                           Gio.DBusCallFlags.NONE, 120000, None)
        self.ready.set()
        self.loop.run()
        self.bus.close_sync(None)

    def call(self, _bus, _sender, _path, _interface, member, body, invocation):
        unit = body.get_child_value(0).get_string() if member != "Subscribe" else ""
        if member == "StartTransientUnit":
            self.states[unit] = "activating"
            self.bus.register_object(systemd.unit_path(unit), UNIT, None, self.get, None)
        self.calls.append((member, unit))
        if member in self.errors:
            invocation.return_dbus_error(self.errors.pop(member), "as the test has it")
        elif member in self.deaf:
            self.unanswered.append(invocation)
        else:
            job = GLib.Variant("(o)", (f"{SYSTEMD_PATH}/job/1",))
            invocation.return_value(job if member in ("StartTransientUnit", "StopUnit") else None)

    def get(self, _bus, _sender, path, _interface, _key):
        return GLib.Variant("s", next(state for unit, state in self.states.items()
                                      if systemd.unit_path(unit) == path))

    def turns(self, unit, state):
        """And says so."""
        self.states[unit] = state
        self.bus.emit_signal(None, systemd.unit_path(unit), "org.freedesktop.DBus.Properties",
                             "PropertiesChanged",
                             GLib.Variant("(sa{sv}as)", (f"{SYSTEMD}.Unit", {}, [])))

    def does_job(self, unit):
        self.states[unit] = "active"
        self.bus.emit_signal(None, SYSTEMD_PATH, f"{SYSTEMD}.Manager", "JobRemoved",
                             GLib.Variant("(uoss)", (1, f"{SYSTEMD_PATH}/job/1", unit, "done")))

    def units_of(self, member, number=1):
        """What the calls of that name were about, once there are so many."""
        world.wait_until(lambda: [name for name, _ in self.calls].count(member) >= number,
                         f"{member} was called {number} times", 60)
        return [unit for name, unit in self.calls if name == member]

    def unit_of(self, member):
        return self.units_of(member)[0]


class Base(private_bus.BusTest):
    checked = ("daemon",)
    # Nothing is to time out but where a test says so, on the slowest machine.
    authorise_seconds, start_seconds = 100, 600
    deaf, errors = (), ()

    def setUp(self):
        super().setUp()
        self.replies = []
        for name in ("config", "config/agents", "data", "modules"):
            os.mkdir(f"{self.folder}/{name}", 0o700)
        self.write_agent("man")
        self.bus = connect(self.address)
        self.start("polkit", ["/usr/bin/python3", "-m", "dbusmock", "--system", "--template",
                              "polkitd"], lambda: self.owned(POLKIT),
                   {"DBUS_SYSTEM_BUS_ADDRESS": self.address})
        self.mock("SetAllowed", "(as)", (["org.undersign1.launch", "org.undersign1.launch-own"],))
        self.systemd = Systemd(self.address, self.deaf, self.errors)
        self.addCleanup(self.systemd.join)
        self.addCleanup(self.systemd.loop.quit)
        self.daemon = self.start("daemon", [DAEMON, self.address, self.folder,
                                            str(self.authorise_seconds), str(self.start_seconds)],
                                 lambda: self.owned(NAME))

    def write_agent(self, owner, name="games"):
        self.write(f"config/agents/{name}.agent", AGENT.format(owner=owner))

    def mock(self, member, signature=None, value=None, interface="org.freedesktop.DBus.Mock"):
        """Tells the mock of polkit what to do."""
        return self.bus.call_sync(POLKIT, POLKIT_PATH, interface, member,
                                  GLib.Variant(signature, value) if signature else None, None,
                                  Gio.DBusCallFlags.NONE, 120000, None).unpack()

    def ask(self, member, *body):
        """A queue in which the answer is, once there is one; what comes with it stays open."""
        answers = queue.Queue()
        message = Gio.DBusMessage.new_method_call(NAME, PATH, NAME, member)
        if body:
            message.set_body(GLib.Variant(*body))

        def wait():
            reply, _ = connect(self.address).send_message_with_reply_sync(
                message, Gio.DBusSendMessageFlags.NONE, 300000, None)
            self.replies.append(reply)
            value = reply.get_body().unpack() if reply.get_body() else ()
            answers.put((reply.get_error_name().removeprefix(raw.ERROR),
                         value[0].partition(":")[0])
                        if reply.get_message_type() == Gio.DBusMessageType.ERROR else value)
        threading.Thread(target=wait, daemon=True).start()
        return answers

    def launch(self, agent="games"):
        return self.ask("Launch", "(sasa{sv})", (agent, ["true"], {}))

    def caller(self, **options):
        """Whoever has sent a call for a launch."""
        caller = connect(self.address)
        message = Gio.DBusMessage.new_method_call(NAME, PATH, NAME, "Launch")
        message.set_body(GLib.Variant("(sasa{sv})", ("games", ["true"], options)))
        caller.send_message(message, Gio.DBusSendMessageFlags.NONE)
        return caller

    def end(self, number):
        return self.ask("End", "(s)", (number,))

    def listed(self):
        """The ids of the commands that there are."""
        return [found[0] for found in self.ask("List").get(timeout=300)[0]]

    def id_listed(self):
        """Of a command that is on its way."""
        world.wait_until(self.listed, "it is on its way", 60)
        return self.listed()[0]

    def polkit_hangs(self):
        self.mock("SimulateHang", "(b)", (True,))
        answers = self.launch()
        world.wait_until(lambda: self.mock("HaveHangingCalls")[0], "polkit is asked")
        return answers

    def polkit_answers(self):
        self.mock("SimulateHang", "(b)", (False,))
        self.mock("ReleaseHangingCalls")


class Polkit(Base):
    def test_it_ends_while_a_person_is_asked(self):
        answers = self.polkit_hangs()
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(answers.get(timeout=300), ("Unavailable", "unreachable"))
        self.assertEqual(self.daemon.wait(120), 0)
        self.assertEqual([name for name, _ in self.systemd.calls], ["Subscribe"])

    def test_the_agent_goes_while_a_person_is_asked(self):
        answers = self.polkit_hangs()
        os.unlink(f"{self.folder}/config/agents/games.agent")
        self.polkit_answers()
        self.assertEqual(answers.get(timeout=300), ("NotFound", "not-found"))

    def test_policy_breaks_while_a_person_is_asked(self):
        answers = self.polkit_hangs()
        self.write_agent("nobody")
        self.polkit_answers()
        self.assertEqual(answers.get(timeout=300), ("PolicyInvalid", "policy-invalid"))
        self.assertEqual([name for name, _ in self.systemd.calls], ["Subscribe"])

    def test_whose_it_is_and_whether_it_is_there_is_not_said_before(self):
        """polkit shows what it is told to whoever authenticates."""
        seen = []
        for agent in ("games", "not-there"):
            self.mock("SetAllowed", "(as)", ([],))
            self.assertEqual(self.launch(agent).get(timeout=300), ("Refused", "denied-by-rule"))
            calls = self.mock("GetMethodCalls", "(s)", ("CheckAuthorization",))[0]
            _, action, details, _, _ = calls[-1][1]
            self.assertEqual(details.pop("agent"), agent)
            seen.append((action, details))
        self.assertEqual(seen[0], ("org.undersign1.launch", {"command": "true"}))
        self.assertEqual(seen[0], seen[1])


class Late(Base):
    start_seconds = 1

    def test_a_start_that_takes_too_long_is_stopped(self):
        self.assertEqual(self.launch().get(timeout=300), ("Unavailable", "internal"))
        self.assertEqual(self.systemd.unit_of("StopUnit"),
                         self.systemd.unit_of("StartTransientUnit"))


class Deaf(Late):
    deaf = ("StartTransientUnit",)


class Ends(Base):
    def test_it_ends_while_systemd_starts_something(self):
        answers = self.launch()
        self.systemd.unit_of("StartTransientUnit")
        self.daemon.send_signal(signal.SIGTERM)
        self.assertEqual(answers.get(timeout=300), ("Unavailable", "unreachable"))
        self.assertEqual(self.daemon.wait(120), 0)
        self.assertEqual(os.listdir(f"{self.folder}/runtime"), [])


class Ended(Base):
    def test_it_ends_while_polkit_is_asked_whether_it_may(self):
        answers = self.launch()
        unit = self.systemd.unit_of("StartTransientUnit")
        self.systemd.does_job(unit)
        number = answers.get(timeout=300)[0]
        self.mock("SimulateHang", "(b)", (True,))
        several = [self.end(number) for _ in range(3)]
        world.wait_until(lambda: self.mock("HaveHangingCalls")[0], "polkit is asked")
        self.systemd.turns(unit, "inactive")
        self.systemd.unit_of("UnrefUnit")
        self.polkit_answers()
        for answer in several:
            self.assertIn(answer.get(timeout=300), ((), ("NotFound", "not-found")))
        self.assertEqual(self.listed(), [])

    def test_what_has_not_begun_never_does(self):
        answers = self.launch()
        unit = self.systemd.unit_of("StartTransientUnit")
        self.assertEqual(self.end(self.id_listed()).get(timeout=300), ())
        self.assertEqual(answers.get(timeout=300), ("Unavailable", "closed"))
        self.assertEqual(self.systemd.unit_of("StopUnit"), unit)
        self.systemd.turns(unit, "inactive")
        self.systemd.unit_of("UnrefUnit")


class Waits(Base):
    """systemd has not said yet that it will say what becomes of units: nothing is started."""

    deaf = ("Subscribe",)

    def begins_without(self, number):
        """Another command is started, now that it may be, and the one of @number is not."""
        self.systemd.deaf = ()
        self.systemd.unanswered.pop().return_value(None)
        answers = self.launch()
        unit = self.systemd.unit_of("StartTransientUnit")
        self.assertNotIn(number, unit)
        self.systemd.does_job(unit)
        self.assertIn(answers.get(timeout=300)[0], unit)
        self.assertEqual(self.systemd.units_of("StartTransientUnit"), [unit])

    def test_what_has_not_begun_never_does(self):
        answers = self.launch()
        number = self.id_listed()
        self.assertEqual(self.end(number).get(timeout=300), ())
        self.begins_without(number)
        self.assertEqual(answers.get(timeout=300), ("Unavailable", "closed"))

    def test_whoever_wanted_it_is_gone(self):
        caller = self.caller()
        number = self.id_listed()
        caller.close_sync(None)
        world.wait_until(lambda: not self.listed(), "it is no more", 60)
        self.begins_without(number)

    def test_whoever_would_close_the_run_is_gone(self):
        """Whether its files are still looked at or not."""
        caller = self.caller(**{"close-run": GLib.Variant("s", "0123456789abcdef" * 2)})
        number = self.id_listed()
        caller.close_sync(None)
        self.assertEqual(self.systemd.unit_of("StartTransientUnit"),
                         f"undersign-launch-{number}-close.service")
        world.wait_until(lambda: not self.listed(), "it is no more", 60)


class Reexecuted(Base):
    """systemd has executed itself anew, and still has the launcher among those it tells."""

    errors = (("Subscribe", "org.freedesktop.systemd1.AlreadySubscribed"),)

    def test_it_starts_commands_as_before(self):
        answers = self.launch()
        unit = self.systemd.unit_of("StartTransientUnit")
        self.systemd.does_job(unit)
        self.assertIn(answers.get(timeout=300)[0], unit)


class Unsubscribed(Base):
    """Nobody would say what becomes of a command."""

    errors = (("Subscribe", "org.freedesktop.DBus.Error.AccessDenied"),)

    def test_nothing_is_started(self):
        self.assertEqual(self.launch().get(timeout=300), ("Unavailable", "unreachable"))
        self.assertEqual([name for name, _ in self.systemd.calls], ["Subscribe"])


class Gone(Base):
    def test_whoever_wanted_it_is_gone(self):
        caller = self.caller()
        unit = self.systemd.unit_of("StartTransientUnit")
        caller.close_sync(None)
        self.assertEqual(self.systemd.unit_of("StopUnit"), unit)
        self.systemd.turns(unit, "inactive")
        self.systemd.unit_of("UnrefUnit")


class NoStart(Base):
    """It may have been started: the bus says this of a systemd that starts itself anew."""

    errors = (("StartTransientUnit", "org.freedesktop.DBus.Error.NoReply"),)

    def test_what_may_have_been_started_is_stopped(self):
        self.assertEqual(self.launch().get(timeout=300), ("Unavailable", "internal"))
        self.assertEqual(self.systemd.unit_of("StopUnit"),
                         self.systemd.unit_of("StartTransientUnit"))
        self.assertNotIn("UnrefUnit", [name for name, _ in self.systemd.calls])


class NoStop(Base):
    """The command runs on: that it is to end is not said once only."""

    errors = (("StopUnit", "org.freedesktop.DBus.Error.NoReply"),)

    def test_a_stop_is_said_until_it_has_ended(self):
        answers = self.launch()
        unit = self.systemd.unit_of("StartTransientUnit")
        self.systemd.does_job(unit)
        number = answers.get(timeout=300)[0]
        self.assertEqual(self.end(number).get(timeout=300), ())
        self.assertEqual(self.systemd.units_of("StopUnit", 3)[:3], [unit] * 3)
        self.assertEqual(self.listed(), [number])
        self.systemd.turns(unit, "inactive")
        self.systemd.unit_of("UnrefUnit")


class DeafToStops(NoStop):
    deaf, errors = ("StopUnit",), ()


if __name__ == "__main__":
    del sys.argv[1]
    tap.main("launcher")
