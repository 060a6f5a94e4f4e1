"""The store: opens transactions, makes threads, and answers for the database's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, text
from sqlalchemy.dialects import postgresql, sqlite

from om_workers.adapters.sql.checks import CHECK_NAMES, find_violations
from om_workers.adapters.sql.connection import DatabaseClock, reading, writing
from om_workers.adapters.sql.dispatching import SqlDispatching, SqlHeartbeats
from om_workers.adapters.sql.keys import SqlKeys, ensure_tenant
from om_workers.adapters.sql.ledger import SqlLedgers
from om_workers.adapters.sql.migrate import head_revision
from om_workers.adapters.sql.purging import SqlPurging
from om_workers.adapters.sql.rows import CONFIG, LEASE, LINEAGE, MEMORY, POSITION, THREAD
from om_workers.adapters.sql.threads import find_thread, make_anew
from om_workers.adapters.sql.transactions import SqlMemoryTx, SqlSnapshot
from om_workers.engine.jobs import Lane
from om_workers.ports.errors import PermanentError, StoreUnavailableError
from om_workers.ports.records import ThreadRef
from om_workers.ports.violations import Violation


class SqlStore:
    """The database behind the ``Store`` port, on SQLite or PostgreSQL."""

    check_names = CHECK_NAMES

    def __init__(self, engine: Engine, clock: DatabaseClock) -> None:
        self._engine = engine
        self._clock = clock
        self.keys = SqlKeys(engine, self._clock)
        self.dispatching = SqlDispatching(engine, self._clock)
        self.heartbeats = SqlHeartbeats(engine, self._clock)
        self.ledgers = SqlLedgers(engine, self._clock)
        self.purging = SqlPurging(engine, self._clock)

    @contextmanager
    def write(self, memory_id: str) -> Iterator[SqlMemoryTx]:
        """A transaction that holds the memory's lock; commits at the end, rolls back on any error."""
        with writing(self._engine) as connection:
            transaction = SqlMemoryTx(connection, self._clock, memory_id)
            yield transaction
            transaction.finish()

    @contextmanager
    def read(self) -> Iterator[SqlSnapshot]:
        """A snapshot."""
        with reading(self._engine) as connection:
            yield SqlSnapshot(connection, self._clock)

    def create_thread(
        self, tenant_id: str, external_id: str, *, resource_id: str | None, ids: Sequence[str], anew: bool = False
    ) -> tuple[ThreadRef, bool]:
        """The caller's thread, made with its memory and lineage when there is none; whether it is new."""
        with writing(self._engine) as connection:
            now = self._clock.read(connection)
            ensure_tenant(connection, tenant_id, now)
            thread_id, memory_id, _ = ids
            _insert_memory(connection, tenant_id, ids, now)
            dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
            # Two first turns of one thread race here; the unique key lets one stand, the other finds it.
            made = connection.execute(
                dialect.insert(THREAD)
                .values(
                    id=thread_id, tenant_id=tenant_id, memory_id=memory_id, external_id=external_id,
                    resource_id=resource_id, meta={}, next_seq=1, message_tokens=0, step_count=0,
                    created_at=now, updated_at=now,
                )
                .on_conflict_do_nothing()
                .returning(THREAD.c.id)
            )  # fmt: skip
            if made.first() is not None:
                _insert_lineage(connection, ids, now)
                return ThreadRef(tenant_id, thread_id, memory_id), True
            revived = make_anew(connection, tenant_id, external_id, resource_id, ids, now) if anew else None
            if revived is not None:
                _insert_lineage(connection, (revived.thread_id, *ids[1:]), now)
                return revived, True
            connection.execute(MEMORY.delete().where(MEMORY.c.id == memory_id))
            found = find_thread(connection, tenant_id, external_id)
        if found is None:
            raise StoreUnavailableError("the thread is being made by another request; try again")
        return found, False

    def set_installation_options(self, options: Mapping[str, Any]) -> bool:
        """Store a new version of the installation's options unless the newest says the same; whether it did."""
        with writing(self._engine) as connection:
            newest = select(CONFIG.c.options).where(CONFIG.c.memory_id.is_(None)).order_by(CONFIG.c.id.desc()).limit(1)
            if connection.execute(newest).scalar_one_or_none() == dict(options):
                return False
            connection.execute(insert(CONFIG).values(options=dict(options), created_at=self._clock.read(connection)))
            return True

    def check(self, *, limit: int) -> list[Violation]:
        """Broken invariants in the stored rows, at most ``limit`` of each kind."""
        with reading(self._engine) as connection:
            return find_violations(connection, limit=limit)

    def ping(self) -> None:
        """Return when the database answers and its schema is the program's; raises ``OmError`` otherwise."""
        with reading(self._engine) as connection:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
        if found != head_revision():
            raise PermanentError(
                f"the database schema is {found!r}, this program needs {head_revision()!r}: run `om migrate`"
            )


def _insert_memory(connection: Connection, tenant_id: str, ids: Sequence[str], now: datetime) -> None:
    thread_id, memory_id, lineage_id = ids
    connection.execute(
        insert(MEMORY).values(
            id=memory_id, tenant_id=tenant_id, scope="thread", scope_key=thread_id, head_lineage_id=lineage_id,
            event_count=0, created_at=now,
        )
    )  # fmt: skip


def _insert_lineage(connection: Connection, ids: Sequence[str], now: datetime) -> None:
    thread_id, memory_id, lineage_id = ids
    connection.execute(
        insert(LINEAGE).values(
            id=lineage_id, memory_id=memory_id, epoch=0, generation=0, frozen=False, next_ordinal=1,
            active_tokens=0, whole_tokens=0,
            buffered_tokens=0, reflect_above=0, created_at=now,
        )
    )  # fmt: skip
    counters = {"active_seq": 0, "buffered_seq": 0, "pending_tokens": 0, "buffered_tokens": 0}
    connection.execute(insert(POSITION).values(lineage_id=lineage_id, thread_id=thread_id, **counters))
    lanes = [
        {"lineage_id": lineage_id, "lane": lane, "memory_id": memory_id, "fence": 0, "sequence": 0} for lane in Lane
    ]
    connection.execute(insert(LEASE), lanes)
