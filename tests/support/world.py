"""A whole memory service in one process: real services over a real database, with a clock and a model of the test's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.migrate import upgrade
from om_workers.adapters.sql.store import SqlStore
from om_workers.engine.acceptance import AcceptedMessage, accept
from om_workers.engine.jobs import WorkQueue
from om_workers.engine.messages import Part
from om_workers.ports.bundle import Ports
from om_workers.ports.model import ModelRequest, ObserverInput
from om_workers.ports.records import SegmentRecord
from om_workers.ports.violations import Violation
from om_workers.services.context import Context, render_context
from om_workers.services.ingest import Append, Appended, append_messages
from om_workers.services.listing import list_segments
from om_workers.services.run import run_job
from om_workers.services.running import Running
from om_workers.services.state import MemoryView
from om_workers.services.sweep import sweep
from om_workers.services.threads import configure_thread, ensure_thread, thread_view
from tests.support.doubles import (
    FakeBus,
    FakeClock,
    FakeDatabaseClock,
    FakeIds,
    FakeLog,
    FakeQueue,
    Script,
    StubModels,
    WordTokenizer,
)

TENANT = "acme"
MOST_JOBS = 500
_MIGRATED: list[bytes] = []


def note(request: ModelRequest) -> str:
    """A short, honest answer: one line naming the range, or the number of segments."""
    material = request.material
    if isinstance(material, ObserverInput):
        first, last = material.messages[0].seq, material.messages[-1].seq
        return f"<observations>\n* 🔴 (09:00) noted {first} to {last} [{first}-{last}]\n</observations>"
    return f"<observations>\n* 🔴 condensed {len(material.texts)}\n</observations>"


class World:
    """The service under test. ``script`` is what the model answers; set it at any time."""

    def __init__(self, url: str, *, script: Script = note) -> None:
        self.engine: Engine = connect(url, lock_timeout_seconds=2)
        _bring_up(self.engine)
        self.clock, self.queue, self.bus, self.log = FakeClock(), FakeQueue(), FakeBus(), FakeLog()
        self.models = StubModels(script)
        self.ports = Ports(
            store=SqlStore(self.engine, FakeDatabaseClock(self.clock)),
            clock=self.clock,
            ids=FakeIds(),
            tokens=WordTokenizer(),
            queue=self.queue,
            bus=self.bus,
            models=self.models,
            log=self.log,
        )
        self.worker = Running("worker-1")

    def thread(self, name: str = "t", **options: Any) -> str:
        """A thread with these options."""
        ref = ensure_thread(self.ports, TENANT, name, None)
        configure_thread(self.ports, ref, options)
        return name

    def append(
        self, thread: str, *messages: AcceptedMessage, model: str | None = None, final: bool = False
    ) -> Appended:
        """Append one step."""
        return append_messages(self.ports, Append(TENANT, thread, messages, actor_model=model, final=final))

    def say(self, thread: str, number: int, words: int, role: str = "user") -> Appended:
        """Append one message that counts ``words`` tokens in all."""
        return self.append(thread, message(f"m{number}", words_of(words), role=role))

    def run_one(self, worker: Running | None = None) -> bool | None:
        """Run the oldest waiting task; ``None`` when none waits."""
        job = self.queue.take()
        if job is None:
            return None
        apart = job.queue is WorkQueue.QUARANTINE
        return run_job(self.ports, worker or self.worker, memory_id=job.memory_id, job_id=job.id, apart=apart)

    def drain(self) -> int:
        """Run tasks and sweep until nothing is left; how many tasks ran."""
        ran = 0
        for _ in range(MOST_JOBS):
            if self.run_one() is not None:
                ran += 1
            elif sweep(self.ports).sent == 0 and not self.queue.waiting:
                return ran
        raise AssertionError("the work does not end")

    def context(self, thread: str, *, max_tokens: int | None = None) -> Context:
        """The context of this moment."""
        return render_context(self.ports, TENANT, thread, max_tokens=max_tokens)

    def view(self, thread: str) -> MemoryView:
        """The memory's view."""
        return thread_view(self.ports, TENANT, thread)

    def segments(self, thread: str, *, reflected: bool = False) -> list[SegmentRecord]:
        """The thread's segments."""
        return list_segments(self.ports, TENANT, thread, reflected=reflected)

    def seen_ranges(self) -> list[tuple[int, int]]:
        """The ranges that the model was shown, in order of its calls."""
        materials = [request.material for request in self.models.requests]
        return [(m.messages[0].seq, m.messages[-1].seq) for m in materials if isinstance(m, ObserverInput)]

    def violations(self) -> list[Violation]:
        """What the doctor finds."""
        return self.ports.store.check(limit=5)

    @contextmanager
    def counting(self) -> Iterator[list[str]]:
        """The statements that run in the block."""
        statements: list[str] = []

        def record(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
            statements.append(statement)

        event.listen(self.engine, "before_cursor_execute", record)
        try:
            yield statements
        finally:
            event.remove(self.engine, "before_cursor_execute", record)


def _bring_up(engine: Engine) -> None:
    """The schema of today; on SQLite a copy of what the migrations made the first time, which is quicker."""
    file = Path(engine.url.database or "")
    if engine.dialect.name != "sqlite" or file.exists():
        upgrade(engine)
    elif _MIGRATED:
        file.write_bytes(_MIGRATED[0])
    else:
        upgrade(engine)
        engine.dispose()
        _MIGRATED.append(file.read_bytes())


def words_of(count: int) -> str:
    """A text whose message counts ``count`` tokens, its overhead of 4 included."""
    return " ".join(f"w{number}" for number in range(count - 4))


def message(
    message_id: str, text: str = "hello", *, role: str = "user", parts: list[Mapping[str, Any]] | None = None,
    at: datetime | None = None,
) -> AcceptedMessage:  # fmt: skip
    """A message of one text, or of these parts."""
    return accept("messages.0", message_id=message_id, role=role, parts=parts or [text_part(text)], at=at)


def text_part(text: str) -> Part:
    """A text."""
    return {"type": "text", "text": text}


def call_part(call_id: str, name: str = "search", **args: Any) -> Part:
    """A tool call."""
    return {"type": "tool-call", "toolCallId": call_id, "toolName": name, "args": args}


def result_part(call_id: str, result: Any = "ok", name: str = "search") -> Part:
    """A tool result."""
    return {"type": "tool-result", "toolCallId": call_id, "toolName": name, "result": result}
