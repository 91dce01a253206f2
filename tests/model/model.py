# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model of the executor: what it must do, may do and must not do with each request.

Each step picks something that a broker, an administrator, a person, a failing machine or time may
do, says what has to come of it, does it to the real executor, runner and null module, and compares.
The broker is the test itself: to deny, to withdraw, to expire is to close with that word.
Whatever the model says, the oracle then reads ledger, mark and marker by itself.
"""

import random
import time

from undersign_test import crash, fault, handover, oracle
from undersign_test.crash import KIM, LEAD

PEOPLE = (LEAD, KIM)
ACTIONS = (*2 * ("crash.ask", "crash.two", "crash.free", "crash.doubt"), "crash.fail",
           "crash.free-fail", "crash.free-doubt")
TARGETS = 8
HOUR = 3600
CLOSED = ("denied", "withdrawn", "expired", "superseded", "unreachable")
RAN = ("done", "failed", "unknown")
ENDED = (*CLOSED, *RAN, "refused")

_ASK = """[Rule {name}]
Agents=offboarding
Actions={actions}
Decision=ask
Approvers=it.lead hr.kim
Separation=agent owner
{count}Lifetime={lifetime}
Passkeys=software
"""
_FREE = """[Rule free]
Agents=offboarding
Actions=crash.free crash.free-doubt crash.free-fail
Decision=allow
Limit={limit}/1d all-agents
"""
_DENY = """[Rule {name}]
Agents=offboarding
Actions={actions}
Decision=deny
"""

# Why something is refused → the reasons that are given, where that is no reason itself.
REASONS = {"policy": ("unknown-action", "denied-by-rule"), "the one before ran": ("already-consumed",)}
# What holds up a request that could run otherwise.
HELD_UP = ("bad-seal", "deadline-passed", "policy", "record-changed", "halted", "the one before ran",
           "intent-unknown")
UNANSWERED = ("credential-revoked", "not-approved")

# What must have happened in a run that says anything.
TRANSITIONS = {
    *(f"pending → {state}" for state in CLOSED), *(f"approved → {state}" for state in CLOSED),
    "new → pending", "new → allowed", "pending → approved", "pending → denied, signed",
    *(f"{before} → {state}" for before in ("approved", "allowed") for state in RAN),
    "unknown → done", "unknown → failed", "failed → the same once more",
    "new → refused: halted", "new → refused: intent-unknown", "new → refused: policy",
    *(f"{before} → refused: {cause}" for before in ("approved", "allowed") for cause in HELD_UP),
    *(f"answer → refused: {cause}" for cause in HELD_UP if cause not in ("policy", "intent-unknown")),
    *(f"pending → refused: {cause}" for cause in UNANSWERED),
    *(f"{what} → refused: {cause}" for what in ("ended", "answer")
      for cause in ("closed", "already-consumed")),
    "kill", "restart", "runner", "reboot", "policy", "revoke", "halt", "resume", "clock", "harmed",
    "asked", "superseded by what ran",
}
NOTHING = oracle.Seen()
# What was written then, who begins anew may find all the same.
NOT_SYNCED = "sync", "ledger.db-wal"


def cause_of(text, causes, what):
    """The first of @causes, which are in the order of the service's checks; @text gives its reason."""
    oracle.demand(causes and text.partition(":")[0] in REASONS.get(causes[0], causes[:1]),
                  f"{what} is refused: {text}; in its way: {causes}")
    return causes[0]


class Rules:
    """The policy of the moment: of each rule file one of some variants."""

    def __init__(self):
        self.texts = {}
        self.variants = {
            "one": [self._ask("one", "crash.ask", "", life) for life in ("24h", "20h")],
            "two": [self._ask("two", "crash.two", "Count=2\n", life) for life in ("24h", "20h")],
            "doubt": [self._ask("doubt", "crash.doubt crash.fail", "", life)
                      for life in ("24h", "20h")],
            "free": [_FREE.format(limit=limit) for limit in (100000, 200000)],
        }
        for name, action in (("one", "crash.ask"), ("two", "crash.two"),
                             ("free", " ".join(sorted(crash.FREE)))):
            self.variants[name].append(_DENY.format(name=name, actions=action))
        for name, variants in self.variants.items():
            self.texts[name] = variants[0]

    @staticmethod
    def _ask(name, actions, count, lifetime):
        return _ASK.format(name=name, actions=actions, count=count, lifetime=lifetime)

    def of(self, action):
        name = {"crash.ask": "one", "crash.two": "two", "crash.doubt": "doubt",
                "crash.fail": "doubt", **dict.fromkeys(crash.FREE, "free")}[action]
        return self.texts[name]

    def change(self, chance):
        name = chance.choice(sorted(self.variants))
        self.texts[name] = chance.choice([text for text in self.variants[name]
                                          if text != self.texts[name]])

    def vary(self, name, number):
        """Gives a rule one of its variants; the last one denies."""
        self.texts[name] = self.variants[name][number]

    def reset(self):
        for name, variants in self.variants.items():
            self.texts[name] = variants[0]

    def write(self):
        crash.write_policy(rules=self.texts)


