"""Jobs: what they are doing, and what an operator may do about it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from om_api.body import CleanRoute
from om_api.deps import Operate, PortsOf, Read, ThreadId
from om_api.schemas.common import problems
from om_api.schemas.memory import job_json
from om_workers.services.listing import list_jobs, read_job
from om_workers.services.operate import operator_cancels, operator_requeues

router = APIRouter(prefix="/v1", tags=["jobs"], route_class=CleanRoute)
Newest = Annotated[int, Query(ge=1, le=500, description="Most jobs of the answer.")]


@router.get("/threads/{thread_id}/jobs", responses=problems(404, 410))
def get_jobs(thread_id: ThreadId, caller: Read, ports: PortsOf, limit: Newest = 50) -> dict[str, Any]:
    """A thread's jobs, the newest first, with their last outcome."""
    return {"jobs": [job_json(job) for job in list_jobs(ports, caller.tenant_id, thread_id, limit=limit)]}


@router.get("/jobs/{job_id}", responses=problems(404))
def get_job(job_id: str, caller: Read, ports: PortsOf) -> dict[str, Any]:
    """One job."""
    return {"job": job_json(read_job(ports, job_id, tenant_id=caller.tenant_id))}


@router.post("/jobs/{job_id}/cancel", responses=problems(404, 409, 410))
def cancel(job_id: str, caller: Operate, ports: PortsOf) -> dict[str, Any]:
    """End a job that waits, runs or is parked; its lane makes no other for an hour, or until it is asked to."""
    return {"job": job_json(operator_cancels(ports, caller.tenant_id, job_id))}


@router.post("/jobs/{job_id}/requeue", responses=problems(404, 409, 410))
def requeue(job_id: str, caller: Operate, ports: PortsOf) -> dict[str, Any]:
    """Have a parked or waiting job run now; after a cancel, let its lane work again."""
    return {"job": job_json(operator_requeues(ports, caller.tenant_id, job_id))}
