"""Doubles of the ports that stand for time, chance, wake-ups and the model; the database is always a real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection

from om_workers.adapters.clock import SystemClock
from om_workers.adapters.sql.connection import DatabaseClock
from om_workers.engine.jobs import WorkQueue
from om_workers.ports.model import ModelReply, ModelRequest
from om_workers.ports.records import DueJob, EventRecord

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> datetime:
        """The time that the test has set."""
        return self.time

    def wait(self, seconds: float) -> None:
        """Move the clock instead of waiting."""
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Move the clock."""
        self.time += timedelta(seconds=seconds)


class FakeDatabaseClock(DatabaseClock):
    """The fake clock, for a database whose own clock would not follow the test."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(SystemClock())
        self._fake = clock

    def read(self, connection: Connection) -> datetime:  # noqa: ARG002
        """The time that the test has set."""
        return self._fake.now()


class FakeIds:
    """Ids that count up, and no chance."""

    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        """The next id."""
        self._count += 1
        return f"{self._count:032x}"

    def secret(self) -> str:
        """The next secret."""
        return f"om_secret_{self.new()}"

    def jitter(self) -> float:
        """No spread."""
        return 0.0


class WordTokenizer:
    """A token is a word, so that sizes in tests can be seen."""

    name = "words"

    def count(self, text: str) -> int:
        """The words of ``text``."""
        return len(text.split())


@dataclass
class FakeQueue:
    """A queue that keeps what was sent until the test takes it; ``away`` loses every send."""

    waiting: list[DueJob] = field(default_factory=list)
    away: bool = False

    def send(self, jobs: Sequence[DueJob]) -> int:
        """Keep the jobs, unless the broker is away."""
        if self.away:
            return 0
        self.waiting.extend(jobs)
        return len(jobs)

    def length(self, queue: WorkQueue) -> int | None:
        """Tasks waiting, ``None`` when the broker is away."""
        return None if self.away else sum(job.queue is queue for job in self.waiting)

    def take(self) -> DueJob | None:
        """The oldest task."""
        return self.waiting.pop(0) if self.waiting else None


@dataclass
class FakeBus:
    """A bus that keeps what was published."""

    events: list[EventRecord] = field(default_factory=list)

    def publish(self, events: Sequence[EventRecord]) -> int | None:
        """Keep the events."""
        self.events.extend(events)
        return events[-1].n


class FakeLog:
    """A log that keeps its entries."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, dict[str, object]]] = []

    def info(self, action: str, **fields: object) -> None:
        """Keep the entry."""
        self.entries.append((action, fields))

    def warning(self, action: str, **fields: object) -> None:
        """Keep the entry."""
        self.entries.append((action, fields))


Answer = str | ModelReply | Exception
Script = Callable[[ModelRequest], Answer]


@dataclass
class StubModels:
    """One model for every id: what it answers is the test's function; it keeps every request."""

    script: Script
    requests: list[ModelRequest] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)

    def get(self, model: str) -> StubModels:  # noqa: ARG002
        """The stub."""
        return self

    def generate(self, request: ModelRequest) -> ModelReply:
        """What the script answers."""
        self.requests.append(request)
        answer = self.script(request)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, ModelReply) else ModelReply(answer)

    def cancel(self, call_id: str) -> None:
        """Remember what was cancelled."""
        self.cancelled.append(call_id)
