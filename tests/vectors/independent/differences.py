# SPDX-License-Identifier: LGPL-2.1-or-later
"""THE CARD, Differences: the rows of a card that replaces an older record."""
from .card import lines_of, row, says, value_notes

BEFORE = (('action/summary', 'Action'), ('action/id', 'Action id'), ('action/effect', 'Effect'),
          ('agent/name', 'Agent'), ('agent/uid', 'Agent uid'), ('agent/part', 'Part'),
          ('agent/owner', 'Acting for'), ('run/label', 'Run'), ('run/id', 'Run id'),
          ('run/initiator/name', 'Started by'), ('run/initiator/uid', 'Started by uid'),
          ('host', 'Host'))
MIDDLE = (('executor/module', 'Module'), ('executor/credential', 'Credential'))
AFTER = (('policy', 'Policy'), ('claim', 'The agent says'))


def at_path(record, path):
    """A (type, value) pair, or None where nothing stands there."""
    value = record
    for name in path.split('/'):
        if name not in value:
            return None
        value = value[name]
    return ('text' if path == 'claim' else 'line', value)


NOT_THERE = '(not there)'


def side(word, pair):
    """The lines and the notes of one value, or that it is not there."""
    if pair is None:
        return [word + NOT_THERE], []
    lines = lines_of(*pair)
    noted = ['the words (not there): the value is there'] if says(lines.lines, NOT_THERE) else []
    noted += value_notes(*pair, lines)
    return [word + text for text in lines.lines], [word + text for text in noted]


def change(path, label, old, new):
    """The row of a difference between two pairs; None where there is none."""
    if old == new:
        return None
    old_lines, old_notes = side('old: ', old)
    new_lines, new_notes = side('new: ', new)
    return row('change', label, old_lines + new_lines, path, new[0] if new else '',
               old_notes + new_notes)


def fields(old, new, paths):
    return [change(path, label, at_path(old, path), at_path(new, path)) for path, label in paths]


def pair_of(entry):
    return (entry['type'], entry['value']) if entry else None


def value_change(path, label, old, new):
    if old and new and old['value'] == new['value']:
        return None
    return change(path, label, pair_of(old), pair_of(new))


def entry_changes(array, old, new):
    label, path = (new or old)['label'], array + '/' + (new or old)['name']
    found = [value_change(path, label, old, new)]
    if old and new:
        for member, kind in (('label', 'line'), ('type', 'line'), ('recheck', 'boolean')):
            if member in new:
                found.append(change(path + '/' + member, label + ', its ' + member,
                                    (kind, old[member]), (kind, new[member])))
    return found


def entries(array, old, new):
    before = {entry['name']: entry for entry in old}
    after = {entry['name']: entry for entry in new}
    found = []
    for name in list(after) + [name for name in before if name not in after]:
        found += entry_changes(array, before.get(name), after.get(name))
    orders = [('line-list', [name for name in one if name in other])
              for one, other in ((before, after), (after, before))]
    found.append(change(array, 'Order of ' + array, *orders))
    return found


def changes(old, new):
    found = fields(old, new, BEFORE)
    for array in ('arguments', 'facts'):
        found += entries(array, old[array], new[array])
    found += fields(old, new, MIDDLE)
    found += entries('settings', old['executor']['settings'], new['executor']['settings'])
    found += fields(old, new, AFTER)
    return [made for made in found if made] or [
        row('change', 'Changed', ['nothing: this is the same action once more'])]
