#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the receipts of tests/vectors/record, good and bad, into receipts.json.

    make-receipts.py

A service that does as it is told, and the authenticator of make-assertions.py: it follows
undersign-receipt(7), decides no verdict (receipt-verdicts.json says those, written by hand) and
shares no code with the service or with what verifies the vectors.  It needs the package
`cryptography` as make-assertions.py does, is run by hand and gives the same bytes each time.
"""
import hashlib
import importlib.util
import json
import os

from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location("make_assertions",
                                              os.path.join(HERE, "make-assertions.py"))
authenticator = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(authenticator)
b64, KEYS, ENROLLED = authenticator.b64, authenticator.KEYS, authenticator.ENROLLED

REQUEST, OTHER_REQUEST = "7d0f4c2b9a8e4d1fb3c5a6978812ef34", "00000000000000000000000000000001"
HOST, LEDGER = "5d1a0c6f0b3e4e0f9b7c2a1d4e8f6a90", "c0ffee00c0ffee00c0ffee00c0ffee00"
PEOPLE = {"P1": ("it.lead", "1002"), "P2": ("hr.kim", "1003"), "P3": ("alice", "1004")}
ZERO = "sha256:" + "0" * 64


def canonical(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def pae(kind, body):
    name = b"application/vnd.undersign.%s.v1+json" % kind.encode()
    return b"DSSEv1 %d %s %d %s" % (len(name), name, len(body), body)


def digest(kind, body):
    return "sha256:" + hashlib.sha256(pae(kind, body)).hexdigest()


def read(name):
    with open(os.path.join(HERE, "record", name), encoding="ascii") as file:
        return json.load(file)


RECORDS = {case["id"]: case for case in read("records.json") if "input" in case}
STATEMENTS = {case["id"]: case for case in read("statements.json") if "input" in case}
RECORD, RECORD_2 = RECORDS["R01"]["record"], RECORDS["R02"]["record"]


def key_object(algorithm, public):
    return {"algorithm": algorithm, "format": "undersign.key/1", "public_key": b64(public)}


class HostKey:
    def __init__(self, seed):
        self.key = ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed).digest())
        self.public = key_object("EdDSA", self.key.public_key().public_bytes(Encoding.Raw,
                                                                             PublicFormat.Raw))
        self.id = digest("key", canonical(self.public))

    def sign(self, kind, body):
        return {"body": body.decode(), "format": "undersign.signed/1", "key": self.public,
                "signature": b64(self.key.sign(pae(kind, body))),
                "type": "application/vnd.undersign.%s.v1+json" % kind}


HOST_KEY, STRANGER = HostKey(b"undersign vector host"), HostKey(b"undersign vector stranger")


def passkey_id(name):
    return digest("key", canonical(key_object(KEYS[name].name, KEYS[name].public())))


class Receipt:
    """What is in a receipt before it is signed; a case changes what it wants to be wrong."""

    def __init__(self):
        self.record = RECORD
        self.answers, self.events = [], []
        self.outcome = {"by": "", "reason": "", "result": "", "successor": "", "source": "",
                        "state": "none"}
        self.seq = 40             # of the entry before the first of this request
        self.tail = 2             # entries of others after the last
        self.statement_edit = None
        self.audit_edit = None    # changes the list of entries, before the outcome names them
        self.outcome_edit = None  # changes the outcome's members, before they are signed
        self.signed_edit = None   # changes the signed object
        self.receipt_edit = None  # changes the receipt's members
        self.bytes_edit = None    # changes its bytes
        self.host_key = HOST_KEY
        self.kind = "outcome"

    def record_digest(self):
        return digest("record", RECORD.encode())

    def answer(self, passkey, decision="approve", used=False, entry=True, ceremony=None,
               **changes):
        """A statement, its assertion, and the entry that tells of it."""
        rp, origin, eligible, _ = ENROLLED[passkey]
        name, uid = PEOPLE[passkey]
        statement = dict(STATEMENTS["S01"]["input"], decision=decision,
                         record=self.record_digest(), rp=rp,
                         approver={"name": name, "uid": uid},
                         credential=b64(hashlib.sha256(passkey.encode()).digest())) | changes
        text = canonical(statement)
        if self.statement_edit is not None:
            text = self.statement_edit(text)
        made = authenticator.Ceremony(passkey, hashlib.sha256(pae("statement", text)).digest())
        if ceremony is not None:
            ceremony(made)
        client, auth, signature = made.finish()
        self.answers.append({
            "assertion": {"auth_data": b64(auth), "client_data": b64(client),
                          "signature": b64(signature)},
            "backup_eligible": eligible, "key": key_object(KEYS[passkey].name,
                                                           KEYS[passkey].public()),
            "kind": "synced" if eligible else "software", "origin": origin,
            "statement": text.decode(), "used": used})
        if entry and decision == "approve":
            self.event("approved", "signed", name=name, uid=uid, statement=digest("statement",
                                                                                  text))
        return digest("statement", text)

    def event(self, event, source, request=REQUEST, record=None, **details):
        details = {"request": request, "record": record or self.record_digest()} | details
        if event in ("done", "failed", "unknown", "resolved"):
            del details["record"]
        self.events.append((event, source, details))

    def ends(self, state, source, **members):
        self.outcome.update(state=state, source=source, **members)

    def approved_and_done(self, *passkeys):
        for passkey in passkeys:
            self.answer(passkey, used=True)
        self.event("consumed", "executor",
                   approvers=" ".join(PEOPLE[passkey][0] for passkey in passkeys))
        self.event("done", "executor", result="250 2.0.0 Ok: queued")
        self.ends("done", "executor", result="250 2.0.0 Ok: queued")

    def chain(self):
        """The entries, one after another, and the head after those of others."""
        entries, previous = [], digest("audit", b"the entry before")
        for number, (event, source, details) in enumerate(self.events, self.seq + 1):
            entry = canonical({"details": details, "event": event, "format": "undersign.audit/1",
                               "previous": previous, "seq": str(number), "source": source,
                               "time": "2026-11-30T09:%02d:00Z" % (number % 60)})
            previous = digest("audit", entry)
            entries.append((number, entry))
        last = self.seq + len(self.events) + self.tail
        head = previous if self.tail == 0 else digest("audit", b"the last entry")
        return entries, last, head

    def finish(self):
        entries, last, head = self.chain()
        if self.audit_edit is not None:
            self.audit_edit(entries)
        outcome = dict(self.outcome, format="undersign.outcome/1", host=HOST, ledger=LEDGER,
                       key=self.host_key.id, request=REQUEST, record=self.record_digest(),
                       answers=[digest("statement", answer["statement"].encode())
                                for answer in self.answers],
                       entries=[{"seq": str(seq), "hash": digest("audit", entry)}
                                for seq, entry in entries],
                       seq=str(last), head=head, time="2026-11-30T12:00:00Z")
        if self.outcome_edit is not None:
            self.outcome_edit(outcome)
        signed = self.host_key.sign(self.kind, canonical(outcome))
        if self.signed_edit is not None:
            self.signed_edit(signed)
        receipt = {"answers": self.answers, "audit": [entry.decode() for _, entry in entries],
                   "format": "undersign.receipt/1", "outcome": signed, "record": self.record}
        if self.receipt_edit is not None:
            self.receipt_edit(receipt)
        text = canonical(receipt)
        return (self.bytes_edit(text) if self.bytes_edit else text).decode()


# --- good ones ---

def done(r):
    r.approved_and_done("P1")


def done_by_two(r):
    r.approved_and_done("P1", "P2")


def done_by_web(r):
    r.approved_and_done("P3")


def allowed(r):
    r.approved_and_done()


def signed_denial(r):
    r.answer("P2")
    statement = r.answer("P1", "deny")
    r.event("denied", "signed", by="it.lead", reason="wrong-target", statement=statement,
            uid="1002")
    r.ends("denied", "signed", by="it.lead", reason="wrong-target")


def closed(state, keep=False, **members):
    def fill(r):
        r.event(state, "broker", **({"by": "", "reason": ""} | members))
        r.ends(state, "broker", **members)
        if not keep:
            r.record = ""
    return fill


def refused(r):
    r.answer("P1")
    r.event("refused", "executor", reason="record-changed")
    r.ends("refused", "executor", reason="record-changed")


def refused_then_done(r):
    r.answer("P1", used=True)
    r.event("refused", "executor", reason="limit")
    r.event("consumed", "executor", approvers="it.lead")
    r.event("done", "executor", result="")
    r.ends("done", "executor")


def unknown(r):
    r.answer("P1", used=True)
    r.event("consumed", "executor", approvers="it.lead")
    r.event("unknown", "executor", result="time-out")
    r.ends("unknown", "executor", result="time-out")


def resolved(r):
    unknown(r)
    r.event("resolved", "admin", by="0", outcome="failed", result="no mail in the log")
    r.ends("failed", "admin", result="no mail in the log")


def died(r):
    r.answer("P1", used=True)
    r.event("consumed", "executor", approvers="it.lead")
    r.ends("unknown", "executor")


def none_yet(r):
    r.answer("P1")


def superseded(r):
    r.event("superseded", "executor", successor=OTHER_REQUEST)
    r.ends("superseded", "executor", successor=OTHER_REQUEST)
    r.record = ""


def other_record_before(r):
    """An approval of an earlier preparation, whose answer is void and not here."""
    r.event("approved", "signed", record=digest("record", RECORD_2.encode()), name="hr.kim",
            statement=ZERO, uid="1003")
    done(r)


def head_is_last(r):
    r.tail = 0
    done(r)


# --- bad ones: done, with something wrong ---

def wrong(start=done, before=None, after=None, **members):
    """`start`, with what it takes before and after, and members of the Receipt set."""
    def fill(r):
        for name, value in members.items():
            setattr(r, name, value)
        if before is not None:
            before(r)
        start(r)
        if after is not None:
            after(r)
    return fill


def edit(**members):
    return lambda value: value.update(members)


def replaced(old, new):
    old, new = old.encode(), new.encode()

    def change(text):
        assert old in text, old
        return text.replace(old, new, 1)
    return change


def edit_answer(**members):
    def change(r):
        r.answers[0].update(members)
    return change


def statement_with(**changes):
    def fill(r):
        statement = r.answer("P1", used=True, **changes)
        assert statement
        r.event("consumed", "executor", approvers="it.lead")
        r.event("done", "executor", result="")
        r.ends("done", "executor")
    return fill


def asserted(ceremony):
    def fill(r):
        r.answer("P1", used=True, ceremony=ceremony)
        r.event("consumed", "executor", approvers="it.lead")
        r.event("done", "executor", result="")
        r.ends("done", "executor")
    return fill


def denied_as_approved(r):
    statement = r.answer("P1", "deny", used=True)
    r.event("denied", "signed", by="it.lead", reason="", statement=statement, uid="1002")
    r.ends("done", "executor")


def denied_as_consumed(r):
    r.answer("P1", "deny", used=True)
    r.event("consumed", "executor", approvers="it.lead")
    r.event("done", "executor", result="")
    r.ends("done", "executor")


def one_person_twice(r):
    r.answer("P1", used=True)
    r.answer("P1", used=True, nonce=b64(bytes(32)))
    r.event("consumed", "executor", approvers="it.lead it.lead")
    r.event("done", "executor", result="")
    r.ends("done", "executor")


def approver_left_out(r):
    done_by_two(r)
    del r.answers[1]


def not_named(r):
    r.answer("P1", used=True)
    r.answer("P2", used=True)
    r.event("consumed", "executor", approvers="it.lead")
    r.event("done", "executor", result="")
    r.ends("done", "executor")


def without_entry(r):
    r.answer("P1", entry=False)


def denial_missing(r):
    signed_denial(r)
    del r.answers[1]


def denial_of_another(r):
    statement = r.answer("P1", "deny")
    r.event("denied", "signed", by="hr.kim", reason="", statement=statement, uid="1003")
    r.ends("denied", "signed", by="hr.kim")


def events(*rows, **ends):
    def fill(r):
        r.answer("P1")
        for event, source, details in rows:
            r.event(event, source, **details)
        r.ends(**ends)
    return fill


def without(number):
    return lambda entries: entries.__delitem__(number)


def swap(entries):
    entries[0], entries[1] = entries[1], entries[0]


def other_previous(entries):
    seq, entry = entries[1]
    value = json.loads(entry)
    value["previous"] = ZERO
    entries[1] = (seq, canonical(value))


def of_another(entries):
    seq, entry = entries[-1]
    entries[-1] = (seq, entry.replace(REQUEST.encode(), OTHER_REQUEST.encode()))


def rename(seq):
    def change(entries):
        entries[-1] = (seq, entries[-1][1])
    return change


def drop_entry_of_receipt(receipt):
    del receipt["audit"][1]


def change_entry_of_receipt(receipt):
    receipt["audit"][2] = receipt["audit"][2].replace("queued", "queueD")


def swap_answers(receipt):
    receipt["answers"].reverse()


def long_number(outcome):
    outcome["seq"] = "9223372036854775808"


ALL = "P1", "P2", "P3", "host"
CASES = [
    # id, what is done, which keys the verifier has, how
    ("G01", "executed by one approval; both keys were given", ("P1", "host"), done),
    ("G02", "the same, without a key", (), done),
    ("G03", "the same, with the host key alone", ("host",), done),
    ("G04", "the same, with the passkey alone", ("P1",), done),
    ("G05", "executed by two approvals", ALL, done_by_two),
    ("G06", "the same, and one key was not given", ("P1", "host"), done_by_two),
    ("G07", "a passkey in a browser", ALL, done_by_web),
    ("G08", "allowed without asking", ALL, allowed),
    ("G09", "a signed denial, after somebody's approval", ALL, signed_denial),
    ("G10", "a denial that nobody signed", ALL,
     closed("denied", keep=True, by="it.lead", reason="suspicious")),
    ("G11", "expired; the record was not kept", ALL, closed("expired")),
    ("G12", "withdrawn", ALL, closed("withdrawn", keep=True)),
    ("G13", "unreachable", ALL, closed("unreachable")),
    ("G14", "superseded, as the broker says", ALL, closed("superseded")),
    ("G15", "superseded by what was executed in its place", ALL, superseded),
    ("G16", "approved, and refused: the record is no longer the same", ALL, refused),
    ("G17", "refused once, executed later", ALL, refused_then_done),
    ("G18", "an unknown outcome", ALL, unknown),
    ("G19", "the same, resolved", ALL, resolved),
    ("G20", "a worker that has died", ALL, died),
    ("G21", "approved, and not used yet", ALL, none_yet),
    ("G22", "an approval of an earlier preparation", ALL, other_record_before),
    ("G23", "the last entry of the log is the last of the request", ALL, head_is_last),
    ("G24", "a line feed at the end", ALL, wrong(bytes_edit=lambda text: text + b"\n")),
    ("B01", "a record of which a letter was changed", ALL,
     wrong(receipt_edit=lambda r: r.update(record=r["record"].replace("example", "exemple", 1)))),
    ("B02", "a record of another digest", ALL, wrong(receipt_edit=edit(record=RECORD_2))),
    ("B03", "a record that is none", ALL,
     wrong(allowed, receipt_edit=edit(record="{}"),
           outcome_edit=edit(record=digest("record", b"{}")))),
    ("B04", "a statement of another request", ALL, statement_with(request=OTHER_REQUEST)),
    ("B05", "a statement of another record", ALL,
     statement_with(record=digest("record", RECORD_2.encode()))),
    ("B06", "the statement of an approval, changed into a denial", ALL,
     wrong(after=lambda r: r.answers[0].update(
         statement=r.answers[0]["statement"].replace('"approve"', '"deny"')))),
    ("B07", "the outcome names another statement", ALL, wrong(outcome_edit=edit(answers=[ZERO]))),
    ("B08", "the outcome names no statement", ALL, wrong(outcome_edit=edit(answers=[]))),
    ("B09", "the answers in another order", ALL, wrong(done_by_two, receipt_edit=swap_answers)),
    ("B10", "a passkey's key that is not the one that signed", ALL,
     wrong(after=edit_answer(key=key_object("ES256", KEYS["P3"].public())))),
    ("B11", "nobody was verified", ALL, asserted(authenticator.with_flags(remove=0x04))),
    ("B12", "the challenge of another statement", ALL,
     asserted(authenticator.with_members(challenge=b64(bytes(32))))),
    ("B13", "another origin", ALL, asserted(authenticator.with_members(origin="https://x.example"))),
    ("B14", "a passkey that can be backed up, named as one that can't", ALL,
     wrong(done_by_web, after=edit_answer(backup_eligible=False))),
    ("B15", "another relying party than the statement's", ALL,
     asserted(authenticator.with_fields(rp="undersign:" + "0" * 32))),
    ("B20", "a denial told as an execution", ALL, denied_as_approved),
    ("B21", "a denial that was used", ALL, denied_as_consumed),
    ("B22", "one person counts twice", ALL, one_person_twice),
    ("B23", "an approval that was used is left out", ALL, approver_left_out),
    ("B24", "an approval counts that the execution does not name", ALL, not_named),
    ("B25", "an approval without its entry", ALL, without_entry),
    ("B26", "a signed denial that is left out", ALL, denial_missing),
    ("B27", "a signed denial of another person than the one that is named", ALL,
     denial_of_another),
    ("B28", "done, and nothing was used up", ALL,
     events(("done", "executor", {"result": ""}), state="done", source="executor")),
    ("B29", "used up by the broker's word", ALL,
     events(("consumed", "broker", {"approvers": ""}), state="executing", source="broker")),
    ("B30", "an unsigned approval", ALL, wrong(none_yet, after=lambda r: r.event(
        "approved", "broker", name="hr.kim", statement=ZERO))),
    ("B31", "an event that no request has", ALL, wrong(none_yet, after=lambda r: r.event(
        "celebrated", "executor"))),
    ("B32", "executed after it was denied", ALL, events(
        ("denied", "broker", {"by": "hr.kim", "reason": ""}),
        ("consumed", "executor", {"approvers": ""}), state="executing", source="executor")),
    ("B33", "an unknown outcome, told as done", ALL,
     wrong(unknown, outcome_edit=edit(state="done"))),
    ("B34", "an outcome that is done, told as unknown", ALL, wrong(
        outcome_edit=edit(state="unknown"))),
    ("B35", "an expiry, told as a denial", ALL,
     wrong(closed("expired"), outcome_edit=edit(state="denied"))),
    ("B36", "a denial that nobody signed, told as a signed one", ALL,
     wrong(closed("denied", by="it.lead"), outcome_edit=edit(source="signed"))),
    ("B37", "another result than the entry's", ALL, wrong(outcome_edit=edit(result="sent"))),
    ("B38", "another person than the entry's", ALL,
     wrong(closed("denied", by="it.lead"), outcome_edit=edit(by="hr.kim"))),
    ("B39", "another reason than the entry's", ALL,
     wrong(closed("denied", by="it.lead", reason="other"), outcome_edit=edit(reason="not-now"))),
    ("B40", "used up with another record", ALL, events(
        ("consumed", "executor", {"approvers": "", "record": ZERO}),
        state="executing", source="executor")),
    ("B41", "resolved as something else", ALL, wrong(unknown, after=lambda r: (
        r.event("resolved", "admin", outcome="fine", result=""), r.ends("done", "admin")))),
    ("B50", "an entry of the middle left out of the receipt", ALL,
     wrong(receipt_edit=drop_entry_of_receipt)),
    ("B51", "an entry left out of receipt and outcome", ALL, wrong(audit_edit=without(1))),
    ("B52", "an entry that was changed", ALL, wrong(receipt_edit=change_entry_of_receipt)),
    ("B53", "entries in another order", ALL, wrong(audit_edit=swap)),
    ("B54", "an entry that does not follow the one before it", ALL,
     wrong(audit_edit=other_previous)),
    ("B55", "an entry of another request", ALL, wrong(audit_edit=of_another)),
    ("B56", "an entry of another number than the outcome names", ALL, wrong(audit_edit=rename(44))),
    ("B57", "an entry after the head of the log", ALL, wrong(outcome_edit=edit(seq="41"))),
    ("B58", "a head that is not the entry of its number", ALL,
     wrong(head_is_last, outcome_edit=edit(head=ZERO))),
    ("B59", "an entry of a source that there is not", ALL, wrong(none_yet, after=lambda r: r.event(
        "refused", "nobody", reason="limit"))),
    ("B60", "an entry that is not canonical", ALL, wrong(audit_edit=lambda e: e.__setitem__(
        0, (e[0][0], e[0][1].replace(b":", b": ", 1))))),
    ("B61", "the last entry left out of the receipt", ALL,
     wrong(receipt_edit=lambda r: r["audit"].pop())),
    ("B62", "a first entry that follows something", ALL, wrong(seq=0)),
    ("B63", "null in the details of an entry", ALL, wrong(none_yet, after=lambda r: r.event(
        "refused", "executor", reason="limit", note=None))),
    ("B70", "an outcome signed by another key than the one beside it", ALL,
     wrong(signed_edit=edit(key=STRANGER.public))),
    ("B71", "an outcome that was changed after it was signed", ALL, wrong(
        signed_edit=lambda s: s.update(body=s["body"].replace("queued", "queueD")))),
    ("B72", "an outcome that names another key than the one that signs", ALL,
     wrong(outcome_edit=edit(key=STRANGER.id))),
    ("B73", "an outcome by another host: its key was not given", ALL, wrong(host_key=STRANGER)),
    ("B74", "a checkpoint's type", ALL, wrong(kind="checkpoint")),
    ("B75", "a signature of 63 bytes", ALL, wrong(signed_edit=lambda s: s.update(
        signature=s["signature"][:84]))),
    ("B76", "a host key of ES256", ALL, wrong(
        signed_edit=edit(key=key_object("ES256", KEYS["P1"].public())))),
    ("B77", "a key of another algorithm", ALL, wrong(
        after=edit_answer(key=key_object("RS256", bytes(64))))),
    ("B78", "a key of 63 bytes", ALL, wrong(
        after=edit_answer(key=key_object("ES256", bytes(63))))),
    ("B80", "a state that there is not", ALL, wrong(outcome_edit=edit(state="approved"))),
    ("B81", "a source that there is not", ALL, wrong(outcome_edit=edit(source="nobody"))),
    ("B82", "a number with a leading zero", ALL, wrong(outcome_edit=edit(seq="045"))),
    ("B83", "a number of 2^63", ALL, wrong(outcome_edit=long_number)),
    ("B84", "a number that is not a string", ALL, wrong(outcome_edit=edit(seq=45))),
    ("B85", "an outcome with one member more", ALL, wrong(outcome_edit=edit(more=""))),
    ("B86", "an outcome without a member", ALL, wrong(outcome_edit=lambda o: o.pop("by"))),
    ("B87", "another format of the outcome", ALL, wrong(
        outcome_edit=edit(format="undersign.outcome/2"))),
    ("B88", "a time with a fraction", ALL, wrong(
        outcome_edit=edit(time="2026-11-30T12:00:00.5Z"))),
    ("B89", "a digest in upper case", ALL, wrong(
        outcome_edit=lambda o: o.update(head=o["head"].upper()))),
    ("B90", "another format", ALL, wrong(receipt_edit=edit(format="undersign.receipt/2"))),
    ("B91", "a member more", ALL, wrong(receipt_edit=edit(more=""))),
    ("B92", "a member twice", ALL, wrong(bytes_edit=replaced(
        '"format":"undersign.receipt/1"',
        '"format":"undersign.receipt/1","format":"undersign.receipt/1"'))),
    ("B93", "a space after a colon", ALL, wrong(bytes_edit=replaced('"answers":', '"answers": '))),
    ("B94", "something after the object", ALL, wrong(bytes_edit=lambda text: text + b"{}")),
    ("B95", "two line feeds at the end", ALL, wrong(bytes_edit=lambda text: text + b"\n\n")),
    ("B96", "a kind of passkey that there is not", ALL, wrong(after=edit_answer(kind="paper"))),
    ("B97", "used is a string", ALL, wrong(after=edit_answer(used="true"))),
    ("B98", "a statement that is not canonical", ALL,
     wrong(before=lambda r: setattr(r, "statement_edit", replaced('"approver":', '"approver": ')))),
    ("B99", "bytes with padding", ALL, wrong(after=lambda r: r.answers[0]["assertion"].update(
        signature=r.answers[0]["assertion"]["signature"] + "="))),
    ("C01", "the entries are no list", ALL, wrong(receipt_edit=edit(audit="none"))),
    ("C02", "an entry is an object", ALL, wrong(receipt_edit=edit(audit=[{}]))),
    ("C03", "an array around it: one level too deep", ALL,
     wrong(bytes_edit=lambda text: b"[" + text + b"]")),
    ("C05", "an array", ALL, wrong(bytes_edit=lambda text: b"[]")),
    ("C04", "nothing", ALL, wrong(bytes_edit=lambda text: b"")),
]


def main():
    keys = {name: passkey_id(name) for name in PEOPLE} | {"host": HOST_KEY.id}
    receipts = []
    for case, about, given, fill in CASES:
        receipt = Receipt()
        fill(receipt)
        receipts.append({"id": case, "about": about, "keys": [keys[name] for name in given],
                         "receipt": receipt.finish()})
    with open(os.path.join(HERE, "record", "receipts.json"), "w", encoding="ascii") as file:
        json.dump(receipts, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
