#!/usr/bin/env python3
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
    ("A20", "P1", "S01", "a registration", with_members(type="webauthn.create")),
    ("A21", "P1", "S01", "a payment", with_members(type="payment.get")),
    ("A22", "P1", "S01", "no type", with_members(type=None)),
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
    ("A40", "P1", "S01", "inside a page of another origin", with_members(crossOrigin=True)),
    ("A41", "P1", "S01", "crossOrigin is the string false", with_members(crossOrigin="false")),
    ("A42", "P1", "S01", "crossOrigin is 0", with_members(crossOrigin=0)),
    ("A50", "P3", "S03", "a top origin", with_members(topOrigin="https://evil.example")),
    ("A51", "P3", "S03", "a top origin that is the origin", with_members(topOrigin=WEB_ORIGIN)),
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
    ("A80", "P1", "S01", "38 bytes of authenticator data", with_fields(tail=b"\0")),
    ("A81", "P1", "S01", "36 bytes of authenticator data", with_fields(cut=36)),
    ("A82", "P1", "S01", "extensions, with their flag",
     lambda c: (with_flags(add=ED)(c), with_fields(tail=b"\xa0")(c))),
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
]


def main():
    with open(os.path.join(HERE, "statements.json"), encoding="ascii") as file:
        statements = {s["id"]: s for s in json.load(file) if s["verdict"] == "ok"}
    challenges = {name: bytes.fromhex(s["challenge"]) for name, s in statements.items()}
    credentials = {"P1": "S01", "P2": "S02", "P3": "S03"}

    passkeys = [{"id": name, "algorithm": KEYS[name].name,
                 "credential": statements[credentials[name]]["input"]["credential"],
                 "public_key": b64(KEYS[name].public()), "rp": rp, "origin": origin,
                 "backup_eligible": eligible, "counter": str(counter)}
                for name, (rp, origin, eligible, counter) in ENROLLED.items()]
    assertions = []
    for case, passkey, statement, about, change in CASES:
        ceremony = Ceremony(passkey, challenges[statement])
        change(ceremony)
        other = ceremony.members.get("challenge", "")
        if other.startswith("$"):
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
