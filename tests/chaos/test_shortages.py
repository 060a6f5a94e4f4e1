"""What becomes of turns and of work while the broker has no memory, the disk no space, or the database is away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from sqlalchemy import text

from om_workers.embedded.redis_server import RedisServer
from om_workers.ports.errors import StoreUnavailableError
from tests.chaos.model_server import ModelServer
from tests.chaos.stack import StormStack, storm_stack
from tests.services.embedded_postgres import EmbeddedPostgres, PostgresUnavailableError, restartable_postgres
from tests.services.missing import unavailable
from tests.services.postgres import PostgresServer
from tests.services.waiting import wait_until
from tests.services.workers import workers
from tests.support.world import words_of

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]

RECOVERY_SECONDS = 15


@pytest.fixture
def postgres() -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL server of this test's own, to be stopped and started."""
    try:
        with restartable_postgres() as server:
            yield server
    except PostgresUnavailableError as error:
        unavailable("PostgreSQL", error)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[StormStack]:
    """API, workers and beats over a SQLite file whose disk can be full."""
    model = ModelServer(delays=(0.0, 0.1))
    with storm_stack(tmp_path, f"sqlite:///{tmp_path / 'om.db'}", model, buffer="false") as started:
        yield started
    model.close()


def test_turns_are_taken_while_redis_is_out_of_memory_and_work_goes_on_when_it_has_some(
    tmp_path: Path, postgres_url: str
) -> None:
    server = RedisServer(tmp_path / "redis")
    server.start()
    with workers(tmp_path, postgres_url, server.url) as pipeline, redis.Redis.from_url(server.url) as client:
        pipeline.prepare_thread()
        pipeline.worker()
        pipeline.beat()
        pipeline.append(1, 5)
        wait_until(pipeline.is_at_rest, 60, what="the worker to work")
        calls = len(pipeline.calls())
        client.config_set("maxmemory", "1mb")
        pipeline.append(6, 5)
        assert pipeline.view().thread.next_seq == 11
        assert len(pipeline.calls()) == calls
        client.config_set("maxmemory", "0")
        wait_until(lambda: len(pipeline.calls()) > calls, RECOVERY_SECONDS, what="the job to run")
        wait_until(pipeline.is_at_rest, 30, what="the thread to be at rest")
        pipeline.check_each_message_was_covered_once()
    server.stop()


def test_a_worker_that_starts_while_redis_is_out_of_memory_works_when_it_has_some(
    tmp_path: Path, postgres_url: str
) -> None:
    """Celery ends a worker whose broker refuses a command, unless it is told not to."""
    server = RedisServer(tmp_path / "redis")
    server.start()
    with workers(tmp_path, postgres_url, server.url) as pipeline, redis.Redis.from_url(server.url) as client:
        pipeline.prepare_thread()
        client.config_set("maxmemory", "1mb")
        worker = pipeline.worker()
        pipeline.beat()
        pipeline.append(1, 5)
        wait_until(lambda: "OutOfMemoryError" in worker.tail(200), 60, what="the worker to be refused")
        client.config_set("maxmemory", "0")
        wait_until(pipeline.calls, RECOVERY_SECONDS, what="the job to run")
        wait_until(pipeline.is_at_rest, 30, what="the thread to be at rest")
        pipeline.check_each_message_was_covered_once()
    server.stop()


def test_a_result_outlives_a_restart_of_postgresql_and_is_not_paid_for_again(
    tmp_path: Path, postgres: EmbeddedPostgres, redis_url: str
) -> None:
    with workers(tmp_path, PostgresServer(postgres.url).create_database(), redis_url) as pipeline:
        pipeline.prepare_thread()
        pipeline.say({"kind": "observe", "do": "hang", "times": 1})
        pipeline.worker()
        pipeline.beat()
        pipeline.append(1, 5)
        wait_until(lambda: len(pipeline.calls()) == 1, 60, what="the first call")
        postgres.stop()
        with pytest.raises(StoreUnavailableError):
            pipeline.append(6, 1)
        postgres.start()
        pipeline.release()
        wait_until(pipeline.segments, RECOVERY_SECONDS, what="the result")
        assert [segment.attempt for segment in pipeline.segments()] == [1]
        pipeline.append(6, 5)
        wait_until(pipeline.is_at_rest, 60, what="the thread to be at rest")
        pipeline.check_each_message_was_covered_once()


def test_a_full_disk_refuses_turns_in_clear_words_and_loses_none_that_was_taken(stack: StormStack) -> None:
    taken = [number for number in range(20) if append(stack, number).status_code == httpx.codes.ACCEPTED]
    stack.full.touch()
    refused = next(answer for number in range(20, 500) if (answer := append(stack, number)).status_code != 202)
    before = stored(stack)
    assert refused.status_code == httpx.codes.SERVICE_UNAVAILABLE
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["detail"] == "The database has no room for this write."
    assert [f"m{number}" for number in taken] == before[: len(taken)]
    stack.full.unlink()
    assert append(stack, 500).status_code == httpx.codes.ACCEPTED
    assert stored(stack) == [*before, "m500"]
    wait_until(lambda: is_observed(stack), RECOVERY_SECONDS, what="work to go on")
    assert stack.wired.ports.store.check(limit=5) == []


def append(stack: StormStack, number: int) -> httpx.Response:
    """One turn of a hundred words, sent to the first replica."""
    body = {"messages": [{"id": f"m{number}", "role": "assistant", "content": words_of(100)}]}
    return httpx.post(f"{stack.replicas[0]}/v1/threads/t/messages", json=body, timeout=30)


def get(stack: StormStack, what: str) -> dict[str, Any]:
    """What the second replica says of the thread."""
    answer: dict[str, Any] = httpx.get(f"{stack.replicas[1]}/v1/threads/t/{what}", timeout=30).json()
    return answer


def stored(stack: StormStack) -> list[str]:
    """The ids of the stored messages, in order."""
    with stack.wired.engine.connect() as connection:
        return list(connection.execute(text("SELECT external_id FROM message ORDER BY seq")).scalars())


def is_observed(stack: StormStack) -> bool:
    """Whether little is pending and nothing unfinished."""
    status = get(stack, "status")
    return bool(status["pendingTokens"] < 500 and not status["jobs"])
