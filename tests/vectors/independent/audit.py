# SPDX-License-Identifier: LGPL-2.1-or-later
"""undersign-receipt(7): THE AUDIT LOG, its entries, and exports of it with their checkpoints."""
from . import digests, texts
from .assertion import require
from .refusal import Refused
from .signed import DIGEST, ID, NUMBERED, TIME, any_object, fits, read, read_checkpoint, string

ENTRY_LIMIT = 1024 * 1024
BEFORE_FIRST = 'sha256:' + 64 * '0'
CHECKPOINT_LINE = b'{"body":'
ENTRY = {'format': string(texts.one_of('undersign.audit/1')), 'seq': NUMBERED, 'time': TIME,
         'previous': DIGEST, 'source': string(texts.one_of('executor', 'admin', 'broker', 'signed')),
         'event': string(), 'details': any_object}


def read_entry(data):
    """The entry that the bytes are, and its hash."""
    require(len(data) <= ENTRY_LIMIT, 'chain')
    try:
        entry = read(data, 'chain', depth=4, members=256, string=ENTRY_LIMIT)
    except Refused:
        raise Refused('chain') from None
    require(fits(entry, ENTRY), 'chain')
    require(entry['seq'] != '1' or entry['previous'] == BEFORE_FIRST, 'chain')
    return entry, digests.digest('audit', data)


class Log:
    """What was read of one log: the hash of each entry, and of the one that it begins after."""

    def __init__(self):
        self.hashes, self.first, self.last, self.at = {}, None, None, None
        self.ledger, self.checkpoints = None, []

    def begin(self, entry):
        """The first entry of a file: anywhere in the first file, within the log in others."""
        self.at = int(entry['seq']) - 1
        if self.first is None:
            self.first, self.last = self.at + 1, self.at
            self.hashes[self.at] = entry['previous']

    def names_ledger(self, entry):
        """Whether it is what the log must begin with, or say of its missing beginning."""
        details = entry['details']
        if not ID(details.get('ledger')):
            return False
        if self.first == 1:
            return (entry['seq'], entry['event']) == ('1', 'created')
        return ((entry['source'], entry['event']) == ('admin', 'pruned')
                and details.get('through') == str(self.first - 1)
                and details.get('head') == self.hashes[self.first - 1])

    def add(self, data):
        entry, digest = read_entry(data)
        if self.at is None:
            self.begin(entry)
        require(int(entry['seq']) == self.at + 1
                and entry['previous'] == self.hashes.get(self.at), 'chain')
        self.at += 1
        require(self.hashes.setdefault(self.at, digest) == digest, 'chain')
        if self.names_ledger(entry):
            self.ledger = entry['details']['ledger']

    def add_line(self, line):
        if not line.startswith(CHECKPOINT_LINE):
            self.add(line)
            return
        checkpoint = read_checkpoint(line)
        require(self.at is not None and checkpoint['seq'] == str(self.at), 'checkpoint')
        self.checkpoints.append(checkpoint)

    def add_file(self, data):
        """An export that is a log by itself, or goes on from the last entry of the one before it."""
        require(data.endswith(b'\n'), 'chain')
        self.at = None
        for line in data[:-1].split(b'\n'):
            self.add_line(line)
        require(self.at is not None and self.at >= self.last, 'chain')
        self.last = self.at
        require(self.first == 1 or self.ledger is not None, 'chain')

    def goes_through(self, checkpoint):
        require(int(checkpoint['seq']) >= self.first - 1, 'pruned')
        require(checkpoint['ledger'] == self.ledger
                and self.hashes.get(int(checkpoint['seq'])) == checkpoint['head'], 'checkpoint')


def verify_log(exports, against=(), keys=()):
    """The log that these exports are, the oldest first, through all checkpoints in and beside them.

    Where ids of keys are given, each checkpoint must be by one of them.
    """
    log = Log()
    for data in exports:
        log.add_file(data)
    log.checkpoints += [read_checkpoint(data.removesuffix(b'\n')) for data in against]
    for checkpoint in log.checkpoints:
        require(not keys or checkpoint['key'] in keys, 'other-key')
        log.goes_through(checkpoint)
    return log
