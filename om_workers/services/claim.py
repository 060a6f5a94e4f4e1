"""How a worker takes a job: its range and configuration are fixed now, and its first call is in the ledger."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from om_workers.engine.edges import RangeAim, choose_edge
from om_workers.engine.jobs import JobState, Lane, Trigger
from om_workers.engine.plan import interval
from om_workers.engine.policy import Policy
from om_workers.engine.prompts import OBSERVER_VERSION, REFLECTOR_VERSION
from om_workers.ports.attempts import AttemptRecord, CallStart
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import GoneError
from om_workers.ports.records import JobRecord, LeaseRecord, ThreadRecord
from om_workers.services.events import job_data, start_data
from om_workers.services.planning import plan_memory
from om_workers.services.settle import edges_between, lose_attempt
from om_workers.services.state import MemoryView, view_in
from om_workers.services.unit import Unit, memory_unit


@dataclass(frozen=True, slots=True)
class Claim:
    """A job in one worker's hands. ``fence`` and ``epoch`` must still hold at the commit.

    ``first_seq`` to ``last_seq`` is the range observed; ``basis`` the ids of the segments reflected.
    """

    job: JobRecord
    thread: ThreadRecord
    policy: Policy
    attempt: int
    fence: int
    epoch: int
    call_id: str
    started_at: datetime
    deadline: datetime
    revision: dict[str, Any]
    first_seq: int = 0
    last_seq: int = 0
    basis: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        """The model that this job's lane uses."""
        return self.policy.observation.model if self.job.lane is Lane.OBSERVE else self.policy.reflection.model


def claim_job(ports: Ports, memory_id: str, job_id: str, owner: str, *, apart: bool = False) -> Claim | None:
    """Take the job, or ``None`` when it is not to be had now: done, too early, in living hands, or deleted.

    ``apart``: whether this is the process for jobs in quarantine; any other leaves them alone, also when it comes by an
    old task of theirs (RULES 6.9). A running job whose lease ran out is taken from its former owner, whose commit is
    refused from then on (RULES 7.4).
    """
    with suppress(GoneError), memory_unit(ports, memory_id) as unit:
        view = view_in(ports, unit.tx)
        job = unit.tx.jobs.get(job_id)
        lease = view.leases[job.lane]
        if job.state is JobState.RUNNING and _ran_out(lease, unit.tx.now):
            lose_attempt(unit, view, job)
            view = view_in(ports, unit.tx)
            job, lease = unit.tx.jobs.get(job_id), view.leases[job.lane]
        if job.state is not JobState.QUEUED or job.not_before > unit.tx.now or view.lineage.frozen:
            return None
        if job.quarantined and not apart:
            return None
        work = _observe_range(unit, view, job) if job.lane is Lane.OBSERVE else _reflect_basis(unit, view, job)
        if work is None:
            unit.tx.jobs.update(job, JobState.CANCELLED, {"last_outcome": "nothing_to_do", "finished_at": unit.tx.now})
            plan_memory(unit)
            return None
        return _take(unit, view, job, lease, owner=owner, work=work)
    return None


def _take(
    unit: Unit, view: MemoryView, job: JobRecord, lease: LeaseRecord, *, owner: str, work: dict[str, Any]
) -> Claim:
    ports, now = unit.ports, unit.tx.now
    deadline = now + timedelta(seconds=ports.timing.attempt_seconds)
    expires = min(now + timedelta(seconds=ports.timing.lease_seconds), deadline)
    claim = Claim(
        job=job, thread=view.thread, policy=view.policy, attempt=job.attempts + 1, fence=lease.fence + 1,
        epoch=view.lineage.epoch, call_id=ports.ids.new(), started_at=now, deadline=deadline,
        revision=_revision(view, job.lane, ports), **work,
    )  # fmt: skip
    unit.tx.jobs.update_lease(
        job.lineage_id,
        job.lane,
        {"owner": owner, "job_id": job.id, "fence": claim.fence, "expires_at": expires, "deadline": deadline},
    )
    values = {
        "first_seq": claim.first_seq or None,
        "last_seq": claim.last_seq or None,
        "basis": list(claim.basis) or None,
    }
    unit.tx.jobs.update(job, JobState.RUNNING, values | {"attempts": claim.attempt, "sends": 0, "sent_at": None})
    unit.tx.jobs.start_attempt(
        AttemptRecord(job.id, claim.attempt, owner, claim.fence, claim.epoch, claim.revision, now, deadline)
    )
    unit.tx.ledger.start(start_of_call(claim, claim.call_id, now))
    unit.tx.events.add("om-job", view.thread.external_id, job_data(job, JobState.RUNNING))
    tokens = view.state.coverable if job.lane is Lane.OBSERVE else view.state.active
    data = start_data(view, job, claim.attempt, tokens, now)
    unit.tx.events.add("data-om-buffering-start", view.thread.external_id, data)
    return claim


