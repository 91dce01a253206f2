#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Signs the assertions of tests/vectors/record, good and bad, and writes assertions.json.

    make-assertions.py

An authenticator that does as it is told: it needs the Python package `cryptography` (43 or later,
so that ES256 signatures are deterministic, RFC 6979) and the challenges of statements.json.  What
each assertion is worth is not decided here: assertion-verdicts.json says so, written by hand.
The private keys are in this file on purpose; nothing is enrolled with them anywhere.
"""
import base64
import hashlib
import json
import os

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "record")
DESKTOP = "undersign:5d1a0c6f0b3e4e0f9b7c2a1d4e8f6a90"
WEB, WEB_ORIGIN = "approve.example.com", "https://approve.example.com:8443"
P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551

UP, UV, BE, BS, AT, ED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Es256:
    name = "ES256"

    def __init__(self, secret):
        self.key = ec.derive_private_key(secret, ec.SECP256R1())

    def public(self):
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)[1:]

    def sign(self, message):
        return self.key.sign(message, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))


class EdDsa:
    name = "EdDSA"

    def __init__(self, seed):
        self.key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)

    def public(self):
        return self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, message):
        return self.key.sign(message)


class Curve:
    """Ed25519 by RFC 8032, as slow as can be: for keys that no honest library makes."""

    p = 2 ** 255 - 19
    order = 2 ** 252 + 27742317777372353535851937790883648493
    d = -121665 * pow(121666, -1, p) % p

    @classmethod
    def decode(cls, data):
        y = int.from_bytes(data, "little") & (1 << 255) - 1
        square = (y * y - 1) * pow(cls.d * y * y + 1, -1, cls.p) % cls.p
        x = pow(square, (cls.p + 3) // 8, cls.p)
        if (x * x - square) % cls.p:
            x = x * pow(2, (cls.p - 1) // 4, cls.p) % cls.p
        assert (x * x - square) % cls.p == 0
        return (x if x & 1 == data[31] >> 7 else -x % cls.p), y

    @staticmethod
    def encode(point):
        return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")

    @classmethod
    def add(cls, a, b):
        product = cls.d * a[0] * b[0] * a[1] * b[1] % cls.p
        return ((a[0] * b[1] + b[0] * a[1]) * pow(1 + product, -1, cls.p) % cls.p,
                (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, -1, cls.p) % cls.p)

    @classmethod
    def multiply(cls, factor, point):
        out = (0, 1)
        while factor:
            if factor & 1:
                out = cls.add(out, point)
            factor, point = factor >> 1, cls.add(point, point)
        return out


ORDER_8 = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")


class MixedEdDsa:
    """The sum of an honest key and a point of order 8; its signatures fit where the hash of the
    message is a multiple of 8, or for whoever multiplies by the cofactor."""

    name = "EdDSA"
    base = Curve.decode(bytes.fromhex("58" + "66" * 31))

    def __init__(self, seed):
        self.secret = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little")
        self.secret = self.secret & ~7 & (1 << 255) - 1 | 1 << 254
        honest = Curve.multiply(self.secret, self.base)
        self.encoded = Curve.encode(Curve.add(honest, Curve.decode(ORDER_8)))

    def public(self):
        return self.encoded

    def sign(self, message, fits=True):
        for number in range(1, 1000):
            nonce = int.from_bytes(hashlib.sha512(b"%d" % number + message).digest(), "little")
            r = Curve.encode(Curve.multiply(nonce % Curve.order, self.base))
            k = int.from_bytes(hashlib.sha512(r + self.encoded + message).digest(), "little")
            if (k % Curve.order % 8 == 0) == fits:
                s = (nonce + k * self.secret) % Curve.order
                return r + s.to_bytes(32, "little")
        raise AssertionError("no nonce")


KEYS = {
    "P1": Es256(int.from_bytes(hashlib.sha256(b"undersign vector P1").digest(), "big")),
    "P2": EdDsa(hashlib.sha256(b"undersign vector P2").digest()),
    "P3": Es256(int.from_bytes(hashlib.sha256(b"undersign vector P3").digest(), "big")),
    "other": Es256(int.from_bytes(hashlib.sha256(b"undersign vector other").digest(), "big")),
    "other-eddsa": EdDsa(hashlib.sha256(b"undersign vector other").digest()),
}
# What is enrolled: relying party, origin ("" for a key held on the desktop), BE, counter.
ENROLLED = {"P1": (DESKTOP, "", False, 5), "P2": (DESKTOP, "", False, 0),
            "P3": (WEB, WEB_ORIGIN, True, 0)}
X, Y = KEYS["P1"].public()[:32], KEYS["P1"].public()[32:]
P256_PRIME = 2 ** 256 - 2 ** 224 + 2 ** 192 + 2 ** 96 - 1
# y at x = 0 on P-256
Y_AT_0 = bytes.fromhex("66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4")
IDENTITY = b"\1" + bytes(31)
MIXED = MixedEdDsa(hashlib.sha256(b"undersign vector mixed").digest())
# Keys that stand for P1 or P2 in all but algorithm and public key.
ODD_KEYS = [
    ("K01", "P1", "RS256", X + Y, "an algorithm that is none of the two"),
    ("K02", "P1", "ES384", X + Y, "another curve"),
    ("K03", "P1", "ESP256", X + Y, "the key of P1 under the number that names its curve"),
    ("K04", "P2", "Ed25519", KEYS["P2"].public(), "likewise, the key of P2"),
    ("K05", "P1", "ES256", X + X, "not on the curve"),
    ("K06", "P1", "ES256", X, "x without y"),
    ("K07", "P1", "ES256", b"\4" + X + Y, "a byte before x and y"),
    ("K08", "P1", "ES256", b"", "nothing"),
    ("K09", "P1", "ES256", bytes(64), "x and y are 0"),
    ("K10", "P1", "ES256", P256_PRIME.to_bytes(32, "big") + Y_AT_0, "x is the prime, which is 0"),
    ("K11", "P1", "ES256", KEYS["P2"].public(), "a key for EdDSA as one for ES256"),
    ("K12", "P2", "EdDSA", X + Y, "a key for ES256 as one for EdDSA"),
    ("K13", "P2", "EdDSA", IDENTITY, "the neutral point"),
    ("K14", "P2", "EdDSA", (Curve.p + 1).to_bytes(32, "little"), "the same, y plus the prime"),
    ("K15", "P2", "EdDSA", IDENTITY[:31] + b"\x80", "the same, as if its x were odd"),
    ("K16", "P2", "EdDSA", ORDER_8, "a point of order 8"),
    ("K17", "P2", "EdDSA", bytes(32), "a point of order 4"),
    ("K18", "P2", "EdDSA", b"\2" + bytes(31), "a y that has no x"),
    ("K19", "P2", "EdDSA", (Curve.p + 3).to_bytes(32, "little"), "a good y plus the prime"),
    ("K20", "P2", "EdDSA", KEYS["P2"].public()[:31], "a byte less"),
    ("K21", "P2", "EdDSA", KEYS["P2"].public() + b"\0", "a byte more"),
    ("K22", "P2", "EdDSA", MIXED.public(), "the sum of a good key and a point of order 8"),
    ("K23", "P1", "RS256", b"", "wrong in both: the algorithm comes first"),
    ("K24", "P1", "ES256", bytes(32) + Y_AT_0, "x is 0, which is on the curve"),
]
for odd, like, _, _, _ in ODD_KEYS:
    KEYS[odd], ENROLLED[odd] = KEYS[like], ENROLLED[like]


class Ceremony:
    """One assertion before its signature; a case changes what it wants to be wrong."""

    def __init__(self, passkey, challenge):
        rp, origin, eligible, counter = ENROLLED[passkey]
        self.key = KEYS[passkey]
        self.members = {"type": "webauthn.get", "challenge": b64(challenge),
                        "origin": origin or rp, "crossOrigin": False}
        self.text = None          # instead of the members
        self.rp = rp
        self.flags = UP | UV | (BE if eligible else 0)
        self.counter = counter + 1 if counter else 0
        self.tail = b""           # after the 37 bytes
        self.cut = None           # so many bytes of authenticator data
        self.after = None         # changes (client data, authenticator data, signature) at the end

    def finish(self):
        text = self.text
        if text is None:
            text = json.dumps(self.members, separators=(",", ":"))
        client = text if isinstance(text, bytes) else text.encode()
        auth = hashlib.sha256(self.rp.encode()).digest() + bytes([self.flags]) + \
            self.counter.to_bytes(4, "big") + self.tail
        auth = auth[:self.cut]
        signature = self.key.sign(auth + hashlib.sha256(client).digest())
        if self.after is not None:
            client, auth, signature = self.after(client, auth, signature)
        return client, auth, signature


def es256_high_s(client, auth, signature):
    r, s = utils.decode_dss_signature(signature)
    return client, auth, utils.encode_dss_signature(r, P256_ORDER - s)


def es256_raw(client, auth, signature):
    r, s = utils.decode_dss_signature(signature)
    return client, auth, r.to_bytes(32, "big") + s.to_bytes(32, "big")


def es256_long_length(client, auth, signature):
    """The same integers, but the length of the sequence takes two bytes: BER, not DER."""
    return client, auth, b"\x30\x81" + signature[1:]


def es256_of(r, s):
    """The DER of two numbers that nobody signed."""
    return with_fields(after=lambda c, a, _: (c, a, utils.encode_dss_signature(r, s)))


def es256_long_number(client, auth, signature):
    """The same numbers, but the first has a byte of zeros more than it needs."""
    first = signature[2:4 + signature[3]]
    rest = signature[4 + signature[3]:]
    first = b"\x02" + bytes([first[1] + 1]) + b"\0" + first[2:]
    return client, auth, b"\x30" + bytes([len(first + rest)]) + first + rest


def eddsa_high_s(client, auth, signature):
    s = int.from_bytes(signature[32:], "little") + Curve.order
    return client, auth, signature[:32] + s.to_bytes(32, "little")


def anybodys(client, auth, signature):
    """What fits the neutral point, whatever the message is."""
    return client, auth, IDENTITY + bytes(32)


def with_members(**changes):
    def change(c):
        for name, value in changes.items():
            if value is None:
                del c.members[name]
            else:
                c.members[name] = value
    return change


def with_fields(**changes):
    def change(c):
        for name, value in changes.items():
            setattr(c, name, value)
    return change


def with_flags(add=0, remove=0):
    def change(c):
        c.flags = (c.flags | add) & ~remove
    return change


def with_text(edit):
    def change(c):
        c.text = edit(json.dumps(c.members, separators=(",", ":")))
    return change


def members(count):
    return "".join(',"m%d":0' % number for number in range(count))


def as_it_is(c):
    pass


# id, passkey, statement whose challenge is asked for, what is done, how.
CASES = [
    ("A01", "P1", "S01", "a key on the desktop, ES256", as_it_is),
    ("A02", "P2", "S02", "a key on the desktop, EdDSA", as_it_is),
    ("A03", "P3", "S03", "a passkey that is backed up, in a browser, on a port of its own",
     with_flags(add=BS)),
    ("A04", "P3", "S03", "the same, not backed up yet", as_it_is),
    ("A05", "P1", "S04", "a signed denial", as_it_is),
    ("A06", "P1", "S05", "an approval that supersedes", as_it_is),
    ("A07", "P1", "S01", "no crossOrigin", with_members(crossOrigin=None)),
    ("A08", "P1", "S01", "a member that nobody knows, of several kinds", with_text(
        lambda t: t[:-1] + ',"other_keys_can_be_added_here":[1.5,null,{"a":"b"}]}')),
    ("A09", "P1", "S01", "members in another order, with white space", with_text(
        lambda t: "{ " + ", ".join(reversed(t[1:-1].split(","))) + " }\n")),
    ("A10", "P1", "S04", "a challenge of another statement: the approval's for the denial",
     with_members(challenge="$S01")),
    ("A11", "P1", "S01", "a challenge with padding",
     lambda c: with_members(challenge=c.members["challenge"] + "=")(c)),
    ("A12", "P3", "S03", "a challenge in the other alphabet of base64", lambda c: with_members(
        challenge=c.members["challenge"].replace("-", "+").replace("_", "/"))(c)),
    ("A13", "P1", "S01", "a challenge of 31 bytes", lambda c: with_members(
        challenge=b64(unb64(c.members["challenge"])[:31]))(c)),
    ("A14", "P1", "S01", "no challenge", with_members(challenge=None)),
    ("A15", "P1", "S01", "bits set beyond the last byte of the challenge", lambda c: with_members(
        challenge=c.members["challenge"][:-1] + chr(ord(c.members["challenge"][-1]) + 1))(c)),
    ("A16", "P1", "S01", "a depth of 4", with_text(lambda t: t[:-1] + ',"x":[[[1]]]}')),
    ("A17", "P1", "S01", "a depth of 5", with_text(lambda t: t[:-1] + ',"x":[[[[1]]]]}')),
    ("A18", "P1", "S01", "64 members", with_text(lambda t: t[:-1] + members(60) + "}")),
    ("A19", "P1", "S01", "65 members", with_text(lambda t: t[:-1] + members(61) + "}")),
    ("A20", "P1", "S01", "a registration", with_members(type="webauthn.create")),
    ("A21", "P1", "S01", "a payment", with_members(type="payment.get")),
    ("A22", "P1", "S01", "no type", with_members(type=None)),
    ("A23", "P1", "S01", "the type in an array", with_members(type=["webauthn.get"])),
    ("A24", "P1", "S01", "a list of 64 items", with_text(
        lambda t: t[:-1] + ',"x":[' + ",".join("0" * 64) + "]}")),
    ("A25", "P1", "S01", "a list of 65 items", with_text(
        lambda t: t[:-1] + ',"x":[' + ",".join("0" * 65) + "]}")),
    ("A26", "P1", "S01", "an object of 65 members in another",
     with_text(lambda t: t[:-1] + ',"x":{"a":0' + members(64) + "}}")),
    ("A27", "P1", "S01", "numbers that no double holds", with_text(
        lambda t: t[:-1] + ',"x":[1e999,-0,18446744073709551617]}')),
    ("A28", "P1", "S01", "a number that is none", with_text(lambda t: t[:-1] + ',"x":01}')),
    ("A29", "P1", "S01", "a challenge that is a number", with_members(challenge=0)),
    ("A30", "P3", "S03", "another port", with_members(origin="https://approve.example.com:8444")),
    ("A31", "P3", "S03", "the usual port", with_members(origin="https://approve.example.com")),
    ("A32", "P3", "S03", "another scheme", with_members(origin="http://approve.example.com:8443")),
    ("A33", "P3", "S03", "another host below the relying party",
     with_members(origin="https://x.approve.example.com:8443")),
    ("A34", "P3", "S03", "a solidus at the end of the origin",
     with_members(origin=WEB_ORIGIN + "/")),
    ("A35", "P3", "S03", "the origin in upper case",
     with_members(origin="https://APPROVE.example.com:8443")),
    ("A36", "P1", "S01", "a web page for a key of the desktop",
     with_members(origin="https://" + DESKTOP.split(":")[1])),
    ("A37", "P1", "S01", "no origin", with_members(origin=None)),
    ("A38", "P1", "S01", "an origin in an array", with_members(origin=[DESKTOP])),
    ("A40", "P1", "S01", "inside a page of another origin", with_members(crossOrigin=True)),
    ("A41", "P1", "S01", "crossOrigin is the string false", with_members(crossOrigin="false")),
    ("A42", "P1", "S01", "crossOrigin is 0", with_members(crossOrigin=0)),
    ("A43", "P1", "S01", "crossOrigin is null", with_text(
        lambda t: t.replace('"crossOrigin":false', '"crossOrigin":null'))),
    ("A50", "P3", "S03", "a top origin", with_members(topOrigin="https://evil.example")),
    ("A51", "P3", "S03", "a top origin that is the origin", with_members(topOrigin=WEB_ORIGIN)),
    ("A52", "P3", "S03", "a top origin that is empty", with_members(topOrigin="")),
    ("A53", "P3", "S03", "a top origin that is null",
     with_text(lambda t: t[:-1] + ',"topOrigin":null}')),
    ("A60", "P1", "S01", "the challenge twice, the right one last", with_text(
        lambda t: '{"challenge":"AAAA",' + t[1:])),
    ("A61", "P1", "S01", "the challenge twice, once as an escape", with_text(
        lambda t: t[:-1] + ',"chal\\u006cenge":"AAAA"}')),
    ("A62", "P1", "S01", "a name that nobody knows twice", with_text(
        lambda t: t[:-1] + ',"x":"","x":""}')),
    ("A63", "P1", "S01", "something after the object", with_text(lambda t: t + "{}")),
    ("A64", "P1", "S01", "a byte order mark", with_text(lambda t: b"\xef\xbb\xbf" + t.encode())),
    ("A65", "P1", "S01", "a byte that is not UTF-8", with_text(
        lambda t: t[:-1].encode() + b',"x":"\xff"}')),
    ("A66", "P1", "S01", "U+0000 in a string", with_text(lambda t: t[:-1] + ',"x":"\\u0000"}')),
    ("A67", "P1", "S01", "an array", with_text(lambda t: "[" + t + "]")),
    ("A68", "P1", "S01", "a comma before the brace", with_text(lambda t: t[:-1] + ",}")),
    ("A69", "P1", "S01", "client data of 4097 bytes", with_text(
        lambda t: t[:-1] + ',"x":"' + "x" * (4097 - len(t) - 7) + '"}')),
    ("A70", "P1", "S01", "client data of 4096 bytes", with_text(
        lambda t: t[:-1] + ',"x":"' + "x" * (4096 - len(t) - 7) + '"}')),
    ("A71", "P1", "S01", "no client data", with_fields(text="")),
    ("A72", "P1", "S01", "no signature", with_fields(after=lambda c, a, s: (c, a, b""))),
    ("A73", "P1", "S01", "a signature of 257 bytes",
     with_fields(after=lambda c, a, s: (c, a, s + bytes(257 - len(s))))),
    ("A74", "P1", "S01", "a signature of 256 bytes",
     with_fields(after=lambda c, a, s: (c, a, s + bytes(256 - len(s))))),
    ("A75", "P1", "S01", "no authenticator data", with_fields(cut=0)),
    ("A76", "P1", "S01", "8193 bytes of authenticator data", with_fields(tail=bytes(8193 - 37))),
    ("A80", "P1", "S01", "38 bytes of authenticator data", with_fields(tail=b"\0")),
    ("A81", "P1", "S01", "36 bytes of authenticator data", with_fields(cut=36)),
    ("A82", "P1", "S01", "extensions, with their flag",
     lambda c: (with_flags(add=ED)(c), with_fields(tail=b"\xa0")(c))),
    ("A83", "P1", "S01", "8192 bytes of authenticator data", with_fields(tail=bytes(8192 - 37))),
    ("A85", "P1", "S01", "another relying party", with_fields(rp="undersign:" + "0" * 32)),
    ("A86", "P3", "S03", "the host of the origin with its port as relying party",
     with_fields(rp="approve.example.com:8443")),
    ("A90", "P1", "S01", "nobody was present", with_flags(remove=UP)),
    ("A91", "P1", "S01", "a touch, but nobody was verified", with_flags(remove=UV)),
    ("A92", "P1", "S01", "neither present nor verified", with_flags(remove=UP | UV)),
    ("A93", "P1", "S01", "the flag of attested data, without any", with_flags(add=AT)),
    ("A94", "P1", "S01", "the flag of extensions, without any", with_flags(add=ED)),
    ("A95", "P1", "S01", "the first reserved flag", with_flags(add=0x02)),
    ("A96", "P1", "S01", "the second reserved flag", with_flags(add=0x20)),
    ("A97", "P1", "S01", "backed up, though it can't be", with_flags(add=BS)),
    ("A98", "P1", "S01", "can be backed up, enrolled as one that can't", with_flags(add=BE)),
    ("A99", "P3", "S03", "can't be backed up, enrolled as one that can", with_flags(remove=BE)),
    ("B01", "P1", "S01", "a key that is not enrolled", with_fields(key=KEYS["other"])),
    ("B02", "P2", "S02", "a key that is not enrolled, EdDSA", with_fields(key=KEYS["other-eddsa"])),
    ("B03", "P1", "S01", "one bit of the signature",
     with_fields(after=lambda c, a, s: (c, a, s[:-1] + bytes([s[-1] ^ 1])))),
    ("B04", "P2", "S02", "one bit of the signature, EdDSA",
     with_fields(after=lambda c, a, s: (c, a, s[:-1] + bytes([s[-1] ^ 1])))),
    ("B05", "P1", "S01", "half a signature",
     with_fields(after=lambda c, a, s: (c, a, s[:len(s) // 2]))),
    ("B06", "P2", "S02", "a signature of 63 bytes, EdDSA",
     with_fields(after=lambda c, a, s: (c, a, s[:63]))),
    ("B07", "P1", "S01", "two bare integers instead of DER", with_fields(after=es256_raw)),
    ("B08", "P1", "S01", "BER that is not DER", with_fields(after=es256_long_length)),
    ("B09", "P1", "S01", "a byte after the signature",
     with_fields(after=lambda c, a, s: (c, a, s + b"\0"))),
    ("B10", "P1", "S01", "the other signature of the pair: s is the order less s",
     with_fields(after=es256_high_s)),
    ("B11", "P1", "S01", "a space in the client data after it was signed",
     with_fields(after=lambda c, a, s: (c[:-1] + b" }", a, s))),
    ("B12", "P1", "S01", "a counter that was raised after it was signed",
     with_fields(after=lambda c, a, s: (c, a[:-1] + bytes([a[-1] + 1]), s))),
    ("B13", "P1", "S01", "a signature by the right key over the challenge alone",
     with_fields(after=lambda c, a, s: (c, a, KEYS["P1"].sign(
         unb64(json.loads(c)["challenge"]))))),
    ("B14", "P2", "S02", "the order added to S", with_fields(after=eddsa_high_s)),
    ("B15", "P2", "S02", "a signature of 65 bytes, EdDSA",
     with_fields(after=lambda c, a, s: (c, a, s + b"\0"))),
    ("B16", "P2", "S02", "a signature of zeros", with_fields(
        after=lambda c, a, s: (c, a, bytes(64)))),
    ("B17", "P2", "S02", "a signature that fits another key", with_fields(after=anybodys)),
    ("B18", "P1", "S01", "r and s are 0", es256_of(0, 0)),
    ("B19", "P1", "S01", "DER with a byte too many in a number",
     with_fields(after=es256_long_number)),
    ("B20", "P1", "S01", "the counter as it was", with_fields(counter=5)),
    ("B21", "P1", "S01", "a lower counter", with_fields(counter=4)),
    ("B22", "P1", "S01", "no counter any more", with_fields(counter=0)),
    ("B23", "P1", "S01", "the highest counter", with_fields(counter=0xffffffff)),
    ("B24", "P2", "S02", "a first counter", with_fields(counter=1)),
    ("B30", "P1", "S01", "wrong in much: the challenge comes first", lambda c: (
        with_members(challenge="AAAA", origin="https://evil.example")(c),
        with_flags(remove=UV, add=AT)(c), with_fields(key=KEYS["other"])(c))),
    ("B31", "P1", "S01", "wrong in size and flags: the size comes first",
     lambda c: (with_fields(tail=b"\0")(c), with_flags(remove=UP)(c))),
    ("C30", "K01", "S01", "nobody was verified, and the algorithm is wrong: the flag comes first",
     with_flags(remove=UV)),
    ("C31", "K05", "S01", "no point, and no signature: the point comes first",
     with_fields(after=lambda c, a, s: (c, a, b"x"))),
    ("C32", "K05", "S01", "no point, and a lower counter: the point comes first",
     with_fields(counter=4)),
    ("C33", "K22", "S02", "a signature that fits if it is multiplied by the cofactor", with_fields(
        after=lambda c, a, s: (c, a, MIXED.sign(a + hashlib.sha256(c).digest(), False)))),
    ("C34", "K03", "S01", "the algorithm is wrong, and so is the signature",
     with_fields(after=lambda c, a, s: (c, a, b"x"))),
]
# What fits the odd keys, where anything does.
FITTING = {"K13": with_fields(after=anybodys), "K14": with_fields(after=anybodys),
           "K15": with_fields(after=anybodys), "K22": with_fields(key=MIXED)}
CASES += [("C" + odd[1:], odd, credentials[like], about, FITTING.get(odd, as_it_is))
          for credentials in [{"P1": "S01", "P2": "S02"}] for odd, like, _, _, about in ODD_KEYS]


def main():
    with open(os.path.join(HERE, "statements.json"), encoding="ascii") as file:
        statements = {s["id"]: s for s in json.load(file) if "input" in s}
    challenges = {name: bytes.fromhex(s["challenge"]) for name, s in statements.items()}
    credentials = {"P1": "S01", "P2": "S02", "P3": "S03"}

    keys = {name: (name, KEYS[name].name, KEYS[name].public()) for name in credentials}
    keys.update((odd, (like, algorithm, key)) for odd, like, algorithm, key, _ in ODD_KEYS)
    passkeys = []
    for name, (like, algorithm, key) in keys.items():
        rp, origin, eligible, counter = ENROLLED[name]
        passkeys.append({"id": name, "algorithm": algorithm,
                         "credential": statements[credentials[like]]["input"]["credential"],
                         "public_key": b64(key), "rp": rp, "origin": origin,
                         "backup_eligible": eligible, "counter": str(counter)})
    assertions = []
    for case, passkey, statement, about, change in CASES:
        ceremony = Ceremony(passkey, challenges[statement])
        change(ceremony)
        other = ceremony.members.get("challenge", "")
        if isinstance(other, str) and other.startswith("$"):
            ceremony.members["challenge"] = b64(challenges[other[1:]])
        client, auth, signature = ceremony.finish()
        assertions.append({"id": case, "about": about, "passkey": passkey, "statement": statement,
                           "client_data": b64(client), "auth_data": b64(auth),
                           "signature": b64(signature)})
    with open(os.path.join(HERE, "assertions.json"), "w", encoding="ascii") as file:
        json.dump({"passkeys": passkeys, "assertions": assertions}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
