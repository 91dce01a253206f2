# SPDX-License-Identifier: LGPL-2.1-or-later
"""THE CARD: the rows of a record, and whether it can only be denied."""
from . import addresses, escaping, values
from .notes import notes

EFFECTS = {'irreversible': 'cannot be undone', 'reversible': 'can be undone',
           'read': 'only reads'}
WORD_NONE = 'the word none: the value is not empty'
BLANK_LINES = 'blank lines alone: the value is not empty'
TOO_HIDDEN = ': too much of it cannot be shown'
TOO_LONG = 'the card has more than 4000 lines'
UNVERIFIED = 'The agent says, unverified'
RECHECK = 'looked up again before it runs'


def grouped(number):
    """Digits before the point in groups of three."""
    sign, number = ('-', number[1:]) if number.startswith('-') else ('', number)
    whole, point, fraction = number.partition('.')
    first = len(whole) % 3 or 3
    groups = [whole[:first]] + [whole[at:at + 3] for at in range(first, len(whole), 3)]
    return sign + ' '.join(groups) + point + fraction


def bytes_line(size):
    return grouped(size) + (' byte' if size == '1' else ' bytes')


class Lines:
    """The lines of a value and how its parts were escaped."""

    def __init__(self):
        self.lines, self.escapes = [], []

    def add(self, escaped, form='%s'):
        self.escapes.append(escaped)
        self.lines.append(form.replace('%s', escaped.text))

    def add_quoted(self, escaped, prefix=''):
        self.escapes.append(escaped)
        self.lines.append(prefix + '"%s"' % escaped.text.replace('"', '\\"'))

    def add_file(self, file, prefix=''):
        self.add_quoted(escaping.as_name(file['name']), prefix)
        self.lines += [bytes_line(file['size']), 'sha256 ' + file['sha256']]


def list_lines(lines, kind, value):
    for number, item in enumerate(value, 1):
        if kind == 'file-list':
            lines.add_file(item, '%d: ' % number)
        elif kind == 'argv':
            lines.add_quoted(escaping.as_line(item), '%d: ' % number)
        else:
            lines.add(escaping.as_line(item))


def number_line(kind, value):
    if kind == 'size':
        return bytes_line(value)
    amount, space, code = value.partition(' ')
    return grouped(amount) + space + code


def lines_of(kind, value):
    lines = Lines()
    if values.empty(kind, value):
        lines.lines = ['none']
    elif kind == 'text':
        for escaped in escaping.as_text(value):
            lines.add(escaped)
    elif kind in ('integer', 'decimal', 'money', 'size'):
        lines.lines = [number_line(kind, value)]
    elif kind == 'boolean':
        lines.lines = ['yes' if value else 'no']
    elif kind == 'path':
        lines.add(escaping.as_name(value))
    elif kind == 'file':
        lines.add_file(value)
    elif isinstance(value, list):
        list_lines(lines, kind, value)
    else:
        lines.add(escaping.as_line(value))
        if kind == 'url':
            lines.lines.append('host: ' + addresses.url_host(value))
    return lines


def unreadable(lines):
    """Whether too much of a value is escapes for a person to read it."""
    runs = [run for escaped in lines.escapes for run in escaped.runs]
    count = sum(character not in escaping.QUIET for character, _ in runs)
    plain = sum(escaped.plain for escaped in lines.escapes) + sum(
        length for character, length in runs if character == ' ')
    return count > 8 and 3 * count > plain


def says(lines, words):
    """Whether one line is the words, without spaces at its ends, and all others are empty."""
    spoken = [text.strip(' ').lower() for text in lines if text]
    return spoken == [words]


def first_notes(lines):
    """Of a value that is not empty: what could be taken for one that is."""
    if says(lines, 'none'):
        return [WORD_NONE]
    return [] if any(lines) else [BLANK_LINES]


def value_notes(kind, value, lines):
    if values.empty(kind, value):
        return []
    return first_notes(lines.lines) + notes(kind, value, lines.escapes)


def row(section, label, lines, name='', kind='', noted=(), empty=False):
    return {'section': section, 'name': name, 'label': escaping.as_line(label).text, 'type': kind,
            'lines': lines, 'notes': list(noted), 'empty': empty}


def value_row(section, label, kind, value, name=''):
    lines = lines_of(kind, value)
    return row(section, label, lines.lines, name, kind, value_notes(kind, value, lines),
               values.empty(kind, value))


def entry_row(section, entry):
    made = value_row(section, entry['label'], entry['type'], entry['value'], entry['name'])
    if entry.get('recheck'):
        made['notes'].append(RECHECK)
    return made


def words_row(section, label, words):
    """A row of members that have no type; the notes are those of the first."""
    return row(section, label, [escaping.as_line(word).text for word in words],
               noted=value_notes('line', words[0], lines_of('line', words[0])))


def summary(record):
    agent, run, action = record['agent'], record['run'], record['action']
    initiator = run.get('initiator')
    started = [initiator['name'], 'uid ' + initiator['uid']] if initiator else ['the agent itself']
    lines = (
        ('Action', [action['summary'], action['id']]),
        ('Agent', [agent['name'], 'uid ' + agent['uid'], 'part ' + agent['part']]),
        ('Acting for', [agent['owner']]),
        ('Run', ([run['label']] if run['label'] else []) + ['id ' + run['id']]),
        ('Started by', started),
        ('Effect', [EFFECTS[action['effect']]]),
        ('Host', [record['host']]),
    )
    return lines


def settings(record):
    executor = record['executor']
    credential = (words_row('setting', 'Credential', [executor['credential']])
                  if executor['credential'] else
                  row('setting', 'Credential', ['none'], empty=True))
    return ([words_row('setting', 'Module', [executor['module']]), credential]
            + [entry_row('setting', entry) for entry in executor['settings']]
            + [words_row('setting', 'Policy', [record['policy']])])


def rows(record, changes=()):
    """The card; `changes` are the rows of what it replaces, where it replaces anything."""
    return ([words_row('summary', label, words) for label, words in summary(record)]
            + list(changes)
            + [entry_row('argument', entry) for entry in record['arguments']]
            + [entry_row('fact', entry) for entry in record['facts']]
            + settings(record)
            + [value_row('claim', UNVERIFIED, 'text', record.get('claim', ''))])


def unreadable_reason(parts):
    """Parts are label, type and value, in the order of their rows."""
    return next((escaping.as_line(label).text + TOO_HIDDEN for label, kind, value in parts
                 if unreadable(lines_of(kind, value))), None)


def long_reason(all_rows):
    count = sum(1 + len(text) // 80 for made in all_rows for text in made['lines'])
    return TOO_LONG if count > 4000 else None


def deny_only(record, all_rows):
    """Why the card can only be denied; None where it can be approved."""
    executor = record['executor']
    entries = [(entry['label'], entry['type'], entry['value'])
               for entry in record['arguments'] + record['facts']]
    settings_of = [(entry['label'], entry['type'], entry['value'])
                   for entry in executor['settings']]
    parts = ([(label, 'line', words[0]) for label, words in summary(record)] + entries
             + [('Module', 'line', executor['module']),
                ('Credential', 'line', executor['credential'])] + settings_of
             + [('Policy', 'line', record['policy']), (UNVERIFIED, 'text', record.get('claim', ''))])
    return unreadable_reason(parts) or long_reason(all_rows)
