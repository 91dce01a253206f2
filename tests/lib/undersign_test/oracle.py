# SPDX-License-Identifier: LGPL-2.1-or-later
"""What must be true whatever happened: reads ledger, mark, marker file and mailbox by itself.

Nothing of the service is asked.  The audit chain is replayed entry by entry, and each request is
held against it: what ran was consumed, once, with valid assertions over exactly the record that ran;
what was closed never ran; a repeat of an unknown outcome was not consumed.  Each look reads on from
the last one, and verify() reads all of it again.
"""

import base64
import email
import email.policy
import hashlib
import json
import os
import re
import sqlite3
import sys

from . import policy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../vectors"))

from independent import assertion, digests, refusal  # noqa: E402: found by the path above

LEDGER = "/var/lib/undersign-executor/ledger.db"
MARK = "/run/undersign-executor/mark"
CLOSED = ("denied", "withdrawn", "expired", "superseded", "unreachable")


# In the marker file, after what a writer that was killed has left without an end.
_LINE = re.compile(r"(.*?)([0-9a-f]{32}) (\S+) ([0-9a-f]{64})")


class Wrong(AssertionError):
    """The service broke a promise."""


def demand(condition, *text):
    if not condition:
        raise Wrong(" ".join(str(word) for word in text))


def digest_bytes(kind, body):
    return digests.sha256(kind, body).digest()


class Key:
    """A passkey that the test itself holds."""

    def __init__(self, user, uid, key):
        self.user, self.uid = user, uid
        point = key.private.public_key().public_numbers()
        self.passkey = {"rp": key.rp, "origin": key.origin, "backup_eligible": False,
                        "algorithm": "ES256", "counter": "0",
                        "public_key": point.x.to_bytes(32, "big") + point.y.to_bytes(32, "big")}

    def why_wrong(self, client, auth, signature, challenge):
        """What the other implementation has against an assertion, or None."""
        try:
            assertion.check({"client_data": client, "auth_data": auth, "signature": signature},
                            self.passkey, challenge)
        except refusal.Refused as error:
            return error
        return None


class Seen:
    """What the audit has said of one request."""

    def __init__(self):
        self.consumed = self.closed = self.outcome = self.record = self.intent = None

    def __eq__(self, other):
        return vars(self) == vars(other)


