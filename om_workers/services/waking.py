"""How parked jobs are woken: by an operator, new options, or their hourly probe."""

from __future__ import annotations

from om_workers.engine.jobs import JobState
from om_workers.ports.records import JobRecord
from om_workers.services.events import job_data
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit


def wake(unit: Unit, view: MemoryView, job: JobRecord, *, why: str) -> None:
    """Queue a dead job again, its failures forgotten; it is due at once (RULES 6.2)."""
    values = {"failures": {}, "sends": 0, "sent_at": None, "not_before": unit.tx.now}
    unit.tx.jobs.update(job, JobState.QUEUED, values)
    unit.tx.events.add("om-job", view.thread.external_id, job_data(job, JobState.QUEUED, detail=why))


def wake_all(unit: Unit, view: MemoryView, *, why: str) -> None:
    """Queue every dead job of the memory again."""
    for job in view.jobs.values():
        if job.state is JobState.DEAD:
            wake(unit, view, job, why=why)
