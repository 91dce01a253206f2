# SPDX-License-Identifier: LGPL-2.1-or-later
"""What undersign-json(7) says of the objects that the commands print, to hold an object against it."""

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PAGE = os.path.join(ROOT, "agentlib/cli/undersign-json.7")
PLAIN = {"string": str, "boolean": bool, "number": int}


def read():
    """{heading: {member: its type}}."""
    found, heading = {}, None
    with open(PAGE, encoding="utf-8") as file:
        for line in file:
            if line.startswith(".Ss "):
                heading = line[4:].strip()
                found[heading] = {}
            match = re.match(r"\.It Li (\S+) Pq (.*)$", line)
            if match:
                found[heading][match[1]] = match[2]
    return found


class Shapes:
    def __init__(self):
        self.all = read()

    def faults(self, verb, found):
        """What is wrong with the object @found that @verb printed; no member may be undocumented."""
        if not isinstance(found, dict) or found.get("version") != "1":
            return [f"{verb}: no version"]
        rest = {name: value for name, value in found.items() if name != "version"}
        if verb not in self.all:  # one that only does something
            return [f"{verb}.{name}: is not in the page" for name in rest]
        return self._object(verb, verb, rest)

    def _object(self, place, heading, found):
        members, faults = self.all[heading], []
        if not isinstance(found, dict):
            return [f"{place}: no object"]
        for name, kind in members.items():
            if name in found:
                faults += self._value(f"{place}.{name}", kind.removeprefix("optional "), found[name])
            elif not kind.startswith("optional "):
                faults.append(f"{place}.{name}: is missing")
        return faults + [f"{place}.{name}: is not in the page" for name in found.keys() - members]

    def _value(self, place, kind, value):
        if kind == "any" or kind.startswith("null or ") and value is None:
            return []
        kind = kind.removeprefix("null or ")
        if kind in PLAIN:
            good = isinstance(value, PLAIN[kind]) and (kind != "number" or value is not True)
            return [] if good else [f"{place}: {value!r} is no {kind}"]
        if kind.startswith("array of "):
            items = enumerate(value) if isinstance(value, list) else None
        elif kind.startswith("map of "):
            items = value.items() if isinstance(value, dict) else None
        else:
            return self._object(place, kind, value)
        if items is None:
            return [f"{place}: is no {kind.split()[0]}"]
        return [fault for name, item in items
                for fault in self._value(f"{place}[{name}]", kind.split(" of ", 1)[1], item)]
