#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each of the hostile values has an entry in record/hostile.json, with the very value in it."""
import json
import os
import sys

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vectors")


def read(name):
    with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
        return json.load(file)


def holds(entry, value):
    """Whether @value is in the entry, in whichever way the entry gives values."""
    if isinstance(value, (int, float)):
        return entry.get("value") == str(value)
    if isinstance(value, list):
        return entry.get("value") == value
    texts = [json.dumps(entry.get(name), ensure_ascii=False) for name in ("value", "json", "to")]
    if "json_hex" in entry:
        texts.append(bytes.fromhex(entry["json_hex"]).decode())
    words = list(value) if isinstance(value, dict) else [value]
    needles = [json.dumps(word, ensure_ascii=False)[1:-1] for word in words]
    return any(needle in text for text in texts for needle in needles)


def main():
    entries = read(os.path.join("record", "hostile.json"))
    missing = [hostile["id"] for hostile in read("hostile-values.json")
               if not any(entry["id"] == hostile["id"] and
                          (hostile["kind"] == "fd" or holds(entry, hostile["value"]))
                          for entry in entries)]
    if missing:
        print("no entry with its value:", *missing, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
