"""Conversations in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from om_workers.adapters.sql.rows import MEMORY, THREAD, record
from om_workers.ports.errors import BusyError, GoneError, NotFoundError
from om_workers.ports.records import ThreadRecord, ThreadRef

# Statements of every turn are made once: making one costs more than running it.
_BY_ID = select(THREAD).where(THREAD.c.id == bindparam("id"))
_BY_MEMORY = select(THREAD).where(THREAD.c.memory_id == bindparam("memory_id"))
_BY_NAME = select(THREAD.c.id, THREAD.c.memory_id, THREAD.c.deleted_at).where(
    THREAD.c.tenant_id == bindparam("tenant_id"), THREAD.c.external_id == bindparam("external_id")
)


class SqlThreads:
    """Conversations, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, thread_id: str) -> ThreadRecord:
        """The thread; raises ``NotFoundError``."""
        row = self._connection.execute(_BY_ID, {"id": thread_id}).mappings().first()
        if row is None:
            raise NotFoundError("there is no such thread")
        return record(ThreadRecord, row)

    def of_memory(self, memory_id: str) -> ThreadRecord:
        """The one thread of a memory of thread scope; raises ``NotFoundError``."""
        # In thread scope a memory's scope key is its thread's id, and both ids are made together.
        row = self._connection.execute(_BY_MEMORY, {"memory_id": memory_id}).mappings().first()
        if row is None:
            raise NotFoundError("there is no such thread")
        return record(ThreadRecord, row)

    def update(self, thread_id: str, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        self._connection.execute(update(THREAD).where(THREAD.c.id == thread_id).values(**values))


def find_thread(connection: Connection, tenant_id: str, external_id: str) -> ThreadRef | None:
    """Where the caller's thread is stored, if it is. Raises ``GoneError`` for a deleted one."""
    found = connection.execute(_BY_NAME, {"tenant_id": tenant_id, "external_id": external_id}).first()
    if found is None:
        return None
    if found.deleted_at is not None:
        raise GoneError("this thread was deleted", thread=external_id)
    return ThreadRef(tenant_id, found.id, found.memory_id)


def make_anew(
    connection: Connection, tenant_id: str, external_id: str, resource_id: str | None, ids: Sequence[str], now: datetime
) -> ThreadRef | None:
    """Give a deleted thread another memory, which is stored already; ``None`` when the thread is not deleted.

    Raises ``BusyError`` while the former memory is being purged.
    """
    where = (THREAD.c.tenant_id == tenant_id, THREAD.c.external_id == external_id, THREAD.c.deleted_at.is_not(None))
    found = connection.execute(
        select(THREAD.c.id, MEMORY.c.purged_at)
        .select_from(THREAD.join(MEMORY, MEMORY.c.id == THREAD.c.memory_id))
        .where(*where)
        .with_for_update()
    ).first()
    if found is None:
        return None
    if found.purged_at is None:
        raise BusyError("the deleted thread of this id is still being purged; try again shortly")
    blank = {
        "memory_id": ids[1], "resource_id": resource_id, "next_seq": 1, "message_tokens": 0, "unfinished_from": None,
        "newest_user_seq": None, "step_count": 0, "created_at": now, "updated_at": now, "deleted_at": None,
    }  # fmt: skip
    connection.execute(update(THREAD).where(THREAD.c.id == found.id).values(**blank))
    connection.execute(update(MEMORY).where(MEMORY.c.id == ids[1]).values(scope_key=found.id))
    return ThreadRef(tenant_id, found.id, ids[1])
