"""The doctor sees each kind of damage, and sees none in a healthy database however much happens in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, text

from om_workers.adapters.sql.checks import CHECK_NAMES, find_violations
from tests.contract.busy import fill
from tests.contract.damage import NAMED, Corruption
from tests.contract.damage_to_counters import COUNTER_DAMAGE
from tests.contract.damage_to_coverage import COVERAGE_DAMAGE
from tests.contract.damage_to_deletes import DELETE_DAMAGE
from tests.contract.damage_to_work import WORK_DAMAGE
from tests.services.postgres import PostgresServer
from tests.support.world import World

pytestmark = pytest.mark.xdist_group("doctor")  # its databases take seconds to make: once, where groups are kept
CORRUPTIONS = (*COVERAGE_DAMAGE, *WORK_DAMAGE, *COUNTER_DAMAGE, *DELETE_DAMAGE)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def busy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A busy database, made once: what tests do to it they take back."""
    if request.param == "sqlite":
        world = fill(World(f"sqlite:///{tmp_path_factory.mktemp('busy') / 'om.db'}"))
        yield world.engine
        world.engine.dispose()
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    url = server.create_database()
    world = fill(World(url))
    yield world.engine
    world.engine.dispose()
    server.drop_database(url)


def test_a_healthy_database_has_no_violation_whatever_happens_in_it(world: World) -> None:
    """Appends, tool calls, observations, activations, reflections, failures of each kind, lost leases, stand-ins."""
    found = []
    fill(world, each=lambda: found.extend(world.violations()))
    assert found == []


@pytest.mark.parametrize("corruption", CORRUPTIONS, ids=lambda corruption: corruption.sql.split("\n")[0][:70])
def test_damage_is_reported_by_the_check_it_belongs_to_and_by_no_other(busy: Engine, corruption: Corruption) -> None:
    with busy.connect() as connection:
        unguard(connection, corruption.unguarded)
        changed = connection.execute(text(filled(corruption.sql)))
        assert changed.rowcount > 0, "nothing was damaged"
        found = {violation.detail.partition(": ")[0] for violation in find_violations(connection, limit=5)}
        connection.rollback()
    assert found == {corruption.check, *corruption.also}


def test_every_check_is_seen_to_fail() -> None:
    assert {corruption.check for corruption in CORRUPTIONS} == set(CHECK_NAMES)


def test_a_violation_names_its_invariant_its_memory_and_the_row(world: World) -> None:
    world.thread("t")
    world.say("t", 1, 10)
    with world.engine.begin() as connection:
        connection.execute(text("UPDATE message SET offset_tokens = 7"))
    (violation,) = world.violations()
    assert violation.invariant == "I13"
    assert violation.memory_id == world.view("t").memory.id
    assert violation.detail.endswith("not the sum of the messages before it: m1")


def test_a_check_lists_at_most_as_many_rows_as_asked_for(world: World) -> None:
    world.thread("t")
    for number in range(4):
        world.say("t", number, 10)
    with world.engine.begin() as connection:
        connection.execute(text("UPDATE message SET offset_tokens = 7"))
    assert len(world.ports.store.check(limit=3)) == 3


def unguard(connection: Connection, name: str) -> None:
    """Take away what would refuse the damage; rolled back with it."""
    table, _, constraint = name.partition(".")
    if not constraint:
        if name:
            connection.execute(text(f"DROP INDEX {name}"))
    elif connection.dialect.name == "sqlite":
        connection.execute(text("PRAGMA defer_foreign_keys = ON"))
    else:
        connection.execute(text(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}"))


def filled(sql: str) -> str:
    while "{" in sql:
        sql = sql.format_map(NAMED)
    return sql