class Tracked:
    """One request: what was asked for, under which policy, who approved, what became of it.

    @deadline: of the boot's clock, in seconds
    """

    def __init__(self, name, wish, policy, boot, deadline):
        self.id, self.wish, self.policy, self.boot = name, wish, policy, boot
        self.deadline = deadline
        self.state, self.agreed = "pending", None
        self.approvals = set()  # (user, credential)
        self.before = None      # the one that it supersedes, as others may, too
        self.heir = None        # of those that supersede it, the one that ran
        self.perhaps = None     # how it ended, where that could not be synced

    @property
    def action(self):
        return self.wish[0]

    @property
    def has_ended(self):
        return self.state in ENDED


class Handed(Tracked):
    """One that the test itself holds, as a broker does."""

    def __init__(self, request, policy, boot):
        super().__init__(request.id, (request.action, request.arguments["target"]), policy, boot,
                         request.prepared[3] / 1e6)
        self.request = request
        self.shown = bytes.fromhex(request.digest.removeprefix("sha256:"))
        if request.decision != "ask":
            self.state = "allowed"


class Model:
    TRANSITIONS = TRANSITIONS

    def __init__(self, bed, seed):
        self.bed, self.chance = bed, random.Random(seed)
        self.rules = Rules()
        self.requests = []
        self.boot = 0
        self.halted = False
        self.count = self.closed = 0
        self.moved = 0  # seconds that the boot's clock is ahead
        self.taken = {}
        self.steps = ([self.submit] * 30 + [self.approve] * 26 + [self.execute] * 26
                      + [self.close] * 10 + [self.deny_signed] * 2 + [self.supersede] * 3
                      + [self.resolve] * 4 + [self.harm] * 6 + [self.edit_policy] * 2
                      + [self.revoke] * 2 + [self.halt] * 1 + [self.move_clock] * 1
                      + [self.ask] * 4 + [self.same_wish, self.forbid])
        self.rare = [self.kill, self.restart, self.reboot, self.kill_runner]

    def missed(self):
        return self.TRANSITIONS - self.taken.keys()

    def take(self, name):
        self.taken[name] = self.taken.get(name, 0) + 1

    @property
    def now(self):
        return time.clock_gettime(time.CLOCK_BOOTTIME) + self.moved

    # --- one step ---

    def step(self):
        self.count += 1
        if self.count % 50:
            step = self.chance.choice(self.steps)
        else:
            step = self.rare[self.count // 50 % len(self.rare)]
            self.bed.oracle.rest()  # so that workers are alone, when one recovers or closes it
        step()
        self.bed.look()
        self.agree()
        if len(self.requests) > 60:
            self.forget()
        return step.__name__

    def forget(self):
        """Those whose end can no longer change anything for others."""
        for tracked in self.requests[:30]:
            if tracked.state == "unknown":
                continue
            if not tracked.has_ended:
                self.end(tracked, "withdrawn")
            self.requests.remove(tracked)

    def pick(self, condition=lambda tracked: True):
        """Mostly one of the latest."""
        now = self.now
        fit = [tracked for tracked in self.requests
               if condition(tracked) and abs(tracked.deadline - now) > 60]
        return self.chance.choice(fit[-8:] if self.chance.random() < 0.7 else fit) if fit else None

    # --- what must be ---

    def agree(self):
        """Of each request to which something has happened, here or there, both say the same."""
        for tracked in self.requests:
            if tracked.state != tracked.agreed or tracked.id in self.bed.oracle.touched:
                self.agree_with_ledger(tracked)
                tracked.agreed = tracked.state
        self.bed.oracle.touched.clear()

    def agree_with_ledger(self, tracked):
        """What is shown, digested, signed and executed is one, and no way leads back."""
        seen = self.bed.oracle.seen.get(tracked.id, NOTHING)
        if tracked.perhaps == "unknown" and seen.consumed and not tracked.has_ended:
            self.ran(tracked, "unknown", self.standing(tracked))
        if tracked.state in RAN:
            oracle.demand(seen.consumed, f"{tracked.id} is {tracked.state} and was not consumed")
            outcome = {"resolved": tracked.state, None: "unknown"}.get(seen.outcome, seen.outcome)
            oracle.demand(outcome == tracked.state, f"{tracked.id} is {tracked.state}, not {outcome}")
            oracle.demand(tracked.shown in (None, seen.consumed),
                          f"{tracked.id}: another record ran than was shown")
        else:
            oracle.demand(not seen.consumed, f"{tracked.id} is {tracked.state} and was consumed")
        if tracked.state in CLOSED:
            oracle.demand(seen.closed == tracked.state,
                          f"{tracked.id}: the ledger has {seen.closed}")
        elif not tracked.has_ended:
            oracle.demand(not seen.closed, f"{tracked.id} is {tracked.state} and {seen.closed}")

    def blocked(self, wish, by_other_than=None):
        return any(tracked.wish == wish and tracked is not by_other_than
                   for tracked in self.requests if tracked.state == "unknown")

    def denied(self, action):
        return "Decision=deny" in self.rules.of(action)

    def left(self, tracked):
        """Seconds until its deadline."""
        return tracked.deadline - self.now

    def refusals(self, wish):
        """Why nothing of the kind is prepared."""
        return [cause for cause, holds in (
            ("policy", self.denied(wish[0])), ("halted", self.halted),
            ("intent-unknown", self.blocked(wish))) if holds]

    def obstacles(self, tracked):
        """Why nothing of this request may run; each is checked before the next one."""
        changed = tracked.policy != self.rules.of(tracked.action)
        ended = "closed" if tracked.state in CLOSED else "already-consumed"
        return [cause for cause, holds in (
            ("bad-seal", tracked.boot != self.boot),
            ("deadline-passed", self.left(tracked) < 0),
            ("policy", changed and self.denied(tracked.action)),
            ("record-changed", changed),
            ("halted", self.halted),
            (ended, tracked.has_ended),
            ("the one before ran", tracked.before is not None and (
                tracked.before.state in RAN or tracked.before.heir not in (None, tracked))),
            ("credential-revoked", not self.is_approved(tracked) and self.has_revoked(tracked)),
            ("not-approved", not self.is_approved(tracked)),
            ("intent-unknown", self.blocked(tracked.wish, tracked))) if holds]

    def unanswerable(self, tracked):
        """Why nobody can approve it: what the policy of now has against it has changed it."""
        return [cause for cause in self.obstacles(tracked)
                if cause not in ("policy", *UNANSWERED, "intent-unknown")]

    def has_revoked(self, tracked):
        return any(self.bed.keys[user].credential != credential for user, credential in tracked.approvals)

    def is_approved(self, tracked):
        return len(self.active(tracked)) >= self.needed(tracked)

    def active(self, tracked):
        return {user for user, credential in tracked.approvals
                if self.bed.keys[user].credential == credential}

    def needed(self, tracked):
        return crash.NEEDED[tracked.action]

    # --- a broker's steps ---

    def submit(self, supersedes=None, action=None, target=None):
        action = action or self.chance.choice(ACTIONS)
        target = target or f"target {self.chance.randrange(TARGETS)}"
        request = handover.Request({"target": target}, action, supersedes=supersedes)
        causes = self.refusals((action, target))
        try:
            self.bed.broker.prepare(request)
        except handover.Refused as error:
            self.take(f"new → refused: {cause_of(error.text, causes, action)}")
            return None
        oracle.demand(not causes, f"{action} is prepared in spite of {causes}")
        oracle.demand(request.decision == ("allow" if action in crash.FREE else "ask"),
                      f"{action}: {request.decision}")
        tracked = Handed(request, self.rules.of(action), self.boot)
        self.requests.append(tracked)
        self.take(f"new → {tracked.state}")
        return tracked

    def approve(self):
        tracked = self.pick(lambda one: one.state == "pending") or self.pick()
        if tracked is None or tracked.request.decision != "ask":
            return
        user = self.chance.choice(PEOPLE)
        self.answer(tracked, user)

    def answer(self, tracked, user):
        key = self.bed.keys[user]
        causes = self.unanswerable(tracked)
        try:
            self.bed.broker.answer(tracked.request, self.bed.broker.sign(tracked.request, user, key))
        except handover.Refused as error:
            self.take(f"answer → refused: {cause_of(error.text, causes, f'{tracked.id} of {user}')}")
            return
        oracle.demand(not causes, f"{tracked.id} is approved: {causes}")
        tracked.approvals.add((user, key.credential))
        if self.is_approved(tracked):
            self.take("pending → approved")

    def execute(self):
        tracked = self.pick(lambda one: not one.has_ended and (
            one.request.decision == "allow" or one.approvals)) if self.chance.random() < 0.8 \
            else self.pick()
        if tracked is not None:
            self.hand_over(tracked)

    def approve_all(self, requests):
        for tracked in requests:
            for user in PEOPLE[:self.needed(tracked)]:
                self.answer(tracked, user)

    def same_wish(self):
        """Both of two are agreed to; the first ends as unknown, so that the other may not run."""
        action = self.chance.choice(("crash.doubt", "crash.free-doubt"))
        first = self.submit(action=action)
        if first is None:
            return
        both = first, self.submit(action=action, target=first.wish[1])
        self.approve_all(both)
        for tracked in both:
            self.hand_over(tracked)

    def standing(self, tracked):
        if tracked.has_ended:
            return "ended"
        if tracked.request.decision == "allow":
            return "allowed"
        return "approved" if self.is_approved(tracked) else "pending"

    def hand_over(self, tracked):
        causes, before = self.obstacles(tracked), self.standing(tracked)
        try:
            outcome = self.bed.broker.execute(tracked.request)
        except handover.Refused as error:
            self.take(f"{before} → refused: {cause_of(error.text, causes, tracked.id)}")
            return
        oracle.demand(not causes, f"{tracked.id} runs: {causes}, {tracked.approvals}")
        wanted = crash.OUTCOMES.get(tracked.action, "done")
        oracle.demand(outcome == wanted, f"{tracked.id} is {outcome}")
        self.ran(tracked, outcome, before)

    def ran(self, tracked, outcome, before):
        tracked.state = outcome
        self.take(f"{before} → {outcome}")
        if any(other.wish == tracked.wish and other.state == "failed" and other is not tracked
               for other in self.requests):
            self.take("failed → the same once more")
        if tracked.before is not None and tracked.before.heir is None:
            tracked.before.heir = tracked
            if not tracked.before.has_ended:
                tracked.before.state = "superseded"
                self.take("superseded by what ran")

    def ask(self):
        """What the executor itself says of one."""
        tracked = self.pick()
        if tracked is None:
            return
        state, why, *_ = self.bed.broker.query(tracked.request)
        wanted = ("closed", tracked.state) if tracked.state in CLOSED else (tracked.state, "")
        if not tracked.has_ended:
            wanted = ("none", "")
        oracle.demand((state, why if state == "closed" else "") == wanted,
                      f"{tracked.id} is {state} {why}, not {wanted}")
        self.take("asked")

    def end(self, tracked, why):
        """Closes it, which always works before it has ended and never after."""
        by = LEAD if why == "denied" else ""
        reason = "other" if why == "denied" else ""
        before = "approved" if tracked.approvals else tracked.state
        if tracked.has_ended:
            self.bed.assert_refused("closed" if tracked.state in CLOSED else "already-consumed",
                                    self.bed.broker.close, tracked.request, why, by, reason)
            return
        self.bed.broker.close(tracked.request, why, by, reason)
        tracked.state = why
        self.take(f"{before} → {why}")

    def close(self):
        tracked = self.pick(lambda one: not one.has_ended) if self.chance.random() < 0.9 \
            else self.pick()
        if tracked is not None:
            self.closed += 1
            self.end(tracked, CLOSED[self.closed % len(CLOSED)])

    def deny_signed(self):
        tracked = self.pick(lambda one: one.state == "pending" and not self.unanswerable(one))
        if tracked is None:
            return
        user = self.chance.choice(PEOPLE)
        body = self.bed.broker.sign(tracked.request, user, self.bed.keys[user], "deny")
        word = self.bed.broker.answer(tracked.request, body)
        oracle.demand(word == "denied", word)
        tracked.state = "denied"
        self.take("pending → denied, signed")

    def supersede(self):
        """The older one is closed, or is left to the ledger: of both only one may run, then."""
        state = self.chance.choice(("pending", "allowed"))
        older = self.pick(lambda one: one.state == state and not self.unanswerable(one))
        if older is None:
            return
        newer = self.submit(supersedes=older.request, action=self.chance.choice((None, older.action)))
        if newer is None:
            return
        newer.before = older
        if self.chance.random() < 0.5:
            self.end(older, "superseded")
            return
        self.approve_all((older, newer))
        for tracked in self.chance.sample((older, newer), self.chance.choice((0, 1, 2, 2))):
            self.hand_over(tracked)

    # --- a machine that fails ---

    def harm(self):
        """An execution that a kill or a disk may meet: the ledger says what came of it."""
        tracked = self.pick(lambda one: not self.obstacles(one))
        if tracked is None:
            return
        kind = self.chance.choice((fault.DEATH, fault.TORN_DEATH, fault.FULL_ONCE,
                                   fault.BROKEN_ONCE))
        roles = self.chance.choice((fault.EXECUTOR_SERVES, fault.EXECUTOR_SERVES,
                                    fault.RUNNER_SERVES))
        before = self.standing(tracked)
        self.bed.faults.arm(kind, self.chance.randrange(1, 90), roles)
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.execute(tracked.request)
        self.take("harmed")
        state = self.settled(tracked)
        if state == "none" and self.bed.faults.place() == NOT_SYNCED:
            tracked.perhaps = "unknown"
        if ended.value is not None:
            oracle.demand(state in (ended.value, "unknown"), f"heard {ended.value}, it is {state}")
        if state != "none":
            self.ran(tracked, state, before)

    def settled(self, tracked):
        crash.world.wait_until(lambda: self.bed.broker.state(tracked.request) != "executing",
                               "its worker ends", timeout=120)
        return self.bed.broker.state(tracked.request)

    def kill(self):
        self.bed.world.restart_executor(kill=True)
        self.bed.awake()
        self.take("kill")

    def restart(self):
        self.bed.world.restart_executor()
        self.bed.awake()
        self.take("restart")

    def kill_runner(self, module="null"):
        runner = self.bed.world.runners[module]
        runner.kill()
        runner.start()
        self.take("runner")

    def reboot(self):
        """Everything that was approved and not used is void."""
        self.bed.new_boot()
        self.bed.world.executor.start()
        self.bed.awake()
        self.boot += 1
        self.take("reboot")

    # --- an administrator's steps, and time ---

    def resolve(self):
        tracked = self.pick(lambda one: one.state == "unknown")
        if tracked is None:
            return
        outcome = "done" if self.bed.oracle.has_run(tracked.id) else "failed"
        self.bed.admin.resolve(tracked.id, outcome)
        self.ran(tracked, outcome, "unknown")

    def edit_policy(self):
        self.rules.change(self.chance)
        if self.chance.random() < 0.5:
            self.rules.reset()
        self.load_rules()
        for action in ACTIONS:
            if self.denied(action):
                self.submit(action=action)

    def load_rules(self):
        self.rules.write()
        fault_text = self.bed.admin.reload()
        oracle.demand(fault_text == "", fault_text)
        self.take("policy")

    def forbid(self):
        """What was approved, or let through, may not even be asked for any more."""
        self.rules.reset()
        self.load_rules()
        name, action = self.chance.choice((("one", "crash.ask"), ("free", "crash.free")))
        tracked = self.submit(action=action)
        if tracked is None:
            return
        self.approve_all([tracked])
        self.rules.vary(name, -1)
        self.load_rules()
        self.hand_over(tracked)
        self.rules.reset()
        self.load_rules()

    def revoke(self):
        user = self.chance.choice(PEOPLE)
        self.bed.admin.revoke(self.bed.keys[user].credential)
        self.bed.enrol(user)
        self.take("revoke")

    def halt(self):
        """For a few steps."""
        self.bed.admin.halt()
        self.halted = True
        self.take("halt")
        for _ in range(6):
            self.chance.choice((self.submit, self.approve, self.execute, self.close))()
            self.bed.look()
        self.bed.admin.resume()
        self.halted = False
        self.take("resume")

    def move_clock(self):
        """The boot's clock only ever goes on; the other one goes anywhere, and decides nothing."""
        hours = self.chance.choice((1, 13, 13, 25))
        self.bed.faults.move_clocks(realtime=self.chance.randrange(-400, 400) * HOUR,
                                    boottime=hours * HOUR)
        self.moved += hours * HOUR
        self.take("clock")

