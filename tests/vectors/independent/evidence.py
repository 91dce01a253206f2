# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-receipt(7): THE RECEIPT, verified in the order of the page."""
from . import assertion, audit, digests, signed, texts
from .assertion import require
from .signed import DIGEST, ID, NUMBERED, TIME, anything, boolean, fits, listed, string

RECEIPT_LIMIT, BODY_LIMIT = 3 * 1024 * 1024, 256 * 1024
LIMITS = {'depth': 4, 'members': 1000, 'string': 512 * 1024}
RECEIPT = ('format', 'outcome', 'record', 'answers', 'audit')
SOURCES = ('executor', 'admin', 'broker', 'signed')
STATES = ('none', 'denied', 'withdrawn', 'expired', 'superseded', 'unreachable', 'refused',
          'executing', 'done', 'failed', 'unknown')
OR_NO_DIGEST = string(texts.or_empty(texts.pattern(texts.DIGEST)))
OUTCOME = {
    'format': string(texts.one_of('undersign.outcome/1')), 'host': ID, 'ledger': ID, 'key': DIGEST,
    'request': ID, 'record': OR_NO_DIGEST, 'state': string(texts.one_of(*STATES)),
    'source': string(texts.one_of('', *SOURCES)), 'by': string(), 'reason': string(),
    'result': string(), 'successor': string(texts.or_empty(texts.pattern(texts.ID))),
    'answers': listed(DIGEST),
    'entries': listed(lambda entry: fits(entry, {'seq': NUMBERED, 'hash': DIGEST})),
    'seq': NUMBERED, 'head': DIGEST, 'time': TIME,
}
ASSERTION = {'client_data': string(texts.bytes_between(0, 4096)),
             'auth_data': string(texts.bytes_between(0, 8192)),
             'signature': string(texts.bytes_between(0, 256))}
ANSWER = {
    'statement': string(), 'assertion': lambda value: fits(value, ASSERTION), 'key': anything,
    'kind': string(texts.one_of('hardware', 'unattested', 'synced', 'phone', 'software')),
    'origin': string(), 'backup_eligible': boolean, 'used': boolean,
}
OPEN, DOUBT = ('none', 'refused'), ('executing', 'unknown')
# event: the sources that may say so, the states that it may follow, the state that it makes
STORY = {
    'approved': (('signed',), OPEN, None),
    'refused': (('executor',), ('none',), 'refused'),
    'consumed': (('executor',), OPEN, 'executing'),
    'done': (('executor',), ('executing',), 'done'),
    'failed': (('executor',), ('executing',), 'failed'),
    'unknown': (('executor',), ('executing',), 'unknown'),
    'resolved': (('admin',), DOUBT, None),
    'denied': (('signed', 'broker'), OPEN, 'denied'),
    'superseded': (('executor', 'broker'), OPEN, 'superseded'),
    'withdrawn': (('broker',), OPEN, 'withdrawn'),
    'expired': (('broker',), OPEN, 'expired'),
    'unreachable': (('broker',), OPEN, 'unreachable'),
}


def read_receipt(data):
    data = data.removesuffix(b'\n')
    require(len(data) <= RECEIPT_LIMIT, 'too-large')
    receipt = signed.read(data, 'bad-receipt', **LIMITS)
    require(set(receipt) == set(RECEIPT) and receipt['format'] == 'undersign.receipt/1'
            and isinstance(receipt['record'], str), 'bad-receipt')
    return receipt


def read_outcome(host):
    body = signed.body_of(host, 'outcome')
    require(len(body) <= BODY_LIMIT, 'bad-json')
    outcome = signed.read(body, 'bad-receipt', **LIMITS)
    require(fits(outcome, OUTCOME) and outcome['key'] == signed.key_id(host['key']), 'bad-receipt')
    return outcome


def check_record(data, outcome):
    if data:
        require(digests.digest('record', data) == outcome['record'], 'record-changed')
        texts.read_record(data)


class Answer:
    """An answer of a receipt, with the statement that it gives."""

    def __init__(self, answer):
        require(fits(answer, ANSWER), 'bad-receipt')
        self.public_key = signed.read_key(answer['key'])
        data = answer['statement'].encode('utf-8')
        self.statement = texts.read_statement(data)
        self.answer, self.used = answer, answer['used']
        self.digest, self.challenge = digests.digest('statement', data), digests.challenge(data)
        self.decision, self.approver = self.statement['decision'], self.statement['approver']['name']

    def check_signature(self):
        arrived = self.answer['assertion']
        passkey = {'algorithm': self.answer['key']['algorithm'], 'public_key': self.public_key,
                   'origin': self.answer['origin'], 'rp': self.statement['rp'],
                   'backup_eligible': self.answer['backup_eligible'],
                   'counter': '0'}  # which no counter contradicts
        assertion.check({name: texts.unbase64(arrived[name]) for name in arrived}, passkey,
                        self.challenge)


