"""Real workers on a real broker: what dies, and what is there afterwards."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from om_workers.embedded.redis_server import RedisServer
from tests.services.waiting import wait_until
from tests.services.workers import Workers, workers

RECOVERY_SECONDS = 15


@pytest.fixture(params=["sqlite", "postgres"])
def pipeline(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Iterator[Workers]:
    """Workers over an empty database, none started yet."""
    database = f"sqlite:///{tmp_path / 'om.db'}"
    if request.param == "postgres":
        database = request.getfixturevalue("postgres_url")
    with workers(tmp_path, database, redis_url) as started:
        started.prepare_thread()
        yield started


def test_workers_take_turns_to_observations(pipeline: Workers) -> None:
    pipeline.worker()
    pipeline.beat()
    pipeline.append(1, 30)
    wait_until(pipeline.is_at_rest, 60, what="the thread to be at rest")
    assert len(pipeline.segments()) >= 3
    pipeline.check_each_message_was_covered_once()


def test_a_worker_killed_in_mid_call_leaves_one_result_by_the_other_within_15_seconds(pipeline: Workers) -> None:
    """CL-17: SIGKILL."""
    pipeline.say({"kind": "observe", "do": "hang", "times": 1})
    first, second = pipeline.worker(), pipeline.worker()
    pipeline.beat()
    pipeline.append(1, 5)
    wait_until(lambda: len(pipeline.calls()) == 1, 60, what="the first call")
    victim = next(child for child in (first, second) if child.pid == pipeline.calls()[0]["pid"])
    os.kill(victim.pid, signal.SIGKILL)
    wait_until(lambda: len(pipeline.calls()) >= 2, RECOVERY_SECONDS, what="the job to be taken up")
    wait_until(pipeline.is_at_rest, 30, what="the thread to be at rest")
    again = pipeline.calls()[1]
    assert (again["job"], again["attempt"]) == (pipeline.calls()[0]["job"], 2)
    assert [s.attempt for s in pipeline.segments() if s.job_id == again["job"]] == [2]
    pipeline.check_each_message_was_covered_once()


def test_a_worker_told_to_stop_gives_its_job_back_and_the_next_one_takes_it(pipeline: Workers) -> None:
    """CL-17: SIGTERM."""
    pipeline.say({"kind": "observe", "do": "hang", "times": 1})
    first = pipeline.worker(OM_DRAIN_SECONDS="1")
    pipeline.append(1, 5)
    wait_until(lambda: len(pipeline.calls()) == 1, 60, what="the first call")
    os.kill(first.pid, signal.SIGTERM)
    assert first.wait(30) == 0
    view = pipeline.view()
    assert [(str(job.state), dict(job.failures)) for job in view.jobs.values()] == [("queued", {"handed_back": 1})]
    pipeline.worker()
    pipeline.beat()
    wait_until(pipeline.is_at_rest, 60, what="the thread to be at rest")
    pipeline.check_each_message_was_covered_once()


def test_redis_flushed_and_restarted_in_mid_run_loses_nothing(tmp_path: Path, postgres_url: str) -> None:
    server = RedisServer(tmp_path / "redis")
    server.start()
    with workers(tmp_path, postgres_url, server.url) as pipeline:
        pipeline.prepare_thread()
        pipeline.worker()
        pipeline.beat()
        pipeline.append(1, 20)
        redis.Redis.from_url(server.url).flushall()
        pipeline.append(21, 20)
        server.kill()
        pipeline.append(41, 20)
        server.start()
        pipeline.append(61, 20)
        wait_until(pipeline.is_at_rest, 90, what="the thread to be at rest")
        assert pipeline.view().thread.next_seq == 81
        pipeline.check_each_message_was_covered_once()
    server.stop()
