"""Short storms, one on each database; `make soak SEEDS=100` runs long ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.storm import run_storms
from tests.services.embedded_postgres import PostgresUnavailableError
from tests.services.missing import unavailable

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]


@pytest.mark.parametrize(("seed", "database"), [(1, "sqlite"), (2, "postgresql")])
def test_a_storm_loses_nothing_doubles_nothing_and_work_goes_on(tmp_path: Path, seed: int, database: str) -> None:
    try:
        (result,) = run_storms([seed], [database], tmp_path, seconds=8)
    except PostgresUnavailableError as error:
        unavailable("PostgreSQL", error)
    assert result.violations == ()
    # How soon work goes on is judged by the soak: here other things run beside the storm, and its model takes its time.
    assert (result.losses, result.doubles) == (0, 0)
    assert result.clients["messages"] > 100
    assert result.killed_calls > 0
