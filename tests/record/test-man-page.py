#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The worked example of undersign-record(7) is true: its digests are those of its bytes, which are
those of the vectors; and what the page says of currencies and limits is what the code has."""
import hashlib
import json
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RECORD = os.path.join(TOP, "service", "record")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def block(page, name):
    """The text between the comments that name it, without markup."""
    found = re.search(r'^\.\\" begin %s\n(.*?)^\.\\" end %s$' % (name, name), page, re.M | re.S)
    lines = [line[4:] if line.startswith(".Dl ") else line for line in found[1].splitlines()
             if not line.startswith((".Bd", ".Ed"))]
    return "".join(line.removeprefix("\\&").replace("\\e", "\\") for line in lines)


def vector(name, entry):
    return next(e for e in json.loads(read(TOP, "tests", "vectors", "record", name))
                if e["id"] == entry)


def digest(kind, text):
    name = b"application/vnd.undersign.%s.v1+json" % kind.encode()
    body = text.encode()
    return hashlib.sha256(b"DSSEv1 %d %s %d %s" % (len(name), name, len(body), body)).hexdigest()


def check_example(page):
    record, statement, policy = (block(page, n) for n in ("record", "statement", "policy"))
    r01, s01 = vector("records.json", "R01"), vector("statements.json", "S01")
    assert policy == vector("policy.json", "D01")["preimage"]
    assert record == r01["record"]
    assert statement == s01["statement"]
    assert block(page, "policy-digest") == "sha256:" + digest("policy", policy)
    assert json.loads(record)["policy"] == block(page, "policy-digest")
    assert block(page, "digest") == "sha256:" + digest("record", record)
    assert block(page, "fingerprint") == r01["fingerprint"]
    assert block(page, "intent") == r01["intent"]
    assert json.loads(statement)["record"] == block(page, "digest")
    assert block(page, "challenge") == digest("statement", statement)
    for text in (record, statement):
        assert f" {len(text.encode())}\\ " in page and f", {len(text.encode())} bytes:" in page


def check_currencies(page):
    code = read(RECORD, "currency.c")
    for name, tag in (("no_digits", "no digits"), ("two_digits", "2 digits"),
                      ("three_digits", "3 digits"), ("four_digits", "4 digits")):
        table = re.search(r"char %s\[\] =(.*?);" % name, code, re.S)[1]
        said = re.search(r"^\.It %s\n([A-Z\s]+?)^\." % tag, page, re.M)[1]
        assert re.findall(r"[A-Z]{3}", table) == said.split(), name


def check_limits(page):
    header = read(RECORD, "type.h") + read(RECORD, "statement.h")
    for name, factors in re.findall(r"#define (?:RECORD|STATEMENT)_(MAX_\w+) \(?([\d *]+)", header):
        value = 1
        for factor in factors.split("*"):
            value *= int(factor)
        assert re.search(r"\b%d\b" % value, page), f"{name} is {value}"


def check_look_alikes(page):
    """The list of the page is the table of the code."""
    code = read(RECORD, "look-alike.c")
    table = {int(point, 16): like.replace("\\\\", "\\").replace("\\'", "'")
             for point, like in re.findall(r"\{0x([0-9a-f]+),'(\\?.)'\}", code)}
    sys.path.insert(0, os.path.join(TOP, "tests", "vectors"))
    from independent import unidata
    assert {ord(point): like for point, like in unidata.look_alikes().items()} == table
    assert list(table) == sorted(table) and len(table) > 100


def main():
    page = read(RECORD, "undersign-record.7")
    check_example(page)
    check_currencies(page)
    check_limits(page)
    check_look_alikes(page)


if __name__ == "__main__":
    sys.exit(main())
