# SPDX-License-Identifier: LGPL-2.1-or-later
"""THE CARD: the rows of a record, and whether it can only be denied."""
from . import addresses, escaping, values
from .notes import notes

EFFECTS = {'irreversible': 'cannot be undone', 'reversible': 'can be undone',
           'read': 'only reads'}
WORD_NONE = 'the word none: the value is not empty'
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

    def add_file(self, file, prefix=''):
        self.add(escaping.as_name(file['name']), prefix + '"%s"')
        self.lines += [bytes_line(file['size']), 'sha256 ' + file['sha256']]


def list_lines(lines, kind, value):
    for number, item in enumerate(value, 1):
        if kind == 'file-list':
            lines.add_file(item, '%d: ' % number)
        elif kind == 'argv':
            lines.add(escaping.as_line(item), '%d: "%%s"' % number)
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


def row(section, label, lines, name='', kind='', noted=(), empty=False):
    return {'section': section, 'name': name, 'label': escaping.as_line(label).text, 'type': kind,
            'lines': lines, 'notes': list(noted), 'empty': empty}


def value_row(section, label, kind, value, name=''):
    lines, empty = lines_of(kind, value), values.empty(kind, value)
    word = [WORD_NONE] if lines.lines == ['none'] and not empty else []
    return row(section, label, lines.lines, name, kind, word + notes(kind, value, lines.escapes),
               empty)


def entry_row(section, entry):
    made = value_row(section, entry['label'], entry['type'], entry['value'], entry['name'])
    if entry.get('recheck'):
        made['notes'].append(RECHECK)
    return made


def line(text):
    return escaping.as_line(text).text


def summary(record):
    agent, run, action = record['agent'], record['run'], record['action']
    initiator = run.get('initiator')
    started = [initiator['name'], 'uid ' + initiator['uid']] if initiator else ['the agent itself']
    lines = (
        ('Action', [line(action['summary']), action['id']]),
        ('Agent', [agent['name'], 'uid ' + agent['uid'], 'part ' + agent['part']]),
        ('Acting for', [agent['owner']]),
        ('Run', ([line(run['label'])] if run['label'] else []) + ['id ' + run['id']]),
        ('Started by', started),
        ('Effect', [EFFECTS[action['effect']]]),
        ('Host', [record['host']]),
    )
    return [row('summary', label, words) for label, words in lines]


def settings(record):
    executor = record['executor']
    credential = executor['credential']
    return ([row('setting', 'Module', [executor['module']]),
             row('setting', 'Credential', [credential or 'none'], empty=credential == '')]
            + [entry_row('setting', entry) for entry in executor['settings']]
            + [row('setting', 'Policy', [record['policy']])])


def rows(record, changes=()):
    """The card; `changes` are the rows of what it replaces, where it replaces anything."""
    return (summary(record) + list(changes)
            + [entry_row('argument', entry) for entry in record['arguments']]
            + [entry_row('fact', entry) for entry in record['facts']]
            + settings(record)
            + [value_row('claim', 'The agent says, unverified', 'text', record.get('claim', ''))])


def too_long(all_rows):
    return sum(1 + len(text) // 80 for made in all_rows for text in made['lines']) > 4000


def deny_only(record, all_rows):
    entries = record['arguments'] + record['facts'] + record['executor']['settings']
    parts = [(entry['type'], entry['value']) for entry in entries]
    parts += [('text', record.get('claim', '')), ('line', record['action']['summary']),
              ('line', record['run']['label'])]
    return too_long(all_rows) or any(unreadable(lines_of(*part)) for part in parts)
