# SPDX-License-Identifier: LGPL-2.1-or-later
"""CONVENTIONS, Digests, and what THE RECORD and THE STATEMENT hash with them."""
import hashlib

from .json_text import canonical


def pae(kind, body):
    name = b'application/vnd.undersign.%s.v1+json' % kind.encode('ascii')
    return b' '.join((b'DSSEv1', b'%d' % len(name), name, b'%d' % len(body), body))


def sha256(kind, body):
    return hashlib.sha256(pae(kind, body))


def digest(kind, body):
    return 'sha256:' + sha256(kind, body).hexdigest()


def fingerprint(record_digest):
    digits = record_digest[len('sha256:'):]
    return '-'.join((digits[0:4], digits[4:8], digits[8:12]))


def intent_body(record):
    def entries(array):
        return [{name: entry[name] for name in ('name', 'type', 'value')} for entry in array]
    executor = record['executor']
    return canonical({
        'format': 'undersign.intent/1',
        'action': record['action']['id'],
        'agent': {name: record['agent'][name] for name in ('name', 'uid')},
        'arguments': entries(record['arguments']),
        'executor': {'credential': executor['credential'], 'module': executor['module'],
                     'settings': entries(executor['settings'])},
    })


def policy_body(files):
    ordered = sorted(files, key=lambda file: file['path'].encode('utf-8'))
    return canonical([{name: file[name] for name in ('path', 'sha256')} for file in ordered])


def challenge(statement):
    return sha256('statement', statement).digest()
