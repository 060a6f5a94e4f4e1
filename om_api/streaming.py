"""How events are streamed: read from the store by number, woken by the bus or a clock."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from fastapi.concurrency import run_in_threadpool
from sse_starlette import ServerSentEvent

from om_workers.ports.bundle import Ports
from om_workers.ports.bus import EventListener
from om_workers.ports.records import EventRecord
from om_workers.services.listing import count_events, list_events

_POLL_SECONDS = 2.0
_PAGE = 200
_OLDEST = 10_000


async def stream_events(
    ports: Ports, listener: EventListener, memory_id: str, after: int
) -> AsyncIterator[ServerSentEvent]:
    """Events with n > ``after``, for ever; first one ``reset`` when ``after`` is unknown or too long ago."""
    count = await run_in_threadpool(count_events, ports, memory_id)
    if after > count or (after > 0 and after < count - _OLDEST):
        after = max(0, count - _OLDEST) if after <= count else 0
        yield ServerSentEvent(event="reset", data=json.dumps({"after": after}))
    with listener.listen(memory_id) as wake_ups:
        while True:
            events = await run_in_threadpool(list_events, ports, memory_id, after=after, limit=_PAGE)
            for event in events:
                yield _encode(event)
                after = event.n
            if len(events) < _PAGE:
                await wake_ups.wait(_POLL_SECONDS)


def _encode(event: EventRecord) -> ServerSentEvent:
    body = {"n": event.n, "memory": event.memory_id, "thread": event.thread, "type": event.type}
    body |= {"at": event.at.isoformat(), "data": dict(event.data)}
    return ServerSentEvent(id=str(event.n), event=event.type, data=json.dumps(body, ensure_ascii=False))
