# SPDX-License-Identifier: LGPL-2.1-or-later
"""THE RECORD and THE STATEMENT: reading and checking their bytes."""
import base64
import re

from . import addresses, json_text, values
from .refusal import Refused

NAME = r'[a-z][a-z0-9_-]{0,63}'
ACTION = re.compile(r'[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+')
CREDENTIAL = re.compile(r'[a-z0-9][a-z0-9._-]{0,63}')
UID = re.compile(r'0|[1-9][0-9]{0,9}')
ID = re.compile(r'[0-9a-f]{32}')
DIGEST = re.compile(r'sha256:[0-9a-f]{64}')
BASE64URL = re.compile(r'[A-Za-z0-9_-]*')
ENTRIES_LIMIT, CLAIM_LIMIT, ALL_FILES_LIMIT = 256, 2000, 67108864


def unbase64(text):
    """The bytes of base64url as the page spells it; None for anything else."""
    if not BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
    return data if base64url(data) == text else None


def base64url(data):
    return base64.urlsafe_b64encode(data).decode('ascii').rstrip('=')


def bytes_between(least, most):
    def good(text):
        data = unbase64(text)
        return data is not None and least <= len(data) <= most
    return good


def of_type(kind, most=None):
    def good(text):
        try:
            values.check(kind, text)
        except Refused:
            return False
        return text != '' and (most is None or values.size_of(text) <= most)
    return good


def pattern(expression):
    return lambda text: re.fullmatch(expression, text) is not None


def one_of(*words):
    return lambda text: text in words


def or_empty(good):
    return lambda text: text == '' or good(text)


def action(text):
    return ACTION.fullmatch(text) is not None and len(text) <= 128


def uid(text):
    return UID.fullmatch(text) is not None and int(text) <= 4294967294


def relying_party(text):
    prefix, colon, rest = text.partition(':')
    if colon:
        return prefix == 'undersign' and ID.fullmatch(rest) is not None
    return addresses.host_name(text) or addresses.ipv4(text)


USER, LABEL, TIME = of_type('account'), of_type('line', 200), of_type('timestamp')
INITIATOR = {'name': USER, 'uid': uid}
RECORD = {
    'format': one_of('undersign.record/1'), 'host': pattern(ID),
    'agent': {'name': pattern(NAME), 'uid': uid, 'owner': USER, 'part': pattern(NAME)},
    'run': {'id': pattern(ID), 'label': or_empty(LABEL), 'initiator': INITIATOR},
    'action': {'id': action, 'summary': LABEL,
               'effect': one_of('irreversible', 'reversible', 'read')},
    'arguments': None, 'facts': None,
    'executor': {'module': pattern(NAME), 'credential': or_empty(pattern(CREDENTIAL)),
                 'settings': None},
    'claim': None, 'policy': pattern(DIGEST),
}
STATEMENT = {
    'format': one_of('undersign.statement/1'), 'decision': one_of('approve', 'deny'),
    'request': pattern(ID), 'record': pattern(DIGEST), 'approver': {'name': USER, 'uid': uid},
    'credential': bytes_between(1, 1023), 'rp': relying_party, 'seal': bytes_between(32, 32),
    'nonce': bytes_between(32, 32), 'issued': TIME, 'expires': TIME,
    'supersedes': {'request': pattern(ID), 'digest': pattern(DIGEST)},
}
OPTIONAL = frozenset(('claim', 'initiator', 'supersedes'))


def check_members(value, shape, reason):
    """That an object and those in it have the members of the shape and no others."""
    if not isinstance(value, dict) or set(value) - set(shape) \
            or set(shape) - set(value) - OPTIONAL:
        raise Refused(reason)
    for name, inner in shape.items():
        if isinstance(inner, dict) and name in value:
            check_members(value[name], inner, reason)


def check_strings(value, shape, reason):
    for name, good in shape.items():
        if name not in value or good is None:
            continue
        if isinstance(good, dict):
            check_strings(value[name], good, reason)
        elif not isinstance(value[name], str) or not good(value[name]):
            raise Refused(reason)


def check_claim(record):
    if 'claim' not in record:
        return
    claim = record['claim']
    if not isinstance(claim, str) or claim == '':
        raise Refused('bad-record')
    if values.size_of(claim) > CLAIM_LIMIT:
        raise Refused('too-large')
    values.check('text', claim)


def check_entry(entry, names, section):
    members = {'name', 'label', 'type', 'value'} | ({'recheck'} if section == 'facts' else set())
    if not isinstance(entry, dict) or set(entry) != members \
            or not all(isinstance(entry[name], str) for name in ('name', 'label', 'type')) \
            or not isinstance(entry.get('recheck', False), bool):
        raise Refused('bad-record')
    if not re.fullmatch(NAME, entry['name']) or entry['name'] in names \
            or not LABEL(entry['label']) or entry['type'] not in values.TYPES \
            or (section != 'arguments' and entry['type'] in values.FILE_TYPES):
        raise Refused('bad-record')
    names.add(entry['name'])
    values.check(entry['type'], entry['value'])


def check_entries(entries, section):
    if not isinstance(entries, list):
        raise Refused('bad-record')
    if len(entries) > ENTRIES_LIMIT:
        raise Refused('too-large')
    names = set()
    for entry in entries:
        check_entry(entry, names, section)


def check_files(record):
    files = []
    for entry in record['arguments']:
        if entry['type'] == 'file':
            files.append(entry['value'])
        elif entry['type'] == 'file-list':
            files += entry['value']
    if len(files) > values.FILES_LIMIT \
            or sum(int(file['size']) for file in files) > ALL_FILES_LIMIT:
        raise Refused('too-large')


def check_canonical(data, value, reason):
    if json_text.canonical(value) != data:
        raise Refused(reason)


def read_record(data):
    """The record that the bytes are, checked in the order of the page."""
    if len(data) > 262144:
        raise Refused('too-large')
    record = json_text.read(data)
    check_members(record, RECORD, 'bad-record')
    check_strings(record, RECORD, 'bad-record')
    check_claim(record)
    check_entries(record['arguments'], 'arguments')
    check_entries(record['facts'], 'facts')
    check_entries(record['executor']['settings'], 'settings')
    check_files(record)
    check_canonical(data, record, 'bad-record')
    return record


def read_statement(data):
    if len(data) > 4096:
        raise Refused('too-large')
    statement = json_text.read(data, depth=2, members=16)
    check_members(statement, STATEMENT, 'bad-statement')
    check_strings(statement, STATEMENT, 'bad-statement')
    check_canonical(data, statement, 'bad-statement')
    return statement
