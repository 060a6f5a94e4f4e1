"""A memory as numbers only, on which a plan's decisions take effect at once: the services without a database."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from om_workers.engine.activation import ActivationReason, Activity
from om_workers.engine.edges import RangeAim, choose_edge, safe_edges
from om_workers.engine.jobs import Lane
from om_workers.engine.numbers import round_half_up
from om_workers.engine.plan import Activate, ApplyReflection, Decision, MemoryState, decide, interval
from om_workers.engine.policy import Policy


@dataclass
class Memory:
    """``raw``: tokens of the messages behind the buffered position.

    ``note`` and ``shrink``: how long an observation and a reflection come out, as a share of what they stand for.
    """

    policy: Policy
    now: datetime
    raw: list[int]
    buffered: list[int] = field(default_factory=list)
    active: int = 0
    candidate: int | None = None
    reflect_above: int = 0
    activity: Activity = field(default_factory=Activity)
    note: float = 0.2
    shrink: float = 0.5

    @property
    def pending(self) -> int:
        """Raw tokens behind the active position."""
        return sum(self.buffered) + sum(self.raw)

    def state(self) -> MemoryState:
        """What planning sees when everything is coverable and both lanes are free."""
        return MemoryState(
            pending=self.pending,
            buffered=tuple(self.buffered),
            coverable=sum(self.raw),
            active=self.active,
            candidate=self.candidate is not None,
            reflect_above=self.reflect_above,
            activity=self.activity,
        )

    def run(self, most: int) -> int:
        """Plan and apply until nothing is decided; how many rounds that took. Fails beyond ``most``."""
        for rounds in range(most):
            plan = decide(self.state(), self.policy, self.now)
            if not plan.decisions:
                return rounds
            for decision in plan.decisions:
                self.apply(decision)
        raise AssertionError("the memory does not come to rest")

    def apply(self, decision: Decision) -> None:
        """Let a decision take effect; a job runs at once."""
        if isinstance(decision, Activate):
            self._activate(decision)
        elif isinstance(decision, ApplyReflection):
            assert self.candidate is not None
            self.active, self.candidate = self.candidate, None
            self.reflect_above = round_half_up(self.active + self.policy.reflection.growth)
        elif decision.lane is Lane.OBSERVE:
            self._observe()
        else:
            self._reflect()

    def _activate(self, decision: Activate) -> None:
        assert 1 <= decision.count <= len(self.buffered)
        taken, self.buffered = self.buffered[: decision.count], self.buffered[decision.count :]
        self.active += sum(max(1, round(tokens * self.note)) for tokens in taken)
        if decision.reason is ActivationReason.TTL:
            self.activity = replace(self.activity, idle_handled=True)
        if decision.reason is ActivationReason.PROVIDER_CHANGE:
            self.activity = replace(self.activity, last_model=self.activity.model)

    def _observe(self) -> None:
        rules = self.policy.observation
        aim = RangeAim(interval(self.pending, rules), 0, sum(self.raw), rules.max_tokens_per_call)
        if self.pending >= rules.blocks_at and not self.buffered:
            aim = replace(aim, interval=None, keep=rules.retention_floor)
        edge = choose_edge(safe_edges(list(enumerate(self.raw, 1)), []), aim)
        assert edge is not None
        self.buffered.append(edge.tokens)
        self.raw = self.raw[edge.seq :]

    def _reflect(self) -> None:
        size = int(self.active * self.shrink)
        if 0 < size < self.active:
            self.candidate = size
        else:
            self.reflect_above = round_half_up(self.active + self.policy.reflection.growth)
