"""The test services themselves: real, empty for each test, unable to skip in CI."""

from __future__ import annotations

import psycopg
import pytest
import redis
from sqlalchemy import create_engine, text

from tests.services.missing import unavailable
from tests.services.postgres import PostgresServer
from tests.services.waiting import wait_until


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_gets_an_empty_redis(redis_url: str, turn: int) -> None:
    with redis.Redis.from_url(redis_url) as client:
        assert client.dbsize() == 0
        client.set("left behind", turn)


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_gets_an_empty_postgresql_database(postgres_url: str, turn: int) -> None:
    engine = create_engine(postgres_url)
    with engine.begin() as connection:
        connection.execute(text(f"CREATE TABLE left_behind AS SELECT {turn} AS turn"))
        version = connection.execute(text("SHOW server_version_num")).scalar_one()
    engine.dispose()
    assert int(version) >= 150_000


def test_a_database_can_be_cloned_from_a_template(postgres_server: PostgresServer, postgres_url: str) -> None:
    address = postgres_url.replace("+psycopg", "")
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
        name = connection.info.dbname
    clone = postgres_server.create_database(template=name)
    with psycopg.connect(clone.replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
    postgres_server.drop_database(clone)


@pytest.mark.parametrize("value", ["true", "1"])
def test_a_missing_service_fails_in_ci(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CI", value)
    with pytest.raises(pytest.fail.Exception, match="Redis is not available: no server"):
        unavailable("Redis", "no server")


def test_a_missing_service_skips_on_a_laptop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="Redis is not available: no server"):
        unavailable("Redis", "no server")


def test_waiting_in_vain_says_for_what() -> None:
    with pytest.raises(AssertionError, match=r"not within 0.05 s: the rain; last value: False"):
        wait_until(lambda: False, 0.05, what="the rain")