def read_answers(answers):
    require(isinstance(answers, list), 'bad-receipt')
    return [Answer(answer) for answer in answers]


def check_answers(answers, outcome):
    require(len(answers) == len(outcome['answers']), 'statement-changed')
    for answer, digest in zip(answers, outcome['answers']):
        require(answer.statement['request'] == outcome['request']
                and answer.statement['record'] == outcome['record']
                and answer.digest == digest, 'statement-changed')
        answer.check_signature()


def read_entries(texts_of_entries, outcome):
    """The entries of this request, which are those that the outcome names."""
    require(len(texts_of_entries) == len(outcome['entries']), 'chain')
    entries, before, before_hash = [], 0, None
    for text, named in zip(texts_of_entries, outcome['entries']):
        entry, digest = audit.read_entry(text.encode('utf-8'))
        seq = int(entry['seq'])
        require(entry['seq'] == named['seq'] and digest == named['hash']
                and entry['details'].get('request') == outcome['request'], 'chain')
        require(before < seq <= int(outcome['seq']), 'chain')
        require(seq != before + 1 or before_hash in (None, entry['previous']), 'chain')
        require(entry['seq'] != outcome['seq'] or digest == outcome['head'], 'chain')
        entries.append(entry)
        before, before_hash = seq, digest
    return entries


def detail(entry, name, absent=''):
    """A member of the details; what is no string is not there."""
    value = entry['details'].get(name)
    return value if isinstance(value, str) else absent


def next_state(entry, state, outcome):
    """The state after an entry, None where it stays as it was."""
    require(entry['event'] in STORY, 'bad-outcome')
    sources, after, made = STORY[entry['event']]
    require(entry['source'] in sources and state in after, 'bad-outcome')
    if entry['event'] == 'resolved':
        made = detail(entry, 'outcome')
        require(made in ('done', 'failed'), 'bad-outcome')
    if made and outcome['record']:
        require(detail(entry, 'record', outcome['record']) == outcome['record'], 'bad-outcome')
    return made


def check_story(entries, outcome):
    """That the entries tell how the request came to its end; the entry that made it so."""
    state, last = 'none', None
    for entry in entries:
        made = next_state(entry, state, outcome)
        if made:
            state, last = made, entry
    require(outcome['state'] == state or (outcome['state'], state) == ('unknown', 'executing'),
            'bad-outcome')
    said = {'source': '', 'by': '', 'reason': '', 'result': ''}
    if last:
        said = {name: detail(last, name) for name in said}
        said['source'] = last['source']
        if last['event'] == 'resolved':
            said['by'] = ''
    require(all(outcome[name] == word for name, word in said.items()), 'bad-outcome')
    return last


def check_used(answers, entries):
    """That the approvers of what was used are those whom the entry names that used it up."""
    used = [answer for answer in answers if answer.used]
    require(all(answer.decision == 'approve' for answer in used), 'bad-outcome')
    named = [name for entry in entries if entry['event'] == 'consumed' and detail(entry, 'approvers')
             for name in detail(entry, 'approvers').split(' ')]
    require(sorted(answer.approver for answer in used) == sorted(named)
            and len(set(named)) == len(named), 'bad-outcome')


def check_signed(answers, entries, last, outcome):
    """That each answer has its entry, and a signed denial its answer."""
    events = {'approve': 'approved', 'deny': 'denied'}
    noted = [(entry['event'], detail(entry, 'statement')) for entry in entries
             if entry['source'] == 'signed']
    require(all((events[answer.decision], answer.digest) in noted for answer in answers),
            'bad-outcome')
    if last and (last['event'], last['source']) == ('denied', 'signed'):
        require(any(answer.decision == 'deny' and answer.approver == outcome['by']
                    and answer.digest == detail(last, 'statement') for answer in answers),
                'bad-outcome')


def verify_receipt(data, keys):
    """Whether the key of every signature in the receipt is one of those whose ids are given."""
    receipt = read_receipt(data)
    outcome = read_outcome(receipt['outcome'])
    check_record(receipt['record'].encode('utf-8'), outcome)
    answers = read_answers(receipt['answers'])
    require(listed(string())(receipt['audit']), 'bad-receipt')
    check_answers(answers, outcome)
    entries = read_entries(receipt['audit'], outcome)
    last = check_story(entries, outcome)
    check_used(answers, entries)
    check_signed(answers, entries, last, outcome)
    signers = [receipt['outcome']['key']] + [answer.answer['key'] for answer in answers]
    return all(signed.key_id(key) in keys for key in signers)
