# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs commands of the build as a plain user: no root, no groups, a home of its own, no network.

The user is `nobody`, which every system has, so that nothing is added to the host.  The network is
taken away by a network namespace in which only loopback is up.
"""

import ctypes
import fcntl
import os
import pwd
import signal
import socket
import struct
import subprocess

CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1

USER = pwd.getpwnam("nobody")
libc = ctypes.CDLL(None, use_errno=True)


def checked(result, what):
    """Raises the errno of a libc call that returned -1."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def bring_loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh", b"lo", 0).ljust(40, b"\0")
        flags = struct.unpack_from("16sh", fcntl.ioctl(sock, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | IFF_UP).ljust(40, b"\0"))


def _become(offline):
    if offline:
        checked(libc.unshare(CLONE_NEWNET), "a network namespace")
        bring_loopback_up()
    os.setgroups([])
    os.setresgid(USER.pw_gid, USER.pw_gid, USER.pw_gid)
    os.setresuid(USER.pw_uid, USER.pw_uid, USER.pw_uid)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(argv, cwd, home, log, offline=True, extra=None, timeout=1800):
    """Runs one command, output into @log; returns its exit status, None where it took too long."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
        "HOME": home,
        "LANG": "C.UTF-8",
        "TMPDIR": home,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.update(extra or {})
    with open(log, "ab") as out:
        process = subprocess.Popen(argv, cwd=cwd, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=out, start_new_session=True,
                                   preexec_fn=lambda: _become(offline))
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
