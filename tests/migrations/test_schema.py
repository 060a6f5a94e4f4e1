"""The schema that migrations make is the one the program was written for, on both databases."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect, text

from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.migrate import upgrade
from om_workers.adapters.sql.tables import Memory

METADATA = Memory.metadata
OF_ALEMBIC = "alembic_version"


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = connect(database_url)
    upgrade(engine)
    yield engine
    engine.dispose()


def test_the_models_ask_for_nothing_that_migrations_did_not_make(engine: Engine) -> None:
    options = {"compare_type": True, "compare_server_default": True}
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection, opts=options), METADATA)
    assert differences == []


def test_indexes_cover_the_same_rows_as_in_the_models(engine: Engine) -> None:
    """The rows an index covers are not compared above, and partial unique indexes carry the protocol."""
    migrated = index_definitions(engine)
    with engine.begin() as connection:
        connection.execute(text(f"DROP TABLE {OF_ALEMBIC}"))
        METADATA.drop_all(connection)
        METADATA.create_all(connection)
    assert sum(" where " in definition for definition in migrated.values()) >= 8
    assert migrated == index_definitions(engine)


def test_every_constraint_and_index_has_the_name_that_the_models_give_it(engine: Engine) -> None:
    """What has no name of ours cannot be changed by a migration that must run on both databases."""
    given = [constraint.name for table in METADATA.tables.values() for constraint in table.constraints]
    given += [index.name for table in METADATA.tables.values() for index in table.indexes]
    assert None not in given
    assert sorted(found_names(engine)) == sorted(map(str, given))


def found_names(engine: Engine) -> list[str]:
    inspector = inspect(engine)
    names: list[str | None] = []
    for table in inspector.get_table_names():
        if table == OF_ALEMBIC:
            continue
        names.append(inspector.get_pk_constraint(table)["name"])
        names += [key["name"] for key in inspector.get_foreign_keys(table)]
        names += [unique["name"] for unique in inspector.get_unique_constraints(table)]
        names += [index["name"] for index in inspector.get_indexes(table) if "duplicates_constraint" not in index]
    return [str(name) for name in names]


def index_definitions(engine: Engine) -> dict[str, str]:
    """Each index's definition by its name, spaces and case aside."""
    query = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
    if engine.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    with engine.connect() as connection:
        rows = connection.execute(text(query)).all()
    return {name: re.sub(r"[\s\"]+", " ", definition).lower() for name, definition in rows if OF_ALEMBIC not in name}
