"""A thread's memory: context, status, observations, and work started by hand."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from om_api.body import CleanRoute
from om_api.deps import Operate, PortsOf, Read, ThreadId, WaitersOf
from om_api.schemas.common import problems
from om_api.schemas.memory import ContextBody, StartBody, context_json, job_json, segment_json, status_json
from om_api.waiting import Wish, read_context, wait_for
from om_workers.engine.jobs import Lane
from om_workers.services.context import render_context
from om_workers.services.listing import list_segments, read_job
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.state import MemoryView
from om_workers.services.threads import thread_view

router = APIRouter(prefix="/v1/threads/{thread_id}", tags=["memory"], route_class=CleanRoute)


@router.get("/context", responses=problems(404) | {304: {"description": "Nothing changed since this ETag."}})
def get_context(
    thread_id: ThreadId,
    caller: Read,
    ports: PortsOf,
    max_tokens: Annotated[int | None, Query(gt=0)] = None,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """The context of this moment; changes nothing, waits for nothing."""
    context = render_context(ports, caller.tenant_id, thread_id, max_tokens=max_tokens)
    return _with_etag(context_json(context), if_none_match)


@router.post("/context", responses=problems(404))
async def post_context(
    thread_id: ThreadId, body: ContextBody, caller: Read, ports: PortsOf, waiters: WaitersOf
) -> dict[str, Any]:
    """Do what is due, wait for a blocking observation if one is and you agree, then the context."""
    wish = Wish(
        caller.tenant_id, thread_id, body.wait is not False, _seconds(body.wait), body.max_tokens, body.actor_model,
        body.min_seq,
    )  # fmt: skip
    return context_json(await read_context(ports, waiters, wish))


@router.get("/status", responses=problems(404))
def get_status(thread_id: ThreadId, caller: Read, ports: PortsOf) -> dict[str, Any]:
    """Token windows against thresholds, and the unfinished jobs."""
    return status_json(thread_view(ports, caller.tenant_id, thread_id))


@router.get("/observations", responses=problems(404))
def get_observations(
    thread_id: ThreadId, caller: Read, ports: PortsOf, include: Annotated[str, Query(pattern="^(|reflected)$")] = ""
) -> dict[str, Any]:
    """The observation log with the messages each piece stands for; ``include=reflected`` adds what was condensed."""
    found = list_segments(ports, caller.tenant_id, thread_id, reflected=include == "reflected")
    return {"observations": [segment_json(segment) for segment in found]}


@router.post("/observe", status_code=HTTPStatus.ACCEPTED, responses=problems(404))
async def observe(
    request: Request, thread_id: ThreadId, body: StartBody, caller: Operate, response: Response
) -> dict[str, Any]:
    """Observe what is pending now, whatever the thresholds say; joins the unfinished job. 200: nothing to do."""
    return await _start(request, Lane.OBSERVE, Wish(caller.tenant_id, thread_id), body, response)


@router.post("/reflect", status_code=HTTPStatus.ACCEPTED, responses=problems(404))
async def reflect(
    request: Request, thread_id: ThreadId, body: StartBody, caller: Operate, response: Response
) -> dict[str, Any]:
    """Condense the active observations now; joins the unfinished job. 200: nothing to do."""
    return await _start(request, Lane.REFLECT, Wish(caller.tenant_id, thread_id), body, response)


@router.post("/activate", responses=problems(404))
def activate(thread_id: ThreadId, caller: Operate, ports: PortsOf) -> dict[str, Any]:
    """Activate what is buffered, and apply a reflection that waits."""
    return {"changed": activate_now(ports, caller.tenant_id, thread_id)}


async def _start(request: Request, lane: Lane, wish: Wish, body: StartBody, response: Response) -> dict[str, Any]:
    state = request.app.state
    job = await run_in_threadpool(start_lane, state.ports, wish.tenant_id, wish.thread, lane)
    if job is None:
        response.status_code = HTTPStatus.OK
        return {"job": None}
    if body.wait is not False:
        waiting = Wish(wish.tenant_id, wish.thread, seconds=_seconds(body.wait))
        await wait_for(state.ports, state.waiters, waiting, partial(_has_ended, lane, job.id))
        job = await run_in_threadpool(read_job, state.ports, job.id)
    return {"job": job_json(job)}


def _has_ended(lane: Lane, job_id: str, view: MemoryView) -> bool:
    unfinished = view.jobs.get(lane)
    return unfinished is None or unfinished.id != job_id


def _seconds(wait: float) -> float | None:  # a JSON boolean says whether to wait, not how long
    return None if isinstance(wait, bool) else max(0.0, wait)


def _with_etag(body: dict[str, Any], if_none_match: str | None) -> Response:
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if if_none_match is not None and etag in (tag.strip() for tag in if_none_match.split(",")):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers={"ETag": etag})
    return Response(content, media_type="application/json", headers={"ETag": etag})
