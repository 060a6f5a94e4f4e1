"""A real Redis server for the tests: one for each test process, emptied before each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from om_workers.embedded.redis_server import NoRedisServerError, RedisServer
from tests.services.missing import unavailable


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """The server of this test process. A test that ends or restarts one starts its own."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    try:
        server.start()
    except NoRedisServerError as error:
        unavailable("Redis", error)
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of an empty Redis database."""
    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url
