"""One transaction: a writing one that holds a memory's lock, or a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from om_workers.adapters.sql.connection import DatabaseClock
from om_workers.adapters.sql.events import SqlEvents, read_events
from om_workers.adapters.sql.jobs import SqlJobs
from om_workers.adapters.sql.ledger import SqlLedger
from om_workers.adapters.sql.messages import SqlMessages
from om_workers.adapters.sql.rows import CONFIG, JOB, MEMORY, THREAD, job_record, record
from om_workers.adapters.sql.segments import SqlSegments
from om_workers.adapters.sql.threads import SqlThreads, find_thread
from om_workers.engine.jobs import JobState
from om_workers.ports.errors import GoneError, NotFoundError
from om_workers.ports.records import EventRecord, JobRecord, MemoryRecord, OptionLayers, ThreadRecord, ThreadRef

_MEMORY_FIELDS = {field.name for field in fields(MemoryRecord)}

# Statements of every turn are made once: making one costs more than running it.
_BY_ID = select(MEMORY).where(MEMORY.c.id == bindparam("id"))
_LOCKED = _BY_ID.with_for_update()
_OPTIONS = select(CONFIG).where(
    CONFIG.c.id.in_(
        select(func.max(CONFIG.c.id))
        .where(or_(CONFIG.c.memory_id.is_(None), CONFIG.c.memory_id == bindparam("memory_id")))
        .group_by(CONFIG.c.memory_id)
    )
)


class SqlMemoryTx:
    """A writing transaction. The memory's row is locked before time or anything else is read."""

    def __init__(self, connection: Connection, clock: DatabaseClock, memory_id: str) -> None:
        self._connection = connection
        row = connection.execute(_LOCKED, {"id": memory_id}).mappings().first()
        if row is None:
            raise NotFoundError("there is no such memory")
        if row["deleted_at"] is not None:
            raise GoneError("this thread was deleted")
        self.memory = record(MemoryRecord, row)
        self.now: datetime = clock.read(connection)
        self.threads = SqlThreads(connection)
        self.messages = SqlMessages(connection)
        self.segments = SqlSegments(connection)
        self.jobs = SqlJobs(connection)
        self.ledger = SqlLedger(connection)
        self.events = SqlEvents(connection, memory_id, self.memory.event_count, self.now)
        self._changes: dict[str, Any] = {}

    def options(self) -> OptionLayers:
        """The memory options in force."""
        return read_options(self._connection, self.memory.id)

    def set_options(self, options: Mapping[str, Any]) -> int:
        """Store a new version of this memory's own options; its id."""
        values = {"memory_id": self.memory.id, "options": dict(options), "created_at": self.now}
        key = self._connection.execute(insert(CONFIG).values(**values)).inserted_primary_key
        return int(key[0]) if key else 0

    def update_memory(self, values: Mapping[str, Any]) -> None:
        """Set these columns of the memory; written once, at the end of the transaction."""
        self._changes.update(values)
        known = {name: value for name, value in values.items() if name in _MEMORY_FIELDS}
        self.memory = replace(self.memory, **known)

    def finish(self) -> None:
        """Write what was gathered: events, and the memory's row."""
        count = self.events.flush()
        if count != self.memory.event_count:
            self._changes["event_count"] = count
        if self._changes:
            self._connection.execute(update(MEMORY).where(MEMORY.c.id == self.memory.id).values(**self._changes))


class SqlSnapshot:
    """A reading transaction."""

    def __init__(self, connection: Connection, clock: DatabaseClock) -> None:
        self._connection = connection
        self.now: datetime = clock.read(connection)
        self.threads = SqlThreads(connection)
        self.messages = SqlMessages(connection)
        self.segments = SqlSegments(connection)
        self.jobs = SqlJobs(connection)

    def find(self, tenant_id: str, external_id: str) -> ThreadRef | None:
        """Where the caller's thread is stored, if it is. Raises ``GoneError`` for a deleted one."""
        return find_thread(self._connection, tenant_id, external_id)

    def list_jobs(
        self, *, tenant_id: str | None, memory_id: str | None, state: JobState | None, limit: int
    ) -> list[JobRecord]:
        """Jobs, the newest first; of one tenant, of one memory, in one state, where these are given."""
        wanted = ((JOB.c.tenant_id, tenant_id), (JOB.c.memory_id, memory_id), (JOB.c.state, state))
        query = select(JOB).where(*(column == value for column, value in wanted if value is not None))
        found = self._connection.execute(query.order_by(JOB.c.created_at.desc(), JOB.c.id).limit(limit))
        return [job_record(row) for row in found.mappings()]

    def list_threads(self, tenant_id: str, *, resource_id: str | None, after: str, limit: int) -> list[ThreadRecord]:
        """The tenant's threads in order of their external id, behind ``after``."""
        query = select(THREAD).where(
            THREAD.c.tenant_id == tenant_id, THREAD.c.external_id > after, THREAD.c.deleted_at.is_(None)
        )
        if resource_id is not None:
            query = query.where(THREAD.c.resource_id == resource_id)
        found = self._connection.execute(query.order_by(THREAD.c.external_id).limit(limit))
        return [record(ThreadRecord, row) for row in found.mappings()]

    def memory(self, memory_id: str) -> MemoryRecord:
        """The memory; raises ``NotFoundError``."""
        row = self._connection.execute(_BY_ID, {"id": memory_id}).mappings().first()
        if row is None:
            raise NotFoundError("there is no such memory")
        return record(MemoryRecord, row)

    def options(self, memory_id: str) -> OptionLayers:
        """The memory options in force."""
        return read_options(self._connection, memory_id)

    def events(self, memory_id: str, *, after: int, limit: int) -> list[EventRecord]:
        """The memory's events with n > after, in order."""
        return read_events(self._connection, memory_id, after=after, limit=limit)


def read_options(connection: Connection, memory_id: str) -> OptionLayers:
    """The newest version of the installation's options and of the memory's own."""
    found = connection.execute(_OPTIONS, {"memory_id": memory_id}).all()
    installation = next((row for row in found if row.memory_id is None), None)
    own = next((row for row in found if row.memory_id is not None), None)
    return OptionLayers(
        installation={} if installation is None else installation.options,
        installation_version=None if installation is None else installation.id,
        memory={} if own is None else own.options,
        memory_version=None if own is None else own.id,
    )
