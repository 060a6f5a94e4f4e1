"""Many seeds at once: what was found, and whether the search reached what it is meant to search."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from tests.simulation.database import Database, open_database
from tests.simulation.run import run
from tests.simulation.scenario import draw_scenario

INTERESTING = (
    "appended messages", "repeated messages", "contexts read", "model calls", "duplicated calls", "observations",
    "stand-ins", "reflections", "activations", "degraded segments", "crashes", "requests cut off by a crash", "freezes",
    "zombie commits refused", "leases taken back", "calls ended by a heartbeat", "lost sends", "doubled sends",
    "delayed sends", "sends refused", "forgotten tasks", "waits for a lock", "busy", "commits delayed",
    "jobs handed back", "deleted messages", "deleted threads", "ranges to rebuild", "jobs cancelled",
)  # fmt: skip
"""What every search worth its name has seen."""
_AT_ONCE = 10


@dataclass(frozen=True)
class Found:
    """A seed whose run broke something."""

    seed: int
    scenario: str
    violations: Sequence[str]


@dataclass
class Search:
    """What came of the seeds so far."""

    runs: int = 0
    found: list[Found] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)

    def add(self, other: Search) -> None:
        """Take in what another process found."""
        self.runs += other.runs
        self.found += other.found
        self.tally += other.tally

    @property
    def never_seen(self) -> list[str]:
        """What should have happened at least once and did not."""
        return [name for name in INTERESTING if not self.tally[name]]


def search_on(database: Database, seeds: Sequence[int], *, name: str | None = None) -> Iterator[Search]:
    """Play the seeds in this process, on this database; what each of them came to."""
    for seed in seeds:
        scenario = draw_scenario(seed, name)
        done = run(database, scenario, seed)
        found = [Found(seed, scenario.name, done.violations)] if done.violations else []
        yield Search(1, found, done.tally)


def search(first: int, seeds: int, *, processes: int, name: str | None = None) -> Iterator[Search]:
    """Play the seeds in several processes; what each few of them came to."""
    chunks = [range(start, min(start + _AT_ONCE, first + seeds)) for start in range(first, first + seeds, _AT_ONCE)]
    if processes == 1:
        yield from map(partial(search_here, name=name), chunks)
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap_unordered(partial(search_here, name=name), chunks)


def search_here(seeds: Sequence[int], *, name: str | None = None) -> Search:
    """Play the seeds in this process."""
    result = Search()
    with open_database() as database:
        for part in search_on(database, seeds, name=name):
            result.add(part)
    return result
