# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private copy of this machine that boots: systemd-nspawn on what sandbox.py overlays.

It has a systemd, a bus, a journal and sessions of its own, a network without a way out, and units
of the distribution alone: whatever else the host would start at its boot stays off.  What is
changed in it outlives its reboots and is gone with the process that called enter().
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading
import time

from . import kernel, people, sandbox

NSPAWN = "/usr/bin/systemd-nspawn"
FOLDER = "/run/undersign-test"
ROOT = f"{FOLDER}/machine"
CONSOLE = f"{FOLDER}/console"
# Kept from one boot to the next, with all that was changed in them.
KEPT = ("/etc", "/usr", "/var", "/home", "/root")
EMPTY = ("/dev", "/media", "/mnt", "/opt", "/proc", "/run", "/srv", "/sys", "/tmp")
REBOOT_STATUS = 133  # nspawn's, where the machine asked for a reboot
BOOT_SECONDS = 300
END_SECONDS = 300
# What a kernel or a container says that refuses; all else that goes wrong is a failure.
REFUSALS = re.compile(r"Operation not permitted|Permission denied|Read-only file system|"
                      r"No such device|Function not implemented|Operation not supported")
BUSES = {"dbus-daemon": None, "dbus-broker": "/usr/lib/systemd/system/dbus-broker.service"}


def refusal(text):
    """What to raise: Forbidden where the machine does not let us, else the error that it is."""
    if REFUSALS.search(text):
        return sandbox.Forbidden(f"this machine forbids a second systemd: {text}")
    return AssertionError(f"no second systemd comes up: {text}")


