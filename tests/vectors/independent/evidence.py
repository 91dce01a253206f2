# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-receipt(7): keys, what the host key has signed, the audit log, and receipts."""
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519

from . import assertion, digests, json_text, texts
from .refusal import Refused

TIME = re.compile(r'[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z')
NUMBER = re.compile(r'0|[1-9][0-9]*')
SIZES = {'ES256': 64, 'EdDSA': 32}
KINDS = ('hardware', 'unattested', 'synced', 'phone', 'software')
SOURCES = ('executor', 'admin', 'broker', 'signed')
STATES = ('none', 'denied', 'withdrawn', 'expired', 'superseded', 'unreachable', 'refused',
          'executing', 'done', 'failed', 'unknown')
OPEN = ('none', 'refused')
# The table: sources, states before, state after; None leaves it as it was.
EVENTS = {
    'approved': (('signed',), OPEN, None),
    'refused': (('executor',), ('none',), 'refused'),
    'consumed': (('executor',), OPEN, 'executing'),
    'done': (('executor',), ('executing',), 'done'),
    'failed': (('executor',), ('executing',), 'failed'),
    'unknown': (('executor',), ('executing',), 'unknown'),
    'resolved': (('admin',), ('executing', 'unknown'), ''),
    'denied': (('signed', 'broker'), OPEN, 'denied'),
    'superseded': (('executor', 'broker'), OPEN, 'superseded'),
    'withdrawn': (('broker',), OPEN, 'withdrawn'),
    'expired': (('broker',), OPEN, 'expired'),
    'unreachable': (('broker',), OPEN, 'unreachable'),
}


def require(condition, reason):
    if not condition:
        raise Refused(reason)


def only_ours(value):
    """Whether nothing occurs but objects, arrays, strings and booleans."""
    if isinstance(value, dict):
        return all(only_ours(inner) for inner in value.values())
    if isinstance(value, list):
        return all(only_ours(inner) for inner in value)
    return isinstance(value, (str, bool))


def longest_string(value):
    if isinstance(value, dict):
        return max([0] + [longest_string(inner) for pair in value.items() for inner in pair])
    if isinstance(value, list):
        return max([0] + [longest_string(inner) for inner in value])
    return len(value.encode('utf-8')) if isinstance(value, str) else 0


def read(data, reason, size, items=1000):
    """A text of our kind, and of the bounds that the page gives it."""
    require(len(data) <= size, 'bad-json')
    value = json_text.read(data, depth=4, members=items)
    require(longest_string(value) <= 524288 or size == 1048576, 'bad-json')
    require(only_ours(value) and json_text.canonical(value) == data, reason)
    return value


def members(value, names, reason, strings=True):
    require(isinstance(value, dict) and set(value) == set(names), reason)
    for name in names if strings else ():
        require(isinstance(value[name], str), reason)


def is_number(text, least=1):
    return bool(NUMBER.fullmatch(text)) and least <= int(text) < 1 << 63


def is_time(text):
    return bool(TIME.fullmatch(text)) and texts.of_type('timestamp')(text)


def is_digest(text):
    return bool(texts.DIGEST.fullmatch(text))


def is_id(text):
    return bool(texts.ID.fullmatch(text))


def key_id(key):
    return digests.digest('key', json_text.canonical(key))


def check_key(key):
    members(key, ('algorithm', 'format', 'public_key'), 'bad-key')
    require(key['format'] == 'undersign.key/1', 'bad-key')
    public = texts.unbase64(key['public_key'])
    require(public is not None and SIZES.get(key['algorithm']) == len(public), 'bad-key')
    return public


def signed_body(value, kind):
    """The bytes that the host key has signed, and the id of that key."""
    names = ('body', 'format', 'key', 'signature', 'type')
    members(value, names, 'bad-signed', strings=False)
    require(all(isinstance(value[name], str) for name in names if name != 'key'), 'bad-signed')
    require(value['format'] == 'undersign.signed/1' and
            value['type'] == 'application/vnd.undersign.%s.v1+json' % kind, 'bad-signed')
    public = check_key(value['key'])
    signature = texts.unbase64(value['signature'])
    require(value['key']['algorithm'] == 'EdDSA' and signature is not None
            and len(signature) == 64, 'bad-signed')
    body = value['body'].encode('utf-8')
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature,
                                                                  digests.pae(kind, body))
    except (InvalidSignature, ValueError):
        raise Refused('signature') from None
    return body, key_id(value['key'])


