"""How a database is connected to, and how its errors and its clock are read."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import psycopg
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from om_workers.ports.clock import Clock
from om_workers.ports.errors import (
    BusyError,
    ConflictError,
    InvalidInputError,
    OmError,
    PermanentError,
    StoreFullError,
    StoreUnavailableError,
)

_WRITER = {"om_writer": True}
LOCK_TIMEOUT_SECONDS = 5.0


class WriteTurns(Protocol):
    """Who of this process's threads writes to a SQLite database; a ``threading.Lock`` is one."""

    def acquire(self, *, timeout: float) -> bool:
        """Wait for the turn at most ``timeout`` seconds; whether it was had."""
        ...

    def release(self) -> None:
        """Give the turn to whoever waits."""
        ...


_TURNS: WeakKeyDictionary[Engine, tuple[WriteTurns, float]] = WeakKeyDictionary()


class AddressError(PermanentError):
    """A database address must begin with sqlite:/// or postgresql://."""


class NotADatabaseError(PermanentError):
    """The file is not a SQLite database."""


class SchemaMissingError(PermanentError):
    """The database lacks a table or column that this program needs: run `om migrate`."""


class RefusedRowError(PermanentError):
    """The database refused a row that breaks a rule of its schema."""


# Driver's error, words in it, the port's error. SQLite has one class for nearly everything and tells more in words.
_MEANINGS: tuple[tuple[type[BaseException], str, type[OmError]], ...] = (
    (sqlite3.OperationalError, "locked", BusyError),
    (sqlite3.OperationalError, "full", StoreFullError),
    (sqlite3.OperationalError, "no such", SchemaMissingError),
    (sqlite3.OperationalError, "has no column", SchemaMissingError),
    (sqlite3.DatabaseError, "not a database", NotADatabaseError),
    (sqlite3.IntegrityError, "UNIQUE", ConflictError),
    (sqlite3.IntegrityError, "", RefusedRowError),
    (sqlite3.DataError, "", InvalidInputError),
    (psycopg.errors.UniqueViolation, "", ConflictError),
    (psycopg.errors.IntegrityError, "", RefusedRowError),
    (psycopg.errors.DataError, "", InvalidInputError),
    (psycopg.errors.LockNotAvailable, "", BusyError),
    (psycopg.errors.DeadlockDetected, "", BusyError),
    (psycopg.errors.SerializationFailure, "", BusyError),
    (psycopg.errors.DiskFull, "", StoreFullError),
    (psycopg.errors.UndefinedTable, "", SchemaMissingError),
    (psycopg.errors.UndefinedColumn, "", SchemaMissingError),
    (psycopg.errors.ReadOnlySqlTransaction, "", StoreUnavailableError),
)


def connect(
    url: str,
    *,
    pool_size: int = 20,
    lock_timeout_seconds: float = LOCK_TIMEOUT_SECONDS,
    turns: WriteTurns | None = None,
) -> Engine:
    """An engine for ``sqlite:///path`` or ``postgresql+psycopg://…`` whose transactions begin as ours must.

    On SQLite a writer begins with ``BEGIN IMMEDIATE``: one that reads first and then wants to write would fail at once
    under load. A lock, or a connection of the pool, not had in ``lock_timeout_seconds`` is given up. ``turns`` orders
    SQLite's writers of this process, by a lock unless something else is given.
    Raises ``AddressError`` for any other kind of address.
    """
    if url.startswith("sqlite"):
        engine = create_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=lock_timeout_seconds,
            connect_args={"timeout": lock_timeout_seconds, "check_same_thread": False},
        )
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        _TURNS[engine] = (turns or threading.Lock(), lock_timeout_seconds)
        return engine
    milliseconds = int(lock_timeout_seconds * 1_000)
    return create_engine(
        _with_driver(url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=lock_timeout_seconds,
        pool_pre_ping=True,
        isolation_level="READ COMMITTED",
        connect_args={"options": f"-c lock_timeout={milliseconds} -c timezone=UTC", "connect_timeout": 5},
    )


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that may write; database errors come out as the port's."""
    with translated(), _turn(engine), engine.connect().execution_options(**_WRITER) as connection, connection.begin():
        yield connection


@contextmanager
def _turn(engine: Engine) -> Iterator[None]:
    """One writer of this process at a time on SQLite, whose own waiting is a lottery that one may lose for long."""
    turns = _TURNS.get(engine)
    if turns is None:
        yield
        return
    turn, seconds = turns
    if not turn.acquire(timeout=seconds):
        raise BusyError
    try:
        yield
    finally:
        turn.release()


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one moment of the database."""
    options: dict[str, Any] = {} if engine.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with translated(), engine.connect().execution_options(**options) as connection, connection.begin():
        yield connection


class DatabaseClock:
    """Time from the database's own clock, so that processes with wrong clocks agree.

    PostgreSQL's ``now()`` is the start of the transaction, before the lock was waited for, and would be too old here.
    SQLite lives in one machine, whose clock the process reads itself.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def read(self, connection: Connection) -> datetime:
        """This instant, in UTC."""
        if connection.dialect.name != "postgresql":
            return self._clock.now()
        value: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        return value.astimezone(UTC)


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors as the port's errors, with the cause kept."""
    try:
        yield
    except PoolTimeoutError as error:
        raise StoreUnavailableError("all connections to the database are in use") from error
    except DBAPIError as error:
        raise _translate(error) from error
    except OverflowError as error:  # SQLite's driver says so of an integer beyond 64 bits, and SQLAlchemy lets it pass
        raise InvalidInputError("a number is too large for the database") from error


def _translate(error: DBAPIError) -> Exception:
    cause = error.orig
    for kind, words, meaning in _MEANINGS:
        if isinstance(cause, kind) and words in str(cause):
            return meaning()
    if isinstance(error, OperationalError) or error.connection_invalidated:
        return StoreUnavailableError(f"the database does not answer: {type(cause).__name__}")
    return error


def _set_up_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver would begin transactions by itself, deferred; ours begin in _begin_sqlite.
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writer = connection.get_execution_options().get("om_writer", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writer else "BEGIN")


def _with_driver(url: str) -> str:
    for scheme in ("postgresql://", "postgres://"):
        if url.startswith(scheme):
            return "postgresql+psycopg://" + url.removeprefix(scheme)
    if not url.startswith("postgresql+psycopg://"):
        raise AddressError
    return url
