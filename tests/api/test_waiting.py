"""Who waits for an observation: woken by what happens, also when no wake-up comes, and silent until then."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from om_workers.services.run import run_job
from om_workers.services.running import Running
from om_workers.services.threads import thread_view
from tests.api.conftest import TENANT, Api, said
from tests.services.waiting import wait_until

PATIENCE_SECONDS = 20.0
OPTIONS = {"observation": {"messageTokens": 50, "bufferTokens": False}}


class SilentWakeUps:
    """A reader that is never told anything."""

    async def wait(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return False


class SilentListener:
    """A bus that is away."""

    @contextmanager
    def listen(self, memory_id: str) -> Iterator[SilentWakeUps]:  # noqa: ARG002 - it listens to nothing
        yield SilentWakeUps()

    async def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture
def due(api: Api) -> Api:
    """A thread with an observation due."""
    api.client.post("/v1/threads", json={"id": "t", "options": OPTIONS})
    api.append("t", said("a", "word " * 100), said("b", "The dog is called Rex. " * 30))
    return api


@contextmanager
def asking(api: Api, count: int, seconds: float) -> Iterator[list[dict[str, Any]]]:
    """Callers that wait for the thread's context for as long as the block lasts; their answers, once it ended."""
    answers: list[dict[str, Any]] = []

    def ask() -> None:
        answers.append(api.client.post("/v1/threads/t/context", json={"wait": seconds}).json())

    threads = [threading.Thread(target=ask) for _ in range(count)]
    for thread in threads:
        thread.start()
    wait_until(lambda: api.app.state.waiters.waiting.total() == count, what="all to wait")
    yield answers
    for thread in threads:
        thread.join(PATIENCE_SECONDS + 10)


def observe(api: Api) -> None:
    """Do the thread's jobs, as a worker would."""
    while jobs := thread_view(api.wired.ports, TENANT, "t").jobs:
        for job in jobs.values():
            assert run_job(api.wired.ports, Running("worker"), memory_id=job.memory_id, job_id=job.id)


@pytest.mark.parametrize("silent", [False, True])
def test_all_who_wait_get_the_observation_also_when_no_wake_up_comes(due: Api, silent: bool) -> None:
    if silent:
        due.app.state.waiters.listener = SilentListener()
    with asking(due, 3, PATIENCE_SECONDS) as answers:
        observe(due)
        wait_until(lambda: len(answers) == 3, PATIENCE_SECONDS / 2, what="the answers")
    assert [answer["stale"] for answer in answers] == [False] * 3
    assert all(answer["covered_seq"] > 0 for answer in answers)
    assert due.app.state.waiters.waiting.total() == 0


def test_who_waits_writes_nothing_while_nothing_happens(due: Api) -> None:
    """I8: the memory is planned at the beginning and before giving up, however long the time between."""
    planned: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith("UPDATE memory"):
            planned.append(statement)

    event.listen(due.wired.engine, "before_cursor_execute", note)
    with asking(due, 2, 3.5) as answers:
        pass
    event.remove(due.wired.engine, "before_cursor_execute", note)
    assert [answer["stale"] for answer in answers] == [True] * 2
    assert len(planned) == 2 * 2
