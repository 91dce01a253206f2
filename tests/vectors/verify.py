#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds the vectors of record/ against an implementation of its own.

This program and the package beside it, independent/, were written from undersign-record(7) and
undersign-receipt(7) alone, without a look at the source of Undersign or at what computes the
vectors. It needs Python's standard library, the package cryptography and version 15.0.0 of the
Unicode Character Database.

It prints a line for each mismatch and says at the end how many vectors passed. It fails on any
mismatch, and where a vector is there that it has not checked.
"""
import json
import os
import sys

from independent import (assertion, card, differences, digests, evidence, json_text, texts, unidata,
                         values)
from independent.refusal import Refused

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'record')
SKIPPED = 77


def verdict_of(function, *arguments):
    """The verdict word, the named spelling, and what the function gave."""
    try:
        return 'ok', None, function(*arguments)
    except Refused as refused:
        return refused.reason, refused.canonical, None


class Vectors:
    """The files, the good records and statements in them, and the score."""

    def __init__(self, folder):
        self.files = {name: self.load(os.path.join(folder, name)) for name in os.listdir(folder)}
        self.passed = self.failed = 0
        self.records = {case['id']: case for case in self.files['records.json']}
        self.statements = {case['id']: case for case in self.files['statements.json']}

    @staticmethod
    def load(path):
        with open(path, encoding='ascii') as file:
            return json.load(file)

    def score(self, file, case, mismatches):
        """One vector is checked: each mismatch is what, what was expected, what came."""
        bad = [mismatch for mismatch in mismatches if mismatch[1] != mismatch[2]]
        for what, expected, got in bad:
            print('%s %s: %s: expected %.300r, got %.300r' % (file, case['id'], what, expected,
                                                              got))
        if bad:
            self.failed += 1
        else:
            self.passed += 1

    def total(self):
        """How many vectors exist; assertions and their verdicts count both."""
        count = 0
        for content in self.files.values():
            lists = content.values() if isinstance(content, dict) else [content]
            count += sum(len(cases) for cases in lists)
        return count


def times_of(case):
    return int(case.get('times', '1'))


def of_bytes(case, cases, member):
    """The bytes of a vector: from its input, by a replacement, or as they stand."""
    if 'of' in case:
        text = cases[case['of']][member]
        for step in [case] + case.get('also', []):
            assert step['from'] in text, case['id']
            text = text.replace(step['from'], step['to'] * times_of(step), 1)
        return text.encode('utf-8')
    if member + '_hex' in case:
        return bytes.fromhex(case[member + '_hex'])
    return case[member].encode('utf-8')


def filled_in(value, records):
    """An input with the digests in it that it names."""
    if not isinstance(value, dict):
        return value
    if set(value) == {'digest_of'}:
        return digests.digest('record', json_text.canonical(records[value['digest_of']]['input']))
    return {name: filled_in(inner, records) for name, inner in value.items()}


def value_mismatches(case):
    value = case['value'] * times_of(case) if 'times' in case else case['value']
    word, canonical, _ = verdict_of(values.check, case['type'], value)
    return [('verdict', case['verdict'], word), ('canonical', case.get('canonical'), canonical)]


def check_values(vectors, file):
    for case in vectors.files[file]:
        vectors.score(file, case, value_mismatches(case))


def check_policy(vectors, file):
    for case in vectors.files[file]:
        body = digests.policy_body(case['files'])
        vectors.score(file, case, [('preimage', case['preimage'], body.decode('utf-8')),
                                   ('digest', case['digest'], digests.digest('policy', body))])


def record_results(case, data, record):
    """What is computed from a good record, by its bytes and by what was decoded from them."""
    digest = digests.digest('record', data)
    return [
        ('record', case['record'].encode('utf-8'), json_text.canonical(case['input'])),
        ('decoded', case['input'], record),
        ('digest', case['digest'], digest),
        ('fingerprint', case['fingerprint'], digests.fingerprint(digest)),
        ('intent', case['intent'], digests.digest('intent', digests.intent_body(record))),
    ]


def pairs(case, records):
    """Good records differ in all three digests, but for the intent of the one that is named."""
    for other in records.values():
        if 'input' not in other or other['id'] == case['id']:
            continue
        for member in ('digest', 'fingerprint', 'intent'):
            named = member == 'intent' and case['id'] in (other.get('same_intent'), other['id'])
            same = named or (member == 'intent' and case.get('same_intent') == other['id'])
            yield member + ' as of ' + other['id'], same, case[member] == other[member]


def check_records(vectors, file):
    for case in vectors.files[file]:
        data = of_bytes(case, vectors.records, 'record')
        word, _, record = verdict_of(texts.read_record, data)
        mismatches = [('verdict', case['verdict'], word)]
        if 'input' in case and record is not None:
            mismatches += record_results(case, data, record)
            mismatches += pairs(case, vectors.records)
        vectors.score(file, case, mismatches)


def check_statements(vectors, file):
    for case in vectors.files[file]:
        data = of_bytes(case, vectors.statements, 'statement')
        word, _, statement = verdict_of(texts.read_statement, data)
        mismatches = [('verdict', case['verdict'], word)]
        if 'input' in case:
            expected = filled_in(case['input'], vectors.records)
            mismatches += [
                ('statement', data, json_text.canonical(expected)),
                ('decoded', expected, statement),
                ('challenge', case['challenge'], digests.challenge(data).hex()),
            ]
        vectors.score(file, case, mismatches)


def check_passkeys(vectors, file, verdicts, judged):
    """Whether the key of a passkey is good; each is that of a statement by its credential."""
    passkeys = {}
    for case in vectors.files[file]['passkeys']:
        passkey = dict(case, public_key=texts.unbase64(case['public_key']))
        judged[case['id']], _, _ = verdict_of(assertion.load_key, passkey)
        statements = [good['input'] for good in vectors.statements.values() if 'input' in good]
        named = [(case['credential'], case['rp'])] == list(
            {(one['credential'], one['rp']) for one in statements
             if one['credential'] == case['credential']})
        vectors.score(file, case, [('public key', verdicts.get(case['id']), judged[case['id']]),
                                   ('in a statement', True, named)])
        passkeys[case['id']] = passkey
    return passkeys


def check_assertions(vectors, file):
    verdicts_file = 'assertion-verdicts.json'
    verdicts = {case['id']: case['verdict'] for case in vectors.files[verdicts_file]}
    judged = {}
    passkeys = check_passkeys(vectors, file, verdicts, judged)
    for case in vectors.files[file]['assertions']:
        arrived = {name: texts.unbase64(case[name])
                   for name in ('client_data', 'auth_data', 'signature')}
        data = vectors.statements[case['statement']]['statement'].encode('utf-8')
        judged[case['id']], _, _ = verdict_of(assertion.check, arrived, passkeys[case['passkey']],
                                              digests.challenge(data))
        credential = json.loads(data)['credential']
        vectors.score(file, case, [
            ('verdict', verdicts.get(case['id']), judged[case['id']]),
            ('credential', passkeys[case['passkey']]['credential'], credential),
        ])
    for case in vectors.files[verdicts_file]:
        vectors.score(verdicts_file, case,
                      [('verdict', case['verdict'], judged.get(case['id']))])


def good_record(vectors, name):
    return texts.read_record(of_bytes(vectors.records[name], vectors.records, 'record'))


def check_rows(vectors, file):
    for case in vectors.files[file]:
        record = good_record(vectors, case['record'])
        changes = []
        if 'superseded' in case:
            changes = differences.changes(good_record(vectors, case['superseded']), record)
        rows = card.rows(record, changes)
        mismatches = [('deny-only', case.get('deny_only'), card.deny_only(record, rows))]
        if 'rows' in case:
            rows = [row for row in rows if row['section'] == case.get('section', row['section'])]
            mismatches += [('row %d' % number, expected, got)
                           for number, (expected, got) in enumerate(zip(case['rows'], rows), 1)]
            mismatches.append(('number of rows', len(case['rows']), len(rows)))
        vectors.score(file, case, mismatches)


def shown_value(case):
    mismatches = value_mismatches(case)
    if case['verdict'] == 'ok':
        made = card.value_row('argument', 'Value', case['type'], case['value'])
        reason = card.unreadable_reason([('Value', case['type'], case['value'])])
        mismatches += [
            ('lines', case['lines'], made['lines']),
            ('notes', case['notes'], made['notes']),
            ('empty', case.get('empty', False), made['empty']),
            ('deny-only', case.get('deny_only'), reason or card.long_reason([made])),
        ]
    return mismatches


def check_hostile(vectors, file):
    for case in vectors.files[file]:
        if 'type' in case:
            mismatches = shown_value(case)
        elif 'of' in case:
            data = of_bytes(case, vectors.records, 'record')
            mismatches = [('verdict', case['verdict'], verdict_of(texts.read_record, data)[0])]
        else:
            data = of_bytes(case, {}, 'json')
            mismatches = [('verdict', case['verdict'], verdict_of(json_text.read, data)[0])]
        vectors.score(file, case, mismatches)


def check_shown(vectors, file):
    for case in vectors.files[file]:
        vectors.score(file, case, shown_value(case))


def check_receipts(vectors, file):
    verdicts_file = 'receipt-verdicts.json'
    verdicts = {case['id']: case for case in vectors.files[verdicts_file]}
    judged = {}
    for case in vectors.files[file]:
        word, _, proven = verdict_of(evidence.verify_receipt, case['receipt'].encode('utf-8'),
                                     case['keys'])
        judged[case['id']] = word
        verdict = verdicts.get(case['id'], {})
        vectors.score(file, case, [('verdict', verdict.get('verdict'), word),
                                   ('proven', verdict.get('proven'), proven)])
    for case in vectors.files[verdicts_file]:
        vectors.score(verdicts_file, case, [('verdict', case['verdict'], judged.get(case['id']))])


def main():
    if not unidata.available():
        print('skipped: no Unicode Character Database %s in %s' % (unidata.VERSION,
                                                                  unidata.FOLDER))
        return SKIPPED
    vectors = Vectors(FOLDER)
    for check, file in ((check_values, 'values.json'), (check_policy, 'policy.json'),
                        (check_records, 'records.json'), (check_statements, 'statements.json'),
                        (check_assertions, 'assertions.json'), (check_rows, 'rows.json'),
                        (check_hostile, 'hostile.json'), (check_shown, 'shown.json'),
                        (check_receipts, 'receipts.json')):
        check(vectors, file)
    unchecked = vectors.total() - vectors.passed - vectors.failed
    if unchecked:
        print('%d vectors were not checked' % unchecked)
    print('%d passed, %d failed' % (vectors.passed, vectors.failed))
    return 1 if vectors.failed or unchecked else 0


if __name__ == '__main__':
    sys.exit(main())
