"""Seeds of the simulation, played until one breaks a promise: 1 when one did, 0 when none."""

from __future__ import annotations

import sys

from tests.simulation.database import open_database
from tests.simulation.run import run
from tests.simulation.scenario import draw_scenario


def main(count: int, scenario: str | None) -> int:
    """Play; the first that breaks is told in one line."""
    with open_database() as database:
        for seed in range(count):
            violations = run(database, draw_scenario(seed, scenario), seed).violations
            if violations:
                sys.stdout.write(f"BROKEN seed {seed} - {violations[0].strip().splitlines()[-1]}\n")
                return 1
    sys.stdout.write(f"{count} seeds passed\n")
    return 0
