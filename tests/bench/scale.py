# SPDX-License-Identifier: LGPL-2.1-or-later
"""Much of what the service keeps: a ledger that is years old, and audit logs of any length.

The rows are of the form that the executor writes, and the entries are one chain with those before
them; what is signed is not, since nobody reads it again.
"""

import hashlib
import os
import sqlite3
import subprocess
import time

AUDIT = b"application/vnd.undersign.audit.v1+json"
LEDGER = "9" * 32
RECENT = 1000  # of the last day, which a limit counts


def chain(requests, seq=0, previous=bytes(32)):
    """(seq, entry, hash, request) of an entry for each of @requests after @seq."""
    for number, request in enumerate(requests, seq + 1):
        event, details = ("done", f'"request":"{request}","result":""') if number > 1 else (
            "created", f'"ledger":"{LEDGER}"')
        entry = (f'{{"details":{{{details}}},"event":"{event}","format":"undersign.audit/1",'
                 f'"previous":"sha256:{previous.hex()}","seq":"{number}","source":"executor",'
                 '"time":"2026-11-30T09:00:00Z"}').encode()
        previous = hashlib.sha256(b"DSSEv1 %d %s %d %s" % (len(AUDIT), AUDIT, len(entry),
                                                           entry)).digest()
        yield number, entry, previous, request


def fill(path, rows):
    """As many requests that ended long ago, RECENT of them today, with an answer and an entry each."""
    now = int(time.time())
    # in the order of their index, which is ten times as fast
    ids = sorted(os.urandom(16).hex() for _ in range(rows))
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -200000")
        head = database.execute("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
        key = database.execute("SELECT credential, name, uid FROM passkey LIMIT 1").fetchone()
        database.executemany(
            "INSERT INTO request (id, consumed, why, \"by\", reason, record, digest, intent, agent, "
            "action, outcome, result, created) VALUES (?, 1, '', '', '', x'', randomblob (32), "
            "randomblob (32), 61184, 'bench.run', 'done', '', ?)",
            ((name, now - (60 if i < RECENT else 1000000)) for i, name in enumerate(ids)))
        database.executemany(
            "INSERT INTO answer (request, digest, decision, credential, name, uid, statement, nonce, "
            "issued, expires, client_data, auth_data, signature, counter, used) VALUES (?, "
            "randomblob (32), 'approve', ?, ?, ?, x'', '', '', '', x'', x'', x'', 0, 1)",
            ((name, *key) for name in ids))
        database.executemany("INSERT INTO audit (seq, entry, hash, request) VALUES (?, ?, ?, ?)",
                             chain(ids, *head))
    database.close()
    os.sync()  # or those who are measured wait for this one's disk


def peak_memory(count):
    """KiB that `undersignctl audit verify` had at most, of a log of @count entries."""
    with subprocess.Popen(["undersignctl", "audit", "verify", "--file", "/dev/stdin"],
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        for _, entry, _, _ in chain([os.urandom(16).hex() for _ in range(count)]):
            process.stdin.write(entry + b"\n")
        process.stdin.flush()
        # it has read all but what a pipe holds, and waits for the rest
        with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
            found = [int(line.split()[1]) for line in status if line.startswith("VmHWM")]
        process.stdin.close()
        if process.wait() != 0:
            raise RuntimeError("undersignctl does not verify what the bench has written")
    return found[0]
