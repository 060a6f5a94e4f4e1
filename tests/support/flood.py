"""Tens of thousands of memories with a due job each, copied inside the database from one that the service made."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, Table, text

from om_workers.adapters.sql.rows import JOB, MEMORY
from tests.support.world import TENANT, World

QUIET = ("quiet-0", "quiet-1", "quiet-2")
"""Tenants with one memory in fifty together; all others belong to one loud tenant, ``TENANT``."""

_NUMBERS = "WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < :count)"
_OWNER = f"CASE WHEN n % 50 = 0 THEN 'quiet-' || (n / 50 % {len(QUIET)}) ELSE '{TENANT}' END"
_MEMORY = {"id": "'m' || n", "tenant_id": _OWNER, "scope_key": "'copy-' || n", "head_lineage_id": "'l' || n"}
_JOB = {
    "id": "'j' || n",
    "tenant_id": _OWNER,
    "memory_id": "'m' || n",
    "lineage_id": "'l' || n",
    "thread_id": "NULL",
}
# Each job is younger than the one before it. SQLite keeps times as texts.
_MADE_AT = {
    "sqlite": "substr(created_at, 1, 20) || printf('%06d', n)",
    "postgresql": "created_at + n * interval '1 microsecond'",
}


def flood_with_due_jobs(world: World, count: int) -> None:
    """``count`` copies of a memory with a queued job that was never sent."""
    world.thread("template", observation={"messageTokens": 100, "bufferTokens": False})
    world.say("template", 1, 200)
    world.queue.waiting.clear()
    with world.engine.begin() as connection:
        connection.execute(JOB.update().values(sends=0, sent_at=None))
        for tenant in QUIET:
            new = "INSERT INTO tenant (id, created_at) SELECT :new, created_at FROM tenant WHERE id = :old"
            connection.execute(text(new), {"new": tenant, "old": TENANT})
        _copy(connection, MEMORY, count, _MEMORY)
        _copy(connection, JOB, count, _JOB | {"created_at": _MADE_AT[connection.dialect.name]})
    with world.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def _copy(connection: Connection, table: Table, count: int, changed: Mapping[str, str]) -> None:
    names = ", ".join(column.name for column in table.columns)
    values = ", ".join(changed.get(column.name, column.name) for column in table.columns)
    source = f"SELECT {values} FROM copies, (SELECT * FROM {table.name} LIMIT 1) AS template"  # noqa: S608 - our own names
    insert = f"INSERT INTO {table.name} ({names})"
    first = connection.dialect.name == "sqlite"
    statement = f"{_NUMBERS} {insert} {source}" if first else f"{insert} {_NUMBERS} {source}"
    connection.execute(text(statement), {"count": count})
