"""Status events in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select

from om_workers.adapters.sql.rows import EVENT, record
from om_workers.ports.records import EventRecord


class SqlEvents:
    """The events of one locked memory: numbers are given out here and written with the transaction."""

    def __init__(self, connection: Connection, memory_id: str, count: int, now: datetime) -> None:
        self._connection = connection
        self._memory_id = memory_id
        self._now = now
        self._count = count
        self._added: list[EventRecord] = []

    def add(self, kind: str, thread: str | None, data: Mapping[str, Any]) -> EventRecord:
        """Append an event under the memory's next n."""
        self._count += 1
        event = EventRecord(self._memory_id, self._count, thread, kind, data, self._now)
        self._added.append(event)
        return event

    def added(self) -> tuple[EventRecord, ...]:
        """The events this transaction has appended."""
        return tuple(self._added)

    def flush(self) -> int:
        """Write what was appended; the memory's event count from now on."""
        if self._added:
            rows = [
                {
                    "memory_id": e.memory_id,
                    "n": e.n,
                    "thread_id": e.thread,
                    "type": e.type,
                    "data": dict(e.data),
                    "at": e.at,
                }
                for e in self._added
            ]
            self._connection.execute(insert(EVENT), rows)
        return self._count


def read_events(connection: Connection, memory_id: str, *, after: int, limit: int) -> list[EventRecord]:
    """The memory's events with n > after, in order."""
    found = connection.execute(
        select(EVENT, EVENT.c.thread_id.label("thread"))
        .where(EVENT.c.memory_id == memory_id, EVENT.c.n > after)
        .order_by(EVENT.c.n)
        .limit(limit)
    )
    return [record(EventRecord, row) for row in found.mappings()]
