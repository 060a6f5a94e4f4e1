"""What a worker does with a task: claim its job, do the work, and never fail because of it."""

from __future__ import annotations

from om_workers.engine.jobs import Lane
from om_workers.ports.bundle import Ports
from om_workers.services.claim import claim_job
from om_workers.services.observe import observe
from om_workers.services.reflect import reflect
from om_workers.services.running import Running


def run_job(ports: Ports, running: Running, *, memory_id: str, job_id: str, apart: bool = False) -> bool:
    """Claim and run the job; whether a result was committed. ``False`` for a job that is not to be had.

    ``apart``: whether the task came by the quarantine's queue.
    """
    claim = claim_job(ports, memory_id, job_id, running.owner, apart=apart)
    if claim is None:
        return False
    running.add(claim)
    try:
        return observe(ports, claim) if claim.job.lane is Lane.OBSERVE else reflect(ports, claim)
    finally:
        running.remove(claim)
