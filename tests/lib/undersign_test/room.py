# SPDX-License-Identifier: LGPL-2.1-or-later
"""Takes the room of /run, which is a file system in memory, and gives it back."""

import contextlib
import os

from . import kernel, units

_FLAGS = kernel.MS_REMOUNT | kernel.MS_NODEV | kernel.MS_NOSUID


def keep_logs():
    """Before anything is started: what the services print has room whatever becomes of /run."""
    os.makedirs(units.LOGS, exist_ok=True)
    kernel.mount("undersign", units.LOGS, "tmpfs", kernel.MS_NODEV | kernel.MS_NOSUID)


def _resize(blocks, files, status):
    kernel.mount(None, "/run", None, _FLAGS, f"size={blocks * status.f_frsize},nr_inodes={files}")


@contextlib.contextmanager
def none_in_run(files=0):
    """Meanwhile no more than so many @files can be made there, and none becomes longer by a page."""
    status = os.statvfs("/run")
    _resize(status.f_blocks - status.f_bfree, status.f_files - status.f_ffree + files, status)
    try:
        yield
    finally:
        _resize(status.f_blocks, status.f_files, status)
