"""Migrations go up and down with data inside, one process at a time, all or nothing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, inspect, literal, select, table, text

from om_workers.adapters.clock import SystemClock
from om_workers.adapters.sql import migrate
from om_workers.adapters.sql.connection import DatabaseClock, connect, writing
from om_workers.adapters.sql.migrate import downgrade, head_revision, upgrade
from om_workers.adapters.sql.store import SqlStore
from om_workers.engine.jobs import Lane
from om_workers.ports.errors import PermanentError
from om_workers.services.manual import activate_now, start_lane
from tests.contract.busy import exchange
from tests.services.waiting import wait_until
from tests.support.world import TENANT, World

OF_ALEMBIC = "alembic_version"
SMALL = {"observation": {"messageTokens": 100, "bufferTokens": 40}}
MIGRATING = """
import sys
from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.migrate import upgrade
engine = connect(sys.argv[1])
print("ready", flush=True)
upgrade(engine)
print("done", flush=True)
"""
HALF_WAY = """
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{head}"


def upgrade() -> None:
    op.create_table("half", sa.Column("id", sa.Integer, primary_key=True))
    op.execute("UPDATE thread SET title = 'changed'")
    op.execute("SELECT this FROM is_no_table")
"""


def test_the_schema_goes_down_to_nothing_and_up_again_with_data_inside(database_url: str) -> None:
    world = World(database_url)
    tables = table_names(world.engine)
    live(world)
    assert empty_tables(world.engine) == {"api_key"}
    while revision(world.engine) is not None:
        downgrade(world.engine, "-1")
    assert table_names(world.engine) == {OF_ALEMBIC}
    while revision(world.engine) != head_revision():
        upgrade(world.engine, "+1")
    assert table_names(world.engine) == tables
    live(world)
    assert empty_tables(world.engine) == {"api_key"}
    assert world.violations() == []
    world.engine.dispose()


def test_processes_that_migrate_at_once_take_turns(database_url: str) -> None:
    engine = connect(database_url)
    with turn(engine) as connection:
        processes = [start_migrating(database_url) for _ in range(2)]
        assert [line(process) for process in processes] == ["ready", "ready"]
        if engine.dialect.name == "postgresql":
            wait_until(lambda: waiting_for_turn(connection) == 2, what="both processes to wait for their turn")
    assert [line(process) for process in processes] == ["done", "done"]
    assert [process.wait(10) for process in processes] == [0, 0]
    assert revision(engine) == head_revision()
    engine.dispose()


def test_a_migration_that_fails_half_way_leaves_nothing_behind(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(database_url)
    live(world)
    scripts = shutil.copytree(migrate.SCRIPTS, tmp_path / "migrations")
    (scripts / "versions" / "9999_half_way.py").write_text(HALF_WAY.format(head=head_revision()), encoding="utf-8")
    monkeypatch.setattr(migrate, "SCRIPTS", scripts)
    with pytest.raises(PermanentError):
        upgrade(world.engine)
    assert revision(world.engine) == head_revision()
    assert "half" not in table_names(world.engine)
    assert world.view("t").thread.title is None
    assert world.violations() == []
    world.engine.dispose()


@pytest.mark.parametrize("change", ["DROP TABLE alembic_version", "DELETE FROM alembic_version"])
def test_a_database_that_is_behind_is_not_ready_and_says_what_to_do(database_url: str, change: str) -> None:
    engine = connect(database_url)
    upgrade(engine)
    store = SqlStore(engine, DatabaseClock(SystemClock()))
    store.ping()
    with engine.begin() as connection:
        connection.execute(text(change))
    with pytest.raises(PermanentError, match="run `om migrate`"):
        store.ping()
    engine.dispose()


def live(world: World) -> None:
    """Have a thread with all there is in a memory: calls, segments, a reflection, events."""
    world.ports.store.set_installation_options({})
    world.thread("t", **SMALL)
    for number in range(6):
        world.say("t", number, 20)
        world.append("t", *exchange(number))
        world.drain()
    activate_now(world.ports, TENANT, "t")
    start_lane(world.ports, TENANT, "t", Lane.REFLECT)
    world.drain()
    activate_now(world.ports, TENANT, "t")
    assert world.view("t").lineage.generation > 0


def empty_tables(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        first = {name: connection.execute(select(literal(1)).select_from(table(name))) for name in table_names(engine)}
        return {name for name, rows in first.items() if rows.first() is None}


def table_names(engine: Engine) -> set[str]:
    return set(inspect(engine).get_table_names())


def revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


@contextmanager
def turn(engine: Engine) -> Iterator[Connection]:
    """The turn to migrate, held by this test."""
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({migrate.TURN})"))
        yield connection


def waiting_for_turn(connection: Connection) -> int:
    waiting = text("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    return int(connection.execute(waiting).scalar_one())


def start_migrating(url: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MIGRATING, url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
