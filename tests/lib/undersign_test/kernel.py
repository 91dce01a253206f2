# SPDX-License-Identifier: LGPL-2.1-or-later
"""The few system calls that Python 3.11 does not wrap."""

import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP = 0x20000000, 0x40000000, 0x2000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 0x1, 0x2, 0x4, 0x8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 38, 24

# The same numbers on every architecture.
_SYS_FSOPEN, _SYS_FSCONFIG, _SYS_FSMOUNT = 430, 431, 432
_FSOPEN_CLOEXEC, _FSCONFIG_CMD_CREATE, _FSMOUNT_CLOEXEC = 1, 6, 1

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result, what):
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def unshare(flags):
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source, target, kind, flags=0, options=None):
    encoded = [os.fsencode(text) if text is not None else None
               for text in (source, target, kind, options)]
    result = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    _checked(result, f"mount on {target}")


def unmount(target):
    _checked(_libc.umount2(os.fsencode(target), 0), f"umount {target}")


def open_file_system(kind):
    """A descriptor of the root of a file system that is mounted nowhere."""
    context = _checked(_libc.syscall(ctypes.c_long(_SYS_FSOPEN), kind.encode(),
                                     ctypes.c_uint(_FSOPEN_CLOEXEC)), f"fsopen {kind}")
    try:
        _checked(_libc.syscall(ctypes.c_long(_SYS_FSCONFIG), ctypes.c_int(context),
                               ctypes.c_uint(_FSCONFIG_CMD_CREATE), None, None, ctypes.c_int(0)),
                 f"fsconfig {kind}")
        return _checked(_libc.syscall(ctypes.c_long(_SYS_FSMOUNT), ctypes.c_int(context),
                                      ctypes.c_uint(_FSMOUNT_CLOEXEC), ctypes.c_uint(0)),
                        f"fsmount {kind}")
    finally:
        os.close(context)


def prctl(option, *values):
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return _checked(_libc.prctl(ctypes.c_int(option), *padded), "prctl")


def drop_capability_bounds():
    """Empties the bounding set; the kernel says where its list of capabilities ends."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return


def bring_loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh", b"lo", 0).ljust(40, b"\0")
        flags = struct.unpack_from("16sh", fcntl.ioctl(sock, _SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | _IFF_UP).ljust(40, b"\0"))


def maps_tmpfs():
    """Whether a mount of a tmpfs, which is what tests have for a disk, can map users."""
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2]) >= (6, 3)
