# SPDX-License-Identifier: LGPL-2.1-or-later
"""A private copy of this machine, made of namespaces: whatever is done in it, the host stays clean.

/etc, /usr and /var are overlays whose changes live in memory, /run, /tmp, /home and /root are new
and empty, everything else is read-only; processes, host name, IPC and network are its own.  When
the first process ends, all of it is gone.  Must run as root, before any thread is started.
"""

import hashlib
import os
import signal
import socket
import sys
import traceback

from . import kernel

OVERLAID = ("/etc", "/usr", "/var")
FRESH = {"/run": "0755", "/tmp": "1777", "/home": "0755", "/root": "0700"}
HOST_NAME = "undersign-test"
MACHINE_ID = "8c0dca5c1a8f4e2b9d3a6f71e5b04c29"

# Files that an installation or a new user would change, and folders where it would show.
_GUARDED_FILES = ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow", "/etc/machine-id",
                  "/etc/hosts", "/etc/nsswitch.conf")
_GUARDED_FOLDERS = ("/etc", "/etc/dbus-1/system.d", "/etc/polkit-1/rules.d", "/etc/systemd/system",
                    "/etc/credstore.encrypted", "/run", "/usr/bin", "/usr/lib", "/usr/libexec",
                    "/usr/lib/systemd/system", "/usr/lib/sysusers.d", "/usr/lib/tmpfiles.d",
                    "/usr/share", "/usr/share/dbus-1/system.d", "/usr/share/dbus-1/system-services",
                    "/usr/share/polkit-1/actions", "/var/lib")


class Forbidden(Exception):
    """This machine does not let us make the namespace; the text says what it refused."""


def fingerprint():
    """What of the host must be the same afterwards."""
    seen = {}
    for path in _GUARDED_FILES:
        try:
            with open(path, "rb") as file:
                seen[path] = hashlib.sha256(file.read()).hexdigest()
        except OSError as error:
            seen[path] = error.strerror
    for folder in _GUARDED_FOLDERS:
        try:
            names = sorted(name for name in os.listdir(folder) if "undersign" in name)
        except OSError:
            names = []
        for name in names:
            status = os.lstat(os.path.join(folder, name))
            seen[f"{folder}/{name}"] = (status.st_mode, status.st_uid, status.st_size,
                                        status.st_mtime_ns)
    return seen


def changes(before, after):
    return sorted(path for path in before.keys() | after.keys()
                  if before.get(path) != after.get(path))