class Oracle:
    """
    @needed: how many persons must have approved an action, by its id; 1 where it is not there
    @stays: whether the ledger stays open from one look to the next; rest() lets it go
    @mailbox: the Maildir where each mail is an effect, too
    """

    def __init__(self, needed=None, marker=policy.MARKER, ledger=LEDGER, stays=False, mailbox=None):
        self.needed, self.stays = needed or {}, stays
        self.mailbox = mailbox
        self.contents = {}  # SHA-256 → content, of the files that the test gave
        self.db = None
        self.marker_path, self.ledger_path = marker, ledger
        self.keys = {}
        self.marker_from = 0
        self.reset()

    def reset(self, marker=False):
        """Forgets what was seen: after a ledger was restored, all of it is read again.  @marker: the
        marker file has begun anew, too."""
        if marker:
            self.marker_from = 0
        self.rest()
        self.seq, self.head = 0, bytes(32)
        self.seen = {}
        self.ran = {}    # request → action
        self.torn = {}   # the same, of those whose effect was cut off by a kill
        self.fresh = {}  # request → (action, digest or mail), of those not held against the ledger yet
        self.mails = set()  # their files' names
        self.marker_at = self.marker_from
        self.blocked = {}
        self.events = {}
        self.revoked = set()  # credentials
        self.touched = set()  # requests of which something was read since the test cleared it

    def skip_marker(self):
        """Forgives what ran so far: a ledger was restored that cannot know of it."""
        self._read_marker()
        self.ran.clear()
        self.torn.clear()
        self.fresh.clear()
        self.marker_from = self.marker_at

    def add_key(self, user, uid, key):
        self.keys[key.credential] = Key(user, uid, key)

    def add_file(self, content):
        self.contents[hashlib.sha256(content).hexdigest()] = content

    # --- the look ---

    def look(self):
        """Raises Wrong.  A look at what has not changed since the last one ends at once."""
        size, mark = self._marker_size(), self._read_mark()
        mails = self._mail_names()
        now = size, mark, mails, self._version()
        if now == self.last:
            return
        try:
            self._read_marker()
            self._read_mails(mails)
            self._read_chain(self.db)
            for request, ran in self.fresh.items():
                self._check_ran(self.db, request, *ran)
            self.fresh.clear()
            self._check_mark(self.db, mark)
            self.last = now
        finally:
            if not self.stays:
                self.rest()

    def rest(self):
        """Closes the ledger, so that its other users are alone with it; the next look reads it again."""
        if self.db is not None:
            self.db.close()
        self.db = self.last = None

    def _version(self):
        """Another number after each commit of anybody's."""
        if self.db is None:
            self.db = sqlite3.connect(f"file:{self.ledger_path}?mode=ro", uri=True, timeout=20)
        return self.db.execute("PRAGMA data_version").fetchone()[0]

    def verify(self):
        """Reads marker and ledger from their beginning, as one that has seen nothing yet, and must find
        what was found step by step; raises Wrong."""
        other = Oracle(self.needed, self.marker_path, self.ledger_path, mailbox=self.mailbox)
        other.keys, other.marker_from, other.contents = self.keys, self.marker_from, self.contents
        other.reset()
        for _ in range(10):  # where something goes on meanwhile
            other.look()
            self.look()
            if other.seq == self.seq:
                break
        demand((other.seq, other.head, other.ran) == (self.seq, self.head, self.ran),
               f"read again, it ends at {other.seq}, {len(other.ran)} ran; it did at {self.seq}, "
               f"{len(self.ran)} ran")
        demand(other.seen == self.seen, "read again, it says something else of some request")

    def _marker_size(self):
        try:
            return os.stat(self.marker_path).st_size
        except FileNotFoundError:
            return 0

    def _read_marker(self):
        """Each line is an effect."""
        try:
            with open(self.marker_path, encoding="ascii") as file:
                file.seek(self.marker_at)
                text = file.read()
        except FileNotFoundError:
            return
        whole, _, _ = text.rpartition("\n")
        self.marker_at += len(whole) + (1 if whole else 0)
        for line in whole.splitlines():
            torn, request, action, digest = _LINE.fullmatch(line).groups()
            self._take_torn(torn)
            self._take_ran(request, action, digest)

    def _mail_names(self):
        """Of what is delivered: a Maildir has it whole, or not yet."""
        folder = f"{self.mailbox}/new"
        return frozenset(os.listdir(folder)) if self.mailbox and os.path.isdir(folder) else frozenset()

    def _read_mails(self, names):
        for name in sorted(names - self.mails):
            with open(f"{self.mailbox}/new/{name}", "rb") as file:
                mail = email.message_from_binary_file(file, policy=email.policy.default)
            request = re.fullmatch(r"<([0-9a-f]{32})@[a-z0-9.-]+>", mail["Message-ID"])
            demand(request, f"a mail of nobody: {mail['Message-ID']}")
            self._take_ran(request[1], "mail.send", mail)
        self.mails |= names

    def _take_ran(self, request, action, digest):
        demand(request not in self.ran and request not in self.torn, request, "ran twice")
        (self.ran if digest else self.torn)[request] = action
        self.fresh[request] = (action, digest)

    def _take_torn(self, text):
        """Halves of lines, whose writers were killed meanwhile: effects that began."""
        while text:
            request, action = text.split(" ")[:2]
            self._take_ran(request, action, None)
            text = text[(len(f"{request} {action} ") + 64 + 1) // 2:]

    def _read_chain(self, db):
        rows = db.execute("SELECT seq, entry, hash FROM audit WHERE seq >= ? ORDER BY seq",
                          (self.seq,)).fetchall()
        if self.seq:
            demand(rows and rows[0][0] == self.seq and rows[0][2] == self.head,
                   f"audit entry {self.seq} is not what it was")
            rows = rows[1:]
        for seq, entry, stored in rows:
            demand(seq == self.seq + 1, f"after audit entry {self.seq} comes {seq}")
            demand(digest_bytes("audit", entry) == stored, f"audit entry {seq}: another hash")
            members = json.loads(entry)
            demand(members["seq"] == str(seq) and
                   members["previous"] == "sha256:" + self.head.hex(),
                   f"audit entry {seq} does not continue the chain")
            self.seq, self.head = seq, stored
            self.events[members["event"]] = self.events.get(members["event"], 0) + 1
            self._take(db, members["event"], members["details"])

    @staticmethod
    def _read_mark():
        """Read before the ledger, which only grows: (sequence number, hash), or None."""
        try:
            with open(MARK, encoding="ascii") as file:
                _, _, seq, head = file.read().split()
        except FileNotFoundError:
            return None
        return int(seq), bytes.fromhex(head.removeprefix("sha256:"))

    def _check_mark(self, db, mark):
        if mark is None:
            return
        row = db.execute("SELECT hash FROM audit WHERE seq = ?", (mark[0],)).fetchone()
        demand(row == (mark[1],), f"the ledger does not go through the mark at {mark[0]}")

    # --- the events ---

    def _take(self, db, event, details):
        if event == "revoked":
            self.revoked.add(base64.urlsafe_b64decode(details["credential"] + "=="))
        name = details.get("request")
        if event not in ("consumed", "done", "failed", "unknown", "resolved", "approved", *CLOSED):
            return
        seen = self.seen.setdefault(name, Seen())
        self.touched.add(name)
        if event == "consumed":
            self._take_consumed(db, name, seen, details)
        elif event in ("done", "failed", "unknown"):
            demand(seen.consumed and seen.outcome is None, f"{name}: {event} after {seen.outcome}")
            self._end(name, seen, event)
        elif event == "resolved":
            demand(seen.consumed and seen.outcome in (None, "unknown"),
                   f"{name}: resolved after {seen.outcome}")
            self._end(name, seen, "resolved")
        elif event in CLOSED:
            demand(not seen.consumed and not seen.closed, f"{name}: {event} is not the first end")
            seen.closed = event
            row = db.execute("SELECT consumed, outcome, why FROM request WHERE id = ?",
                             (name,)).fetchone()
            demand(row == (0, None, event), f"{name}: the row says {row}")
        else:
            demand(not seen.consumed and not seen.closed, f"{name}: approved after its end")

    def _end(self, name, seen, outcome):
        seen.outcome = outcome
        if outcome != "unknown":
            self.blocked.pop(seen.intent, None)
        if outcome == "failed":
            demand(name not in self.ran, f"{name} failed, and yet it ran")

    def _take_consumed(self, db, name, seen, details):
        demand(not seen.consumed and not seen.closed, f"{name}: consumed a second time, or closed")
        row = db.execute("SELECT consumed, record, digest, intent FROM request WHERE id = ?",
                         (name,)).fetchone()
        demand(row is not None and row[0] == 1, f"{name}: consumed, but the row is {row}")
        _, record, digest, intent = row
        demand(digest_bytes("record", record) == digest, f"{name}: another digest")
        seen.consumed, seen.record = digest, json.loads(record)
        seen.intent = digest_bytes("intent", digests.intent_body(seen.record))
        demand(seen.intent == intent, f"{name}: another intent")
        demand(details["record"] == "sha256:" + digest.hex(), f"{name}: the audit has another record")
        demand(self.blocked.get(intent) is None,
               f"{name}: consumed while {self.blocked.get(intent)}, the same, was not known to end")
        self.blocked[intent] = name
        older = details.get("supersedes")
        if older is not None:
            demand(not self.seen.setdefault(older, Seen()).consumed, f"{name}: {older} ran before")
            self.seen[older].closed = self.seen[older].closed or "superseded"
        self._check_answers(db, name, seen)

    def _check_answers(self, db, name, seen):
        """As many persons as policy wants have signed just this record of just this request."""
        people = set()
        for credential, statement, client, auth, signature in db.execute(
                "SELECT credential, statement, client_data, auth_data, signature FROM answer "
                "WHERE request = ? AND digest = ? AND decision = 'approve' AND used = 1",
                (name, seen.consumed)):
            key = self.keys.get(credential)
            demand(key is not None, f"{name}: an answer of a passkey that nobody has")
            self._check_statement(name, seen, key, json.loads(statement))
            demand(credential not in self.revoked, f"{name}: a revoked passkey of {key.user} counts")
            why = key.why_wrong(client, auth, signature, digest_bytes("statement", statement))
            demand(why is None, f"{name}: what {key.user} signed is wrong: {why}")
            people.add(key.user)
        action = seen.record["action"]["id"]
        demand(len(people) >= self.needed.get(action, 1),
               f"{name}: {action} was approved by {sorted(people)}")

    @staticmethod
    def _check_statement(name, seen, key, statement):
        wanted = {"decision": "approve", "request": name,
                  "record": "sha256:" + seen.consumed.hex(),
                  "approver": {"name": key.user, "uid": str(key.uid)}}
        for member, value in wanted.items():
            demand(statement[member] == value, f"{name}: {member} of what {key.user} signed is "
                   f"{statement[member]}")

    # --- what ran ---

    def _check_ran(self, db, request, action, digest):
        """What the module noted is what the record says."""
        seen = self.seen.get(request)
        demand(seen is not None and seen.consumed, f"{request} ran and was not consumed")
        if digest is None:
            return
        demand(action == seen.record["action"]["id"], f"{request}: {action} ran")
        if isinstance(digest, str):
            demand(digest == arguments_digest(seen.record, self.contents),
                   f"{request}: other arguments ran")
        else:
            self._check_mail(request, digest, {argument["name"]: argument["value"]
                                               for argument in seen.record["arguments"]})
        demand(seen.outcome != "failed", f"{request} failed, and yet it ran")
        row = db.execute("SELECT consumed FROM request WHERE id = ?", (request,)).fetchone()
        demand(row == (1,), f"{request} ran, and its row is {row}")

    def _check_mail(self, request, mail, wanted):
        """Whom it went to, what it says and what it carries is what the record says, and no more."""
        def addresses(text):
            return [word.strip() for word in (text or "").split(",") if word.strip()]

        to = wanted["to"] + wanted["cc"] + wanted["bcc"]
        parts = list(mail.iter_parts()) if mail.is_multipart() else [mail]
        found = [{"name": part.get_filename(), "size": str(len(part.get_content())),
                  "sha256": hashlib.sha256(part.get_content()).hexdigest()} for part in parts[1:]]
        for what, one, other in (
                ("recipients", sorted(addresses(mail["X-RcptTo"])), sorted(to)),
                ("To", addresses(mail["To"]), wanted["to"]), ("Cc", addresses(mail["Cc"]), wanted["cc"]),
                ("Bcc", mail["Bcc"], None), ("subject", mail["Subject"], wanted["subject"]),
                ("text", parts[0].get_content().rstrip("\n"), wanted["body"].rstrip("\n")),
                ("attachments", found, wanted["attachment"])):
            demand(one == other, f"{request}: {what} of its mail: {one}, not {other}")

    def has_run(self, request):
        return request in self.ran


def arguments_digest(record, contents):
    """What the null module writes: SHA-256 of names and values, each ended by a zero byte; of a file its
    name and, without an end, its content.  @contents: by their SHA-256, which alone is in the record."""
    digest = hashlib.sha256()
    for argument in record["arguments"]:
        value = argument["value"]
        words = value if isinstance(value, list) else [value]
        digest.update(argument["name"].encode() + b"\0")
        for word in words:
            if isinstance(word, dict):
                content = contents.get(word["sha256"])
                demand(content is not None, f"nobody gave the file {word}")
                demand(word["size"] == str(len(content)), f"another size: {word}")
                digest.update(word["name"].encode() + b"\0" + content)
                continue
            word = {True: "yes", False: "no"}.get(word, word) if isinstance(word, bool) else word
            digest.update(word.encode() + b"\0")
    return digest.hexdigest()
