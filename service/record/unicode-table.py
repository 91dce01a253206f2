#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes unicode-table.h from the Unicode Character Database.

    unicode-table.py [--check FILE] [UCD-DIRECTORY]

The directory defaults to /usr/share/unicode (Debian package unicode-data).  With --check nothing is
written: the exit status says whether FILE is what would be made, 77 where the database is absent or
of another version.  The rules that give each character its flags are those of undersign-record(7),
section ESCAPING; nothing else decides what a screen shows raw.
"""
import os
import sys

VERSION = "15.0.0"

# Blank or blank-like glyphs, and the object replacement character, which no property gives away.
EXTRA_ESCAPED = {0x2800, 0xFFFC, 0x13441, 0x13442, 0x16FE4, 0x1D159}
# Decompositions that only change the looks of a letter or digit.
VARIANT_TAGS = ("<font>", "<wide>", "<narrow>")

FLAGS = ("SHOWN", "MARK", "LETTER", "DIGIT", "RTL", "VARIANT", "CONTROL", "BIDI")
BIT = {name: 1 << i for i, name in enumerate(FLAGS)}


def read_ranges(path):
    """Yields (first, last, value) of a file of the form `XXXX..YYYY ; VALUE # …`."""
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if not line:
                continue
            span, value = [part.strip() for part in line.split(";")[:2]]
            first, _, last = span.partition("..")
            yield int(first, 16), int(last or first, 16), value


def read_property(path, name):
    chars = set()
    for first, last, value in read_ranges(path):
        if value == name:
            chars.update(range(first, last + 1))
    return chars


def read_characters(path):
    """Code point → (category, bidi class, decomposition tag) of UnicodeData.txt."""
    chars, first = {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            field = line.rstrip("\n").split(";")
            code = int(field[0], 16)
            tag = field[5].split(" ")[0] if field[5].startswith("<") else ""
            start = first if field[1].endswith(", Last>") else code
            first = code if field[1].endswith(", First>") else None
            for c in range(start, code + 1):
                chars[c] = (field[2], field[4], tag)
    return chars


def flags_of(code, info, ignorable, bidi):
    category, direction, tag = info
    flags = 0
    if category in ("Cc", "Cf", "Zl", "Zp"):
        flags |= BIT["CONTROL"]
    if code in bidi:
        flags |= BIT["BIDI"]
    if code in ignorable or code in EXTRA_ESCAPED:
        return flags
    if category[0] == "M":
        flags |= BIT["MARK"]
    if category[0] in "LNPS" or code == 0x20:
        flags |= BIT["SHOWN"]
    if category[0] == "L":
        flags |= BIT["LETTER"]
    if category == "Nd":
        flags |= BIT["DIGIT"]
    if flags and not flags & BIT["CONTROL"]:
        if direction in ("R", "AL", "AN"):
            flags |= BIT["RTL"]
        if tag in VARIANT_TAGS and (category[0] == "L" or category == "Nd"):
            flags |= BIT["VARIANT"]
    return flags


def make(ucd):
    chars = read_characters(os.path.join(ucd, "UnicodeData.txt"))
    ignorable = read_property(
        os.path.join(ucd, "DerivedCoreProperties.txt"), "Default_Ignorable_Code_Point")
    bidi = read_property(os.path.join(ucd, "PropList.txt"), "Bidi_Control")
    script = {}
    for first, last, value in read_ranges(os.path.join(ucd, "Scripts.txt")):
        for c in range(first, last + 1):
            script[c] = value

    ranges = []
    for code in sorted(chars):
        flags = flags_of(code, chars[code], ignorable, bidi)
        if flags == 0:
            continue
        name = script.get(code, "Common") if flags & BIT["LETTER"] else "Common"
        if name == "Inherited":
            name = "Common"
        if ranges and ranges[-1][1] == code - 1 and ranges[-1][2:] == [flags, name]:
            ranges[-1][1] = code
        else:
            ranges.append([code, code, flags, name])
    return ranges


def write(ranges):
    names = ["Common"] + sorted({r[3] for r in ranges} - {"Common"})
    out = [
        "/* SPDX-License-Identifier: LGPL-2.1-or-later AND Unicode-DFS-2016 */",
        "/*",
        f" * Made by unicode-table.py from the Unicode Character Database, version {VERSION}.",
        " * Do not edit.  Only unicode.c includes it; it must never be extended by hand.",
        " */",
        f'#define UNICODE_VERSION "{VERSION}"',
        "",
        "static const char *const script_names[] = {",
    ]
    out += wrap(f'"{n.replace("_", " ")}",' for n in names)
    flags = {c: f for first, last, f, _ in ranges[:20] for c in range(first, last + 1)}
    out += ["};", "", f"#define SCRIPT_LATIN {names.index('Latin')}", "",
            "/* Flags of the first 128, whose letters are Latin. */",
            "static const guint8 ascii[128] = {"]
    out += wrap(f"{flags.get(c, 0)}," for c in range(128))
    out += ["};", "", "/* First, last, flags (CHAR_*), script; sorted.  What is not here is escaped. */",
            "static const UnicodeRange ranges[] = {"]
    out += wrap(f"{{0x{a:x},0x{b:x},0x{f:x},{names.index(n)}}}," for a, b, f, n in ranges)
    out += ["};", ""]
    return "\n".join(out)


def wrap(words):
    lines, line = [], " "
    for word in words:
        if len(line) + 1 + len(word) > 100:
            lines.append(line)
            line = " "
        line += " " + word
    return lines + [line]


def main(argv):
    check = None
    if argv[:1] == ["--check"]:
        check, argv = argv[1], argv[2:]
    ucd = argv[0] if argv else "/usr/share/unicode"
    try:
        with open(os.path.join(ucd, "PropList.txt"), encoding="utf-8") as f:
            found = f.readline()
    except OSError as e:
        print(f"{e}", file=sys.stderr)
        return 77
    if f"-{VERSION}.txt" not in found:
        print(f"the database in {ucd} is not version {VERSION}", file=sys.stderr)
        return 77
    text = write(make(ucd))
    if check is None:
        sys.stdout.write(text)
        return 0
    with open(check, encoding="utf-8") as f:
        return 0 if f.read() == text else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
