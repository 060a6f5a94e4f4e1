"""A database of each kind, and the whole service on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.world import World


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database; a test that asks for it runs on SQLite and on PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'om.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """The whole service over an empty database of each kind."""
    world = World(database_url)
    yield world
    world.engine.dispose()
