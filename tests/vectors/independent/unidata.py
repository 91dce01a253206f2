# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Unicode Character Database, version 15.0.0, as Debian's package unicode-data has it.

Only the normal forms are Python's own: its database may be a version older, which matters to no
character that composes; what decomposes otherwise is looked up here.
"""
import bisect
import os
import re
import unicodedata

FOLDER = '/usr/share/unicode'
VERSION = '15.0.0'
NORM = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    '../../../service/record/undersign-record.7')
# mdoc's spelling; "\\&" alone continues the row before.
ESCAPED = {'\\e': '\\', '\\(aq': "'", '\\(ha': '^', '\\(ti': '~', '\\&.': '.', '\\-': '-', '\\&': ''}
NO_PICTURE = frozenset((0x2800, 0xFFFC, 0x13441, 0x13442, 0x16FE4, 0x1D159))


def lines(name):
    with open(os.path.join(FOLDER, name), encoding='utf-8') as file:
        for line in file:
            line = line.split('#')[0].strip()
            if line:
                yield [field.strip() for field in line.split(';')]


def available():
    try:
        with open(os.path.join(FOLDER, 'Scripts.txt'), encoding='utf-8') as file:
            return file.readline().strip() == '# Scripts-%s.txt' % VERSION
    except OSError:
        return False


class Ranges:
    """Values of ranges of characters."""

    def __init__(self, rows, default=None):
        self.rows = sorted(rows)
        self.starts = [row[0] for row in self.rows]
        self.default = default

    def __getitem__(self, character):
        point = ord(character)
        at = bisect.bisect_right(self.starts, point) - 1
        if at >= 0 and point <= self.rows[at][1]:
            return self.rows[at][2]
        return self.default


def span(field):
    first, _, last = field.partition('..')
    return int(first, 16), int(last or first, 16)


def properties(name, wanted=None, default=None):
    return Ranges([span(fields[0]) + (fields[1],) for fields in lines(name)
                   if wanted is None or fields[1] == wanted], default)


def characters():
    rows, first = [], None
    for fields in lines('UnicodeData.txt'):
        point = int(fields[0], 16)
        if fields[1].endswith(', First>'):
            first = point
            continue
        start = point if first is None else first
        rows.append((start, point, (fields[2], fields[4], fields[5], fields[3])))
        first = None
    return Ranges(rows, ('Cn', '', '', '0'))


def case_folding():
    """Full case folding: what a character becomes, where it does not stay as it is."""
    return {chr(int(fields[0], 16)): ''.join(chr(int(point, 16)) for point in fields[2].split())
            for fields in lines('CaseFolding.txt') if fields[1] in ('C', 'F')}


class Tables:
    """Loaded when first asked for."""

    loaded = None

    def __init__(self):
        self.characters = characters()
        self.scripts = properties('Scripts.txt', default='Unknown')
        self.ignorable = properties('DerivedCoreProperties.txt', 'Default_Ignorable_Code_Point')
        self.bidi_control = properties('PropList.txt', 'Bidi_Control')
        self.folding = case_folding()
        self.look_alikes = look_alikes()

    @classmethod
    def get(cls):
        if cls.loaded is None:
            cls.loaded = cls()
        return cls.loaded


def category(character):
    return Tables.get().characters[character][0]


def bidi_class(character):
    return Tables.get().characters[character][1]


def decomposition(character):
    return Tables.get().characters[character][2]


def covers(character):
    """Drawn over or around what it stands on."""
    return Tables.get().characters[character][3] == '1' or category(character) == 'Me'


def look_alikes():
    """What undersign-record(7) lists: character → what of ASCII it passes for."""
    with open(NORM, encoding='utf-8') as file:
        listed = file.read().partition('begin look-alikes\n')[2].partition('.\\" end')[0]
    found, like = {}, None
    for row in re.findall(r'^\.It (\S+) Ta (.*)$', listed, re.M):
        like = ESCAPED.get(row[0], row[0]) or like
        found.update((chr(int(point[2:], 16)), like) for point in row[1].split())
    return found


def script(character):
    return Tables.get().scripts[character]


def bidi_control(character):
    return Tables.get().bidi_control[character] is not None


def right_to_left(character):
    return bidi_class(character) in ('R', 'AL', 'AN')


def pictured(character):
    """Neither ignorable nor one of the six that ESCAPING names."""
    return ord(character) not in NO_PICTURE and Tables.get().ignorable[character] is None


def shown(character):
    return character == ' ' or (category(character)[0] in 'LNPS' and pictured(character))


def mark(character):
    return category(character)[0] == 'M' and pictured(character)


def letter(character):
    return category(character)[0] == 'L' and pictured(character)


def decimal_digit(character):
    return category(character) == 'Nd' and pictured(character)


def unmapped(text):
    """Whether normal form KC and case folding leave a text as it is."""
    if any(decomposition(character).startswith('<') for character in text):
        return False
    folded = ''.join(Tables.get().folding.get(character, character)
                     for character in unicodedata.normalize('NFKC', text))
    return unicodedata.normalize('NFKC', folded) == text


def nfc(text):
    return unicodedata.normalize('NFC', text)
