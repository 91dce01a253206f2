# SPDX-License-Identifier: LGPL-2.1-or-later
"""CONVENTIONS, Canonical JSON: the strict reader and the canonical writer."""
import re

from .refusal import Refused

NUMBER = re.compile(r'-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?')
WHITE = ' \t\n\r'
SHORT = {'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
WRITTEN = {'"': '\\"', '\\': '\\\\', '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f',
           '\r': '\\r'}
HEX4 = re.compile(r'[0-9A-Fa-f]{4}')


class Number:
    """A JSON number; none occurs in our formats, so its text is all that is kept."""

    def __init__(self, text):
        self.text = text


class Reader:
    """Reads one JSON text under limits of depth, members or items, and bytes of a string."""

    def __init__(self, data, depth, members, string=65536):
        try:
            self.text = data.decode('utf-8')
        except UnicodeDecodeError:
            self.fail()
        self.at, self.depth, self.members, self.string = 0, depth, members, string

    @staticmethod
    def fail():
        raise Refused('bad-json')

    def read(self):
        value = self.value(0)
        self.skip()
        if self.at != len(self.text):
            self.fail()
        return value

    def peek(self):
        return self.text[self.at:self.at + 1]

    def skip(self):
        while self.peek() and self.peek() in WHITE:
            self.at += 1

    def take(self, character):
        self.skip()
        if self.peek() != character:
            self.fail()
        self.at += 1

    def value(self, depth):
        self.skip()
        first = self.peek()
        if first in ('{', '['):
            if depth == self.depth:
                self.fail()
            return self.object(depth + 1) if first == '{' else self.array(depth + 1)
        if first == '"':
            return self.read_string()
        for word, value in (('true', True), ('false', False), ('null', None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.number()

    def number(self):
        match = NUMBER.match(self.text, self.at)
        if not match:
            self.fail()
        self.at = match.end()
        return Number(match.group())

    def more(self, end, have):
        """Whether another item follows; takes the comma before it or the end."""
        self.skip()
        if self.peek() == end:
            self.at += 1
            return False
        if have:
            self.take(',')
        if have == self.members:
            self.fail()
        return True

    def array(self, depth):
        self.take('[')
        items = []
        while self.more(']', len(items)):
            items.append(self.value(depth))
        return items

    def object(self, depth):
        self.take('{')
        members = {}
        while self.more('}', len(members)):
            self.skip()
            name = self.read_string()
            if name in members:
                self.fail()
            self.take(':')
            members[name] = self.value(depth)
        return members

    def read_string(self):
        self.take('"')
        parts = []
        while self.peek() != '"':
            parts.append(self.character())
        self.at += 1
        text = ''.join(parts)
        if len(text.encode('utf-8')) > self.string:
            self.fail()
        return text

    def character(self):
        character = self.peek()
        if character == '' or character < ' ':
            self.fail()
        self.at += 1
        if character != '\\':
            return character
        letter = self.peek()
        self.at += 1
        if letter == 'u':
            return self.escaped()
        if letter not in SHORT:
            self.fail()
        return SHORT[letter]

    def unit(self):
        match = HEX4.match(self.text, self.at)
        if not match:
            self.fail()
        self.at += 4
        return int(match.group(), 16)

    def escaped(self):
        unit = self.unit()
        if 0xD800 <= unit < 0xDC00 and self.text.startswith('\\u', self.at):
            self.at += 2
            low = self.unit()
            if not 0xDC00 <= low < 0xE000:
                self.fail()
            return chr(0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00)
        if unit == 0 or 0xD800 <= unit < 0xE000:
            self.fail()
        return chr(unit)


def read(data, depth=8, members=1000):
    return Reader(data, depth, members).read()


def write_string(text):
    out = []
    for character in text:
        if character in WRITTEN:
            out.append(WRITTEN[character])
        elif character < ' ':
            out.append('\\u%04x' % ord(character))
        else:
            out.append(character)
    return '"' + ''.join(out) + '"'


def write(value):
    """The canonical text; the caller has checked that nothing but our four kinds occurs."""
    if value is True or value is False:
        return 'true' if value else 'false'
    if isinstance(value, str):
        return write_string(value)
    if isinstance(value, list):
        return '[' + ','.join(write(item) for item in value) + ']'
    if isinstance(value, dict):
        return '{' + ','.join(write_string(name) + ':' + write(value[name])
                              for name in sorted(value)) + '}'
    raise TypeError('no canonical form for %r' % (value,))


def canonical(value):
    return write(value).encode('utf-8')
