"""What `om doctor` says of the Redis that the environment names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from typer.testing import CliRunner

from om_workers.bootstrap import migrate, wire
from om_workers.cli import app
from om_workers.embedded.listening import free_port
from om_workers.settings import Settings


@pytest.fixture
def database(tmp_path: Path) -> str:
    """An empty database."""
    url = f"sqlite:///{tmp_path / 'om.db'}"
    migrate(wire(Settings(database_url=url)))
    return url


@pytest.fixture
def client(redis_url: str) -> Iterator[redis.Redis]:
    """The server of this test process, with the settings that it had before when the test is over."""
    with redis.Redis.from_url(redis_url) as connected:
        yield connected
        connected.config_set("maxmemory", 0)
        connected.config_set("maxmemory-policy", "noeviction")


def warnings_of(database: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The warnings, which are the same for people and for programs and change no exit status."""
    monkeypatch.setenv("OM_REDIS_URL", redis_url)
    lines = CliRunner().invoke(app, ["doctor", "--database-url", database])
    document = CliRunner().invoke(app, ["doctor", "--json", "--database-url", database])
    assert (lines.exit_code, document.exit_code) == (0, 0)
    found: list[str] = json.loads(document.stdout)["warnings"]
    shown = [line.removeprefix("warning ") for line in lines.stdout.splitlines() if line.startswith("warning ")]
    assert shown == found
    return found


@pytest.mark.parametrize(("most", "policy"), [(0, "noeviction"), (0, "allkeys-lru"), (50_000_000, "noeviction")])
def test_a_server_that_keeps_everything_gives_no_warning(
    database: str, redis_url: str, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, most: int, policy: str
) -> None:
    client.config_set("maxmemory", most)
    client.config_set("maxmemory-policy", policy)
    assert warnings_of(database, redis_url, monkeypatch) == []


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_a_server_that_may_evict_is_named_with_its_policy_and_the_right_one(
    database: str, redis_url: str, client: redis.Redis, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    client.config_set("maxmemory", 50_000_000)
    client.config_set("maxmemory-policy", policy)
    (warning,) = warnings_of(database, redis_url, monkeypatch)
    assert f"maxmemory is 50000000 bytes under maxmemory-policy {policy}; set it to noeviction" in warning


def test_a_server_that_does_not_answer_is_a_warning_without_its_password(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (warning,) = warnings_of(database, f"redis://:hunter2@127.0.0.1:{free_port()}/0", monkeypatch)
    assert warning == "Redis was not checked: ConnectionError"
