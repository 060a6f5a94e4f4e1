"""The same runs on PostgreSQL, a connection for each actor: waiting for a row's lock is a state of the scheduler.

Nobody here knows beforehand who will have to wait. So while a statement does not come back, a side connection asks the
server whether it is blocked; if so, the others run. Whoever chooses the next actor first waits until those that were
blocked have come back or are blocked again, so that a run depends on its choices and not on how quick the server is.
One thing remains the server's: whom of several that wait for the same row it lets go first.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import psycopg
from sqlalchemy import Connection, Engine, ExceptionContext, event, text

from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.migrate import upgrade
from tests.services.embedded_postgres import running_postgres
from tests.services.postgres import PostgresServer
from tests.services.waiting import wait_until
from tests.simulation.database import before_commit, before_statement
from tests.simulation.scheduler import Actor, Scheduler, current_scheduler

_PATIENCE = 0.004
"""Seconds after which a statement may be blocked rather than slow."""
_LIMIT = 30
_NEVER = 600.0
"""Seconds of real time after which a lock is given up: whoever holds it may be frozen, in virtual time."""


class Watch:
    """Knows which statement is under way, and takes the baton from an actor whose statement is blocked."""

    def __init__(self, url: str) -> None:
        self._side = psycopg.connect(url.replace("+psycopg", ""), autocommit=True)
        self._lock = threading.RLock()
        self._under_way: tuple[Scheduler, Actor, int] | None = None
        self._begun, self._closed = threading.Event(), False
        self._pids: dict[str, int] = {}
        self.waits = 0
        threading.Thread(target=self._watch, name="watch", daemon=True).start()

    def enter(self, connection: Connection) -> None:
        """The running actor begins a statement."""
        scheduler = current_scheduler()
        actor = None if scheduler is None else scheduler.current()
        if scheduler is None or actor is None:
            return
        # Whom its last commit has set free comes first, or the two would race for the next lock.
        scheduler.settle()
        driver = cast("psycopg.Connection[Any]", connection.connection.dbapi_connection)
        pid = driver.info.backend_pid
        with self._lock:
            self._pids[actor.name] = pid
            self._under_way = (scheduler, actor, pid)
            self._begun.set()

    def leave(self) -> None:
        """The statement of this thread's actor has come back; one that was blocked waits for its turn."""
        scheduler = current_scheduler()
        actor = None if scheduler is None else scheduler.current()
        if actor is None:
            return
        with self._lock:
            if not actor.blocked:
                self._under_way = None
                return
            actor.blocked = False
        actor.baton.acquire()

    def settle(self, scheduler: Scheduler) -> None:
        """Return when every blocked actor has come back or is still blocked; if nobody else can go on, when one has."""
        for actor in scheduler.actors:
            if actor.blocked:
                wait_until(partial(self._is_settled, actor), _LIMIT, what=f"{actor.name} to be settled")

    def close(self) -> None:
        """Stop watching."""
        self._closed = True
        self._begun.set()

    def _is_settled(self, actor: Actor) -> bool:
        return not actor.blocked or self._is_blocked(self._pids[actor.name])

    def _is_blocked(self, pid: int) -> bool:
        with self._lock:
            row = self._side.execute("SELECT cardinality(pg_blocking_pids(%s))", (pid,)).fetchone()
        return row is not None and row[0] > 0

    def _watch(self) -> None:
        pause = threading.Event()
        while self._begun.wait() and not self._closed:
            seen = self._under_way
            pause.wait(_PATIENCE)
            with self._lock:
                if seen is None or self._under_way is not seen:
                    if self._under_way is None:
                        self._begun.clear()
                    continue
                scheduler, actor, pid = seen
                if not self._is_blocked(pid):
                    continue
                actor.blocked, self._under_way = True, None
                self._begun.clear()
                self.waits += 1
            scheduler.overtake()


class PostgresDatabase:
    """A migrated database whose tables are emptied whenever a run begins."""

    def __init__(self, url: str) -> None:
        self.engine: Engine = connect(url, pool_size=40, lock_timeout_seconds=_NEVER)
        upgrade(self.engine)
        self._watch = Watch(url)
        event.listen(self.engine, "before_cursor_execute", self._before)
        event.listen(self.engine, "after_cursor_execute", self._after)
        event.listen(self.engine, "handle_error", self._failed)
        event.listen(self.engine, "commit", before_commit)

    @property
    def waits(self) -> int:
        """How often an actor was blocked in this run."""
        return self._watch.waits

    def refresh(self) -> None:
        """Begin anew."""
        self._watch.waits = 0
        with self.engine.begin() as connection:
            tables = "SELECT string_agg(tablename, ', ') FROM pg_tables WHERE schemaname = 'public' AND tablename <> "
            names = connection.execute(text(f"{tables} 'alembic_version'")).scalar_one()
            connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))

    def attend(self, scheduler: Scheduler) -> None:
        """Let the scheduler know who is blocked."""
        scheduler.settle = lambda: self._watch.settle(scheduler)

    def close(self) -> None:
        """Give all connections back."""
        self._watch.close()
        self.engine.dispose()

    def _before(self, connection: Connection, _cursor: object, statement: str, *_rest: object) -> None:
        before_statement(connection, _cursor, statement)
        self._watch.enter(connection)

    def _after(self, *_event: object) -> None:
        self._watch.leave()

    def _failed(self, _context: ExceptionContext) -> None:
        self._watch.leave()


@contextmanager
def open_postgres() -> Iterator[PostgresDatabase]:
    """A database on a server of this process, gone with the block."""
    with running_postgres() as address:
        database = PostgresDatabase(PostgresServer(address).create_database())
        try:
            yield database
        finally:
            database.close()
