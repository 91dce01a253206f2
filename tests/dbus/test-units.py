#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the units let their programs do what they are for.

Those that own a name survive the largest message that anybody may send, and root can reach the
executor.

dbus-daemon delivers messages of up to 32 MiB, and GDBus takes a message apart before anyone is
asked: one of many small dictionary entries becomes 34 times as large (measured with GLib 2.74).
A second one may be on its way while the first is refused.
"""
import os
import re
import sys

MESSAGE_MAX = 32 * 1024**2
GROWTH = 34
SPOOL_MAX = 1024**3  # SpoolBytesAll, read back into memory by a restart
UNITS = {
    "service/broker/undersignd.service.in": 2 * MESSAGE_MAX * GROWTH + SPOOL_MAX,
    "service/admin/undersign-admin.service.in": 2 * MESSAGE_MAX * GROWTH,
}
FACTORS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def memory_max(path):
    """The limit of a unit in bytes, None for none."""
    with open(path, encoding="utf-8") as unit:
        found = re.findall(r"^MemoryMax=(\d+)([KMG])$", unit.read(), re.MULTILINE)
    return int(found[0][0]) * FACTORS[found[0][1]] if len(found) == 1 else None


def setting(path, name):
    """The only value of a setting of a unit, None where it is not there once."""
    with open(path, encoding="utf-8") as unit:
        found = re.findall(rf"^{name}=(.*)$", unit.read(), re.MULTILINE)
    return found[0] if len(found) == 1 else None


def admin_reaches_executor(root):
    """To connect takes the right to write to the socket, which root has by its capability alone."""
    socket = os.path.join(root, "service/executor/undersign-executor.socket")
    service = os.path.join(root, "service/admin/undersign-admin.service.in")
    capabilities = (setting(service, "CapabilityBoundingSet") or "").split()
    return setting(socket, "SocketUser") == "root" or "CAP_DAC_OVERRIDE" in capabilities


def main():
    root = sys.argv[1]
    failed = not admin_reaches_executor(root)

    print(f"1..{len(UNITS) + 1}")
    print(f"{'not ok' if failed else 'ok'} 1 - root can reach the executor")
    for i, (path, least) in enumerate(UNITS.items(), 2):
        have = memory_max(os.path.join(root, path))
        good = have is not None and have >= least
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {i} - {path}: {have} bytes, at least {least}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
