"""A few seeds on every run of the tests, and the proof that the search would see what it searches for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import om_workers.services.commit
import om_workers.services.ingest
from tests.simulation.choices import Choices
from tests.simulation.database import Database, open_database
from tests.simulation.run import Run, run
from tests.simulation.scenario import Scenario, draw_scenario, without_faults
from tests.simulation.shrink import kind_of, shrink
from tests.simulation.story import tell

pytestmark = pytest.mark.timeout(600)
SEEDS = 30


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """One engine for all runs here."""
    with open_database() as opened:
        yield opened


@pytest.mark.parametrize("first", range(0, SEEDS, 10))
def test_no_seed_breaks_a_promise(database: Database, first: int) -> None:
    for seed in range(first, first + 10):
        done = run(database, draw_scenario(seed), seed)
        assert done.violations == [], tell(draw_scenario(seed), seed, done)


def test_a_seed_is_the_same_run_every_time(database: Database) -> None:
    scenario = draw_scenario(2)
    first, second = run(database, scenario, 2), run(database, scenario, 2)
    assert first.fingerprint == second.fingerprint
    assert first.tally == second.tally


def test_a_run_can_be_repeated_from_its_choices(database: Database) -> None:
    scenario = draw_scenario(2)
    first = run(database, scenario, 2)
    assert run(database, scenario, 77, first.choices).fingerprint == first.fingerprint


def test_two_seeds_are_two_runs(database: Database) -> None:
    scenario = draw_scenario(2)
    assert run(database, scenario, 2).fingerprint != run(database, scenario, 3).fingerprint


def test_without_faults_nothing_is_lost_or_refused(database: Database) -> None:
    done = run(database, without_faults(draw_scenario(3)), 3)
    assert done.violations == []
    assert Counter({"crashes": 0, "freezes": 0, "lost sends": 0, "busy": 0}) == done.tally & Counter(
        crashes=1, freezes=1, busy=1, **{"lost sends": 1}
    )


def test_dull_choices_are_zero() -> None:
    choices = Choices(0, replay=())
    assert [choices.draw(9), int(choices.chance(0.99)), choices.which((0.5, 0.5)), choices.pick((7, 8))] == [0, 0, 0, 7]


def test_commits_that_nothing_refuses_are_found_and_made_small(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zombies commit what others have done already."""
    monkeypatch.setattr(om_workers.services.commit, "_holds", lambda _claim, _view: True)
    scenario, seed, broken = first_broken(database, "zombies")
    smallest = shrink(lambda smaller, made: run(database, smaller, seed, made), scenario, broken, most_runs=15)
    assert kind_of(smallest.run.violations[0]) == kind_of(broken.violations[0])
    assert weight(smallest.scenario, smallest.run) < weight(scenario, broken)
    assert "BROKEN" in tell(smallest.scenario, seed, smallest.run)


def test_an_append_that_forgets_what_it_knows_is_found(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that repeats its step gets an error, or the step twice."""
    monkeypatch.setattr("om_workers.adapters.sql.messages.SqlMessages.known", lambda *_args: [])
    assert first_broken(database, "crashes")[2].violations


def test_a_sweep_that_sends_nothing_again_is_found(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lost task is lost for ever."""
    due = "om_workers.adapters.sql.dispatching.SqlDispatching.due"
    monkeypatch.setattr(due, lambda *_args, **_kwargs: [])
    assert first_broken(database, "broker")[2].violations


def weight(scenario: Scenario, done: Run) -> tuple[int, float, int]:
    """How much there is to read: who does what, how restlessly, and how many choices are not the dullest."""
    staff = scenario.workers + scenario.slots + scenario.sweepers + scenario.replicas
    faults = len(scenario.faults.model) + bool(scenario.faults.freeze)
    return sum(map(len, scenario.scripts)) + staff + faults, scenario.restless, sum(map(bool, done.choices))


def first_broken(database: Database, name: str) -> tuple[Scenario, int, Run]:
    for seed in range(60):
        scenario = draw_scenario(seed, name)
        done = run(database, scenario, seed)
        if done.violations:
            return scenario, seed, done
    raise AssertionError("60 seeds found nothing")
