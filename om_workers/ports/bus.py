"""How processes are woken: tasks for workers, events for readers. Both may forget; the store does not."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from om_workers.engine.jobs import WorkQueue
from om_workers.ports.records import DueJob, EventRecord


class TaskQueue(Protocol):
    """Sends wake-ups to workers."""

    def send(self, jobs: Sequence[DueJob]) -> int:
        """Send the jobs' tasks; the number that went out (fewer when the broker is away, never an error)."""
        ...

    def length(self, queue: WorkQueue) -> int | None:
        """Tasks waiting on the queue, or ``None`` when the broker does not answer."""
        ...


class EventBus(Protocol):
    """Tells readers about new events of a memory."""

    def publish(self, events: Sequence[EventRecord]) -> int | None:
        """Publish events of one memory in order of n, skipping those already out.

        Returns the last n that is out now: when it is below the first n given, earlier events are missing and
        nothing was published; ``None`` when the bus is away.
        """
        ...


class WakeUps(Protocol):
    """What one reader has not been told yet."""

    async def wait(self, seconds: float) -> bool:
        """Return ``True`` once something was published since the last call, ``False`` after ``seconds``."""
        ...


class EventListener(Protocol):
    """Wakes coroutines of this process when a memory's events are published; it may miss some, so readers look too."""

    def listen(self, memory_id: str) -> AbstractContextManager[WakeUps]:
        """Wake-ups about a memory for as long as the block lasts; never waits for the bus, never fails."""
        ...

    async def close(self) -> None:
        """Give the connection back."""
        ...
