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

# What must have happened in a run that says anything.
TRANSITIONS = {
    *(f"pending → {state}" for state in CLOSED), *(f"approved → {state}" for state in CLOSED),
    "new → pending", "new → allowed", "pending → approved", "approved → done", "allowed → done",
    "approved → unknown", "unknown → done", "pending → denied, signed", "approved → revoked",
    "approved → deadline passed", "approved → seal void", "approved → record changed",
    "new → refused: halted", "new → refused: intent-unknown", "new → refused: policy",
    "ended → refused", "unapproved → refused", "halted → refused", "kill", "restart", "runner",
    "reboot", "policy", "revoke", "halt", "resume", "clock", "harmed", "asked",
    "superseded by what ran", "approved → the one before ran",
}
NOTHING = oracle.Seen()


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
                      + [self.ask] * 4)
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

    def obstacles(self, tracked):
        """Why nothing of this request may run, but for approvals."""
        found = []
        if tracked.has_ended:
            found.append("ended → refused")
        if tracked.boot != self.boot:
            found.append("approved → seal void")
        if self.left(tracked) < 0:
            found.append("approved → deadline passed")
        if self.halted:
            found.append("halted → refused")
        if tracked.policy != self.rules.of(tracked.action):
            found.append("approved → record changed")
        if self.blocked(tracked.wish, tracked):
            found.append("approved → wish unknown")
        if tracked.before is not None and (tracked.before.state in RAN
                                           or tracked.before.heir not in (None, tracked)):
            found.append("approved → the one before ran")
        return found

    def active(self, tracked):
        return {user for user, credential in tracked.approvals
                if self.bed.keys[user].credential == credential}

    def needed(self, tracked):
        return crash.NEEDED[tracked.action]

    # --- a broker's steps ---

    def submit(self, supersedes=None, action=None):
        action, target = action or self.chance.choice(ACTIONS), f"target {self.chance.randrange(TARGETS)}"
        request = handover.Request({"target": target}, action, supersedes=supersedes)
        refused = [reason for reason, holds in (
            ("halted", self.halted), ("policy", self.denied(action)),
            ("intent-unknown", self.blocked((action, target)))) if holds]
        try:
            self.bed.broker.prepare(request)
        except handover.Refused as error:
            oracle.demand(refused, f"{action} is refused: {error}")
            oracle.demand(error.reason in ("halted", "intent-unknown", "denied-by-rule",
                                           "unknown-action"), error)
            self.take(f"new → refused: {refused[0]}")
            return None
        oracle.demand(not refused, f"{action} is prepared in spite of {refused}")
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
        obstacles = self.obstacles(tracked)
        try:
            self.bed.broker.answer(tracked.request, self.bed.broker.sign(tracked.request, user, key))
        except handover.Refused as error:
            again = user in {name for name, _ in tracked.approvals}
            oracle.demand(obstacles or again, f"{user} cannot approve {tracked.id}: {error}")
            return
        oracle.demand(not {"ended → refused", "approved → seal void", "approved → deadline passed"}
                      & set(obstacles), f"{tracked.id} is approved: {obstacles}")
        tracked.approvals.add((user, key.credential))
        if len(self.active(tracked)) >= self.needed(tracked):
            self.take("pending → approved")

    def execute(self):
        tracked = self.pick(lambda one: not one.has_ended and (
            one.request.decision == "allow" or one.approvals)) if self.chance.random() < 0.8 \
            else self.pick()
        if tracked is not None:
            self.hand_over(tracked)

    def hand_over(self, tracked):
        obstacles = self.obstacles(tracked)
        enough = len(self.active(tracked)) >= self.needed(tracked)
        sure = enough and len(self.active(tracked)) == len(tracked.approvals)
        before = tracked.state if tracked.request.decision == "allow" else "approved"
        try:
            outcome = self.bed.broker.execute(tracked.request)
        except handover.Refused as error:
            oracle.demand(obstacles or not sure, f"{tracked.id} does not run: {error}")
            for name in obstacles if enough else ["unapproved → refused"]:
                self.take(name)
            if not enough and tracked.approvals and not self.active(tracked):
                self.take("approved → revoked")
            return
        oracle.demand(not obstacles and enough,
                      f"{tracked.id} runs: {obstacles}, {tracked.approvals}")
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
        tracked = self.pick(lambda one: one.state == "pending" and not self.obstacles(one))
        if tracked is None:
            return
        user = self.chance.choice(PEOPLE)
        body = self.bed.broker.sign(tracked.request, user, self.bed.keys[user], "deny")
        try:
            word = self.bed.broker.answer(tracked.request, body)
        except handover.Refused as error:
            again = user in {name for name, _ in tracked.approvals}
            oracle.demand(again, f"{user} cannot deny: {error}")
            return
        oracle.demand(word == "denied", word)
        tracked.state = "denied"
        self.take("pending → denied, signed")

    def supersede(self):
        """The older one is closed, or is left to the ledger: of both only one may run, then."""
        state = self.chance.choice(("pending", "allowed"))
        older = self.pick(lambda one: one.state == state)
        if older is None:
            return
        newer = self.submit(supersedes=older.request, action=self.chance.choice((None, older.action)))
        if newer is None:
            return
        newer.before = older
        if self.chance.random() < 0.5:
            self.end(older, "superseded")
            return
        for tracked in self.chance.sample((older, newer), self.chance.choice((0, 1, 2, 2))):
            self.hand_over(tracked)

    # --- a machine that fails ---

    def harm(self):
        """An execution that a kill or a disk may meet: the ledger says what came of it."""
        tracked = self.pick(lambda one: not self.obstacles(one) and len(self.active(one))
                            == len(one.approvals) >= self.needed(one))
        if tracked is None:
            return
        kind = self.chance.choice((fault.DEATH, fault.TORN_DEATH, fault.FULL_ONCE,
                                   fault.BROKEN_ONCE))
        roles = self.chance.choice((fault.EXECUTOR_SERVES, fault.EXECUTOR_SERVES,
                                    fault.RUNNER_SERVES))
        before = tracked.state if tracked.request.decision == "allow" else "approved"
        self.bed.faults.arm(kind, self.chance.randrange(1, 90), roles)
        with self.bed.harmed() as ended:
            ended.value = self.bed.broker.execute(tracked.request)
        self.take("harmed")
        state = self.settled(tracked)
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
        self.rules.write()
        fault_text = self.bed.admin.reload()
        oracle.demand(fault_text == "", fault_text)
        self.take("policy")
        for action in ACTIONS:
            if self.denied(action):
                self.submit(action=action)

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

