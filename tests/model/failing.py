# SPDX-License-Identifier: LGPL-2.1-or-later
"""What path.py's model holds of kills, disks that fail, restarts, and time that passes."""

import model
from undersign_test import crash, crashbus, fault, oracle, world


class Failing:
    """A part of Path: its steps that no person and no agent takes."""

    # --- a machine that fails ---

    def harm(self):
        """Some call that a kill or a disk may meet."""
        asked = self.pick(lambda one: one.state == "pending" and not self.obstacles(one)
                          and self.is_reachable(one))
        act = self.chance.choice((self.harm_approve, self.harm_approve, self.harm_end,
                                  self.harm_submit))
        if asked is None and act != self.harm_submit:
            return
        kind = self.chance.choice((fault.DEATH, fault.DEATH, fault.TORN_DEATH, fault.FULL_ONCE,
                                   fault.BROKEN_ONCE))
        role, prefix, most = self.chance.choice((
            (fault.BROKER, fault.QUEUE, 12), (fault.BROKER, "", 50),
            (fault.EXECUTOR_SERVES, fault.LEDGER, 30), (fault.RUNNER_SERVES, "", 40)))
        if kind is not fault.DEATH and role == fault.BROKER:
            prefix, most = fault.QUEUE, 12
        self.plan = kind, self.chance.randrange(1, most), role, prefix
        act(asked)
        self.take("harmed")

    def harmed(self, call):
        """Makes the call meet the plan; its value, or None."""
        process = self.bed.world.broker.process
        self.bed.faults.arm(*self.plan)
        with self.bed.harmed() as ended:
            ended.value = call()
        if self.bed.world.broker.process is not process:
            self.restarts += 1
        return ended.value

    def harm_approve(self, asked):
        user = self.chance.choice([user for user in model.PEOPLE
                                   if asked.credentials[user] == self.bed.keys[user].credential])
        self.look_at_card(asked, user)
        restarts = self.restarts
        self.harmed(lambda: self.bed.approve(asked.id, user))
        self.settle(asked, restarts)
        if asked.state == "pending":  # whether it counted nobody heard, so that they do it again
            self.answer(asked, user)

    def harm_end(self, asked):
        why, act = self.chance.choice((("denied", self.bed.deny), ("withdrawn", self.bed.withdraw)))
        restarts = self.restarts
        heard = self.harmed(lambda: act(asked.id) or why)
        state, _ = self.bed.ended(asked.id)
        oracle.demand(state == why or (state == "pending" and not heard),
                      f"{asked.id} is {state}, and it heard {heard}")
        if state == why:
            self.bed.closed(asked.id, why)
            self.end_as(asked, why)
        else:
            asked.perhaps = why
        self.anew(restarts)

    def harm_submit(self, _):
        wish = self.random_wish()
        if self.refusals(wish):
            return
        label, key, restarts = self.chance.choice(self.LABELS), self.random_key(), self.restarts
        self.bed.run(label=label)
        heard = self.harmed(lambda: self.send(wish, label, key))
        self.anew(restarts)
        name, _ = self.send(wish, label, key)
        oracle.demand(not heard or heard[0] == name, f"{key} stands for {heard} and {name}")
        old = next((one for one in self.requests if one.id == name), None)
        if old is not None:
            oracle.demand(old in self.same(wish, self.run_of(label), None), f"{name} is another")
            oracle.demand(not old.key, f"{key} and {old.key} are one wish, {name}")
            old.key, old.older = key, None
            return
        asked = self.prepared_new(name, wish, label)
        asked.key = key
        state, _ = self.bed.ended(name)
        oracle.demand(state in (("pending",) if wish[0] not in crash.FREE
                                else ("done", "failed", "unknown", "refused")), f"{name} is {state}")
        asked.state = state
        self.take(f"new → {state}, harmed")

    def settle(self, asked, restarts):
        """Where a request stands after what nobody heard the end of."""
        state, _ = self.bed.ended(asked.id)
        oracle.demand(state in ("pending", "refused", *model.RAN), f"{asked.id} is {state}")
        self.end_as(asked, state, f"pending → {state}, harmed")
        if state == "refused" and not self.refusals(asked.wish):
            if self.heir_of(asked) is None:
                # It may be on its way: after a start it is there, or never will be.
                self.bed.world.restart_broker(kill=True)
                self.restarts += 1
            name = self.heir_of(asked)
            if name is not None:
                self.adopt(asked, name)
        self.anew(restarts, asked)

    def heir_of(self, asked):
        """Which of those that nobody asked for takes the place of a refused one."""
        for name in self.read_queue().keys() - {one.id for one in self.requests}:
            if self.bed.state(name)[1].get("supersedes") == crashbus.PREFIX + asked.id:
                return name
        return None

    def anew(self, restarts=None, running=None):
        """A broker that began anew has asked the executor anew about all that waits.  Where its disk
        failed while it synced, what was told as not written may turn up after all.  @running may have
        been at its module as the broker began: then nobody knew yet what became of its wish."""
        if restarts is not None and restarts == self.restarts:
            return
        for asked in self.requests:
            if asked.state != "pending":
                continue
            refused = self.refusals(asked.wish)
            state, details = self.bed.ended(asked.id)
            if state == asked.perhaps:
                self.see_closed(asked, state, f"pending → {state}, after all")
                continue
            if running is not None and running.wish == asked.wish and \
                    details["reason"].startswith("intent-unknown: ") and running.id in details["reason"]:
                refused = ["intent-unknown"]
            oracle.demand(state == ("refused" if refused else "pending"),
                          f"{asked.id} is {state}: {refused}, {details}")
            if refused:
                model.cause_of(details["reason"], refused, asked.id)
                self.end_as(asked, state, "pending → refused: prepared anew")
            else:
                self.prepared(asked)

    def kill_broker(self):
        self.bed.world.restart_broker(kill=True)
        self.take("broker killed")
        self.anew()

    def end_at_start(self):
        """Who denies or withdraws as a broker begins is heard, though it has to ask the ledger first."""
        asked = self.some_pending()
        self.bed.world.restart_broker(kill=True)
        if asked is not None and asked.state == "pending":
            self.end(asked, self.chance.choice(("denied", "withdrawn")))
            self.take("pending → ended at a start")
        self.anew()

    def restart_broker(self):
        self.bed.world.restart_broker()
        self.take("broker restarted")
        self.anew()

    def restart_bus(self):
        """The broker ends with its bus, and comes back with the next one."""
        self.bed.hang_up()
        self.bed.world.bus.restart()
        world.wait_until(lambda: not self.bed.world.broker.running, "the broker ends, too")
        self.bed.world.polkit.restart()
        self.bed.revive()
        self.take("bus restarted")
        self.anew()

    def reboot(self):
        self.bed.world.broker.kill()
        self.bed.new_boot()
        self.bed.revive()
        self.bed.awake()
        self.boot += 1
        self.take("reboot")
        self.anew()

    def kill(self):
        super().kill()
        self.take("executor killed")

    def restart(self):
        super().restart()
        self.take("executor restarted")

    def kill_runner(self):
        super().kill_runner(self.chance.choice(sorted(self.bed.world.runners)))
        self.take("runner killed")

    # --- time ---

    def pass_deadlines(self, seconds):
        """All whose deadline lies within @seconds and a bit expire."""
        for left in sorted(self.left(asked) for asked in self.requests if asked.state == "pending"):
            if seconds < left < seconds + 600:
                seconds = left
        self.bed.faults.move_clocks(realtime=seconds + 300)
        self.bed.pass_time(seconds + 300)
        self.expired()

    def expired(self):
        for asked in self.requests:
            if asked.state == "pending" and self.left(asked) < 0:
                self.bed.wait_for(lambda: self.bed.state(asked.id)[0] == "expired",
                                  f"{asked.id} expires")
                self.see_closed(asked, "expired")
        self.take("clock")

    def expire(self):
        self.pass_deadlines(self.chance.choice((1, 13)) * model.HOUR)

    def expire_away(self):
        """While the broker is not there."""
        self.some_pending()
        self.bed.world.broker.kill()
        self.bed.faults.move_clocks(realtime=25 * model.HOUR, boottime=25 * model.HOUR)
        self.bed.revive()
        self.expired()
        self.anew()
        self.take("expired while away")
