# SPDX-License-Identifier: LGPL-2.1-or-later
"""THE ASSERTION: its checks, in the order of the page."""
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils

from . import json_text
from .refusal import Refused
from .texts import base64url

PRIME = 2 ** 255 - 19
ED_D = -121665 * pow(121666, -1, PRIME) % PRIME
UP, UV, BE, BS, FORBIDDEN = 0x01, 0x04, 0x08, 0x10, 0x40 | 0x80 | 0x02 | 0x20


def require(condition, reason):
    if not condition:
        raise Refused(reason)


def read_client_data(data):
    try:
        client = json_text.read(data, depth=4, members=64)
    except Refused:
        raise Refused('client-data') from None
    require(isinstance(client, dict), 'client-data')
    return client


def check_client_data(data, passkey, challenge):
    client = read_client_data(data)
    origin = passkey['origin'] or passkey['rp']
    require(client.get('type') == 'webauthn.get', 'client-type')
    require(client.get('challenge') == base64url(challenge), 'challenge')
    require(client.get('origin') == origin, 'origin')
    require('crossOrigin' not in client or client['crossOrigin'] is False, 'cross-origin')
    require('topOrigin' not in client, 'top-origin')


def check_auth_data(data, passkey):
    require(len(data) == 37, 'auth-data-size')
    require(data[:32] == hashlib.sha256(passkey['rp'].encode('utf-8')).digest(), 'rp-id')
    flags = data[32]
    require(flags & UP, 'user-presence')
    require(flags & UV, 'user-verification')
    require(not flags & FORBIDDEN, 'flags')
    require(not flags & BS or flags & BE, 'backup-flags')
    require(bool(flags & BE) == passkey['backup_eligible'], 'backup-flags')


def on_edwards_curve(data):
    """Whether the 32 bytes are the encoding of a point (RFC 8032, section 5.1.3)."""
    number = int.from_bytes(data, 'little')
    sign, y = number >> 255, number & ((1 << 255) - 1)
    if len(data) != 32 or y >= PRIME:
        return False
    square = (y * y - 1) * pow(ED_D * y * y + 1, -1, PRIME) % PRIME
    if square == 0:
        return sign == 0
    return pow(square, (PRIME - 1) // 2, PRIME) == 1


def load_key(passkey):
    data = passkey['public_key']
    if passkey['algorithm'] == 'EdDSA':
        require(on_edwards_curve(data), 'public-key')
        return ed25519.Ed25519PublicKey.from_public_bytes(data)
    require(len(data) == 64, 'public-key')
    point = ec.EllipticCurvePublicNumbers(int.from_bytes(data[:32], 'big'),
                                          int.from_bytes(data[32:], 'big'), ec.SECP256R1())
    try:
        return point.public_key()
    except ValueError:
        raise Refused('public-key') from None


def check_signature(key, signature, signed):
    try:
        if isinstance(key, ed25519.Ed25519PublicKey):
            require(len(signature) == 64, 'signature')
            key.verify(signature, signed)
            return
        pair = utils.decode_dss_signature(signature)
        require(utils.encode_dss_signature(*pair) == signature, 'signature')
        key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError):
        raise Refused('signature') from None


def check(assertion, passkey, challenge):
    """Refuses an assertion that is not the passkey's over the challenge; all bytes are decoded."""
    client_data, auth_data = assertion['client_data'], assertion['auth_data']
    require(1 <= len(client_data) <= 4096 and 1 <= len(assertion['signature']) <= 256
            and 1 <= len(auth_data) <= 8192, 'assertion-size')
    check_client_data(client_data, passkey, challenge)
    check_auth_data(auth_data, passkey)
    require(passkey['algorithm'] in ('ES256', 'EdDSA'), 'algorithm')
    key = load_key(passkey)
    check_signature(key, assertion['signature'],
                    auth_data + hashlib.sha256(client_data).digest())
    counter = int.from_bytes(auth_data[-4:], 'big')
    last = int(passkey['counter'])
    require(counter > last or counter == last == 0, 'counter')
