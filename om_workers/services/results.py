"""How a result of a job becomes a stored segment: checked under the lock, in one transaction with its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from om_workers.engine.jobs import JobState, Lane
from om_workers.engine.rendering import served_text
from om_workers.engine.retry import Outcome
from om_workers.ports.records import JobRecord, SegmentRecord
from om_workers.services.events import end_data, job_data
from om_workers.services.failure import release_lease
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit


@dataclass(frozen=True, slots=True)
class Observation:
    """What is to be stored for a range of messages."""

    kind: str
    text: str
    revision: Mapping[str, Any]
    started_at: datetime
    current_task: str | None = None
    suggested_response: str | None = None


def store_observation(unit: Unit, view: MemoryView, job: JobRecord, result: Observation) -> SegmentRecord:
    """The job's range as a buffered segment, and the buffered position behind it (RULES 7.5)."""
    if job.first_seq is None or job.last_seq is None:
        raise ValueError(f"job {job.id} has no range")
    sizes = unit.tx.messages.sizes(view.thread.id, job.first_seq - 1, job.last_seq, limit=job.last_seq)
    message_tokens = sum(tokens for _, tokens in sizes)
    segment = make_segment(
        unit, view, job, result, span=(job.first_seq, job.last_seq), place=(view.lineage.next_ordinal, 0)
    )
    segment = replace(segment, message_tokens=message_tokens, message_count=len(sizes))
    unit.tx.segments.insert(segment, view.thread.id, live=True)
    unit.tx.segments.update_lineage(
        view.lineage.id,
        {
            "next_ordinal": view.lineage.next_ordinal + 1,
            "buffered_tokens": view.lineage.buffered_tokens + segment.tokens,
        },
    )
    unit.tx.segments.update_position(
        view.lineage.id,
        view.thread.id,
        {"buffered_seq": job.last_seq, "buffered_tokens": view.position.buffered_tokens + message_tokens},
    )
    finish_job(unit, view, job, Outcome.STORED)
    data = end_data(view, segment, message_tokens, result.started_at)
    unit.tx.events.add("data-om-buffering-end", view.thread.external_id, data)
    return segment


def store_candidate(
    unit: Unit, view: MemoryView, job: JobRecord, result: Observation, replaced: list[SegmentRecord]
) -> SegmentRecord:
    """A reflection of ``replaced`` as the lineage's candidate; it stands for nothing until it is applied."""
    span = (replaced[0].first_seq, replaced[-1].last_seq)
    place = (replaced[-1].ordinal, view.lineage.generation + 1)
    segment = make_segment(unit, view, job, result, span=span, place=place)
    sources = [source.id for source in replaced]
    unit.tx.segments.insert(segment, view.thread.id, sources=sources, live=False)
    finish_job(unit, view, job, Outcome.STORED)
    data = end_data(view, segment, sum(source.tokens for source in replaced), result.started_at)
    unit.tx.events.add("data-om-buffering-end", view.thread.external_id, data)
    return segment


def finish_job(unit: Unit, view: MemoryView, job: JobRecord, outcome: Outcome, *, error: str | None = None) -> None:
    """The job is done: its attempt ends, its lane is free."""
    now = unit.tx.now
    values = {"last_outcome": outcome, "last_error": error, "finished_at": now}
    unit.tx.jobs.update(job, JobState.DONE, values)
    release_lease(unit, view, job.lane)
    unit.tx.jobs.end_attempt(job.id, job.attempts, outcome=outcome, error=error, at=now)
    unit.tx.ledger.orphan(job.id, job.attempts, now)
    unit.tx.events.add("om-job", view.thread.external_id, job_data(job, JobState.DONE, outcome=outcome))


def make_segment(
    unit: Unit, view: MemoryView, job: JobRecord, result: Observation, *, span: tuple[int, int], place: tuple[int, int]
) -> SegmentRecord:
    """The segment of a job's result, not stored yet. ``place``: ordinal and generation."""
    count = unit.ports.tokens.count
    served = served_text(result.text)
    return SegmentRecord(
        id=unit.ports.ids.new(),
        lineage_id=view.lineage.id,
        memory_id=view.memory.id,
        kind=result.kind,
        state="buffered" if job.lane is Lane.OBSERVE else "candidate",
        ordinal=place[0],
        generation=place[1],
        text=result.text,
        text_tokens=count(result.text),
        served=served,
        tokens=count(served),
        degraded=False,
        message_tokens=0,
        message_count=0,
        current_task=result.current_task,
        suggested_response=result.suggested_response,
        job_id=job.id,
        attempt=job.attempts,
        revision=result.revision,
        created_at=unit.tx.now,
        activated_at=None,
        first_seq=span[0],
        last_seq=span[1],
    )
