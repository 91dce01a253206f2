# SPDX-License-Identifier: LGPL-2.1-or-later
"""A passkey of the tests, written from the WebAuthn text: P-256 by python3-cryptography.

It shares no code with the service, and it does what it is told: a test can have it leave user
verification out, name another origin or count backwards.
"""

import base64
import hashlib
import json
import os

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

STATEMENT_TYPE = b"application/vnd.undersign.statement.v1+json"
UP, UV, BE, BS, AT = 0x01, 0x04, 0x08, 0x10, 0x40


def pae(kind, body):
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(body), body)


def challenge_of(statement):
    return hashlib.sha256(pae(STATEMENT_TYPE, statement)).digest()


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _cbor(value):
    """The few kinds of CBOR that an attestation object has."""
    def head(major, number):
        if number < 24:
            return bytes([major << 5 | number])
        if number < 256:
            return bytes([major << 5 | 24, number])
        return bytes([major << 5 | 25]) + number.to_bytes(2, "big")

    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    return head(5, len(value)) + b"".join(_cbor(k) + _cbor(v) for k, v in value.items())


class Authenticator:
    """One key pair and its credential id."""

    def __init__(self):
        self.credential = os.urandom(32)
        self.counter = 0
        self.private = ec.generate_private_key(ec.SECP256R1())
        public = self.private.public_key().public_numbers()
        self.x, self.y = public.x.to_bytes(32, "big"), public.y.to_bytes(32, "big")
        self.rp = self.origin = ""

    def register(self, challenge, rp, origin):
        """What FinishEnroll takes: clientDataJSON and an attestation object of format none."""
        self.rp, self.origin = rp, origin
        client = self._client("webauthn.create", challenge, origin)
        key = _cbor({1: 2, 3: -7, -1: 1, -2: self.x, -3: self.y})
        data = (hashlib.sha256(rp.encode()).digest() + bytes([UP | UV | AT]) + bytes(4) + bytes(16)
                + len(self.credential).to_bytes(2, "big") + self.credential + key)
        return client, _cbor({"fmt": "none", "attStmt": {}, "authData": data})

    @staticmethod
    def _client(kind, challenge, origin, **more):
        return json.dumps({"type": kind, "challenge": base64url(challenge), "origin": origin,
                           "crossOrigin": False, **more}, separators=(",", ":")).encode()

    def sign(self, statement, flags=UP | UV, rp=None, origin=None, challenge=None, counter=None,
             kind="webauthn.get", **more):
        """The assertion over a statement, as Approve() takes it."""
        client = self._client(kind, challenge or challenge_of(statement),
                              self.origin if origin is None else origin, **more)
        data = (hashlib.sha256((rp or self.rp).encode()).digest() + bytes([flags])
                + (self.counter if counter is None else counter).to_bytes(4, "big"))
        signature = self.private.sign(data + hashlib.sha256(client).digest(),
                                      ec.ECDSA(hashes.SHA256()))
        return {"credential": ("ay", self.credential), "client-data": ("ay", client),
                "auth-data": ("ay", data), "signature": ("ay", signature)}
