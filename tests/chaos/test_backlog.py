"""Fifty thousand due jobs and nobody who works: the broker holds a window of them, however long it lasts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis
from sqlalchemy import func, select

from om_workers.adapters.celery.app import QUEUES, create_app
from om_workers.adapters.celery.queue import CeleryTaskQueue
from om_workers.adapters.redis.bus import connect
from om_workers.adapters.sql.rows import JOB
from om_workers.engine.jobs import WorkQueue
from om_workers.services.sweep import sweep
from tests.support.flood import QUIET, flood_with_due_jobs
from tests.support.world import TENANT, World

pytestmark = pytest.mark.chaos

JOBS = 50_000
SWEEP_SECONDS = 2
TEN_MINUTES = 600


@pytest.fixture(params=["sqlite", "postgres"])
def flooded(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Iterator[World]:
    """The service over a flooded database, with a real broker."""
    database = f"sqlite:///{tmp_path / 'om.db'}"
    if request.param == "postgres":
        database = request.getfixturevalue("postgres_url")
    world = World(database)
    flood_with_due_jobs(world, JOBS)
    queue = CeleryTaskQueue(create_app(redis_url), connect(redis_url), world.log)
    world.ports = replace(world.ports, queue=queue)
    yield world
    world.engine.dispose()


def sends_by_tenant(world: World) -> dict[str, int]:
    """How often a task went out for the jobs of each tenant."""
    with world.engine.connect() as connection:
        rows = connection.execute(
            select(JOB.c.tenant_id, func.sum(JOB.c.sends)).where(JOB.c.sends > 0).group_by(JOB.c.tenant_id)
        )
        return {tenant: int(sends) for tenant, sends in rows}


def test_the_broker_holds_a_window_and_not_the_backlog_for_ten_minutes_without_a_worker(
    flooded: World, redis_url: str
) -> None:
    window = flooded.ports.timing.window
    name = QUEUES[WorkQueue.OBSERVE]
    lengths = []
    with redis.Redis.from_url(redis_url) as client:
        for _ in range(TEN_MINUTES // SWEEP_SECONDS):
            sweep(flooded.ports)
            lengths.append(int(client.llen(name)))
            flooded.clock.advance(SWEEP_SECONDS)
        assert set(lengths) == {window}
        # A quarter for each tenant, though one of them has 98 % of the jobs; and nothing was sent twice.
        assert sends_by_tenant(flooded) == dict.fromkeys((TENANT, *QUIET), window // 4)
        client.flushall()
        assert sweep(flooded.ports).sent == int(client.llen(name)) == window
