"""Five hundred contexts that wait for their observations, and turns that must not notice."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from om_workers.bootstrap import Wired, migrate, wire
from om_workers.embedded import commands, readiness
from om_workers.embedded.listening import free_port
from om_workers.embedded.processes import ChildProcess
from om_workers.services.ingest import Append, append_messages
from om_workers.services.keys import make_key
from om_workers.services.threads import configure_thread, ensure_thread
from om_workers.settings import Settings
from tests.services.waiting import wait_until
from tests.support.world import message, words_of

pytestmark = pytest.mark.chaos

TENANTS = ("one", "two", "three", "four")
THREADS_OF_EACH = 5
WAITERS_OF_EACH = 25
WAIT_SECONDS = 29.0
RAMP_SECONDS = 0.5
SETTLE_SECONDS = 5.0
APPENDS = 40
WRITERS = 2
DUE = {"observation": {"messageTokens": 50, "bufferTokens": False}}


@dataclass
class Api:
    """A running API process, and a key for each tenant."""

    url: str
    wired: Wired
    keys: dict[str, str]


@pytest.fixture
def api(tmp_path: Path, postgres_url: str, redis_url: str) -> Iterator[Api]:
    """The API over memories of which each has an observation due, and no worker to do it."""
    port = free_port()
    settings = Settings.model_validate({"database_url": postgres_url, "redis_url": redis_url, "port": port})
    wired = wire(settings)
    migrate(wired)
    keys = {tenant: make_key(wired.ports, tenant, name="test").secret for tenant in TENANTS}
    for tenant in TENANTS:
        for number in range(THREADS_OF_EACH):
            ref = ensure_thread(wired.ports, tenant, f"t{number}", None)
            configure_thread(wired.ports, ref, DUE)
            append_messages(wired.ports, Append(tenant, f"t{number}", (message("m", words_of(100)),)))
    command = commands.python_module("uvicorn", commands.api_arguments(settings.host, port))
    child = ChildProcess(command, log=tmp_path / "api.log", env=os.environ | commands.environment(settings))
    wait_until(lambda: readiness.api_is_ready(settings.host, port), 30, what="the API")
    yield Api(f"http://127.0.0.1:{port}", wired, keys)
    child.kill()
    wired.engine.dispose()


async def wait_for_context(client: httpx.AsyncClient, api: Api, tenant: str, thread: str) -> bool:
    """Whether the context came back as one that was waited for in vain."""
    headers = {"Authorization": f"Bearer {api.keys[tenant]}"}
    body = {"wait": WAIT_SECONDS}
    answer = await client.post(f"/v1/threads/{thread}/context", json=body, headers=headers)
    return answer.status_code == 200 and bool(answer.json()["stale"])


async def write(client: httpx.AsyncClient, api: Api, writer: str, count: int) -> list[float]:
    """The seconds that each of ``count`` appends took."""
    headers = {"Authorization": f"Bearer {api.keys[TENANTS[0]]}"}
    took = []
    for number in range(count):
        body = {"messages": [{"id": f"m{number}", "role": "user", "content": "a few words of a turn"}]}
        began = time.perf_counter()
        answer = await client.post(f"/v1/threads/{writer}/messages", json=body, headers=headers)
        took.append(time.perf_counter() - began)
        assert answer.status_code == 202
    return took


async def appends(client: httpx.AsyncClient, api: Api, name: str) -> list[float]:
    """The seconds of the appends of all writers, each to a thread of its own."""
    took = await asyncio.gather(*(write(client, api, f"{name}-{writer}", APPENDS) for writer in range(WRITERS)))
    return [seconds for one in took for seconds in one]


async def start_waiting(client: httpx.AsyncClient, api: Api) -> list[asyncio.Task[bool]]:
    """All who wait, a few more every moment: 500 requests that come at once keep any server busy for a while."""
    waiting: list[asyncio.Task[bool]] = []
    for tenant in TENANTS:
        for thread in range(THREADS_OF_EACH):
            some = [wait_for_context(client, api, tenant, f"t{thread}") for _ in range(WAITERS_OF_EACH)]
            waiting += [asyncio.create_task(one) for one in some]
            await asyncio.wait(waiting, timeout=RAMP_SECONDS)
    await asyncio.wait(waiting, timeout=SETTLE_SECONDS)
    return waiting


async def measure(api: Api) -> tuple[list[float], list[float], list[bool]]:
    """The seconds of appends without (before and after) and with all waiters, and what became of those who waited."""
    limits = httpx.Limits(max_connections=600, max_keepalive_connections=600, keepalive_expiry=2)
    async with httpx.AsyncClient(base_url=api.url, limits=limits, timeout=60) as client:
        await appends(client, api, "warm")
        alone = await appends(client, api, "before")
        waiting = await start_waiting(client, api)
        beside = await appends(client, api, "beside")
        assert not any(task.done() for task in waiting)
        waited = await asyncio.gather(*waiting)
        alone += await appends(client, api, "after")
    return alone, beside, waited


def p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def test_turns_are_taken_in_as_quickly_beside_500_who_wait(api: Api) -> None:
    """Who waits holds no thread, no connection and no transaction; 0.1 s is for what else this machine does."""
    alone, beside, waited = asyncio.run(measure(api))
    assert waited == [True] * 500
    figures = [f"{1e3 * of(them):.0f}" for of in (statistics.median, p95) for them in (alone, beside)]
    assert p95(beside) <= 1.5 * p95(alone) + 0.1, f"ms: median alone, beside; p95 alone, beside: {figures}"
