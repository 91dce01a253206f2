# SPDX-License-Identifier: LGPL-2.1-or-later
"""THE CARD, Notes: what a row says about its value."""
import itertools
import re

from . import addresses, escaping, unidata

TOGETHER = ({'Latin', 'Han', 'Hiragana', 'Katakana'}, {'Latin', 'Han', 'Bopomofo'},
            {'Latin', 'Han', 'Hangul'})
WORDS = frozenset(('line', 'text', 'choice', 'account', 'path', 'email-list', 'line-list', 'argv',
                   'file', 'file-list'))


def runs_of(text, wanted):
    return [''.join(run) for good, run in itertools.groupby(text, key=wanted) if good]


def in_word(character):
    return (unidata.letter(character) or unidata.mark(character)
            or unidata.decimal_digit(character))


def letters(text):
    return [character for character in text if unidata.letter(character)]


def scripts_of(text):
    """The scripts of the letters, in the order in which they come."""
    found = dict.fromkeys(unidata.script(character) for character in letters(text))
    return [script for script in found if script not in ('Common', 'Inherited')]


def joined(scripts):
    names = [script.replace('_', ' ') for script in scripts]
    return ', '.join(names[:4]) + (' and more' if len(names) > 4 else '')


def mixing(pieces):
    for piece in pieces:
        for word in runs_of(piece, in_word):
            scripts = scripts_of(word)
            if len(scripts) > 1 and not any(set(scripts) <= group for group in TOGETHER):
                yield 'one word mixes letters of ' + joined(scripts)
                return


def not_latin(pieces):
    scripts = dict.fromkeys(script for piece in pieces for script in scripts_of(piece))
    others = [script for script in scripts if script != 'Latin']
    if others:
        yield 'letters that are not Latin: ' + joined(others)


def another_form(character):
    return ((unidata.letter(character) or unidata.decimal_digit(character))
            and unidata.decomposition(character).startswith(('<font>', '<wide>', '<narrow>')))


def not_composed(piece):
    hidden = runs_of(piece, lambda character: not unidata.shown(character))
    return all(len(run) <= 30 for run in hidden) and unidata.nfc(piece) != piece


def mark_alone(piece):
    based = False
    for character in piece:
        if unidata.mark(character):
            if not based:
                return True
        else:
            based = unidata.shown(character) and character != ' '
    return False


def any_character(pieces, good):
    return any(good(character) for piece in pieces for character in piece)


def most_marks(pieces):
    return max((len(run) for piece in pieces for run in runs_of(piece, unidata.mark)), default=0)


def passing(pieces):
    table = unidata.Tables.get().look_alikes
    found = dict.fromkeys(character for piece in pieces for character in piece if character in table)
    if found:
        yield 'characters that pass for others: ' + joined(
            ['U+%04X like %s' % (ord(character), table[character]) for character in found])


def hidden_notes(escapes, pieces):
    runs = [run for escaped in escapes for run in escaped.runs]
    if any(character not in escaping.QUIET for character, _ in runs):
        yield 'characters that have no picture or would mislead, written as \\u{\u2026}'
    if any_character(pieces, unidata.bidi_control):
        yield 'direction controls, which would reorder what is read'
    if any(character == ' ' for character, _ in runs):
        yield 'spaces at an end or in a row, written as \\u{0020}'


def word_notes(escapes, pieces):
    """The notes from the fourth on."""
    yield from hidden_notes(escapes, pieces)
    if any_character(pieces, lambda character: unidata.right_to_left(character)
                     and (unidata.shown(character) or unidata.mark(character))):
        yield 'right-to-left text'
    yield from mixing(pieces)
    yield from not_latin(pieces)
    if any_character(pieces, another_form):
        yield 'letters in a mathematical, full-width or half-width form'
    if any_character(pieces, lambda character: not character.isascii()
                     and unidata.decimal_digit(character)):
        yield 'digits other than 0 to 9'
    if any(not_composed(piece) for piece in pieces):
        yield 'not in Unicode normal form C: another spelling looks the same'
    if any(mark_alone(piece) for piece in pieces):
        yield 'a combining mark without a letter of its own'
    if most_marks(pieces) > 4:
        yield '%d combining marks on one letter' % most_marks(pieces)
    if any(re.search('[ij\u0131\u0237]\u0307', piece) for piece in pieces):
        yield 'a dot that its letter hides'
    if any_character(pieces, unidata.covers):
        yield 'a mark over or around its letter'
    yield from passing(pieces)


def count_note(kind, value):
    if kind not in ('email-list', 'line-list', 'argv') or len(value) <= 10:
        return
    if kind != 'email-list':
        yield '%d items' % len(value)
        return
    domains = {item.partition('@')[2] for item in value}
    if len(domains) == 1:
        yield '%d addresses, all at %s' % (len(value), domains.pop())
    else:
        yield '%d addresses at %d domains' % (len(value), len(domains))


def domains_of(kind, value):
    if kind == 'email-list':
        return [item.partition('@')[2] for item in value]
    if kind == 'email':
        return [value.partition('@')[2]]
    if kind == 'url':
        return [addresses.split_authority(addresses.url_host(value))[0]] if value else []
    return [re.sub(':[0-9]+$', '', value)] if kind in ('hostname', 'hostport') else []


def names_of(kind, value):
    if kind == 'path':
        return [value]
    if kind == 'file':
        return [value['name']]
    return [file['name'] for file in value] if kind == 'file-list' else []


def pieces_of(kind, value):
    if kind not in WORDS:
        return []
    if kind in ('file', 'file-list'):
        return names_of(kind, value)
    return value if isinstance(value, list) else [value]


def notes(kind, value, escapes):
    """The notes of a value, each once; `escapes` is how its parts stand in the row."""
    found = list(count_note(kind, value))
    for name in names_of(kind, value):
        if not name.isascii():
            found.append('characters outside ASCII: ' + escaping.as_ascii_name(name).text)
    if any(label.startswith('xn--')
           for domain in domains_of(kind, value) for label in domain.split('.')):
        found.append('an internationalised domain name (xn--)')
    if kind in WORDS:
        found += word_notes(escapes, pieces_of(kind, value))
    return list(dict.fromkeys(found))
