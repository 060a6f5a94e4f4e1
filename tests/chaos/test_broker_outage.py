"""A broker that is away for long: work goes on soon after it is back, however long that took."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from om_workers.embedded.redis_server import RedisServer
from tests.services.waiting import wait_until
from tests.services.workers import Workers, workers

pytestmark = pytest.mark.chaos

AWAY_SECONDS = 31
RECOVERY_SECONDS = 15


def announced_waits(pipeline: Workers) -> dict[str, list[float]]:
    """The seconds that each program said it would wait before its next try."""
    logs = {child.log.name: child.log.read_text() for child in pipeline.children}
    return {name: [float(s) for s in re.findall(r"again in ([\d.]+) seconds", log)] for name, log in logs.items()}


def test_a_job_runs_within_15_seconds_of_redis_coming_back_after_half_a_minute(
    tmp_path: Path, postgres_url: str
) -> None:
    server = RedisServer(tmp_path / "redis")
    server.start()
    with workers(tmp_path, postgres_url, server.url) as pipeline:
        pipeline.prepare_thread()
        pipeline.worker()
        pipeline.beat()
        pipeline.append(1, 5)
        wait_until(pipeline.is_at_rest, 60, what="the worker to work")
        calls = len(pipeline.calls())
        server.kill()
        away_until = time.monotonic() + AWAY_SECONDS
        pipeline.append(6, 5)
        wait_until(lambda: time.monotonic() >= away_until, AWAY_SECONDS + 5, what="a long outage")
        assert len(pipeline.calls()) == calls
        server.start()
        wait_until(lambda: len(pipeline.calls()) > calls, RECOVERY_SECONDS, what="the job to run")
        wait_until(pipeline.is_at_rest, 30, what="the thread to be at rest")
        pipeline.check_each_message_was_covered_once()
        waits = announced_waits(pipeline)["worker-0.log"]
        assert len(waits) >= 8
        # What a worker would wait for in the worst case does not grow with the outage.
        assert max(waits) <= 2
    server.stop()
