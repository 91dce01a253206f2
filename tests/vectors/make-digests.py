#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Computes the bytes and digests of tests/vectors/record from their hand-written inputs.

    make-digests.py            writes them into the files
    make-digests.py --check    exits 1 where a file holds others

It follows undersign-record(7) with Python's standard library alone and shares no code with the
service.  It decides no verdict: those are written by hand and copied as they are.
"""
import hashlib
import json
import os
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "record")
TYPE = "application/vnd.undersign.%s.v1+json"


def canonical(value):
    """RFC 8785 for trees without numbers, whose names are ASCII."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def digest(kind, body):
    name = (TYPE % kind).encode()
    pae = b"DSSEv1 %d %s %d %s" % (len(name), name, len(body), body)
    return hashlib.sha256(pae).hexdigest()


def intent(record):
    def entries(items):
        return [{name: item[name] for name in ("name", "type", "value")} for item in items]

    executor = record["executor"]
    return {
        "action": record["action"]["id"],
        "agent": {"name": record["agent"]["name"], "uid": record["agent"]["uid"]},
        "arguments": entries(record["arguments"]),
        "executor": {"credential": executor["credential"], "module": executor["module"],
                     "settings": entries(executor["settings"])},
        "format": "undersign.intent/1",
    }


def fill_policy(entry):
    body = canonical(sorted(entry["files"], key=lambda file: file["path"].encode()))
    entry["preimage"] = body.decode()
    entry["digest"] = "sha256:" + digest("policy", body)


def fill_record(entry):
    if "input" not in entry:
        return
    body = canonical(entry["input"])
    hexadecimal = digest("record", body)
    entry["record"] = body.decode()
    entry["digest"] = "sha256:" + hexadecimal
    entry["fingerprint"] = "-".join(hexadecimal[i:i + 4] for i in (0, 4, 8))
    entry["intent"] = "sha256:" + digest("intent", canonical(intent(entry["input"])))


def resolve(value, records):
    """{"digest_of": ID} stands for the digest of that record."""
    if isinstance(value, dict):
        if list(value) == ["digest_of"]:
            return records[value["digest_of"]]["digest"]
        return {name: resolve(member, records) for name, member in value.items()}
    return value


def fill_statement(entry, records):
    if "input" not in entry:
        return
    body = canonical(resolve(entry["input"], records))
    entry["statement"] = body.decode()
    entry["challenge"] = digest("statement", body)


def read(name):
    with open(os.path.join(HERE, name), encoding="ascii") as file:
        return json.load(file)


def write(entries):
    return "[\n" + ",\n".join(json.dumps(e, indent=1) for e in entries) + "\n]\n"


def main(argv):
    policy, records, statements = (read(n) for n in
                                   ("policy.json", "records.json", "statements.json"))
    for entry in policy:
        fill_policy(entry)
    for entry in records:
        fill_record(entry)
    by_id = {entry["id"]: entry for entry in records}
    for entry in statements:
        fill_statement(entry, by_id)

    status = 0
    for name, entries in (("policy.json", policy), ("records.json", records),
                          ("statements.json", statements)):
        path, text = os.path.join(HERE, name), write(entries)
        if argv == ["--check"]:
            with open(path, encoding="ascii") as file:
                if file.read() != text:
                    print(f"{name}: not what its inputs give", file=sys.stderr)
                    status = 1
        else:
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
