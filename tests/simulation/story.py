"""A run as something to read: who did what and when, where they were overtaken, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tests.simulation.run import Run
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import Step

_STATEMENTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "WITH")
_DULL = ("sleeps", "idle")
_MOST_LINES = 400


def tell(scenario: Scenario, seed: int, run: Run) -> str:
    """The scenario, the violations and the steps; at most the last 400 lines of these."""
    lines = list(_lines(run.trace))[-_MOST_LINES:]
    head = [
        f"seed {seed}, scenario {scenario.name}: {scenario.workers} workers, {scenario.slots} slots each",
        f"{scenario.sweepers} sweepers, {len(scenario.scripts)} clients, restless {scenario.restless}",
        f"faults: {scenario.faults}",
        *(f"thread t{number}: {options}" for number, options in enumerate(scenario.threads)),
        *(f"BROKEN: {violation}" for violation in run.violations),
        "",
    ]
    return "\n".join([*head, *lines])


def _lines(trace: Sequence[Step]) -> Iterator[str]:
    interesting = (step for step in trace if step.label not in _DULL)
    for actor, steps in groupby(interesting, key=lambda step: step.actor):
        block = list(steps)
        yield f"{block[0].at / 1_000:9.3f} {actor}: {', '.join(_words(block))}"


def _words(block: Sequence[Step]) -> Iterable[str]:
    """The calls of a block; of its statements only the last, at which the actor was overtaken."""
    last = len(block) - 1
    told = [_told(step.label) for number, step in enumerate(block) if number == last or not _is_statement(step.label)]
    return told or ["goes on"]


def _is_statement(label: str) -> bool:
    return label.startswith(_STATEMENTS)


def _told(label: str) -> str:
    if not _is_statement(label):
        return label
    words = label.split()
    verb = words[0]
    marks = {"SELECT": "FROM", "INSERT": "INTO", "UPDATE": "UPDATE", "DELETE": "FROM"}
    mark = marks.get(verb)
    table = words[words.index(mark) + 1] if mark in words else ""
    return f"({verb.lower()} {table})".replace(" )", ")")
