"""Threads and their messages."""

from __future__ import annotations

from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.concurrency import run_in_threadpool

from om_api.body import CleanRoute
from om_api.deps import Ingest, MessageId, Operate, PortsOf, Read, ThreadId, WaitersOf
from om_api.paths import check_thread_id
from om_api.schemas.common import problems
from om_api.schemas.memory import context_json, status_json
from om_api.schemas.threads import AppendBody, ThreadBody, appended_json, message_json, thread_json
from om_api.waiting import Wish, read_context
from om_workers.services.delete import delete_message
from om_workers.services.delete_thread import delete_thread
from om_workers.services.events import status_data
from om_workers.services.ingest import Append, append_messages
from om_workers.services.listing import list_messages, list_threads
from om_workers.services.threads import make_thread, thread_view

router = APIRouter(prefix="/v1/threads", tags=["threads"], route_class=CleanRoute)
WithContext = Annotated[bool, Query(description="Answer with the context too.")]
Page = Annotated[int, Query(ge=1, le=500, description="Most entries of this page.")]


@router.post("", status_code=HTTPStatus.CREATED, responses=problems(409, 413))
def create_thread(body: ThreadBody, response: Response, caller: Ingest, ports: PortsOf) -> dict[str, Any]:
    """Make a thread (201; a deleted one anew), or find it and set its options (200)."""
    check_thread_id("id", body.id)
    view, new = make_thread(ports, caller.tenant_id, body.id, resource=body.resource_id, options=body.options)
    response.status_code = HTTPStatus.CREATED if new else HTTPStatus.OK
    return thread_json(view.thread) | {"status": status_data(view)}


@router.get("", responses=problems())
def get_threads(
    caller: Read, ports: PortsOf, resource_id: str | None = None, after: str = "", limit: Page = 100
) -> dict[str, Any]:
    """The tenant's threads in order of their id, behind ``after``."""
    found = list_threads(ports, caller.tenant_id, resource=resource_id, after=after, limit=limit)
    return {"threads": [thread_json(thread) for thread in found]}


@router.get("/{thread_id}", responses=problems(404))
def get_thread(thread_id: ThreadId, caller: Read, ports: PortsOf) -> dict[str, Any]:
    """One thread."""
    return thread_json(thread_view(ports, caller.tenant_id, thread_id).thread)


@router.post("/{thread_id}/messages", status_code=HTTPStatus.ACCEPTED, responses=problems(409, 410, 413))
async def append(
    thread_id: ThreadId,
    body: AppendBody,
    caller: Ingest,
    ports: PortsOf,
    waiters: WaitersOf,
    *,
    context: WithContext = False,
) -> dict[str, Any]:
    """Store one step; the thread is made by its first. ``context=true``: the answer holds the context too."""
    command = Append(
        caller.tenant_id, thread_id, body.accepted(), body.resource_id, body.actor_model, body.final
    )  # fmt: skip
    appended = await run_in_threadpool(append_messages, ports, command)
    answer = appended_json(appended, status_json(appended.view))
    if context:
        wish = Wish(caller.tenant_id, thread_id, actor_model=body.actor_model)
        answer["context"] = context_json(await read_context(ports, waiters, wish))
    return answer


@router.delete("/{thread_id}", status_code=HTTPStatus.ACCEPTED, responses=problems(404, 410))
def remove_thread(thread_id: ThreadId, caller: Operate, ports: PortsOf) -> dict[str, Any]:
    """Delete a thread with all that was made from it. It is gone at once; what is left of its rows goes soon after."""
    deleted = delete_thread(ports, caller.tenant_id, thread_id)
    return {"deleted": {"messages": deleted.messages, "observations": deleted.observations}, "purged": deleted.purged}


@router.delete("/{thread_id}/messages/{message_id}", responses=problems(404, 410))
def remove_message(thread_id: ThreadId, message_id: MessageId, caller: Operate, ports: PortsOf) -> dict[str, Any]:
    """Delete a message and every observation made from it; what is left of its range is observed again.

    The counts are true: of a message that was deleted before, nothing is deleted again.
    """
    deleted = delete_message(ports, caller.tenant_id, thread_id, message_id)
    return {"deleted": asdict(deleted)}


@router.get("/{thread_id}/messages", responses=problems(404))
def get_messages(
    thread_id: ThreadId,
    caller: Read,
    ports: PortsOf,
    after: Annotated[int, Query(ge=0, lt=2**63)] = 0,
    limit: Page = 100,
) -> dict[str, Any]:
    """Messages with seq > ``after``, in order."""
    found = list_messages(ports, caller.tenant_id, thread_id, after=after, limit=limit)
    return {"messages": [message_json(stored) for stored in found]}
