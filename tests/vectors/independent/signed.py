# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-receipt(7): DESCRIPTION, KEYS, and WHAT THE HOST KEY HAS SIGNED with its checkpoints."""
import re

from cryptography.hazmat.primitives.asymmetric import ed25519

from . import assertion, digests, json_text, texts
from .assertion import require

KEY, SIGNED = 'undersign.key/1', 'undersign.signed/1'
SIZES = {'ES256': 64, 'EdDSA': 32}
NUMBER = re.compile(r'0|[1-9][0-9]*')
CHECKPOINT_LIMIT = 4096
CHECKPOINT_LIMITS = {'depth': 4, 'members': 1000, 'string': CHECKPOINT_LIMIT}


def string(good=None):
    """A string that is good; without a condition, any string."""
    return lambda value: isinstance(value, str) and (good is None or good(value))


def listed(good):
    return lambda value: isinstance(value, list) and all(good(item) for item in value)


def number(text):
    return NUMBER.fullmatch(text) is not None and int(text) < 2 ** 63


def any_object(value):
    return isinstance(value, dict)


def anything(_value):
    return True


def boolean(value):
    return isinstance(value, bool)


def fits(value, shape):
    """Whether it is an object of exactly these members, each of which is good."""
    return (isinstance(value, dict) and set(value) == set(shape)
            and all(good(value[name]) for name, good in shape.items()))


ID, DIGEST = string(texts.pattern(texts.ID)), string(texts.pattern(texts.DIGEST))
TIME, NUMBERED = string(texts.TIME), string(lambda text: number(text) and text != '0')
CHECKPOINT = {'format': string(texts.one_of('undersign.checkpoint/1')), 'host': ID, 'key': DIGEST,
              'ledger': ID, 'seq': NUMBERED, 'head': DIGEST, 'time': TIME}


def read(data, reason, **limits):
    """The object that the bytes are, in canonical form; for all but bad JSON, the reason."""
    value = json_text.Reader(data, **limits).read()
    try:
        same = json_text.canonical(value) == data
    except TypeError:
        same = False  # a number or null
    require(same and isinstance(value, dict), reason)
    return value


def read_key(key):
    """The bytes of a public key; whether they are a sound point is asked with an assertion."""
    require(fits(key, {'format': string(texts.one_of(KEY)),
                       'algorithm': string(texts.one_of(*SIZES)), 'public_key': string()}),
            'bad-key')
    data = texts.unbase64(key['public_key'])
    require(data is not None and len(data) == SIZES[key['algorithm']], 'bad-key')
    return data


def key_id(key):
    return digests.digest('key', json_text.canonical(key))


def body_of(signed, kind):
    """The bytes that the host key has signed as this type."""
    kind_name = 'application/vnd.undersign.%s.v1+json' % kind
    require(fits(signed, {'format': string(texts.one_of(SIGNED)),
                          'type': string(texts.one_of(kind_name)), 'body': string(),
                          'key': anything, 'signature': string()}), 'bad-signed')
    key, signature = read_key(signed['key']), texts.unbase64(signed['signature'])
    require(signed['key']['algorithm'] == 'EdDSA' and signature is not None
            and len(signature) == 64, 'bad-signed')
    body = signed['body'].encode('utf-8')
    assertion.check_signature(ed25519.Ed25519PublicKey.from_public_bytes(key), signature,
                              digests.pae(kind, body))
    return body


def read_checkpoint(data):
    """The body of a checkpoint, whose key is the one that has signed it."""
    require(len(data) <= CHECKPOINT_LIMIT, 'too-large')
    signed = read(data, 'bad-signed', **CHECKPOINT_LIMITS)
    checkpoint = read(body_of(signed, 'checkpoint'), 'bad-signed', **CHECKPOINT_LIMITS)
    require(fits(checkpoint, CHECKPOINT) and checkpoint['key'] == key_id(signed['key']),
            'bad-signed')
    return checkpoint
