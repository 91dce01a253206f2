# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who lives in the test namespace, and how a command is run as one of them."""

import grp
import os
import pwd
import subprocess

# name: (uid, groups)
PEOPLE = {
    "hr.jones": (61201, ["hr"]),
    "hr.kim": (61202, ["hr"]),
    "it.lead": (61203, ["it-leads"]),
    "alice": (61204, []),
}
AGENTS = {"agent-offboarding": (61184, []), "agent-other": (61185, [])}
GROUPS = {"hr": 61301, "it-leads": 61302}
# Runs the mail server of the tests.
MAIL_USER, MAIL_UID = "mailserver", 61190


def create():
    """Adds them to this namespace's /etc; anyone there already is a mistake."""
    everyone = {**PEOPLE, **AGENTS, MAIL_USER: (MAIL_UID, [])}
    taken = {entry.pw_uid for entry in pwd.getpwall()} | {entry.gr_gid for entry in grp.getgrall()}
    names = {entry.pw_name for entry in pwd.getpwall()} | {entry.gr_name for entry in grp.getgrall()}
    clash = ((taken & {uid for uid, _ in everyone.values()} | taken & set(GROUPS.values()))
             or names & (everyone.keys() | GROUPS.keys()))
    if clash:
        raise SystemExit(f"namespace: this machine already has {sorted(clash)}")
    with open("/etc/passwd", "a", encoding="utf-8") as passwd, \
            open("/etc/shadow", "a", encoding="utf-8") as shadow, \
            open("/etc/group", "a", encoding="utf-8") as group:
        for name, (uid, _) in everyone.items():
            home = f"/home/{name}"
            shell = "/usr/sbin/nologin" if name in AGENTS else "/bin/sh"
            passwd.write(f"{name}:x:{uid}:{uid}::{home}:{shell}\n")
            shadow.write(f"{name}:*:19000::::::\n")
            group.write(f"{name}:x:{uid}:\n")
            os.mkdir(home, 0o700)
            os.chown(home, uid, uid)
        for name, gid in GROUPS.items():
            members = ",".join(who for who, (_, groups) in everyone.items() if name in groups)
            group.write(f"{name}:x:{gid}:{members}\n")


def environment(name):
    """The environment of a fresh login, nothing of ours."""
    entry = pwd.getpwnam(name)
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": entry.pw_dir, "USER": name,
            "LOGNAME": name, "LANG": "C.UTF-8", "TERM": "xterm-256color",
            **{key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}}


def become(name):
    """Makes this process one of @name's: uid, gid, groups; there is no way back.

    A process that is @name's already stays as it is, so that a plain user can run as himself.
    """
    entry = pwd.getpwnam(name)
    if os.getresuid() == (entry.pw_uid,) * 3:
        return
    os.setgroups(os.getgrouplist(name, entry.pw_gid))
    os.setresgid(entry.pw_gid, entry.pw_gid, entry.pw_gid)
    os.setresuid(entry.pw_uid, entry.pw_uid, entry.pw_uid)


def run_as(name, argv, timeout=180, **options):
    """Runs a command as @name; the result has returncode, stdout and stderr as text."""
    home = pwd.getpwnam(name).pw_dir
    options.setdefault("cwd", home if os.path.isdir(home) else "/")
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(argv, env=environment(name), preexec_fn=lambda: become(name),
                          capture_output=True, text=True, timeout=timeout, check=False, **options)
