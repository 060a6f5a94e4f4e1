"""How a failed or lost attempt is settled: tried again, made smaller, replaced by a stand-in, or parked."""

from __future__ import annotations

from om_workers.engine.edges import Edge, Pair, halve, safe_edges
from om_workers.engine.jobs import JobState, Trigger
from om_workers.engine.retry import NextStep, Outcome, Verdict
from om_workers.engine.standin import stand_in
from om_workers.ports.records import JobRecord
from om_workers.services.events import job_data
from om_workers.services.failure import Failure, end_without_result, judge_failure
from om_workers.services.rebuild import give_up_rebuild
from om_workers.services.results import Observation, store_observation
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit

_MOST_HEADERS = 5_000


def settle_failure(unit: Unit, view: MemoryView, job: JobRecord, failure: Failure) -> None:
    """Do with a running job what its kind of failure asks for (RULES 6.6, 6.7)."""
    decision = judge_failure(unit, job, failure)
    if decision.step in (NextStep.RETRY, NextStep.PARK):
        end_without_result(unit, view, job, failure, decision)
        return
    if job.trigger is Trigger.REBUILD:
        give_up_rebuild(unit, view, job, failure)
        return
    smaller = None if decision.step is NextStep.STAND_IN else _smaller_end(unit, view, job)
    if smaller is None:
        store_stand_in(unit, view, job, failure)
    else:
        end_without_result(unit, view, job, failure, Verdict(NextStep.SHRINK), last_seq=smaller.seq)


def lose_attempt(unit: Unit, view: MemoryView, job: JobRecord) -> None:
    """A running job's lease ran out: count the loss and settle it."""
    settle_failure(unit, view, job, Failure(Outcome.LOST, "the worker's lease ran out"))


def store_stand_in(unit: Unit, view: MemoryView, job: JobRecord, failure: Failure) -> None:
    """A line of our own for the job's range, so that coverage goes on and something stands for what leaves."""
    if job.trigger is Trigger.REBUILD:
        give_up_rebuild(unit, view, job, failure)
        return
    if job.first_seq is None or job.last_seq is None:
        raise ValueError(f"job {job.id} has no range")
    messages = [stored.message for stored in unit.tx.messages.between(view.thread.id, job.first_seq, job.last_seq)]
    started_at = unit.tx.jobs.attempt_started_at(job.id, job.attempts) or unit.tx.now
    revision = {"stand_in": str(failure.outcome)}
    result = Observation("stand_in", stand_in(messages), revision=revision, started_at=started_at)
    store_observation(unit, view, job, result)
    detail = f"stand-in after {failure.outcome}"
    data = job_data(job, JobState.DONE, outcome=failure.outcome, detail=detail)
    unit.tx.events.add("om-job", view.thread.external_id, data)


def edges_between(unit: Unit, thread_id: str, *, first: int, last: int) -> tuple[Edge, ...]:
    """The edges in first..last at which no answered pair is cut."""
    sizes = unit.tx.messages.sizes(thread_id, first - 1, last, limit=_MOST_HEADERS)
    end = sizes[-1][0] if sizes else first
    calls = unit.tx.messages.calls_touching(thread_id, first, end)
    return safe_edges(sizes, [Pair(call.call_seq, call.result_seq) for call in calls if call.call_seq >= first])


def _smaller_end(unit: Unit, view: MemoryView, job: JobRecord) -> Edge | None:
    if job.first_seq is None or job.last_seq is None:
        return None
    return halve(edges_between(unit, view.thread.id, first=job.first_seq, last=job.last_seq))
