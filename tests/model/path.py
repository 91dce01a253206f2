# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model of the whole path: agents and persons on the bus, the broker, executor and runner.

It goes on from what model.py says of a request.  Each step says what has to come of it, does it,
and compares; then queue and ledger are read, and must agree with each other and with the model, and the
mailbox with all of them.  Some wishes are mails, and some of all carry a file.
"""

import hashlib
import json
import re
import sqlite3

import failing
import model
from undersign_test import authenticator, bus, crash, crashbus, fault, handover, mailserver, oracle, policy

QUEUE = f"{fault.QUEUE}queue.db"
# No wait within one step moves the boot's clock on by as much; see BusBed.wait_for().
MARGIN = 9 * model.HOUR
FOLLOWS = {
    "pending": {"approved", "executing", "done", "failed", "unknown", "refused", *model.CLOSED},
    "approved": {"executing", "done", "failed", "unknown", "refused"},
    "executing": {"done", "failed", "unknown"},
    "unknown": {"done", "failed"},
}

TRANSITIONS = {
    "new → pending", "new → the same", "new → done", "new → failed", "new → unknown",
    "new → refused: halted",
    "new → refused: intent-unknown", "new → refused: policy", "new → refused: nobody",
    *(f"pending → {state}" for state in model.CLOSED), "pending → denied, signed",
    "pending → done", "pending → unknown", "pending → failed", "pending → pending",
    *(f"{what} → refused: {cause}" for what in ("pending", "answer")
      for cause in ("record-changed", "intent-unknown")),
    "answer → refused: halted", "answer → refused: credential-unknown",
    "pending → refused, asked anew", "pending → refused: prepared anew", "unknown → done", "unknown → failed",
    "ended → too late", "key again", "key reused", "revoke", "policy", "halt",
    "clock", "harmed", "mail done", "mail with files done", "rehearsal done",
    "rehearsal with files done", "executor killed", "executor restarted", "runner killed", "broker killed",
    "broker restarted", "bus restarted", "reboot", "expired while away", "pending → ended at a start",
}


# Of a state that has an outcome, what the request's details say.
EXECUTED = {"done": "yes", "failed": "no", "unknown": "unknown"}
MAIL = "mail.send"
ACTIONS = (*model.ACTIONS, MAIL, MAIL)


def papers_of(wish):
    """The files of a wish: two for every third target, none for the others."""
    number = wish[1].rpartition(" ")[2]
    if not number.isdigit() or int(number) % 3:
        return []
    return [bus.File(f"{wish}: paper {number}\n".encode() * 1000) for number in (1, 2)]


class MailBed(crashbus.BusBed):
    """With a mail server, whose Maildir the oracle reads."""

    FILES = {MAIL: "attachment"}

    def __init__(self, **options):
        super().__init__(modules=("null", "mail"), mailbox=mailserver.MAILDIR, **options)
        self.server = mailserver.Server()

    def start(self):
        self.server.start()
        super().start()
        self.world.ctl("credential", "set", "mail", "work-smtp",
                       text=f"{mailserver.USER}\n{mailserver.PASSWORD}\n")
        self.world.runners["mail"].reload_unit()
        self.world.runners["mail"].restart()

    def stop(self):
        super().stop()
        self.server.stop()

    @staticmethod
    def arguments(target, action):
        if action != MAIL:
            return {"target": ("s", target)}
        return {"to": ("as", [f"{target.replace(' ', '-')}@example.com"]),
                "bcc": ("as", ["archive@example.com"]), "subject": ("s", f"About {target}"),
                "body": ("s", f"This is about {target}.\n")}


class Rules(model.Rules):
    """And one for mails."""

    def __init__(self):
        super().__init__()
        self.variants["mail"] = [self._ask("mail", MAIL, "", life) for life in ("24h", "20h")]
        self.texts["mail"] = self.variants["mail"][0]

    def of(self, action):
        return self.texts["mail"] if action == MAIL else super().of(action)

    def write(self):
        crash.write_policy(actions={**crash.ACTIONS, MAIL: policy.MAIL}, rules=self.texts)


class Asked(model.Tracked):
    """One that the broker holds."""

    def __init__(self, name, wish, run, label):
        super().__init__(name, wish, None, 0, 0)
        self.run, self.label = run, label
        self.key, self.older = "", None  # the key, and what was superseded under it
        self.heir = None       # what is asked about in its place, where it was refused
        self.credentials = {}  # user → credential, at its last preparation
        self.shown = None      # digest of what the card showed


class Path(failing.Failing, model.Model):
    TRANSITIONS = TRANSITIONS
    LABELS = ("ticket", "other")  # of runs

    def __init__(self, bed, seed):
        super().__init__(bed, seed)
        self.rules = Rules()
        self.known = {}    # id → state, as the queue had it last
        self.restarts = 0  # of the broker, in harm()
        self.plan = None
        self.steps = ([self.submit] * 28 + [self.approve] * 34 + [self.deny] * 4
                      + [self.withdraw] * 4 + [self.supersede] * 4 + [self.submit_again] * 4
                      + [self.late] * 3 + [self.repeat] * 4 + [self.resolve] * 4 + [self.harm] * 8
                      + [self.edit_policy] * 2 + [self.revoke] * 1)
        self.rare = [self.kill_broker, self.end_at_start, self.change_policy, self.expire,
                     self.restart_broker, self.forbid, self.unreachable, self.reboot, self.revoke,
                     self.kill, self.restart_bus, self.kill_runner, self.halt, self.expire_away,
                     self.restart, self.same_wish]

    @property
    def now(self):
        return super().now + self.bed.faults.boottime / 1e9

    # --- one step ---

    def step(self):
        self.count += 1
        self.expire_soon()
        if self.count % 8:
            step = self.chance.choice(self.steps)
        else:
            step = self.rare[self.count // 8 % len(self.rare)]
            self.bed.oracle.rest()
        try:
            step()
            self.bed.look()
            self.agree()
            if len(self.requests) > 40:
                self.forget()
        except BaseException:
            print(f"# in {step.__name__}", flush=True)
            raise
        return step.__name__

    def forget(self):
        super().forget()
        left = {asked.id for asked in self.requests}
        self.known = {name: state for name, state in self.known.items() if name in left}

    def expire_soon(self):
        """None passes its deadline by itself, in the middle of a step."""
        late = [asked for asked in self.requests
                if asked.state == "pending" and self.left(asked) < MARGIN]
        if late:
            self.pass_deadlines(max(self.left(asked) for asked in late))

    # --- queue, ledger and model ---

    def agree(self):
        """What the queue says is what the model says, has not gone back, and is in the ledger."""
        found = self.read_queue()
        if any(due for _, due in found.values()):
            found = self.bed.wait_for(self.read_told, "the ledger has heard of what ended")
        for asked in self.requests:
            state = found.pop(asked.id, ("gone", False))[0]
            oracle.demand(state == asked.state,
                          f"the queue has {asked.id} as {state}, not as {asked.state}")
            before = self.known.get(asked.id, asked.state)
            oracle.demand(asked.state == before or asked.state in FOLLOWS.get(before, ()),
                          f"{asked.id} went from {before} back to {asked.state}")
            self.known[asked.id] = asked.state
            self.agree_with_ledger(asked)
            oracle.demand(asked.state != "done" or self.bed.oracle.has_run(asked.id),
                          f"{asked.id} is done, and neither marker nor mailbox knows of it")
        oracle.demand(not found, f"nobody asked for {sorted(found)}")

    def read_queue(self):
        """id → (state, whether the ledger has to hear of it)"""
        db = sqlite3.connect(f"file:{QUEUE}?mode=ro", uri=True, timeout=20)
        names = [asked.id for asked in self.requests]
        try:
            rows = db.execute("SELECT id, state, close_due FROM requests WHERE live OR close_due "
                              f"OR id IN ({','.join('?' * len(names))})", names).fetchall()
        finally:
            db.close()
        return {name: (state, bool(due)) for name, state, due in rows}

    def read_told(self):
        found = self.read_queue()
        return None if any(due for _, due in found.values()) else found

    # --- what has to come of it ---

    def obstacles(self, tracked):
        """What an answer meets: what the policy of now has against it has changed it."""
        return [cause for cause in super().obstacles(tracked) if cause not in ("policy", *model.UNANSWERED)]

    def prepared(self, asked):
        """Now, by the policy and the passkeys of now."""
        asked.policy = self.rules.of(asked.action)
        asked.deadline = self.now + model.HOUR * int(re.search(r"Lifetime=(\d+)h", asked.policy)[1])
        asked.credentials = {user: key.credential for user, key in self.bed.keys.items()}
        asked.approvals.clear()
        asked.boot = self.boot
        return asked

    def is_reachable(self, asked):
        left = [user for user, credential in asked.credentials.items()
                if self.bed.keys[user].credential == credential]
        return len(left) >= self.needed(asked)

    def same(self, wish, run, supersedes):
        return [asked for asked in self.requests if asked.state == "pending" and asked.wish == wish
                and asked.run == run and asked is not supersedes]

    def waiting(self):
        return self.pick(lambda one: one.state == "pending")

    def end_as(self, asked, state, note=None):
        self.take(note or f"{asked.state} → {state}")
        asked.state = state

    # --- an agent's steps ---

    def random_wish(self, action=None):
        return (action or self.chance.choice(ACTIONS),
                f"target {self.chance.randrange(model.TARGETS)}")

    def submit(self, supersedes=None, wish=None, label=None, action=None):
        wish = wish or self.random_wish(action)
        label = label or self.chance.choice(self.LABELS)
        key = self.random_key() if self.chance.random() < 0.2 else None
        causes = self.refusals(wish)
        waits = self.same(wish, self.bed.run(label=label), supersedes)
        try:
            name, state = self.send(wish, label, key, supersedes)
        except bus.BusError as error:
            if error.reason == "bad-value":  # what would take its place waits already, as another
                oracle.demand(supersedes and self.same(wish, self.run_of(label), supersedes), error)
                return None
            self.take(f"new → refused: {model.cause_of(error.text, causes, wish)}")
            return None
        oracle.demand(not causes, f"{wish} is taken in spite of {causes}")
        if self.run_of(label) != (waits[0].run if waits else None):
            waits = []
        asked = self.taken_up(name, state, wish, label, waits, key)
        if key:
            asked.key, asked.older = key, supersedes
        return asked

    @staticmethod
    def send_options(key, supersedes):
        return {**({"idempotency_key": key} if key else {}),
                **({"supersedes": crashbus.PREFIX + supersedes.id} if supersedes else {})}

    def send(self, wish, label, key, supersedes=None):
        return self.bed.submit(wish[1], wish[0], label=label, files=papers_of(wish), **self.send_options(key, supersedes))

    def run_of(self, label):
        return self.bed.runs.get((crashbus.AGENT, label))

    def random_key(self):
        return f"key-{self.chance.randrange(1 << 60)}"

    def taken_up(self, name, state, wish, label, waits, key):
        """A request that the broker gave: a new one, or one that waits already."""
        old = next((asked for asked in self.requests if asked.id == name), None)
        if old is not None:
            oracle.demand(old in waits, f"{name}, {old.state}, is given for {wish}")
            oracle.demand(state == "pending", f"{name} is {state}")
            oracle.demand(not (key and old.key), f"{key} and {old.key} are one wish, {name}")
            self.take("new → the same")
            return old
        oracle.demand(not waits or (key and all(asked.key for asked in waits)),
                      f"{name} is new, and {[asked.id for asked in waits]} is the same and waits")
        asked = self.prepared_new(name, wish, label)
        if wish[0] in crash.FREE:
            state, details = self.bed.ended(name)
            asked.state = state
            wanted = crash.OUTCOMES.get(wish[0], "done")
            oracle.demand((state, details["executed"]) == (wanted, EXECUTED[wanted]),
                          f"{name} is {state}: {details}")
            self.take(f"new → {state}")
        else:
            oracle.demand(state == "pending", f"{wish} is {state}")
            self.take("new → pending")
        return asked

    def prepared_new(self, name, wish, label):
        asked = Asked(name, wish, self.run_of(label), label)
        self.requests.append(asked)
        if wish[0] in crash.FREE:
            return asked
        return self.prepared(asked)

    def withdraw(self):
        asked = self.waiting()
        if asked is not None:
            self.end(asked, "withdrawn")

    def end(self, tracked, why):
        """By who may end it, which needs nobody's consent."""
        {"denied": self.bed.deny, "withdrawn": self.bed.withdraw}[why](tracked.id)
        self.see_closed(tracked, why)

    def see_closed(self, asked, why, note=None):
        state, _ = self.bed.ended(asked.id)
        oracle.demand(state == why, f"{asked.id} is {state}, not {why}")
        self.bed.closed(asked.id, why)
        self.end_as(asked, why, note)

    def supersede(self):
        older = self.waiting()
        if older is None:
            return
        newer = self.submit(supersedes=older, label=older.label)
        if newer is None:
            oracle.demand(self.bed.ended(older.id)[0] == "pending", f"{older.id} is not pending")
        else:
            self.see_closed(older, "superseded")

    def submit_again(self):
        """The wish of one that waits, or of one whose outcome nobody knows."""
        asked = self.pick(lambda one: one.state in ("pending", "unknown"))
        if asked is not None:
            self.submit(wish=asked.wish, label=asked.label)

    def repeat(self):
        """A key stands for its request for good, and what takes its place, whatever holds now."""
        asked = self.pick(lambda one: one.key)
        if asked is None:
            return
        last = asked
        while last.heir is not None:
            last = last.heir
        oracle.demand(self.send(asked.wish, asked.label, asked.key, asked.older)[0] == last.id,
                      f"{asked.key} stands for another than {last.id}")
        self.take("key again")
        other = (asked.action, "another target")
        try:
            self.send(other, asked.label, asked.key)
        except bus.BusError as error:
            oracle.demand(error.reason == "key-reused", error)
            self.take("key reused")
            return
        raise oracle.Wrong(f"{asked.key} stands for another wish, too")

    def same_wish(self):
        """Both of two in two runs are agreed to; the first ends as unknown, so that the other may not
        run."""
        self.set_policy(self.rules.reset)
        wish = self.random_wish("crash.doubt")
        for asked in [self.submit(wish=wish, label=label) for label in self.LABELS]:
            if asked is not None and asked.state == "pending":
                self.answer(asked, self.chance.choice(model.PEOPLE))

    def late(self):
        """What has ended cannot be ended again, nor approved."""
        asked = self.pick(lambda one: one.has_ended and one.action not in crash.FREE)
        if asked is None:
            return
        acts = [self.bed.approve, self.bed.deny]
        if asked.state != "withdrawn":
            acts.append(self.bed.withdraw)
        try:
            self.chance.choice(acts)(asked.id)
        except bus.BusError as error:
            oracle.demand(error.name in (bus.ERROR + "WrongState", bus.ERROR + "NotApprover"), error)
            self.take("ended → too late")
            return
        raise oracle.Wrong(f"{asked.id} is {asked.state} and can be ended again")

    # --- a person's steps ---

    def approve(self):
        asked = self.waiting()
        if asked is not None:
            self.answer(asked, self.chance.choice(model.PEOPLE))

    def answer(self, tracked, user):
        """Looks at the card, signs, and sees what comes of it."""
        obstacles = self.obstacles(tracked)
        key = self.bed.keys[user]
        theirs = tracked.credentials[user] == key.credential
        self.look_at_card(tracked, user)
        try:
            self.bed.approve(tracked.id, user, key=key)
        except bus.BusError as error:
            cause = model.cause_of(error.text, ([] if theirs else ["credential-unknown"]) + obstacles,
                                   f"{tracked.id} of {user}")
            self.take(f"answer → refused: {cause}")
        else:
            oracle.demand(theirs, f"{user} approved {tracked.id} with a passkey it does not know")
            oracle.demand(set(obstacles) <= {"intent-unknown"}, f"{tracked.id} is approved: {obstacles}")
            tracked.approvals.add((user, key.credential))
        self.follow(tracked, obstacles)

    def look_at_card(self, asked, user):
        record, _ = self.bed.card(asked.id, user)
        asked.shown = hashlib.sha256(authenticator.pae(handover.RECORD_TYPE, record)).digest()
        values = {argument["name"]: argument["value"]
                  for argument in json.loads(record)["arguments"]}
        papers = [{"name": f"{number}.txt", "size": str(len(file.content)),
                   "sha256": hashlib.sha256(file.content).hexdigest()}
                  for number, file in enumerate(papers_of(asked.wish))]
        for name, (_, value) in self.bed.arguments(asked.wish[1], asked.action).items():
            oracle.demand(values[name] == value, f"{asked.id} shows {name} as {values[name]}")
        oracle.demand(values[self.bed.FILES.get(asked.action, "paper")] == papers,
                      f"{asked.id} shows {values}")

    def follow(self, asked, obstacles):
        """What came of an answer."""
        state, details = self.bed.ended(asked.id)
        ready = len(self.active(asked)) >= self.needed(asked) and not obstacles
        wanted = crash.OUTCOMES.get(asked.action, "done")
        if ready:
            oracle.demand(state == wanted, f"{asked.id} is {state}: {details}")
        else:
            oracle.demand(state == "pending" or (state == "refused" and obstacles),
                          f"{asked.id} is {state}: {obstacles}, {asked.approvals}")
        if state == "refused":
            cause = model.cause_of(details["reason"], obstacles, asked.id)
            self.refused(asked, f"pending → refused: {cause}")
        else:
            self.end_as(asked, state)
        if state == "done":
            self.take("mail done" if asked.action == MAIL else "rehearsal done")
            if papers_of(asked.wish):
                self.take("mail with files done" if asked.action == MAIL else "rehearsal with files done")

    def needed(self, tracked):
        return 1 if tracked.action == MAIL else super().needed(tracked)

    def refused(self, asked, note):
        """A check at its execution failed: it is asked anew, where it would be asked about at all."""
        self.end_as(asked, "refused", note)
        if self.refusals(asked.wish):
            return
        path = self.bed.wait_for(lambda: self.bed.state(asked.id)[1].get("successor"),
                                 f"{asked.id} is asked anew")
        self.adopt(asked, path[len(crashbus.PREFIX):])

    def adopt(self, asked, name):
        heir = asked.heir = Asked(name, asked.wish, asked.run, asked.label)
        heir.key, heir.older = asked.key, asked.older
        self.requests.append(self.prepared(heir))
        oracle.demand(self.bed.ended(heir.id)[0] == "pending", f"{heir.id} does not wait")
        self.take("pending → refused, asked anew")

    def deny(self):
        asked = self.waiting()
        if asked is None:
            return
        if self.chance.random() < 0.5:
            self.end(asked, "denied")
            return
        user = self.chance.choice(model.PEOPLE)
        if self.obstacles(asked) or asked.credentials[user] != self.bed.keys[user].credential \
                or user in {name for name, _ in asked.approvals}:
            return
        self.bed.deny_signed(asked.id, user)
        self.see_closed(asked, "denied", "pending → denied, signed")

    # --- an administrator's steps ---

    def some_pending(self):
        """One that waits under the policy of now; None where its wish is blocked."""
        self.set_policy(self.rules.reset)
        return self.submit(wish=self.random_wish("crash.ask"))

    def set_policy(self, change, *arguments):
        change(*arguments)
        self.load_rules()

    def change_policy(self):
        """What was asked under another policy is asked anew, by whoever tries to approve it."""
        asked = self.some_pending()
        if asked is not None:
            self.set_policy(self.rules.vary, "one", 1)
            self.answer(asked, self.chance.choice(model.PEOPLE))

    def forbid(self):
        """What policy denies by now is refused, not asked anew."""
        asked = self.some_pending()
        if asked is not None:
            self.set_policy(self.rules.vary, "one", 2)
            if self.chance.random() < 0.5:
                self.answer(asked, self.chance.choice(model.PEOPLE))
            self.kill_broker()

    def revoke(self):
        """Who has a new passkey cannot use it for what was prepared before."""
        asked = self.some_pending()
        user = self.chance.choice(model.PEOPLE)
        self.bed.admin.revoke(self.bed.keys[user].credential)
        self.bed.enrol(user)
        self.take("revoke")
        self.gone()
        if asked is not None and asked.state == "pending":
            self.answer(asked, user)

    def gone(self):
        for asked in self.requests:
            if asked.state == "pending" and not self.is_reachable(asked):
                self.bed.wait_for(lambda: self.bed.state(asked.id)[0] == "unreachable",
                                  f"{asked.id} has nobody left")
                self.see_closed(asked, "unreachable")

    def unreachable(self):
        """Nobody is left at all."""
        self.some_pending()
        for user in model.PEOPLE:
            self.bed.admin.revoke(self.bed.keys[user].credential)
        try:
            self.send(("crash.ask", "nobody"), "ticket", None)
        except bus.BusError as error:
            oracle.demand(self.denied("crash.ask") or error.name == bus.ERROR + "NoApprover", error)
        else:
            raise oracle.Wrong("it is asked for, and there is nobody to ask")
        self.take("new → refused: nobody")
        for user in model.PEOPLE:
            self.bed.enrol(user)
        self.gone()

    def resolve(self):
        asked = self.pick(lambda one: one.state == "unknown")
        if asked is None:
            return
        outcome = "done" if self.bed.oracle.has_run(asked.id) else "failed"
        self.bed.admin.resolve(asked.id, outcome)
        self.bed.wait_for(lambda: self.bed.state(asked.id)[0] == outcome,
                          f"{asked.id} is told as resolved")
        self.end_as(asked, outcome)

    def halt(self):
        self.bed.admin.halt()
        self.halted = True
        self.take("halt")
        for step in (self.submit, self.approve, self.chance.choice((self.withdraw, self.deny)),
                     self.repeat):
            step()
            self.bed.look()
            self.agree()
        self.bed.admin.resume()
        self.halted = False

