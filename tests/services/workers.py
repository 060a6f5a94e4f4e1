"""Real worker processes around one database, one Redis and one folder that steers the scripted model."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from om_workers.bootstrap import Wired, migrate, wire
from om_workers.embedded.processes import ChildProcess
from om_workers.ports.records import SegmentRecord
from om_workers.services.ingest import Append, append_messages
from om_workers.services.listing import list_segments
from om_workers.services.state import MemoryView
from om_workers.services.threads import configure_thread, ensure_thread, thread_view
from om_workers.settings import Settings
from tests.support.world import TENANT, message, words_of

THREAD = "t"
OPTIONS = {"observation": {"messageTokens": 200, "bufferTokens": False}}
QUEUES = "om.observe,om.reflect,om.control"


class Workers:
    """Starts and kills workers; ``wired`` is the same service in this process, to append and to look."""

    def __init__(self, folder: Path, database_url: str, redis_url: str) -> None:
        self.folder = folder
        self.script = folder / "script"
        self.script.mkdir()
        self.settings = {
            "OM_DATABASE_URL": database_url,
            "OM_REDIS_URL": redis_url,
            "OM_MODEL": "scripted/any",
            "OM_SCRIPTED_DIR": str(self.script),
            "OM_SWEEP_SECONDS": "1",
        }
        names = {name.removeprefix("OM_").lower(): value for name, value in self.settings.items()}
        self.wired: Wired = wire(Settings.model_validate(names))
        migrate(self.wired)
        self.children: list[ChildProcess] = []

    def worker(self, *, slots: int = 4, queues: str = QUEUES, **settings: str) -> ChildProcess:
        """Start a worker on these queues, with this many slots."""
        arguments = ["worker", "-P", "threads", "-c", str(slots), "-Q", queues]
        return self._start(f"worker-{len(self.children)}", arguments, settings)

    def beat(self) -> ChildProcess:
        """Start the beat."""
        return self._start("beat", ["beat", "-s", str(self.folder / "beat")], {})

    def say(self, *rules: Mapping[str, Any]) -> None:
        """What the model is to do from now on."""
        (self.script / "script.json").write_text(json.dumps(rules), encoding="utf-8")

    def release(self) -> None:
        """Let hanging calls answer."""
        (self.script / "release").touch()

    def calls(self, name: str = "calls.ndjson") -> list[dict[str, Any]]:
        """What the model has seen so far."""
        file = self.script / name
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def _start(self, name: str, arguments: list[str], settings: dict[str, str]) -> ChildProcess:
        command = [sys.executable, "-m", "celery", "-A", "om_workers.tasks", *arguments, "-l", "WARNING"]
        env = os.environ | self.settings | settings
        child = ChildProcess(command, log=self.folder / f"{name}.log", env=env)
        self.children.append(child)
        return child

    def prepare_thread(self) -> None:
        """Make the thread that the other calls work on."""
        ref = ensure_thread(self.wired.ports, TENANT, THREAD, None)
        configure_thread(self.wired.ports, ref, OPTIONS)

    def append(self, first: int, count: int, *, words: int = 60) -> None:
        """Append messages one by one."""
        for number in range(first, first + count):
            step = Append(TENANT, THREAD, (message(f"m{number}", words_of(words), role="assistant"),))
            append_messages(self.wired.ports, step)

    def view(self) -> MemoryView:
        """The thread's memory."""
        return thread_view(self.wired.ports, TENANT, THREAD)

    def segments(self) -> list[SegmentRecord]:
        """Every segment of the thread."""
        return list_segments(self.wired.ports, TENANT, THREAD, reflected=True)

    def is_at_rest(self) -> bool:
        """Whether nothing is due and little is pending."""
        view = self.view()
        return view.state.pending < OPTIONS["observation"]["messageTokens"] and not view.jobs

    def check_each_message_was_covered_once(self) -> None:
        """Fail unless the observations cover the messages from the first on, each once, and the doctor is content."""
        ranges = [(s.first_seq, s.last_seq) for s in self.segments() if s.kind == "observation"]
        covered = [seq for first, last in ranges for seq in range(first, last + 1)]
        assert covered == list(range(1, len(covered) + 1))
        assert self.wired.ports.store.check(limit=5) == []

    def stop(self) -> None:
        """End every process at once."""
        for child in self.children:
            if child.alive:
                os.kill(child.pid, signal.SIGCONT)
                child.kill()


@contextmanager
def workers(folder: Path, database_url: str, redis_url: str) -> Iterator[Workers]:
    """Workers that are gone with the block."""
    started = Workers(folder, database_url, redis_url)
    try:
        yield started
    finally:
        started.stop()
        started.wired.engine.dispose()