class ControlGroup:
    """A group of the unified hierarchy, wherever and whether or not that is mounted."""

    def __init__(self):
        self.name = f"undersign-test-{os.getpid()}"
        self.root = kernel.open_file_system("cgroup2")
        os.mkdir(self.name, dir_fd=self.root)

    def enter(self):
        """Moves this process into it and shows it as the whole hierarchy."""
        fd = os.open(f"{self.name}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.root)
        os.write(fd, b"0")
        os.close(fd)
        kernel.unshare(kernel.CLONE_NEWCGROUP)
        kernel.mount("undersign", "/sys/fs/cgroup", "cgroup2")

    def remove(self):
        """Ends whoever is left in it, which the kernel notices a moment later."""
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(f"{self.name}/cgroup.kill", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.root)
            os.write(fd, b"1")
            os.close(fd)
        end = time.monotonic() + 60
        while True:
            try:
                for _, names, _, folder in os.fwalk(self.name, topdown=False, dir_fd=self.root):
                    for name in names:
                        os.rmdir(name, dir_fd=folder)
                os.rmdir(self.name, dir_fd=self.root)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        os.close(self.root)


def enter(main, build, source, shown=None):
    """
    Runs @main with a Machine, not yet booted, that sees @build and @source at their paths, and each
    folder of @shown, path inside → folder of the host, to be read.

    Returns what sandbox.enter() does; raises sandbox.Forbidden where this host has no room for it.
    """
    if not os.path.exists(NSPAWN) or os.geteuid() != 0:
        raise AssertionError(f"needs root and {NSPAWN}")
    try:
        group = ControlGroup()
    except OSError as error:
        raise refusal(f"no control group can be made: {error}") from error

    def inside():
        people.create()
        return main(Machine(build, source, shown or {}))

    try:
        return sandbox.enter(sandbox.Run(inside, kept=[source, *(shown or {}).values()],
                                         writable=[build], first=group.enter))
    except sandbox.Forbidden as error:
        raise refusal(str(error)) from error
    finally:
        group.remove()


class Machine:
    """What boots, is used, reboots and is switched off."""

    def __init__(self, build, source, shown):
        self.build, self.source, self.shown = build, source, shown
        self.process = self.notices = self.leader = None
        self.has_booted = False
        self._make_root()

    @staticmethod
    def _make_root():
        for path in (*KEPT, *EMPTY):
            os.makedirs(ROOT + path)
        os.chmod(f"{ROOT}/tmp", 0o1777)
        for name in os.listdir("/"):
            if os.path.islink(f"/{name}"):  # /bin, /lib and so on
                os.symlink(os.readlink(f"/{name}"), f"{ROOT}/{name}")
        # What an administrator of the host enabled, and its scripts of System V.
        shutil.rmtree("/etc/systemd/system")
        os.makedirs("/etc/systemd/system", mode=0o755)
        os.makedirs("/etc/systemd/system-generators", exist_ok=True)
        os.symlink("/dev/null", "/etc/systemd/system-generators/systemd-sysv-generator")
        with open("/etc/fstab", "w", encoding="ascii"):
            pass
        os.makedirs("/var/log/journal", exist_ok=True)
        for path in KEPT:
            kernel.mount(path, ROOT + path, None, kernel.MS_BIND)

    def use_bus(self, name):
        """From the next boot on; False where @name is not installed."""
        unit = BUSES[name]
        if unit is not None and not os.path.exists(unit):
            return False
        link = "/etc/systemd/system/dbus.service"
        if os.path.lexists(link):
            os.unlink(link)
        if unit is not None:
            os.symlink(unit, link)
        return True

    def boot(self):
        """Returns when systemd says that it is up.

        Raises Forbidden where the machine refuses the first boot, which has nothing of ours in it.
        """
        path = f"{FOLDER}/notify"
        if os.path.exists(path):
            os.unlink(path)
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(path)
        self.notices.settimeout(1)
        with open(CONSOLE, "ab") as console:
            self.process = subprocess.Popen(
                [NSPAWN, "--quiet", "--boot", "--register=no", "--keep-unit", "--settings=no",
                 "--private-network", "--resolv-conf=off", "--timezone=off", "--link-journal=no",
                 # Without this nspawn would forbid what keeps secrets from the disk.
                 "--system-call-filter=@memlock", "--notify-ready=yes", "--console=pipe",
                 f"--machine={sandbox.HOST_NAME}", f"--directory={ROOT}", f"--bind={self.build}",
                 f"--bind-ro={self.source}",
                 *(f"--bind-ro={folder}:{path}" for path, folder in self.shown.items())],
                env={**os.environ, "NOTIFY_SOCKET": path}, stdin=subprocess.DEVNULL,
                stdout=console, stderr=console)
        self._await_ready()

    def _await_ready(self):
        end = time.monotonic() + BOOT_SECONDS
        ready = False
        while not (ready and self.leader):
            try:
                for line in self.notices.recv(4096).decode().splitlines():
                    key, _, value = line.partition("=")
                    if key == "X_NSPAWN_LEADER_PID":
                        self.leader = int(value)
                    ready |= line == "READY=1"
            except TimeoutError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                late = self.process.poll() is None
                self.kill()
                said = self.console()[-300:]
                if self.has_booted or late:
                    raise AssertionError(f"no second systemd comes up: {said}")
                raise refusal(said)
        self.has_booted = True
        self.notices.settimeout(None)
        threading.Thread(target=self._drain, args=(self.notices,), daemon=True).start()

    @staticmethod
    def _drain(notices):
        """What systemd says later, too: nspawn waits for whoever does not read ten of them."""
        with contextlib.suppress(OSError):
            while notices.recv(4096):
                pass

    @staticmethod
    def console():
        with open(CONSOLE, encoding="utf-8", errors="replace") as console:
            return " ".join(console.read().split())

    def command(self, argv):
        """@argv as a command of the host that runs in the machine."""
        return ["nsenter", f"--target={self.leader}", "--all", "--wd=/", "--", *argv]

    def run(self, *argv, timeout=120):
        return subprocess.run(self.command(argv), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=timeout, check=False)

    def python(self, script, environment):
        """Popen of @script as a unit of the machine; its output is a pipe of text."""
        variables = [f"--setenv={key}={value}" for key, value in environment.items()]
        return subprocess.Popen(
            self.command(["systemd-run", "--quiet", "--pipe", "--wait", "--collect", *variables,
                          "/usr/bin/python3", "-B", script]),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace")

    def _end(self, verb):
        self.run("systemctl", verb)
        status = self.process.wait(END_SECONDS)
        self.notices.shutdown(socket.SHUT_RDWR)  # which ends the reader
        self.notices.close()
        self.leader = None
        return status

    def reboot(self, bus=None):
        """@bus: another one from now on, where it is installed."""
        status = self._end("reboot")
        if status != REBOOT_STATUS:
            raise AssertionError(f"the machine did not reboot: {status}: {self.console()[-300:]}")
        if bus is not None:
            self.use_bus(bus)
        self.boot()

    def power_off(self):
        status = self._end("poweroff")
        if status != 0:
            raise AssertionError(f"the machine did not end: {status}: {self.console()[-300:]}")

    def kill(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
