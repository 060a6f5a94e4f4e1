"""The real database under a simulation: one engine for many runs, a fresh file for each, turns by the scheduler."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, event
from sqlalchemy.pool import ConnectionPoolEntry

from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.migrate import upgrade
from tests.simulation.scheduler import Actor, Scheduler, current_scheduler, switch

LOCK_TIMEOUT_SECONDS = 5.0
_BEGIN_READING = "BEGIN"
"""It begins nothing yet: SQLite's snapshot is taken by the first statement after it."""
_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - only whether it is there; the folder in it is our own


class Turns:
    """SQLite's write lock as the scheduler sees it: who waits for it does not run."""

    def __init__(self) -> None:
        self._holder: Actor | None = None
        self._waiting: list[Actor] = []
        self.waits = 0

    def acquire(self, *, timeout: float) -> bool:
        """Wait for the turn in virtual time; whether it was had."""
        scheduler = current_scheduler()
        actor = None if scheduler is None else scheduler.current()
        if scheduler is None or actor is None:
            return True
        until = scheduler.now + int(timeout * 1_000)
        self.waits += self._holder is not None
        while self._holder is not None:
            if scheduler.now >= until:
                return False
            self._waiting.append(actor)
            try:
                scheduler.wait("waits for the write lock", until)
            finally:
                self._waiting.remove(actor)
        self._holder = actor
        return True

    def release(self) -> None:
        """Let those who wait see whether they get it."""
        scheduler = current_scheduler()
        self._holder = None
        for actor in self._waiting if scheduler else ():
            actor.waiting = False

    def reset(self) -> None:
        """Nobody writes, nobody has waited."""
        self._holder, self.waits = None, 0


class Database(Protocol):
    """A database for one run after the other."""

    @property
    def engine(self) -> Engine:
        """The engine of all runs."""
        ...

    @property
    def waits(self) -> int:
        """How often somebody had to wait for a lock in this run."""
        ...

    def refresh(self) -> None:
        """Begin anew."""
        ...

    def attend(self, scheduler: Scheduler) -> None:
        """Take part in this run."""
        ...


class SqliteDatabase:
    """A SQLite file that is as the migrations made it whenever a run begins."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "om.db"
        self.turns = Turns()
        self.engine: Engine = connect(
            f"sqlite:///{self._file}", pool_size=30, lock_timeout_seconds=LOCK_TIMEOUT_SECONDS, turns=self.turns
        )
        event.listen(self.engine, "connect", _be_quick)
        upgrade(self.engine)
        self.engine.dispose()
        self._migrated = self._file.read_bytes()
        event.listen(self.engine, "before_cursor_execute", before_statement)
        event.listen(self.engine, "commit", before_commit)

    @property
    def waits(self) -> int:
        """How often somebody had to wait for the write lock in this run."""
        return self.turns.waits

    def attend(self, scheduler: Scheduler) -> None:
        """Take part in this run: the turns are the scheduler's already."""

    def refresh(self) -> None:
        """Begin anew."""
        self.engine.dispose()
        for suffix in ("-wal", "-shm"):
            Path(f"{self._file}{suffix}").unlink(missing_ok=True)
        self._file.write_bytes(self._migrated)
        self.turns.reset()


@contextmanager
def open_database() -> Iterator[SqliteDatabase]:
    """A database of this process, in memory where the system has such a place; gone with the block."""
    place = _IN_MEMORY if _IN_MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="om-simulation-", dir=place) as folder:
        database = SqliteDatabase(Path(folder))
        yield database
        database.engine.dispose()


def _be_quick(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    connection.execute("PRAGMA synchronous=OFF")


def before_statement(_connection: Connection, _cursor: object, statement: str, *_rest: object) -> None:
    """A point before every statement."""
    if statement != _BEGIN_READING:
        switch(statement)


def before_commit(connection: Connection) -> None:
    """A point before every commit that changes something."""
    if connection.get_execution_options().get("om_writer"):
        switch("COMMIT")