def _mount_all(kept, writable, real):
    """The mounts.  @kept: folders to show read-only, @writable: to overlay, each at its path;
    @real: path inside → folder of the host that is there itself, for what a disk has to be under."""
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    opened = {path: os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
              for path in (*kept, *writable, *real.values())}

    # The upper layers live in a tmpfs that the later one on /tmp hides from everybody.
    kernel.mount("undersign", "/tmp", "tmpfs", kernel.MS_NODEV, "mode=0700")

    def overlay(lower, target, name):
        upper, work = f"/tmp/{name}/upper", f"/tmp/{name}/work"
        os.makedirs(upper)
        os.makedirs(work)
        status = os.stat(lower)
        os.chmod(upper, status.st_mode & 0o7777)
        os.chown(upper, status.st_uid, status.st_gid)
        kernel.mount("undersign", target, "overlay", 0,
                     f"lowerdir={lower},upperdir={upper},workdir={work}")

    layers = []
    for number, path in enumerate(writable):
        os.mkdir(f"/tmp/at{number}")
        overlay(f"/proc/self/fd/{opened[path]}", f"/tmp/at{number}", f"kept{number}")
        layers.append((os.open(f"/tmp/at{number}", os.O_PATH | os.O_CLOEXEC), path, False))
    for path in kept:
        layers.append((opened[path], path, True))

    for path in OVERLAID:
        overlay(path, path, path.strip("/"))
    for path, mode in FRESH.items():
        kernel.mount("undersign", path, "tmpfs", kernel.MS_NODEV | kernel.MS_NOSUID, f"mode={mode}")
    for fd, path, read_only in sorted(layers, key=lambda layer: layer[1]):  # a folder before what is in it
        os.makedirs(path, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{fd}", path, None, kernel.MS_BIND)
        if read_only:
            kernel.mount(None, path, None,
                         kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY)
    for path, folder in real.items():
        os.makedirs(path, exist_ok=True)
        kernel.mount(f"/proc/self/fd/{opened[folder]}", path, None, kernel.MS_BIND)
    for fd in {*opened.values(), *(layer[0] for layer in layers)}:
        os.close(fd)
    kernel.mount(None, "/", None, kernel.MS_REMOUNT | kernel.MS_BIND | kernel.MS_RDONLY)
    kernel.mount("proc", "/proc", "proc",
                 kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)


def _write(path, text, mode=0o644):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def _settle():
    """What a machine has at the end of its boot."""
    for folder in ("/run/lock", "/run/dbus", "/run/systemd"):
        os.makedirs(folder, exist_ok=True)
    _write("/etc/machine-id", MACHINE_ID + "\n", 0o444)
    _write("/etc/hosts", "127.0.0.1 localhost smtp.example.com\n")
    _write("/etc/hostname", HOST_NAME + "\n")
    _write("/etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files\n")
    os.makedirs("/run/undersign-test", mode=0o755, exist_ok=True)


def _first_process(run, ready):
    """Process 1 of the namespace: sets it up, runs @run in a child, reaps until that ends."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    with os.fdopen(ready, "wb") as pipe:
        try:
            kernel.bring_loopback_up()
            _mount_all(*run.folders())
            socket.sethostname(HOST_NAME)
            _settle()
            if run.first is not None:
                run.first()
        except OSError as error:
            pipe.write(str(error).encode())
            return 125
        pipe.write(b"ready")
    os.chdir(run.cwd if os.path.isdir(run.cwd) else "/")
    os.environ.clear()
    os.environ.update({"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "USER": "root",
                       "LOGNAME": "root", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                       "TERM": run.terminal, **run.environment})
    child = os.fork()
    if child == 0:
        status = 125
        try:
            status = run.main()
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
            if isinstance(error.code, str):
                print(error.code, file=sys.stderr)
        except BaseException:  # the child must never return into the caller's code
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


class Run:
    """What is to be run inside: a Python function, and the folders that it needs to see.

    @first: what process 1 does before; an OSError of it means that this machine does not let us.
    """

    def __init__(self, main, kept=(), writable=(), environment=None, real=None, first=None):
        self.main, self.first = main, first
        self._real = real or {}
        self._kept = [os.path.abspath(path) for path in kept]
        self._writable = [os.path.abspath(path) for path in writable]
        self.environment = environment or {}
        self.cwd = os.getcwd()
        self.terminal = os.environ.get("TERM", "dumb")

    def folders(self):
        return self._kept, self._writable, self._real


def enter(run):
    """
    Runs @run in a namespace of its own and returns its exit status.

    Raises Forbidden where the machine refuses, and AssertionError where the host has changed.
    """
    if os.geteuid() != 0:
        raise Forbidden("needs root")
    before = fingerprint()
    sys.stdout.flush()
    sys.stderr.flush()
    ready, theirs = os.pipe()
    outer = os.fork()
    if outer == 0:
        # A process in between, since unshare() of the pid namespace changes what its caller may fork.
        os.close(ready)
        status = 125
        try:
            kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC
                           | kernel.CLONE_NEWUTS | kernel.CLONE_NEWNET)
            first = os.fork()
            if first == 0:
                os._exit(_first_process(run, theirs))
            os.close(theirs)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda number, frame: None)
            code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
            status = code if code >= 0 else 128 - code
        except OSError as error:
            os.write(theirs, str(error).encode())
        finally:
            os._exit(status)
    os.close(theirs)
    try:
        with os.fdopen(ready, "rb") as pipe:
            word = pipe.read().decode()
        try:
            status = os.waitstatus_to_exitcode(os.waitpid(outer, 0)[1])
        except KeyboardInterrupt:
            status = os.waitstatus_to_exitcode(os.waitpid(outer, 0)[1])
    except BaseException:
        # Process 1 ends with its parent, and with it everybody inside.
        os.kill(outer, signal.SIGKILL)
        os.waitpid(outer, 0)
        raise
    if word != "ready":
        raise Forbidden(word or "the first process ended")
    changed = changes(before, fingerprint())
    assert not changed, "the host has changed: " + ", ".join(changed)
    return status if status >= 0 else 128 - status
