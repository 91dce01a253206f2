# SPDX-License-Identifier: LGPL-2.1-or-later
"""ESCAPING: how text stands on a screen."""
import itertools

from . import unidata

MARKS_ON_ONE = 4
QUIET = '\t\n '


class Escaped:
    """The text as it stands, the runs that were escaped, and how many characters were not."""

    def __init__(self, tokens):
        parts, self.runs, self.plain = [], [], 0
        for (character, hidden), run in itertools.groupby(tokens):
            count = len(list(run))
            if hidden:
                self.runs.append((character, count))
                parts.append(spelled(character, count))
            else:
                self.plain += count
                parts.append(('\\\\' if character == '\\' else character) * count)
        self.text = ''.join(parts)


def spelled(character, count):
    number = '%04X' % ord(character)
    return '\\u{%s}' % (number if count == 1 else '%s*%d' % (number, count))


def space_hidden(text, start, end, longest):
    """Whether a run of spaces is escaped; `longest` is the run that may stand in a line."""
    if end == len(text) or end - start > longest:
        return True
    return start == 0 and longest == 1


def name_hidden(character):
    """What a name escapes besides: it could imitate or move a separator."""
    return not character.isascii() and unidata.shown(character) and (
        not (unidata.letter(character) or unidata.decimal_digit(character))
        or unidata.right_to_left(character))


def ascii_hidden(character):
    return not character.isascii()


def nothing_hidden(_character):
    return False


def escape(text, longest=1, hidden=nothing_hidden):
    tokens, at, marks = [], 0, None
    while at < len(text):
        character = text[at]
        if character == ' ':
            end = at
            while end < len(text) and text[end] == ' ':
                end += 1
            tokens += [(' ', space_hidden(text, at, end, longest))] * (end - at)
            at, marks = end, None
            continue
        at += 1
        if unidata.mark(character) and not hidden(character):
            stands = marks is not None and marks < MARKS_ON_ONE
            marks = marks + 1 if stands else marks
        else:
            stands = unidata.shown(character) and not hidden(character)
            marks = 0 if stands else None
        tokens.append((character, not stands))
    return Escaped(tokens)


def as_line(text):
    return escape(text)


def as_name(text):
    return escape(text, hidden=name_hidden)


def as_ascii_name(text):
    return escape(text, hidden=ascii_hidden)


def as_text(text):
    """One Escaped a line; a run of more than three empty lines is one line."""
    lines = []
    for blank, run in itertools.groupby(text.split('\n'), key=lambda line: line == ''):
        run = list(run)
        if blank and len(run) > 3:
            line = Escaped([])
            line.text = '\\(%d empty lines)' % len(run)
            lines.append(line)
        else:
            lines += [escape(line, longest=8) for line in run]
    return lines
