"""Several threads at once on one database: they start together, wait with a limit, and fail the test when they fail."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from sqlalchemy import Engine, event

from om_workers.adapters.clock import SystemIds
from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.store import SqlStore
from om_workers.ports.records import DueJob
from tests.support.doubles import FakeDatabaseClock, FakeQueue
from tests.support.world import World

LIMIT_SECONDS = 60
T = TypeVar("T")


class LockedQueue(FakeQueue):
    """The queue that keeps what was sent, for several takers."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def take(self) -> DueJob | None:
        """The oldest task, for one taker."""
        with self._lock:
            return super().take()


@contextmanager
def crowd(url: str, *, lock_timeout_seconds: float = LIMIT_SECONDS) -> Iterator[World]:
    """The service for many threads: they wait for each other as long as it takes, and no two get one id."""
    world = World(url)
    world.engine.dispose()
    world.engine = connect(url, lock_timeout_seconds=lock_timeout_seconds)
    world.queue = LockedQueue()
    store = SqlStore(world.engine, FakeDatabaseClock(world.clock))
    world.ports = replace(world.ports, store=store, ids=SystemIds(), queue=world.queue)
    yield world
    world.engine.dispose()


def race(*racers: Callable[[], T]) -> list[T]:
    """Start all at the same moment; what each gave, in order. Raises what one raised."""
    barrier = threading.Barrier(len(racers))

    def start(racer: Callable[[], T]) -> T:
        barrier.wait(LIMIT_SECONDS)
        return racer()

    with ThreadPoolExecutor(len(racers)) as pool:
        return [future.result(LIMIT_SECONDS) for future in [pool.submit(start, racer) for racer in racers]]


@contextmanager
def meanwhile(action: Callable[[], T]) -> Iterator[Callable[[], T]]:
    """Run ``action`` in another thread beside the block; call what you are given to wait for its result."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(action)
        yield lambda: future.result(LIMIT_SECONDS)


@contextmanager
def after_statement(engine: Engine, number: int, action: Callable[[], T]) -> Iterator[list[T]]:
    """Do ``action`` once, on another connection, after statement ``number`` (from 0) of the block; what it gave."""
    results: list[T] = []
    seen, acting = 0, False

    def count(*_event: object) -> None:
        nonlocal seen, acting
        if acting:
            return
        if seen == number:
            acting = True
            results.append(action())
            acting = False
        seen += 1

    event.listen(engine, "after_cursor_execute", count)
    try:
        yield results
    finally:
        event.remove(engine, "after_cursor_execute", count)


def waiting_for_a_lock(engine: Engine) -> int:
    """How many sessions of this PostgreSQL database wait for a lock."""
    query = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with engine.connect() as connection:
        return int(connection.exec_driver_sql(query).scalar_one())


def flatten(lists: Sequence[Sequence[T]]) -> list[T]:
    """All entries in one list."""
    return [entry for entries in lists for entry in entries]
