# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts installed systemd units without systemd, as far as the tests need it.

The installed .service and .socket files are read, so that what they say is what is tested: users,
directories, socket owners and modes, credentials, no network where a unit has none.  A socket is
held here and outlives its service, as under systemd.  Sandboxing beyond that is not applied; the
units' own test holds it to a measure.
"""

import contextlib
import fcntl
import grp
import os
import pwd
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time

from . import kernel

UNIT_FOLDERS = ("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system")
LOGS = "/run/undersign-test/log"
ROOTS = {"Runtime": "/run", "State": "/var/lib", "Cache": "/var/cache", "Logs": "/var/log"}


class UnitFile:
    """The settings of one unit, drop-ins included: section → key → list of values."""

    def __init__(self, name):
        self.name = name
        stem, _, kind = name.rpartition(".")
        prefix, at, self.instance = stem.partition("@")
        template = f"{prefix}@.{kind}" if at else name
        self.settings = {}
        found = [path for path in self._candidates(template, name) if os.path.exists(path)]
        if not found:
            raise FileNotFoundError(f"no unit {name} is installed")
        self._read(found[0])
        for folder in UNIT_FOLDERS:
            for unit in dict.fromkeys((template, name)):
                extra = f"{folder}/{unit}.d"
                if os.path.isdir(extra):
                    for drop_in in sorted(os.listdir(extra)):
                        if drop_in.endswith(".conf"):
                            self._read(f"{extra}/{drop_in}")

    @staticmethod
    def _candidates(template, name):
        return [f"{folder}/{unit}" for unit in dict.fromkeys((name, template))
                for folder in UNIT_FOLDERS]

    def _read(self, path):
        section = None
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"\\\n", " ", file.read())
        for line in text.splitlines():
            line = line.strip()
            if not line or line[0] in "#;":
                continue
            if line[0] == "[":
                section = line.strip("[]")
                continue
            key, _, value = line.partition("=")
            values = self.settings.setdefault(section, {}).setdefault(key.strip(), [])
            if value.strip():
                values.append(self._expand(value.strip()))
            else:
                values.clear()

    def _expand(self, text):
        known = {"%i": self.instance, "%n": self.name, "%t": "/run", "%S": "/var/lib",
                 "%d": self.credentials, "%%": "%"}
        return re.sub(r"%.", lambda match: known[match[0]], text)

    @property
    def credentials(self):
        return f"/run/credentials/{self.name}"

    def all(self, section, key):
        return self.settings.get(section, {}).get(key, [])

    def one(self, section, key, default=None):
        values = self.all(section, key)
        return values[-1] if values else default

    def yes(self, key):
        return self.one("Service", key, "no").lower() in ("yes", "true", "on", "1")


class Service:
    """A service unit and, where it has one, its socket."""

    def __init__(self, name, environment=None):
        self.name = name
        self.extra = environment or {}
        self.process = None
        self.listener = None
        self.others = []  # of a unit with more than one, in its order
        self.unit = UnitFile(f"{name}.service")
        self.log = f"{LOGS}/{name}.log"
        try:
            self.socket_unit = UnitFile(f"{name}.socket")
        except FileNotFoundError:
            self.socket_unit = None

    def reload_unit(self):
        """What `systemctl daemon-reload` does for this unit."""
        self.unit = UnitFile(f"{self.name}.service")

    # --- the socket ---

    def listen(self):
        """Makes the sockets, with the owner and mode that the unit asks for."""
        if self.socket_unit is None or self.listener is not None:
            return
        self.listener, *self.others = [
            self._bound(path) for path in self.socket_unit.all("Socket", "ListenSequentialPacket")]

    def hang_up(self):
        """Closes the sockets, as the end of the socket unit does."""
        for listener in (self.listener, *self.others):
            listener.close()
        self.listener, self.others = None, []

    def _bound(self, path):
        owner = self.socket_unit.one("Socket", "SocketUser", "root")
        group = self.socket_unit.one("Socket", "SocketGroup")
        folder_mode = int(self.socket_unit.one("Socket", "DirectoryMode", "0755"), 8)
        os.makedirs(os.path.dirname(path), mode=folder_mode, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.path.exists(path):
            os.unlink(path)
        before = os.umask(0o777)
        listener.bind(path)
        os.umask(before)
        entry = pwd.getpwnam(owner)
        os.chown(path, entry.pw_uid, grp.getgrnam(group).gr_gid if group else entry.pw_gid)
        os.chmod(path, int(self.socket_unit.one("Socket", "SocketMode", "0666"), 8))
        listener.listen(int(self.socket_unit.one("Socket", "Backlog", "128")))
        return listener

    # --- the service ---

    def _folders(self, entry):
        made = {}
        for kind, root in ROOTS.items():
            mode = int(self.unit.one("Service", f"{kind}DirectoryMode", "0755"), 8)
            for value in self.unit.all("Service", f"{kind}Directory"):
                for name in value.split():
                    path = f"{root}/{name}"
                    os.makedirs(path, exist_ok=True)
                    os.chown(path, entry.pw_uid, entry.pw_gid)
                    os.chmod(path, mode)
                    made.setdefault(f"{kind.upper()}_DIRECTORY", []).append(path)
        return {key: ":".join(paths) for key, paths in made.items()}

    def _credentials(self, entry):
        wanted = [(value.partition(":"), True) for value in
                  self.unit.all("Service", "LoadCredentialEncrypted")]
        wanted += [(value.partition(":"), False) for value in
                   self.unit.all("Service", "LoadCredential")]
        folder = self.unit.credentials
        shutil.rmtree(folder, ignore_errors=True)
        if not wanted:
            return {}
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for (name, _, path), encrypted in wanted:
            path = path or f"/etc/credstore{'.encrypted' if encrypted else ''}/{name}"
            sources = [(name, path)]
            if os.path.isdir(path):
                sources = [(f"{name}_{file}", f"{path}/{file}") for file in sorted(os.listdir(path))]
            for target, source in sources:
                if os.path.exists(source):
                    self._load(target, source, encrypted, folder, entry)
        os.chown(folder, entry.pw_uid, entry.pw_gid)
        os.chmod(folder, 0o500)
        return {"CREDENTIALS_DIRECTORY": folder}

    @staticmethod
    def _load(name, source, encrypted, folder, entry):
        with open(source, "rb") as file:
            data = file.read()
        if encrypted:
            data = subprocess.run(["systemd-creds", "decrypt", f"--name={name}", source, "-"],
                                  check=True, capture_output=True).stdout
        target = f"{folder}/{name}"
        if os.path.exists(target):
            os.unlink(target)
        with open(target, "wb", opener=lambda path, flags: os.open(path, flags, 0o400)) as file:
            file.write(data)
        os.chown(target, entry.pw_uid, entry.pw_gid)

    def _become(self, entry):
        """In the child: what systemd does between fork and exec."""
        if self.listener is not None:
            high = [fcntl.fcntl(listener, fcntl.F_DUPFD_CLOEXEC, 100)
                    for listener in (self.listener, *self.others)]
            for number, fd in enumerate(high, 3):
                os.dup2(fd, number)
            os.environ["LISTEN_PID"] = str(os.getpid())
        os.setsid()
        os.umask(int(self.unit.one("Service", "UMask", "0022"), 8))
        if self.unit.yes("PrivateNetwork"):
            kernel.unshare(kernel.CLONE_NEWNET)
            kernel.bring_loopback_up()
        if self.unit.one("Service", "CapabilityBoundingSet") is None \
                and "CapabilityBoundingSet" in self.unit.settings["Service"]:
            kernel.drop_capability_bounds()
        os.setgroups([])
        os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
        os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)
        if self.unit.yes("NoNewPrivileges"):
            kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)

    def start(self):
        if self.process is not None and self.process.poll() is None:
            raise RuntimeError(f"{self.name} runs already")
        self.listen()
        entry = pwd.getpwnam(self.unit.one("Service", "User", "root"))
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
        for value in self.unit.all("Service", "Environment"):
            environment.update(word.split("=", 1) for word in shlex.split(value))
        environment.update(self._folders(entry))
        environment.update(self._credentials(entry))
        environment.update(self.extra)
        if self.listener is not None:
            sockets = 1 + len(self.others)
            environment.update({"LISTEN_FDS": str(sockets),
                                "LISTEN_FDNAMES": ":".join([self.name] * sockets)})
        argv = shlex.split(self.unit.one("Service", "ExecStart").lstrip("-+!:@"))
        os.makedirs(LOGS, exist_ok=True)
        with open(self.log, "ab") as log:
            self.process = _spawn(argv, environment, log, lambda: self._become(entry),
                                  keep=[] if self.listener is None else range(1 + len(self.others)))

    def stop(self, number=signal.SIGTERM, timeout=60):
        """Ends the main process, and whatever of it is left after @timeout; the socket stays."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        status = self.process.wait_for(timeout)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait_for(60)
        self.process = None
        return status

    def kill(self):
        """What a crash or the out-of-memory killer does: every process of it, at once."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait_for(60)
            self.process = None

    @contextlib.contextmanager
    def held(self):
        """Nothing of it moves meanwhile; what it yields lets it go on, and so does the end."""
        group = self.process.pid

        def go_on():
            os.killpg(group, signal.SIGCONT)

        os.killpg(group, signal.SIGSTOP)
        try:
            yield go_on
        finally:
            go_on()

    def restart(self):
        self.stop()
        self.start()

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def read_log(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                return log.read()
        except FileNotFoundError:
            return ""


class _Process:
    """A child, waited for by pid alone."""

    def __init__(self, pid):
        self.pid = pid
        self.status = None

    def poll(self):
        if self.status is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:
                self.status = 0
                return self.status
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def wait_for(self, timeout):
        end = time.monotonic() + timeout
        while self.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        return self.poll()


def _spawn(argv, environment, log, become, keep):
    """fork and exec: Popen cannot give a child its own pid in the environment, nor fd 3."""
    pid = os.fork()
    if pid:
        return _Process(pid)
    try:
        os.environ.clear()
        os.environ.update(environment)
        os.chdir("/")
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        become()
        first = 3 + len(keep)
        os.closerange(first, 1024)
        os.execve(argv[0], argv, dict(os.environ))
    except BaseException as error:
        os.write(2, f"cannot start {argv[0]}: {error}\n".encode())
    finally:
        os._exit(127)
