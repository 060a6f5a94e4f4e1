"""Workers that are thought dead and wake up."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.services.waiting import wait_until
from tests.services.workers import workers

pytestmark = pytest.mark.chaos


def test_a_frozen_worker_that_wakes_after_its_lease_commits_nothing(
    tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    with workers(tmp_path, postgres_url, redis_url) as pipeline:
        pipeline.prepare_thread()
        pipeline.say({"kind": "observe", "do": "hang", "times": 1})
        first, second = pipeline.worker(), pipeline.worker()
        pipeline.beat()
        pipeline.append(1, 5)
        wait_until(lambda: len(pipeline.calls()) == 1, 60, what="the first call")
        victim = next(child for child in (first, second) if child.pid == pipeline.calls()[0]["pid"])
        os.kill(victim.pid, signal.SIGSTOP)
        wait_until(pipeline.is_at_rest, 60, what="the other worker to finish")
        before = pipeline.segments()
        pipeline.release()
        os.kill(victim.pid, signal.SIGCONT)
        wait_until(lambda: "commit_refused" in victim.tail(50), 30, what="the late commit to be refused")
        assert pipeline.segments() == before
        pipeline.check_each_message_was_covered_once()
