"""The command: ``python -m tests.simulation --seeds 2000 --processes 2``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from tests.simulation.database import Database, open_database
from tests.simulation.postgres import open_postgres
from tests.simulation.run import Run, run
from tests.simulation.scenario import EMPHASES, Scenario, draw_scenario
from tests.simulation.search import INTERESTING, Search, search, search_on
from tests.simulation.shrink import shrink
from tests.simulation.story import tell

_OFTEN = 100
_ENOUGH = 500
"""Runs from which on everything that is searched for has to have been seen."""


def main() -> int:
    """Search, tell what was found; 1 when something broke or the search did not reach what it is meant to."""
    options = _arguments()
    result = Search()
    started = time.perf_counter()
    for part in _parts(options):
        result.add(part)
        if result.runs // _OFTEN > (result.runs - part.runs) // _OFTEN:
            sys.stdout.write(f"{result.runs} runs, {len(result.found)} broken so far\n")
            sys.stdout.flush()
        for found in part.found:
            sys.stdout.write(f"seed {found.seed} ({found.scenario}): {found.violations[0][-1500:]}\n")
            sys.stdout.flush()
    _report(result, time.perf_counter() - started)
    if result.found and options.shrink:
        with _database(postgres=options.postgres) as database:
            sys.stdout.write(_smallest(database, result.found[0].seed, options) + "\n")
    missed = bool(result.never_seen) and result.runs >= _ENOUGH
    return 1 if result.found or missed else 0


def _parts(options: argparse.Namespace) -> Iterator[Search]:
    if not options.postgres:
        yield from search(options.first, options.seeds, processes=options.processes, name=options.scenario)
        return
    with open_postgres() as database:
        yield from search_on(database, range(options.first, options.first + options.seeds), name=options.scenario)


def _database(*, postgres: bool) -> AbstractContextManager[Database]:
    return open_postgres() if postgres else open_database()


def _report(result: Search, seconds: float) -> None:
    thousand = 1_000 * seconds / max(1, result.runs)
    lines = [f"{result.runs} runs, {len(result.found)} broken, {seconds:.0f} s ({thousand:.0f} s for 1 000)"]
    names = [*INTERESTING, *sorted(set(result.tally) - set(INTERESTING))]
    lines += [f"{result.tally[name]:>9} {name}" for name in names]
    lines += [f"never seen: {name}" for name in result.never_seen]
    sys.stdout.write("\n".join(lines) + "\n")


def _smallest(database: Database, seed: int, options: argparse.Namespace) -> str:
    def play(scenario: Scenario, choices: Sequence[int] | None) -> Run:
        return run(database, scenario, seed, choices)

    scenario = draw_scenario(seed, options.scenario)
    first = play(scenario, None)
    if not first.violations:
        return f"seed {seed} broke in the search and not now: the simulation is not what it was"
    smallest = shrink(play, scenario, first, most_runs=options.shrink)
    return tell(smallest.scenario, seed, smallest.run)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="how many runs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=2, help="how many processes share them")
    parser.add_argument("--scenario", choices=sorted(EMPHASES), default=None, help="one emphasis for all runs")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL, in one process")
    parser.add_argument("--shrink", type=int, default=150, help="runs spent to make the first broken one small")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
