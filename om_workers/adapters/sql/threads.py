"""Conversations in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from om_workers.adapters.sql.rows import THREAD, record
from om_workers.ports.errors import NotFoundError
from om_workers.ports.records import ThreadRecord


class SqlThreads:
    """Conversations, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, thread_id: str) -> ThreadRecord:
        """The thread; raises ``NotFoundError``."""
        row = self._connection.execute(select(THREAD).where(THREAD.c.id == thread_id)).mappings().first()
        if row is None:
            raise NotFoundError("there is no such thread")
        return record(ThreadRecord, row)

    def of_memory(self, memory_id: str) -> ThreadRecord:
        """The one thread of a memory of thread scope; raises ``NotFoundError``."""
        # In thread scope a memory's scope key is its thread's id, and both ids are made together.
        row = self._connection.execute(select(THREAD).where(THREAD.c.memory_id == memory_id)).mappings().first()
        if row is None:
            raise NotFoundError("there is no such thread")
        return record(ThreadRecord, row)

    def update(self, thread_id: str, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        self._connection.execute(update(THREAD).where(THREAD.c.id == thread_id).values(**values))
