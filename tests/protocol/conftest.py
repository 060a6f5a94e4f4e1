"""A world on each database."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.world import World


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """The whole service over an empty database."""
    url: str = (
        f"sqlite:///{tmp_path / 'om.db'}" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    )
    return World(url)