def start_of_call(claim: Claim, call_id: str, at: datetime) -> CallStart:
    """The ledger row of one call of this claim."""
    return CallStart(
        id=call_id,
        tenant_id=claim.job.tenant_id,
        memory_id=claim.job.memory_id,
        thread_id=claim.thread.id,
        job_id=claim.job.id,
        attempt=claim.attempt,
        kind=str(claim.job.lane),
        model=claim.model,
        started_at=at,
    )


def _observe_range(unit: Unit, view: MemoryView, job: JobRecord) -> dict[str, Any] | None:
    if job.trigger is Trigger.REBUILD:
        return _range_to_rebuild(unit, view, job)
    first = view.position.buffered_seq + 1
    if job.first_seq == first and job.last_seq is not None:
        return {"first_seq": first, "last_seq": job.last_seq}
    if view.coverable.limit < first:
        return None
    edges = edges_between(unit, view.thread.id, first=first, last=view.coverable.limit)
    edge = choose_edge(edges, _aim(view, job))
    # A pair longer than what was read at once leaves no edge; the limit itself is always one.
    return {"first_seq": first, "last_seq": view.coverable.limit if edge is None else edge.seq}


def _range_to_rebuild(unit: Unit, view: MemoryView, job: JobRecord) -> dict[str, Any] | None:
    """The range of the stand-in that the job was claimed for before, or of the oldest one (RULES 10.3)."""
    waiting = unit.tx.segments.awaiting_rebuild(view.lineage.id)
    chosen = next((segment for segment in waiting if job.basis == (segment.id,)), next(iter(waiting), None))
    if chosen is None:
        return None
    return {"first_seq": chosen.first_seq, "last_seq": chosen.last_seq, "basis": (chosen.id,)}


def _aim(view: MemoryView, job: JobRecord) -> RangeAim:
    rules, pending = view.policy.observation, view.state.pending
    most = rules.max_tokens_per_call
    unbuffered = pending - view.position.buffered_tokens
    if job.trigger is Trigger.MANUAL:
        return RangeAim(interval=None, keep=0, pending=unbuffered, most=most)
    if pending >= rules.blocks_at and not view.buffered:
        return RangeAim(interval=None, keep=rules.retention_floor, pending=unbuffered, most=most)
    return RangeAim(interval=interval(pending, rules), keep=0, pending=unbuffered, most=most)


def _reflect_basis(unit: Unit, view: MemoryView, job: JobRecord) -> dict[str, Any] | None:
    if view.lineage.rebuilds:
        return None
    if job.basis is not None:
        states = unit.tx.segments.states(job.basis)
        if all(states.get(segment_id) == "active" for segment_id in job.basis):
            return {"basis": job.basis}
    active = unit.tx.segments.in_state(view.lineage.id, "active")
    return {"basis": tuple(segment.id for segment in active)} if active else None


def _revision(view: MemoryView, lane: Lane, ports: Ports) -> dict[str, Any]:
    observing = lane is Lane.OBSERVE
    policy = view.policy.observation if observing else view.policy.reflection
    return {
        "prompt": OBSERVER_VERSION if observing else REFLECTOR_VERSION,
        "model": policy.model,
        "tokenizer": ports.tokens.name,
        "options": {"installation": view.layers.installation_version, "memory": view.layers.memory_version},
        "policy": asdict(policy),
    }


def _ran_out(lease: LeaseRecord, now: datetime) -> bool:
    return lease.owner is None or lease.expires_at is None or lease.expires_at <= now
