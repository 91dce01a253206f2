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
P256_PRIME = 2 ** 256 - 2 ** 224 + 2 ** 192 + 2 ** 96 - 1
P256_B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b
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


def root(square):
    """A square root modulo the prime, which is 5 modulo 8; None where there is none."""
    candidate = pow(square, (PRIME + 3) // 8, PRIME)
    for factor in (1, pow(2, (PRIME - 1) // 4, PRIME)):
        if candidate * candidate * factor * factor % PRIME == square:
            return candidate * factor % PRIME
    return None


def doubled(x, y):
    """The sum of a point of Ed25519 with itself."""
    product = ED_D * x * x * y * y % PRIME
    return (2 * x * y * pow(1 + product, -1, PRIME) % PRIME,
            (y * y + x * x) * pow(1 - product, -1, PRIME) % PRIME)


def sound_edwards(data):
    """Whether the 32 bytes are a point whose order does not divide 8."""
    y = int.from_bytes(data, 'little') & ((1 << 255) - 1)
    if len(data) != 32 or y >= PRIME:
        return False
    x = root((y * y - 1) * pow(ED_D * y * y + 1, -1, PRIME) % PRIME)
    return x is not None and doubled(*doubled(*doubled(x, y))) != (0, 1)


def load_key(passkey):
    data = passkey['public_key']
    require(passkey['algorithm'] in ('ES256', 'EdDSA'), 'algorithm')
    if passkey['algorithm'] == 'EdDSA':
        require(sound_edwards(data), 'public-key')
        return ed25519.Ed25519PublicKey.from_public_bytes(data)
    require(len(data) == 64, 'public-key')
    x, y = int.from_bytes(data[:32], 'big'), int.from_bytes(data[32:], 'big')
    require(x < P256_PRIME and y < P256_PRIME
            and (x ** 3 - 3 * x + P256_B - y * y) % P256_PRIME == 0, 'public-key')
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()


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
    key = load_key(passkey)
    check_signature(key, assertion['signature'],
                    auth_data + hashlib.sha256(client_data).digest())
    counter = int.from_bytes(auth_data[-4:], 'big')
    last = int(passkey['counter'])
    require(counter > last or counter == last == 0, 'counter')