def read_outcome(body, signer):
    names = ('answers', 'by', 'entries', 'format', 'head', 'host', 'key', 'ledger', 'reason',
             'record', 'request', 'result', 'seq', 'source', 'state', 'successor', 'time')
    outcome = read(body, 'bad-receipt', 262144)
    members(outcome, names, 'bad-receipt', strings=False)
    require(all(isinstance(outcome[name], str) for name in names
                if name not in ('answers', 'entries')), 'bad-receipt')
    require(isinstance(outcome['answers'], list) and isinstance(outcome['entries'], list),
            'bad-receipt')
    for text in outcome['answers']:
        require(isinstance(text, str) and is_digest(text), 'bad-receipt')
    for link in outcome['entries']:
        members(link, ('hash', 'seq'), 'bad-receipt')
        require(is_digest(link['hash']) and is_number(link['seq']), 'bad-receipt')
    require(outcome['format'] == 'undersign.outcome/1' and is_id(outcome['host'])
            and is_id(outcome['ledger']) and is_id(outcome['request'])
            and outcome['record'] in ('',) + ((outcome['record'],) if is_digest(outcome['record'])
                                              else ())
            and (outcome['successor'] == '' or is_id(outcome['successor']))
            and outcome['state'] in STATES and outcome['source'] in ('',) + SOURCES
            and is_number(outcome['seq']) and is_digest(outcome['head'])
            and is_time(outcome['time']), 'bad-receipt')
    require(outcome['key'] == signer, 'bad-receipt')
    return outcome


def read_answer(answer):
    names = ('assertion', 'backup_eligible', 'key', 'kind', 'origin', 'statement', 'used')
    members(answer, names, 'bad-receipt', strings=False)
    require(isinstance(answer['backup_eligible'], bool) and isinstance(answer['used'], bool)
            and isinstance(answer['origin'], str) and isinstance(answer['statement'], str)
            and answer['kind'] in KINDS, 'bad-receipt')
    arrived = {}
    members(answer['assertion'], ('auth_data', 'client_data', 'signature'), 'bad-receipt')
    for name, most in (('auth_data', 8192), ('client_data', 4096), ('signature', 256)):
        arrived[name] = texts.unbase64(answer['assertion'][name])
        require(arrived[name] is not None and len(arrived[name]) <= most, 'bad-receipt')
    public = check_key(answer['key'])
    data = answer['statement'].encode('utf-8')
    return {'arrived': arrived, 'public': public, 'data': data, 'given': answer,
            'statement': texts.read_statement(data), 'digest': digests.digest('statement', data)}


def check_answers(outcome, answers):
    require(len(answers) == len(outcome['answers']), 'statement-changed')
    for answer, known in zip(answers, outcome['answers']):
        statement = answer['statement']
        require(statement['request'] == outcome['request']
                and statement['record'] == outcome['record'] and answer['digest'] == known,
                'statement-changed')
        passkey = {'algorithm': answer['given']['key']['algorithm'], 'public_key': answer['public'],
                   'rp': statement['rp'], 'origin': answer['given']['origin'], 'counter': '0',
                   'backup_eligible': answer['given']['backup_eligible']}
        try:
            assertion.check(answer['arrived'], passkey, digests.challenge(answer['data']))
        except Refused as refused:
            if refused.reason != 'counter':
                raise


def read_entry(data):
    """An entry of the audit log, with its hash."""
    names = ('details', 'event', 'format', 'previous', 'seq', 'source', 'time')
    try:
        entry = read(data, 'chain', 1048576, 256)
    except Refused:
        raise Refused('chain') from None
    members(entry, names, 'chain', strings=False)
    require(all(isinstance(entry[name], str) for name in names if name != 'details')
            and isinstance(entry['details'], dict) and entry['format'] == 'undersign.audit/1'
            and entry['source'] in SOURCES and is_time(entry['time'])
            and is_number(entry['seq']) and is_digest(entry['previous']), 'chain')
    return entry, digests.digest('audit', data)


