# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs commands of the build as a plain user: no root, no groups, a home of its own, no network.

The user is `nobody`, which every system has, so that nothing is added to the host.  The network is
taken away by a network namespace in which only loopback is up.
"""

import os
import pwd
import signal
import subprocess

from . import kernel

USER = pwd.getpwnam("nobody")


def _become(offline):
    if offline:
        kernel.unshare(kernel.CLONE_NEWNET)
        kernel.bring_loopback_up()
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
