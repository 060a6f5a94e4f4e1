"""How the range around a deleted message is observed again, and takes the place of the line that stood in for it."""

from __future__ import annotations

from dataclasses import replace

from om_workers.engine.retry import Outcome
from om_workers.ports.records import JobRecord, LineageRecord, SegmentRecord
from om_workers.services.activate import serve_within_limit
from om_workers.services.events import end_data
from om_workers.services.failure import Failure
from om_workers.services.results import Observation, finish_job, make_segment
from om_workers.services.state import MemoryView, view_in
from om_workers.services.unit import Unit


def store_rebuilt(unit: Unit, view: MemoryView, job: JobRecord, result: Observation) -> None:
    """Put the result where its stand-in stood: same range, ordinal and state; no position moves (RULES 10.3)."""
    stand_in = _stand_in_of(unit, job)
    made = make_segment(
        unit,
        view,
        job,
        result,
        span=(stand_in.first_seq, stand_in.last_seq),
        place=(stand_in.ordinal, stand_in.generation),
    )
    made = replace(
        made,
        state=stand_in.state,
        message_tokens=stand_in.message_tokens,
        message_count=stand_in.message_count,
        activated_at=stand_in.activated_at,
    )
    forget_result(unit, stand_in)
    unit.tx.segments.remove([stand_in.id])
    unit.tx.segments.insert(made, view.thread.id, live=True)
    recount(unit, view.lineage)
    finish_job(unit, view, job, Outcome.STORED)
    data = end_data(view, made, made.message_tokens, result.started_at)
    unit.tx.events.add("data-om-buffering-end", view.thread.external_id, data)


def give_up_rebuild(unit: Unit, view: MemoryView, job: JobRecord, failure: Failure) -> None:
    """Nothing can be made of the range: its stand-in stays for good."""
    unit.tx.segments.keep_stand_in(_stand_in_of(unit, job).id)
    recount(unit, view.lineage)
    finish_job(unit, view, job, failure.outcome, error=failure.error)


def recount(unit: Unit, lineage: LineageRecord) -> None:
    """Make the lineage's counters the sums of its segments again, and serve no more than the limit."""
    segments = unit.tx.segments
    _write_sums(unit, lineage)
    view = view_in(unit.ports, unit.tx)
    if view.lineage.id == lineage.id:
        active = sum(segment.tokens for segment in segments.in_state(lineage.id, "active"))
        if serve_within_limit(unit, view, active):
            _write_sums(unit, lineage)


def forget_result(unit: Unit, segment: SegmentRecord) -> None:
    """The job that made the segment has no result any more."""
    job = unit.tx.jobs.get(segment.job_id)
    unit.tx.jobs.update(job, job.state, {"last_outcome": Outcome.REMOVED})


def _write_sums(unit: Unit, lineage: LineageRecord) -> None:
    stored = unit.tx.segments.in_state(lineage.id, "active", "buffered", "reflected")
    active = [segment for segment in stored if segment.state == "active"]
    unit.tx.segments.update_lineage(
        lineage.id,
        {
            "active_tokens": sum(segment.tokens for segment in active),
            "whole_tokens": sum(segment.text_tokens for segment in active),
            "buffered_tokens": sum(segment.tokens for segment in stored if segment.state == "buffered"),
            "generation": max((segment.generation for segment in stored), default=0),
            "rebuilds": sum(segment.rebuild for segment in stored),
        },
    )


def _stand_in_of(unit: Unit, job: JobRecord) -> SegmentRecord:
    waiting = unit.tx.segments.awaiting_rebuild(job.lineage_id)
    # A delete cancels the job before it touches its stand-in, and nothing reflects while one waits.
    return next(segment for segment in waiting if job.basis == (segment.id,))
