#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules of the house that a compiler does not know.

usage: lint.py [TREE]     (default: the tree that this file is in)

Prints one line a breach, FILE:LINE: rule: text, and exits 1 where there is one.  It reads every
file of the tree but foreign data and builds; it changes nothing.
"""
import ast
import glob
import json
import os
import re
import sys

# Who may include whom.  A folder may always include itself; one that is not here may not hold C.
INNER = ["dbus", "service/base", "service/record", "service/policy", "service/passkey",
         "service/receipt", "service/ledger"]
ARROWS = {
    "dbus": [],
    "service/abi": [],
    "service/base": ["dbus"],
    "service/record": ["dbus", "service/base"],
    "service/policy": ["dbus", "service/base", "service/record"],
    "service/passkey": ["dbus", "service/base", "service/record"],
    "service/receipt": ["dbus", "service/base", "service/record", "service/passkey"],
    "service/ledger": INNER,
    "service/executor": INNER,
    "service/runner": INNER + ["service/abi"],
    "service/broker": INNER,
    "service/mechanism": ["dbus", "service/base", "service/record"],
    "service/admin": INNER + ["service/mechanism"],
    "service/launcher": INNER + ["service/mechanism"],
    "service/ctl": INNER,
    "module/executor": ["service/abi"],
    "module/card/tty": ["dbus", "service/base", "service/record", "service/receipt",
                        "module/card"],
    "module/card": ["dbus", "service/base", "service/record"],
    "agentlib/lib": ["dbus"],
    "agentlib/example": [],
    "agentlib/cli": ["dbus", "agentlib/lib", "service/base/printed.h", "service/base/usage.h"],
    "agentlib/mcp": ["dbus", "agentlib/lib", "service/base/json.h",
                     "service/base/printed.h", "service/base/usage.h"],
    "tests": [""],
}
# Each folder below these is a part of its own: one module never includes another.
APART = ["module/executor"]

GENERATED = ["config.h"]       # and what gdbus-codegen makes of an interface's XML
FOREIGN = ["tests/vectors", "tests/fuzz/corpus", "LICENSES"]
MAX_FILE = 800
MAX_FUNCTION = 80
SIZED = (".c", ".h", ".py", ".sh", ".js", ".css")
LICENSED = (".c", ".h", ".py", ".sh", ".js", ".css", ".xml", ".policy", ".rules", ".conf",
            ".service", ".socket", ".in", ".ui", ".suppr")
UNFINISHED = re.compile(r"\b(%s)\b" % "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX"]))
# What a page names in `…`: a place in the tree, and after a colon a name in that file.
NAMED_PLACE = re.compile(r"`((?:service|module|agentlib|dbus|polkit|tests|\.github)/[\w./@-]+)"
                         r"(?::(\w+))?[^`]*`")
# A line of the reviewer's page about a member of an interface.
MEMBER_ROW = re.compile(r"^\| ([A-Z]\w+\.[A-Z]\w+) \|", re.M)
# Which Python that is, PATH says: one without the modules that the tests need, say.
ANY_PYTHON = re.compile(r"^#!\S*/env python|find_program\('(?:python3?|[\w./-]+\.py)'")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def is_below(path, folder):
    return folder == "" or path == folder or path.startswith(folder + "/")


def tree_files(root):
    for folder, names, files in os.walk(root):
        here = os.path.relpath(folder, root)
        names[:] = sorted(n for n in names
                          if n not in (".git", "__pycache__")
                          and not os.path.isdir(os.path.join(folder, n, "meson-private"))
                          and not any(is_below(os.path.normpath(os.path.join(here, n)), f)
                                      for f in FOREIGN))
        for name in sorted(files):
            path = os.path.normpath(os.path.join(here, name))
            if not os.path.islink(os.path.join(root, path)) and name != ".git":
                yield path


def part_of(path):
    """The folder of ARROWS that a file is in, or None."""
    for folder in ARROWS:
        if is_below(path, folder):
            if folder in APART:
                return "/".join(path.split("/")[:3])
            return folder
    return None


def allowed_for(part):
    rule = part
    for folder in APART:
        if is_below(part, folder):
            rule = folder
    return ARROWS[rule] + [part]


def check_includes(root, path, lines):
    part = part_of(path)
    if part is None:
        yield 1, "folder", "no rule says what %s may include" % os.path.dirname(path)
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, target = match.groups()
        ours = any(os.path.isfile(os.path.join(root, name))
                   for name in [target, os.path.splitext(target)[0] + ".xml"])
        if quote == "<":
            if "/" in target and ours:
                yield number, "include", "<%s> is ours: use quotes" % target
        elif target in GENERATED:
            continue
        elif "/" not in target or ".." in target or not ours:
            yield number, "include", '"%s" is not a path from the top of the tree' % target
        elif not any(is_below(target, folder) for folder in allowed_for(part)):
            yield number, "arrow", "%s may not include %s" % (part, target)


def check_c_functions(lines):
    """In this form a body opens and closes in the first column; a type closes with its name."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
            while start > 1 and lines[start - 2] and not lines[start - 2].endswith(("}", ";", "*/")):
                start -= 1
        elif line.startswith("}") and start is not None:
            if line == "}" and number - start + 1 > MAX_FUNCTION:
                yield start, "function", "%d lines, at most %d" % (number - start + 1, MAX_FUNCTION)
            start = None


