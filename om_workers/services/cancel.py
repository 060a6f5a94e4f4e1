"""How unfinished jobs are cancelled, so that nobody who works on them can commit."""

from __future__ import annotations

from om_workers.engine.jobs import JobState
from om_workers.engine.retry import Outcome
from om_workers.ports.records import JobRecord
from om_workers.services.events import job_data
from om_workers.services.failure import release_lease
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit


def cancel_job(unit: Unit, view: MemoryView, job: JobRecord, *, why: str) -> None:
    """End an unfinished job without a result; its lane's fence goes up (RULES 6.10)."""
    now = unit.tx.now
    values = {"last_outcome": Outcome.CANCELLED, "last_error": why, "finished_at": now}
    unit.tx.jobs.update(job, JobState.CANCELLED, values)
    release_lease(unit, view, job.lane)
    if job.state is JobState.RUNNING:
        unit.tx.jobs.end_attempt(job.id, job.attempts, outcome=Outcome.CANCELLED, error=why, at=now)
        unit.tx.ledger.orphan(job.id, job.attempts, now)
    data = job_data(job, JobState.CANCELLED, outcome=Outcome.CANCELLED, detail=why)
    unit.tx.events.add("om-job", view.thread.external_id, data)


def cancel_unfinished(unit: Unit, view: MemoryView, *, why: str) -> None:
    """Cancel every unfinished job of the memory."""
    for job in view.jobs.values():
        cancel_job(unit, view, job, why=why)
