"""What an operator does with a job: cancels it, or has it run again at once; ``tenant_id`` ``None``: of any tenant."""

from __future__ import annotations

from datetime import timedelta

from om_workers.engine.jobs import UNFINISHED, JobState
from om_workers.ports.bundle import Ports
from om_workers.ports.errors import ConflictError
from om_workers.ports.records import DueJob, JobRecord
from om_workers.services.cancel import cancel_job
from om_workers.services.listing import read_job
from om_workers.services.planning import plan_memory
from om_workers.services.state import view_in
from om_workers.services.unit import Unit, memory_unit
from om_workers.services.waking import wake

HOLD_SECONDS = 3_600
"""How long planning leaves a lane alone whose job an operator cancelled (RULES 6.10)."""


def operator_cancels(ports: Ports, tenant_id: str | None, job_id: str) -> JobRecord:
    """Cancel an unfinished job and hold its lane for an hour; the job as it is then. A cancelled one stays as it is.

    Raises ``NotFoundError``, also for another tenant's job, ``ConflictError`` when it is done already.
    """
    with memory_unit(ports, read_job(ports, job_id, tenant_id=tenant_id).memory_id) as unit:
        job = unit.tx.jobs.get(job_id)
        if job.state in UNFINISHED:
            cancel_job(unit, view_in(ports, unit.tx), job, why="cancelled by an operator")
            until = unit.tx.now + timedelta(seconds=HOLD_SECONDS)
            unit.tx.jobs.update_lease(job.lineage_id, job.lane, {"hold_until": until})
            plan_memory(unit)
        elif job.state is JobState.DONE:
            raise ConflictError("this job is done; there is nothing to cancel", job=job_id)
        return unit.tx.jobs.get(job_id)


def operator_requeues(ports: Ports, tenant_id: str | None, job_id: str) -> JobRecord:
    """Have a parked or waiting job run now; for a cancelled one, end its lane's hold and plan again.

    The job that keeps the lane's place then, or the one asked for when nothing is due. Raises ``NotFoundError``, also
    for another tenant's job, ``ConflictError`` for a job that runs or is done.
    """
    with memory_unit(ports, read_job(ports, job_id, tenant_id=tenant_id).memory_id) as unit:
        job = unit.tx.jobs.get(job_id)
        if job.state in (JobState.RUNNING, JobState.DONE):
            raise ConflictError(
                f"this job is {job.state}; only a dead, queued or cancelled one is requeued", job=job_id
            )
        _run_now(unit, job)
        view = plan_memory(unit)
        return view.jobs.get(job.lane) or unit.tx.jobs.get(job_id)


def _run_now(unit: Unit, job: JobRecord) -> None:
    if job.state is JobState.DEAD:
        wake(unit, view_in(unit.ports, unit.tx), job, why="requeued by an operator")
    elif job.state is JobState.QUEUED:
        values = {"not_before": unit.tx.now, "sends": 0, "sent_at": None}
        unit.tx.jobs.update(job, JobState.QUEUED, values)
    else:
        unit.tx.jobs.update_lease(job.lineage_id, job.lane, {"hold_until": None})
        return
    unit.made.append(DueJob(job.id, job.memory_id, job.lane, quarantined=job.quarantined))