def check_python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            length = node.end_lineno - node.lineno + 1
            if length > MAX_FUNCTION:
                yield node.lineno, "function", "%d lines, at most %d" % (length, MAX_FUNCTION)


def check_places(root, lines):
    """A page that says where something is enforced or tested must not outlive it."""
    for number, line in enumerate(lines, 1):
        for place, name in NAMED_PLACE.findall(line):
            path = os.path.join(root, place)
            if not os.path.exists(path):
                yield number, "place", "there is no %s" % place
            elif name and os.path.isfile(path):
                with open(path, encoding="utf-8") as file:
                    if not re.search(r"\b%s\b" % re.escape(name), file.read()):
                        yield number, "place", "%s holds no %s" % (place, name)
            elif name:
                yield number, "place", "%s is a folder and holds no %s" % (place, name)


def check_file(root, path):
    with open(os.path.join(root, path), "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        yield 1, "text", "not UTF-8, and not below %s" % ", ".join(FOREIGN)
        return
    lines = text.split("\n")
    name = os.path.basename(path)

    is_script = text.startswith("#!")
    if (path.endswith(LICENSED) or name == "meson.build" or is_script) and \
            "SPDX-License-Identifier: " not in "\n".join(lines[:6]):
        yield 1, "licence", "no SPDX line among the first six"
    if (path.endswith(SIZED) or is_script) and len(lines) - 1 > MAX_FILE:
        yield len(lines), "size", "%d lines, at most %d" % (len(lines) - 1, MAX_FILE)
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield number, "unfinished", line.strip()
        if (name == "meson.build" or is_script and number == 1) and ANY_PYTHON.search(line):
            yield number, "python", "%s: not /usr/bin/python3" % line.strip()
    if path.endswith(".md"):
        yield from check_places(root, lines)
    if path.endswith((".c", ".h")):
        yield from check_includes(root, path, lines)
        yield from check_c_functions(lines)
    if path.endswith(".py") or is_script and "python" in lines[0]:
        yield from check_python_functions(text)


def pins_of(folder):
    """(package, version) of each that a client of tests/clients asks for by name."""
    found = set()
    if os.path.exists(f"{folder}/requirements.in"):
        with open(f"{folder}/requirements.in", encoding="utf-8") as file:
            found.update(re.findall(r"^([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)$", file.read(), re.M))
    if os.path.exists(f"{folder}/package.json"):
        with open(f"{folder}/package.json", encoding="utf-8") as file:
            found.update(json.load(file).get("dependencies", {}).items())
    return found


def check_clients(root):
    """README's table of clients says what is pinned, of each client that there is."""
    clients, rows = os.path.join(root, "tests/clients"), []
    if not os.path.isdir(clients):
        return
    pins = {name: pins_of(f"{clients}/{name}") for name in sorted(os.listdir(clients))}
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        text = file.read()
    start = text.find("| framework | version |")
    for number, line in enumerate(text[start:].split("\n") if start >= 0 else [],
                                  text[:start].count("\n") + 1):
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.split("|")]
        said = {tuple(pair.rsplit(" ", 1)) for pair in cells[2].split(", ") if " " in pair}
        if said:
            rows.append(said)
            if not any(said <= pinned for pinned in pins.values()):
                yield "README.md:%d: pin: no client pins %s" % (number, cells[2])
    for name, pinned in pins.items():
        if pinned and not any(said <= pinned for said in rows):
            yield "README.md:1: pin: the table of clients has no row for %s" % name


def members_of(root):
    """"Interface.Member" of each method that the XML of dbus/ has, without the common prefix."""
    for path in sorted(glob.glob(os.path.join(root, "dbus/*.xml"))):
        with open(path, encoding="utf-8") as file:
            for kind, name in re.findall(r'<(interface|method) name="([\w.]+)"', file.read()):
                if kind == "interface":
                    interface = name.rpartition(".")[2]
                else:
                    yield "%s.%s" % (interface, name)


def check_audit(root):
    """The reviewer's page has one line for each member of each interface, and for no other."""
    page, members = ".github/AUDIT.md", sorted(members_of(root))
    if not members:
        return
    with open(os.path.join(root, page), encoding="utf-8") as file:
        rows = MEMBER_ROW.findall(file.read())
    for name in sorted(set(members) | set(rows)):
        if name not in members:
            yield "%s:1: member: dbus has no %s" % (page, name)
        elif rows.count(name) != 1:
            yield "%s:1: member: %s has %d lines, not one" % (page, name, rows.count(name))


def lint(root):
    """The breaches of a tree, one line each; a tree without files is one."""
    paths = list(tree_files(root))
    if not paths:
        return ["%s holds no files" % root]
    return ["%s:%d: %s: %s" % ((path,) + breach)
            for path in paths for breach in check_file(root, path)] + list(check_clients(root)) + \
        list(check_audit(root))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    breaches = lint(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here)))
    for line in breaches:
        print(line)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
