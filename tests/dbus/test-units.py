#!/usr/bin/python3 -B
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether the units of those that own a name survive the largest message that anybody may send.

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


def main():
    root = sys.argv[1]
    failed = False

    print(f"1..{len(UNITS)}")
    for i, (path, least) in enumerate(UNITS.items(), 1):
        have = memory_max(os.path.join(root, path))
        good = have is not None and have >= least
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {i} - {path}: {have} bytes, at least {least}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
