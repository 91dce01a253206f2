# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies the checkout and builds the copy, so that the checkout itself stays as it is.

Built are the files that git knows or would add; without git, or outside a checkout, all but
what is hidden.
"""

import argparse
import json
import os
import shutil
import subprocess

from . import plain


def source_files(root):
    """Paths of the source, relative to @root."""
    git = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached",
                          "--others", "--exclude-standard"], capture_output=True, check=False)
    if git.returncode == 0 and git.stdout:
        return [os.fsdecode(name) for name in git.stdout.split(b"\0")
                if name and os.path.lexists(os.path.join(os.fsencode(root), name))]
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith((".git", "build"))]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return found


def copy_source(root, target):
    """A copy that everyone may read."""
    for name in source_files(root):
        place = os.path.join(target, name)
        os.makedirs(os.path.dirname(place), mode=0o755, exist_ok=True)
        shutil.copy2(os.path.join(root, name), place, follow_symlinks=False)
        if not os.path.islink(place):
            os.chmod(place, 0o755 if os.access(place, os.X_OK) else 0o644)


def given(folder):
    """For argparse: the path of a build folder of somebody's own, which can be installed from."""
    path = os.path.abspath(folder)
    fault = fault_of(path)
    if fault:
        raise argparse.ArgumentTypeError(f"{path}: {fault}")
    return path


def fault_of(path):
    """Why nothing can be installed from there, or None; what meson and ninja would say is longer."""
    if not os.path.isdir(path):
        return "there is no such folder" if not os.path.lexists(path) else "it is no folder"
    try:
        with open(f"{path}/meson-info/meson-info.json", encoding="utf-8") as file:
            folders = json.load(file)["directories"]
        with open(f"{path}/meson-info/intro-installed.json", encoding="utf-8") as file:
            installed = [name for name in json.load(file) if os.path.isabs(name)]
    except (OSError, ValueError, KeyError):
        return f"it is no build folder; meson setup {path} makes one"
    if os.path.realpath(folders["build"]) != os.path.realpath(path):
        return f"it was moved here from {folders['build']}, and works only there: make another one"
    if not os.path.isdir(folders["source"]):
        return f"its source, {folders['source']}, is no longer there: make another one"
    missing = [name for name in installed if not os.path.lexists(name)]
    if missing:
        return f"it is not built, there is no {missing[0]}; meson compile -C {path}"
    return None


class Build:
    """One way to compile the source."""

    def __init__(self, name, work, options, environment=None):
        self.name = name
        self.options = options
        self.source = os.path.join(work, "source")
        self.path = os.path.join(work, name)
        self.home = os.path.join(work, f"{name}.home")
        self.log = os.path.join(work, f"{name}.log")
        self.environment = environment or {}
        for folder in (self.path, self.home):
            os.mkdir(folder, 0o755)
            os.chown(folder, plain.USER.pw_uid, plain.USER.pw_gid)

    def run(self, argv, extra=None, timeout=1800):
        return plain.run(argv, self.path, self.home, self.log,
                         extra={**self.environment, **(extra or {})}, timeout=timeout)

    def compile(self, beside=None):
        """Whether it configured and compiled, without a warning: everything, or where @beside is given
        what is installed and what that names."""
        if self.run(["meson", "setup", "--werror", *self.options, self.path, self.source]) != 0:
            return False
        wanted = [] if beside is None else [*self.installed(), *beside]
        return self.run(["ninja", "-C", self.path, *wanted]) == 0

    def installed(self):
        """What is installed, as ninja names it."""
        targets = subprocess.run(["meson", "introspect", self.path, "--targets"], check=True,
                                 capture_output=True)
        return [os.path.relpath(name, self.path) for target in json.loads(targets.stdout)
                if target["installed"] for name in target["filename"]]

    def tail(self, lines=40):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return "".join(log.readlines()[-lines:])
