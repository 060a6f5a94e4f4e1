"""One run: a scenario played once under a seed or a list of choices, and all that was found wrong with it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from om_workers.services.threads import configure_thread, ensure_thread
from tests.simulation.choices import Choices
from tests.simulation.clients import create_crowd, thread_name
from tests.simulation.database import Database
from tests.simulation.drain import drain
from tests.simulation.history import ThreadHistory
from tests.simulation.oracles import (
    broken_promises,
    broken_rows,
    cut_pairs,
    disordered,
    read_rows,
    still_said,
    unaccounted,
    unfounded,
    unrested,
)
from tests.simulation.ports import Outside, create_outside
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import Step
from tests.simulation.staff import add_staff
from tests.simulation.weather import Weather
from tests.support.world import TENANT


@dataclass(frozen=True)
class Run:
    """How a run went: the choices it was made of, its steps, what happened how often, what is wrong."""

    choices: Sequence[int]
    trace: Sequence[Step]
    tally: Counter[str]
    violations: Sequence[str]

    @property
    def fingerprint(self) -> str:
        """A hash of every step: equal for equal runs."""
        lines = "\n".join(f"{step.actor}|{step.label}|{step.at}" for step in self.trace)
        return hashlib.sha256(lines.encode()).hexdigest()


def run(database: Database, scenario: Scenario, seed: int, replay: Sequence[int] | None = None) -> Run:
    """Play the scenario; ``replay``: the choices of an earlier run, in place of the seed's."""
    database.refresh()
    choices = Choices(seed, replay)
    weather = Weather(scenario, choices)
    weather.calm = True
    outside = create_outside(database, weather)
    crowd = create_crowd(outside, scenario)
    add_staff(outside, scenario, crowd)
    _make_threads(outside, scenario)
    weather.calm = False
    database.attend(weather.scheduler)
    weather.scheduler.run()
    violations = list(weather.scheduler.failures) or _judge(outside, crowd.histories)
    weather.count("waits for a lock", database.waits)
    return Run(choices.made, weather.scheduler.trace, weather.tally, violations)


def _make_threads(outside: Outside, scenario: Scenario) -> None:
    ports = outside.ports(None)
    for number, options in enumerate(scenario.threads):
        configure_thread(ports, ensure_thread(ports, TENANT, thread_name(number), None), options)


def _judge(outside: Outside, histories: Sequence[ThreadHistory]) -> list[str]:
    ports = outside.ports(None)
    before = broken_rows(ports)
    restless = drain(outside)
    rows = read_rows(outside.database.engine)
    found = [*before, *([restless] if restless else []), *broken_rows(ports)]
    found += broken_promises(histories, rows) + unrested(ports, histories)
    found += unaccounted(outside.model.calls, rows) + unfounded(outside.model.calls, rows)
    found += still_said(histories, outside.database.engine)
    found += cut_pairs(rows) + disordered(outside.bus.heard)
    _count(outside, rows.segments)
    return found


def _count(outside: Outside, segments: Sequence[object]) -> None:
    rows = read_rows(outside.database.engine)
    weather = outside.weather
    weather.count("observations", sum(s["kind"] == "observation" for s in rows.segments))
    weather.count("stand-ins", sum(s["kind"] == "stand_in" for s in rows.segments))
    weather.count("reflections", sum(s["kind"] == "reflection" for s in rows.segments))
    weather.count("activations", sum(s["activated_at"] is not None for s in rows.segments))
    weather.count("degraded segments", sum(bool(s["degraded"]) for s in rows.segments))
    seen = Counter((call.job_id, call.seqs) for call in outside.model.calls if call.seqs)
    weather.count("duplicated calls", sum(times - 1 for times in seen.values()))
