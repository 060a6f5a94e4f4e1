"""How a broken run is made small: fewer clients, operations, faults and staff, and as many dull choices as possible."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from tests.simulation.run import Run
from tests.simulation.scenario import Faults, Scenario

Play = Callable[[Scenario, Sequence[int] | None], Run]
"""Plays a scenario by these choices, or by those of the seed."""


@dataclass
class Smallest:
    """The smallest broken run so far, and how many runs may still be spent."""

    scenario: Scenario
    run: Run
    left: int

    @property
    def cause(self) -> str:
        """What is broken, without names and numbers."""
        return kind_of(self.run.violations[0])


def shrink(play: Play, scenario: Scenario, run: Run, *, most_runs: int = 200) -> Smallest:
    """The smallest scenario and choices found in ``most_runs`` runs that still break the same thing."""
    best = Smallest(scenario, run, most_runs)
    while _drop_something(play, best):
        pass
    _dull_choices(play, best)
    return best


def kind_of(violation: str) -> str:
    """The kind of a violation: its words without ids and numbers."""
    return re.sub(r"\b[0-9a-f]{32}\b|[a-z]?\d+(-\w+)*|'[^']*'", "…", violation.strip().split("\n")[-1])[:100]


def _drop_something(play: Play, best: Smallest) -> bool:
    for smaller in _smaller(best.scenario):
        if _try(play, best, smaller, None) or _try(play, best, smaller, best.run.choices):
            return True
    return False


def _dull_choices(play: Play, best: Smallest) -> None:
    size = len(best.run.choices)
    while size >= 1 and best.left > 0:
        start = 0
        while start < len(best.run.choices) and best.left > 0:
            choices = list(best.run.choices)
            if any(choices[start : start + size]):
                choices[start : start + size] = [0] * len(choices[start : start + size])
                _try(play, best, best.scenario, choices)
            start += size
        size //= 2


def _try(play: Play, best: Smallest, scenario: Scenario, choices: Sequence[int] | None) -> bool:
    if best.left <= 0:
        return False
    best.left -= 1
    run = play(scenario, choices)
    if not run.violations or kind_of(run.violations[0]) != best.cause:
        return False
    best.scenario, best.run = scenario, run
    return True


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    """Scenarios with something less, the largest steps first."""
    for number in range(len(scenario.scripts)):
        rest = scenario.scripts[:number] + scenario.scripts[number + 1 :]
        if any(rest):
            yield replace(scenario, scripts=rest)
    for faults in _fewer(scenario.faults):
        yield replace(scenario, faults=faults)
    for name in ("workers", "slots", "sweepers", "replicas"):
        if getattr(scenario, name) > 1:
            less: dict[str, Any] = {name: 1}
            yield replace(scenario, **less)
    if scenario.restless:
        yield replace(scenario, restless=0.0)
    for share in (2, 4, 8, 1_000):
        yield from _shorter(scenario, share)


def _fewer(faults: Faults) -> Iterator[Faults]:
    for entry in fields(faults):
        if getattr(faults, entry.name):
            none: dict[str, Any] = {entry.name: {} if entry.name == "model" else 0.0}
            yield replace(faults, **none)
    for name in faults.model:
        yield replace(faults, model={other: rate for other, rate in faults.model.items() if other != name})


def _shorter(scenario: Scenario, share: int) -> Iterator[Scenario]:
    for number, script in enumerate(scenario.scripts):
        size = max(1, len(script) // share)
        for start in range(0, len(script), size):
            shorter = script[:start] + script[start + size :]
            yield replace(scenario, scripts=(*scenario.scripts[:number], shorter, *scenario.scripts[number + 1 :]))
