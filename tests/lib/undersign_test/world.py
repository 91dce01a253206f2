# SPDX-License-Identifier: LGPL-2.1-or-later
"""The service in the test namespace: installed from a build, with a real bus and a real polkit."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from . import people, sandbox, units

BUS_SOCKET = "/run/dbus/system_bus_socket"
# The paths that a build has installed, as a list.
INSTALLED = "/run/undersign-test/installed.json"
SERVICES = ("undersign-executor", "undersignd")
# What a sanitizer, GLib or the C library prints when something is wrong inside a program.
FAULTS = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|(?:GLib|GIO|GObject)[\w-]*-"
                    r"(?:CRITICAL|ERROR)|\*\* \(.*(?:CRITICAL|ERROR)|stack smashing|free\(\)")


def install(build):
    """Installs @build and does what a package would do afterwards."""
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "LD_LIBRARY_PATH": ""})
    plan = subprocess.run(["meson", "introspect", build, "--installed"], check=True,
                          capture_output=True, text=True).stdout
    with open(INSTALLED, "w", encoding="utf-8") as file:
        json.dump(sorted(json.loads(plan).values()), file)
    subprocess.run(["ldconfig"], check=True)
    for tool, folder, options in (("systemd-sysusers", "/usr/lib/sysusers.d", []),
                                  ("systemd-tmpfiles", "/usr/lib/tmpfiles.d", ["--create"])):
        if os.path.isdir(folder):
            files = sorted(name for name in os.listdir(folder) if name.startswith("undersign"))
            if files:
                done = subprocess.run([tool, *options, *files], capture_output=True, text=True,
                                      check=False)
                if done.returncode != 0:
                    raise SystemExit(f"{tool}: {done.stderr}")


# What a suite may be told from outside the namespace.
PASSED_ON = ("UNDERSIGN_BUS", "UNDERSIGN_CALLS", "UNDERSIGN_CYCLES", "UNDERSIGN_ENDINGS",
             "UNDERSIGN_FAULTS", "UNDERSIGN_SEED")


def command_run(build, command, services=False, kept=(), real=None):
    """A sandbox.Run of @command, for tests/lib/namespace; it finds @build in UNDERSIGN_BUILD."""
    build = build and os.path.abspath(build)

    def main():
        people.create()
        if build:
            install(build)
        if not services:
            return subprocess.run(command, check=False).returncode
        with World():
            return subprocess.run(command, check=False).returncode

    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    keys = os.environ.get("UNDERSIGN_AUTHENTICATORS")
    return sandbox.Run(main, kept=[os.path.dirname(source), *([keys] if keys else []), *kept],
                       writable=[build] if build else [], real=real,
                       environment={**{key: value for key, value in os.environ.items()
                                       if key.endswith("SAN_OPTIONS")
                                       or key in PASSED_ON},
                                    **({"UNDERSIGN_AUTHENTICATORS": keys} if keys else {}),
                                    **({"UNDERSIGN_BUILD": build} if build else {})})


class Daemon:
    """A program of the system that has no unit of ours: the bus, polkit."""

    def __init__(self, name, argv, ready):
        self.name, self.argv, self.ready = name, argv, ready
        self.process = None
        self.log = f"{units.LOGS}/{name}.log"

    def start(self):
        os.makedirs(units.LOGS, exist_ok=True)
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True, cwd="/")
        wait_until(self.ready, f"{self.name} is ready", alive=lambda: self.process.poll() is None)

    def restart(self):
        self.stop()
        self.start()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process = None


class OtherBus(Daemon):
    """dbus-broker in the place of dbus-daemon.  It logs to a journal, whose reader is here, since it
    waits for one that does not read; and it has systemd start services, which is not there: see
    World.start_mechanisms().
    """

    JOURNAL = "/run/systemd/journal/socket"

    def __init__(self):
        super().__init__("dbus", ["/usr/bin/dbus-broker-launch", "--scope", "system"], _bus_answers)
        self.journal = None

    def start(self):
        for path in (self.JOURNAL, BUS_SOCKET):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if os.path.exists(path):
                os.unlink(path)
        self.journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.journal.bind(self.JOURNAL)
        threading.Thread(target=self._drain, args=(self.journal,), daemon=True).start()
        os.makedirs(units.LOGS, exist_ok=True)
        with socket.socket(socket.AF_UNIX) as listener, open(self.log, "ab") as log:
            listener.bind(BUS_SOCKET)
            os.chmod(BUS_SOCKET, 0o666)
            listener.listen(128)

            def listen():
                os.dup2(listener.fileno(), 3)
                os.set_inheritable(3, True)
                os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")

            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, start_new_session=True, cwd="/",
                                            close_fds=False, preexec_fn=listen)
        wait_until(self.ready, f"{self.name} is ready", alive=lambda: self.process.poll() is None)

    @staticmethod
    def _drain(journal):
        with contextlib.suppress(OSError):
            while journal.recv(65536):
                pass

    def stop(self):
        super().stop()
        if self.journal is not None:
            self.journal.shutdown(socket.SHUT_RDWR)  # which ends the reader
            self.journal.close()
            self.journal = None


def wait_until(condition, what, timeout=120.0, alive=None):
    """Waits for something to become true; raises when it does not, or @alive no longer is."""
    end = time.monotonic() + timeout
    while not condition():
        if alive is not None and not alive():
            raise RuntimeError(f"it ended before this came true: {what}")
        if time.monotonic() > end:
            raise TimeoutError(f"not true after {timeout:g} s: {what}")
        time.sleep(0.02)


def _bus_answers():
    with socket.socket(socket.AF_UNIX) as sock:
        try:
            sock.connect(BUS_SOCKET)
            return True
        except OSError:
            return False


def name_has_owner(name):
    call = subprocess.run(["dbus-send", "--system", "--print-reply=literal",
                           "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                           "org.freedesktop.DBus.NameHasOwner", f"string:{name}"],
                          capture_output=True, text=True, check=False)
    return call.stdout.strip() == "boolean true"


class World:
    """Bus, polkit, executor, runners and broker; a context manager that ends them all.

    UNDERSIGN_BUS=dbus-broker in the environment takes that bus.  Nothing activates undersign-admin and
    undersign-launcher there: they are started with the rest, and end when they were idle for a minute.

    @modules: the modules whose runners are started.  On leaving, what any of them printed is held
    against FAULTS, so that a leak or an overflow fails the test that caused it.
    """

    def __init__(self, modules=("null",), services=SERVICES, environment=None):
        options = {"ASAN_OPTIONS": "detect_stack_use_after_return=0",
                   "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                   **{key: value for key, value in os.environ.items()
                      if key.endswith("SAN_OPTIONS")},
                   **(environment or {})}
        self.bus = Daemon("dbus", ["/usr/bin/dbus-daemon", "--system", "--nofork", "--nopidfile"],
                          _bus_answers)
        self.admin = self.launcher = None
        if os.environ.get("UNDERSIGN_BUS") == "dbus-broker":
            self.bus = OtherBus()
            self.admin = units.Service("undersign-admin", options)
            self.launcher = units.Service("undersign-launcher", options)
        self.polkit = Daemon("polkit", [_polkitd(), "--no-debug"],
                             lambda: name_has_owner("org.freedesktop.PolicyKit1"))
        self.runners = {name: units.Service(f"undersign-runner@{name}", options)
                        for name in modules}
        self.executor = units.Service("undersign-executor", options) \
            if "undersign-executor" in services else None
        self.broker = units.Service("undersignd", options) if "undersignd" in services else None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.print_logs()
            self.stop()
            raise
        return self

    def __exit__(self, kind, value, trace):
        self.stop()
        if kind is not None:
            self.print_logs()
        else:
            self.check_logs()

    def services(self):
        return [service for service in (*self.runners.values(), self.executor, self.broker)
                if service is not None]

    def start(self):
        self.bus.start()
        self.polkit.start()
        self.start_mechanisms()
        for service in self.services():
            service.listen()
        for service in self.services():
            service.start()
        self.wait_for_broker()

    def stop(self):
        for service in reversed(self.services()):
            service.stop()
        for service in (self.admin, self.launcher):
            if service is not None:
                service.stop()
        self.polkit.stop()
        self.bus.stop()

    def start_mechanisms(self):
        """Where the bus can't start them: those that are not there, or have ended."""
        for service, name in ((self.admin, "org.undersign1.Admin"),
                              (self.launcher, "org.undersign1.Launcher")):
            if service is not None and not service.running:
                service.stop()
                service.start()
                wait_until(lambda name=name: name_has_owner(name), f"{name} is there",
                           alive=lambda service=service: service.running)

    def restart_admin(self):
        """Where the bus can't start it: anew, so that it is not about to end because it was idle."""
        if self.admin is not None:
            self.admin.stop()
            self.start_mechanisms()

    def wait_for_broker(self):
        if self.broker is not None:
            wait_until(lambda: name_has_owner("org.undersign1"), "the broker owns its name",
                       alive=lambda: self.broker.running)

    def restart_broker(self, kill=False):
        if kill:
            self.broker.kill()
        else:
            self.broker.stop()
        self.broker.start()
        self.wait_for_broker()

    def restart_executor(self, kill=False):
        if kill:
            self.executor.kill()
        else:
            self.executor.stop()
        self.executor.start()

    @staticmethod
    def ctl(*arguments, text=None):
        """undersignctl as root, which must succeed; what it printed."""
        done = subprocess.run(["undersignctl", *arguments], input=text, text=True,
                              capture_output=True, check=False, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"undersignctl {arguments[0]}: {done.stdout}{done.stderr}")
        return done.stdout

    def reload_bus(self):
        """The bus reads its own configuration and the service files anew."""
        subprocess.run(["dbus-send", "--system", "--print-reply", "--dest=org.freedesktop.DBus",
                        "/", "org.freedesktop.DBus.ReloadConfig"], check=True, capture_output=True)

    def reload_policy(self):
        """What `undersignctl policy reload` ends in, without the bus."""
        os.kill(self.executor.process.pid, signal.SIGHUP)

    def faults(self):
        found = []
        for name in sorted(os.listdir(units.LOGS)) if os.path.isdir(units.LOGS) else []:
            with open(f"{units.LOGS}/{name}", encoding="utf-8", errors="replace") as log:
                found += [f"{name}: {line.strip()}" for line in log if FAULTS.search(line)]
        return found

    def check_logs(self):
        found = self.faults()
        if found:
            self.print_logs()
            raise AssertionError("a program found a fault in itself:\n" + "\n".join(found))

    def print_logs(self):
        for name in sorted(os.listdir(units.LOGS)) if os.path.isdir(units.LOGS) else []:
            with open(f"{units.LOGS}/{name}", encoding="utf-8", errors="replace") as log:
                text = log.read()[-8000:]
            for line in text.splitlines():
                print(f"# {name}: {line}", file=sys.stderr)

    @staticmethod
    def clear_logs():
        shutil.rmtree(units.LOGS, ignore_errors=True)


def _polkitd():
    for path in ("/usr/lib/polkit-1/polkitd", "/usr/libexec/polkitd"):
        if os.path.exists(path):
            return path
    raise SystemExit("no polkitd is installed")
