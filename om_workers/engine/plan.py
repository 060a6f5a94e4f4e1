"""What a memory needs done now, and when the answer could change by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from om_workers.engine.activation import (
    ActivationReason,
    Activity,
    activation_reason,
    choose_prefix,
    idle_deadline,
)
from om_workers.engine.jobs import Lane
from om_workers.engine.policy import ObservationPolicy, Policy


@dataclass(frozen=True, slots=True)
class LaneView:
    """A lane as planning sees it: whether a job keeps its place, and until when an operator holds it."""

    unfinished: bool = False
    hold_until: datetime | None = None

    def free(self, now: datetime) -> bool:
        """Whether a new job may be made."""
        return not self.unfinished and (self.hold_until is None or self.hold_until <= now)


@dataclass(frozen=True, slots=True)
class MemoryState:
    """All that planning looks at; sizes in tokens.

    ``pending``: messages behind the active position. ``buffered``: message tokens of each buffered segment, oldest
    first. ``coverable``: messages behind the buffered position that coverage may take now. ``coverable_changes_at``:
    when an open call or an unanswered step counts as closed. ``active``: tokens of the active segments' stored text.
    What is served of it may be less (RULES 5.6), which must neither hide that it grows nor that it is large.
    ``rebuilds``: stand-ins of deletes whose messages are to be observed again.
    """

    pending: int = 0
    buffered: tuple[int, ...] = ()
    coverable: int = 0
    coverable_changes_at: datetime | None = None
    active: int = 0
    candidate: bool = False
    reflect_above: int = 0
    rebuilds: int = 0
    lanes: dict[Lane, LaneView] = field(default_factory=dict)
    activity: Activity = field(default_factory=Activity)

    def lane(self, lane: Lane) -> LaneView:
        """The lane's view; a lane without a record is free."""
        return self.lanes.get(lane, LaneView())


@dataclass(frozen=True, slots=True)
class Activate:
    """Make the ``count`` oldest buffered segments active."""

    count: int
    reason: ActivationReason


@dataclass(frozen=True, slots=True)
class ApplyReflection:
    """Replace the segments a candidate reflection stands for by it."""

    reason: ActivationReason


@dataclass(frozen=True, slots=True)
class MakeJob:
    """Make the lane's next job; ``rebuild``: for what a delete took out, instead of new messages."""

    lane: Lane
    rebuild: bool = False


Decision = Activate | ApplyReflection | MakeJob


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now (in order), and the earliest time at which planning again could decide something else."""

    decisions: tuple[Decision, ...] = ()
    next_at: datetime | None = None


def decide(state: MemoryState, policy: Policy, now: datetime) -> Plan:
    """The plan for ``state`` at ``now`` (RULES 4, 5). Planning earlier than ``next_at`` changes nothing (RULES 7.2).

    An activation or an applied reflection changes what the rest depends on, so it is decided alone: plan again after
    it.
    """
    activation = _activation(state, policy.observation, now)
    if activation is not None:
        return Plan((activation,))
    if state.candidate and state.active >= policy.reflection.observation_tokens:
        return Plan((ApplyReflection(ActivationReason.THRESHOLD),))
    jobs = tuple(job for job in _jobs(state, policy) if state.lane(job.lane).free(now))
    return Plan(jobs, _next_time(state, policy.observation, now))


def _jobs(state: MemoryState, policy: Policy) -> Iterator[MakeJob]:
    """New messages go first: what waits there grows, what a delete took out does not (RULES 10.3)."""
    if observe_due(state, policy):
        yield MakeJob(Lane.OBSERVE)
    elif state.rebuilds:
        yield MakeJob(Lane.OBSERVE, rebuild=True)
    if reflect_due(state, policy):
        yield MakeJob(Lane.REFLECT)


def observe_due(state: MemoryState, policy: Policy) -> bool:
    """Whether the messages behind the buffered position are worth an observation now (RULES 4.1)."""
    rules = policy.observation
    if rules.buffer_tokens is None:
        return state.pending >= rules.message_tokens and state.coverable >= rules.minimum_batch
    return state.coverable >= interval(state.pending, rules)


def reflect_due(state: MemoryState, policy: Policy) -> bool:
    """Whether the active segments are worth a reflection now (RULES 5.1, 5.5), and none is to be made again first."""
    return (
        not state.candidate
        and not state.rebuilds
        and state.active > 0
        and state.active >= max(policy.reflection.starts_at, state.reflect_above)
    )


def interval(pending: int, rules: ObservationPolicy) -> float:
    """Tokens behind the buffered position that start an observation: half of them near the threshold (RULES 4.1)."""
    if rules.buffer_tokens is None:
        return rules.message_tokens
    ramp = rules.message_tokens - 1.1 * rules.buffer_tokens
    return rules.buffer_tokens / 2 if pending >= ramp else rules.buffer_tokens


def _activation(state: MemoryState, rules: ObservationPolicy, now: datetime) -> Activate | None:
    if not state.buffered:
        return None
    reason = activation_reason(state.pending, state.activity, rules, now)
    if reason is None:
        return None
    return Activate(prefix_to_activate(state, rules), reason)


def prefix_to_activate(state: MemoryState, rules: ObservationPolicy) -> int:
    """How many buffered segments an activation takes at this moment's counts."""
    return choose_prefix(
        state.buffered,
        pending=state.pending,
        threshold=rules.message_tokens,
        buffer_activation=rules.buffer_activation,
        force=rules.block_after is not None and state.pending >= rules.block_after,
    )


def _next_time(state: MemoryState, rules: ObservationPolicy, now: datetime) -> datetime | None:
    held = (view.hold_until for view in state.lanes.values() if not view.unfinished)
    idle = idle_deadline(state.activity, rules) if state.buffered else None
    times = [at for at in (state.coverable_changes_at, idle, *held) if at is not None and at > now]
    return min(times, default=None)
