"""What a memory's rows say, gathered into the value that the engine decides on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from om_workers.engine.activation import Activity
from om_workers.engine.edges import coverable_limit
from om_workers.engine.jobs import Lane
from om_workers.engine.options import merge_options, resolve_policy
from om_workers.engine.plan import LaneView, MemoryState
from om_workers.engine.policy import ObservationPolicy, Policy
from om_workers.ports.bundle import Ports
from om_workers.ports.conversations import Messages
from om_workers.ports.records import (
    JobRecord,
    LeaseRecord,
    LineageRecord,
    MemoryRecord,
    OptionLayers,
    PositionRecord,
    SegmentSize,
    ThreadRecord,
)
from om_workers.ports.store import MemoryTx, Readable, Snapshot


@dataclass(frozen=True, slots=True)
class Coverable:
    """The last seq coverage may reach now, the tokens up to it behind the buffered position, and when that changes."""

    limit: int
    tokens: int
    changes_at: datetime | None


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory of thread scope, as read in one transaction."""

    memory: MemoryRecord
    thread: ThreadRecord
    lineage: LineageRecord
    position: PositionRecord
    buffered: tuple[SegmentSize, ...]
    jobs: dict[Lane, JobRecord]
    leases: dict[Lane, LeaseRecord]
    coverable: Coverable
    policy: Policy
    layers: OptionLayers
    state: MemoryState


def view_in(ports: Ports, tx: MemoryTx, *, actor_model: str | None = None) -> MemoryView:
    """The memory's view under its lock."""
    return _view(ports, tx, tx.memory, tx.options(), actor_model=actor_model)


def view_of(ports: Ports, snapshot: Snapshot, memory_id: str) -> MemoryView:
    """The memory's view in a snapshot."""
    return _view(ports, snapshot, snapshot.memory(memory_id), snapshot.options(memory_id), actor_model=None)


def policy_of(ports: Ports, layers: OptionLayers) -> Policy:
    """The policy that option layers resolve to."""
    return resolve_policy(merge_options(layers.installation, layers.memory), default_model=ports.default_model)


def find_coverable(
    messages: Messages, thread: ThreadRecord, position: PositionRecord, *, rules: ObservationPolicy, now: datetime
) -> Coverable:
    """How far coverage may go: not into an unfinished step or an open call, until those time out (RULES 4.5, 4.6)."""
    last = thread.next_seq - 1
    timeout = timedelta(milliseconds=rules.open_call_timeout_ms)
    waits = [(call.call_seq, call.opened_at + timeout) for call in messages.open_calls(thread.id)]
    if thread.unfinished_from is not None:
        waits.append((thread.unfinished_from, thread.updated_at + timeout))
    blocking = [(seq, until) for seq, until in waits if until > now]
    limit = min((seq - 1 for seq, _ in blocking), default=last)
    if limit < last:
        limit = _without_cut_pairs(messages, thread.id, limit, after=position.buffered_seq)
    limit = max(limit, position.buffered_seq)
    unbuffered = position.pending_tokens - position.buffered_tokens
    tokens = unbuffered
    if limit < last:
        tokens = messages.offset_before(thread.id, limit + 1) - (thread.message_tokens - unbuffered)
    return Coverable(limit, tokens, min((until for _, until in blocking), default=None))


def _without_cut_pairs(messages: Messages, thread_id: str, limit: int, *, after: int) -> int:
    while True:
        lower = coverable_limit(limit, messages.crossing(thread_id, limit, after=after), after=after)
        if lower == limit:
            return limit
        limit = lower


def _view(
    ports: Ports, source: Readable, memory: MemoryRecord, layers: OptionLayers, *, actor_model: str | None
) -> MemoryView:
    policy = policy_of(ports, layers)
    thread = source.threads.of_memory(memory.id)
    lineage = source.segments.lineage(memory.head_lineage_id)
    position = source.segments.position(lineage.id, thread.id)
    buffered = tuple(source.segments.buffered(lineage.id))
    jobs = {job.lane: job for job in source.jobs.unfinished(lineage.id)}
    leases = {lease.lane: lease for lease in source.jobs.leases(lineage.id)}
    coverable = find_coverable(source.messages, thread, position, rules=policy.observation, now=source.now)
    state = MemoryState(
        pending=position.pending_tokens,
        buffered=tuple(segment.message_tokens for segment in buffered),
        coverable=coverable.tokens,
        coverable_changes_at=coverable.changes_at,
        active=lineage.whole_tokens,
        candidate=source.segments.has_candidate(lineage.id),
        reflect_above=lineage.reflect_above,
        rebuilds=lineage.rebuilds,
        lanes={lane: LaneView(lane in jobs, lease.hold_until) for lane, lease in leases.items()},
        activity=_activity(memory, actor_model),
    )
    return MemoryView(memory, thread, lineage, position, buffered, jobs, leases, coverable, policy, layers, state)


def _activity(memory: MemoryRecord, actor_model: str | None) -> Activity:
    return Activity(
        last_at=memory.last_activity_at,
        last_model=memory.last_model,
        model=actor_model,
        idle_handled=memory.idle_handled_at is not None and memory.idle_handled_at == memory.last_activity_at,
    )
