"""What becomes of a job whose attempt gave no result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from om_workers.engine.jobs import JobState, Lane
from om_workers.engine.retry import LOSSES_BEFORE_QUARANTINE, NextStep, Outcome, Verdict, verdict
from om_workers.ports.records import JobRecord
from om_workers.services.events import failed_data, job_data
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit

MOST_ERROR_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt without a result: its class, a text that names sizes and causes but no content."""

    outcome: Outcome
    error: str
    retry_after_seconds: float | None = None


def judge_failure(unit: Unit, job: JobRecord, failure: Failure) -> Verdict:
    """The engine's verdict on this failure of the job, counted with the earlier ones of its kind at this size."""
    return verdict(
        failure.outcome,
        job.failures.get(failure.outcome, 0) + 1,
        lane=job.lane,
        quarantined=job.quarantined,
        jitter=unit.ports.ids.jitter(),
        retry_after_seconds=failure.retry_after_seconds,
    )


def end_without_result(
    unit: Unit, view: MemoryView, job: JobRecord, failure: Failure, decision: Verdict, *, last_seq: int | None = None
) -> None:
    """Put a running job back (or park it), release its lease, and raise the fence against its former owner.

    ``last_seq`` is the new end of a range that was made smaller, which starts the counts afresh (RULES 6.7).
    """
    now, error = unit.tx.now, failure.error[:MOST_ERROR_CHARACTERS]
    state = JobState.DEAD if decision.step is NextStep.PARK else JobState.QUEUED
    failures = {**job.failures, failure.outcome: job.failures.get(failure.outcome, 0) + 1}
    values = {
        "failures": failures if last_seq is None else {},
        "last_outcome": failure.outcome,
        "last_error": error,
        "not_before": now + timedelta(seconds=decision.delay_seconds),
        "quarantined": job.quarantined or failures.get(Outcome.LOST, 0) >= LOSSES_BEFORE_QUARANTINE,
    }
    if last_seq is not None:
        values["last_seq"] = last_seq
    unit.tx.jobs.update(job, state, values)
    release_lease(unit, view, job.lane)
    unit.tx.jobs.end_attempt(job.id, job.attempts, outcome=failure.outcome, error=error, at=now)
    unit.tx.ledger.orphan(job.id, job.attempts, now)
    unit.tx.events.add("om-job", view.thread.external_id, job_data(job, state, outcome=failure.outcome))
    started_at = unit.tx.jobs.attempt_started_at(job.id, job.attempts) or now
    data = failed_data(view, job, job.attempts, error=error, started_at=started_at, at=now)
    unit.tx.events.add("data-om-buffering-failed", view.thread.external_id, data)


def release_lease(unit: Unit, view: MemoryView, lane: Lane) -> None:
    """Nobody holds the lane now, and whoever held it can no longer commit."""
    free = {"owner": None, "job_id": None, "expires_at": None, "deadline": None}
    unit.tx.jobs.update_lease(view.lineage.id, lane, free | {"fence": view.leases[lane].fence + 1})