def check_entries(outcome, audit):
    require(len(audit) == len(outcome['entries']), 'chain')
    entries, before = [], None
    for text, link in zip(audit, outcome['entries']):
        entry, its_hash = read_entry(text.encode('utf-8'))
        seq = int(entry['seq'])
        require(entry['seq'] == link['seq'] and its_hash == link['hash'], 'chain')
        require(entry['details'].get('request') == outcome['request'], 'chain')
        require(seq <= int(outcome['seq']), 'chain')
        if before is not None:
            require(seq > before[0], 'chain')
            require(seq != before[0] + 1 or entry['previous'] == before[1], 'chain')
        require(seq != int(outcome['seq']) or its_hash == outcome['head'], 'chain')
        before = seq, its_hash
        entries.append(entry)
    return entries


def text_of(details, name):
    value = details.get(name, '')
    return value if isinstance(value, str) else ''


def follow(outcome, entries):
    """How the request came to its end, as its entries tell."""
    story = {'state': 'none', 'source': '', 'by': '', 'reason': '', 'result': ''}
    for entry in entries:
        require(entry['event'] in EVENTS, 'bad-outcome')
        sources, states, state = EVENTS[entry['event']]
        details = entry['details']
        require(entry['source'] in sources and story['state'] in states, 'bad-outcome')
        if state is None:
            continue
        if 'record' in details and outcome['record']:
            require(details['record'] == outcome['record'], 'bad-outcome')
        if state == '':
            state = details.get('outcome')
            require(state in ('done', 'failed'), 'bad-outcome')
        story = {name: text_of(details, name) for name in ('by', 'reason', 'result')}
        story.update(state=state, source=entry['source'])
        if entry['event'] == 'resolved':
            story['by'] = ''
    return story


def check_outcome(outcome, story):
    died = story['state'] == 'executing' and outcome['state'] == 'unknown'
    require(died or outcome['state'] == story['state'], 'bad-outcome')
    for name in ('source', 'by', 'reason', 'result'):
        require(outcome[name] == story[name], 'bad-outcome')


def check_used(answers, entries):
    named = [name for entry in entries if entry['event'] == 'consumed'
             for name in text_of(entry['details'], 'approvers').split(' ') if name]
    used = [answer for answer in answers if answer['given']['used']]
    require(all(answer['statement']['decision'] == 'approve' for answer in used), 'bad-outcome')
    names = [answer['statement']['approver']['name'] for answer in used]
    require(sorted(names) == sorted(named) and len(set(names)) == len(names), 'bad-outcome')


def check_decisions(outcome, answers, entries):
    told = {(entry['event'], entry['details'].get('statement')) for entry in entries
            if entry['source'] == 'signed'}
    for answer in answers:
        event = {'approve': 'approved', 'deny': 'denied'}[answer['statement']['decision']]
        require((event, answer['digest']) in told, 'bad-outcome')
    for event, statement in told:
        if event == 'denied':
            require(any(answer['digest'] == statement
                        and answer['statement']['decision'] == 'deny'
                        and answer['statement']['approver']['name'] == outcome['by']
                        for answer in answers), 'bad-outcome')


def verify_receipt(data, keys):
    """Whether every key that signs in it was given; refuses a receipt that does not hold."""
    data = data[:-1] if data.endswith(b'\n') else data
    require(len(data) <= 3145728, 'too-large')
    receipt = read(data, 'bad-receipt', 3145728)
    members(receipt, ('answers', 'audit', 'format', 'outcome', 'record'), 'bad-receipt',
            strings=False)
    require(receipt['format'] == 'undersign.receipt/1' and isinstance(receipt['record'], str),
            'bad-receipt')
    outcome = read_outcome(*signed_body(receipt['outcome'], 'outcome'))
    if receipt['record']:
        record = receipt['record'].encode('utf-8')
        require(digests.digest('record', record) == outcome['record'], 'record-changed')
        texts.read_record(record)
    require(isinstance(receipt['answers'], list), 'bad-receipt')
    answers = [read_answer(answer) for answer in receipt['answers']]
    require(isinstance(receipt['audit'], list)
            and all(isinstance(text, str) for text in receipt['audit']), 'bad-receipt')
    check_answers(outcome, answers)
    entries = check_entries(outcome, receipt['audit'])
    check_outcome(outcome, follow(outcome, entries))
    check_used(answers, entries)
    check_decisions(outcome, answers, entries)
    return all(known in keys for known in
               [outcome['key']] + [key_id(answer['given']['key']) for answer in answers])
