#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the units let their programs do what they are for.

Those that own a name survive the most that may wait for an answer, and root can reach the executor.

GDBus takes a message apart before a filter sees it: one of many small variants becomes up to 140
times as large (measured with GLib 2.74).  The bounds of what waits are in bus.h and mechanism.h.
"""
import os
import re
import sys

GROWTH = 140
SPOOL_MAX = 1024**3  # SpoolBytesAll, read back into memory by a restart
UNITS = {
    "service/broker/undersignd.service.in": ("service/broker/bus.h", "BUS_ALL_BYTES_MAX", SPOOL_MAX),
    "service/admin/undersign-admin.service.in": (
        "service/mechanism/mechanism.h", "MECHANISM_BYTES_MAX", 0),
    "service/launcher/undersign-launcher.service.in": (
        "service/mechanism/mechanism.h", "MECHANISM_BYTES_MAX", 0),
}
PENDING_MAX, FILES_MAX = 1000, 16  # of PendingAll=, and of a request
FACTORS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def bound(root, path, name):
    """A number of a C file, which is there as a product."""
    with open(os.path.join(root, path), encoding="utf-8") as source:
        found = re.findall(rf"^#define {name} \(?([0-9 *]+)\)?", source.read(), re.MULTILINE)
    product = 1
    for factor in found[0].split("*"):
        product *= int(factor)
    return product


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

    print(f"1..{len(UNITS) + 2}")
    print(f"{'not ok' if failed else 'ok'} 1 - root can reach the executor")
    files = int(setting(os.path.join(root, "service/broker/undersignd.service.in"), "LimitNOFILE"))
    least = PENDING_MAX * FILES_MAX + bound(root, "service/broker/bus.h", "BUS_ALL_FDS_MAX")
    failed = failed or files < least
    print(f"{'ok' if files >= least else 'not ok'} 2 - the broker: {files} files, at least {least}")
    for i, (path, (source, name, more)) in enumerate(UNITS.items(), 3):
        least = bound(root, source, name) * GROWTH + more
        have = memory_max(os.path.join(root, path))
        good = have is not None and have >= least
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {i} - {path}: {have} bytes, at least {least}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
