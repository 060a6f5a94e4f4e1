"""A thread's status events as they come."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.concurrency import run_in_threadpool
from sse_starlette import EventSourceResponse

from om_api.deps import Read, ThreadId
from om_api.paths import SegmentRoute
from om_api.schemas.common import problems
from om_api.streaming import stream_events
from om_workers.services.threads import find_thread

_EVENT_NUMBER = re.compile("[0-9]{1,18}")

router = APIRouter(prefix="/v1/threads/{thread_id}", tags=["memory"], route_class=SegmentRoute)


@router.get("/events", responses=problems(404), response_class=EventSourceResponse)
async def get_events(
    request: Request,
    thread_id: ThreadId,
    caller: Read,
    after: Annotated[int, Query(ge=0, lt=2**63, description="Begin behind this event number.")] = 0,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """Server-sent events: id = n, data = the event's JSON. Resumes behind ``Last-Event-ID``."""
    state = request.app.state
    ref = await run_in_threadpool(find_thread, state.ports, caller.tenant_id, thread_id)
    start = int(last_event_id) if last_event_id and _EVENT_NUMBER.fullmatch(last_event_id) else after
    return EventSourceResponse(stream_events(state.ports, state.waiters.listener, ref.memory_id, start), ping=15)
