"""What an operation costs the database: its statements, the rows they read, and the tables they scan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, ColumnElement, Engine, String, Table, cast, event, func, insert, select, text, true

from om_workers.adapters.sql import rows

_LIST = re.compile(r"IN \((?!SELECT)[^()]*\)")
_SCAN = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
_READ = """
SELECT t.relname, COALESCE(t.seq_tup_read, 0) + COALESCE(t.idx_tup_fetch, 0), COALESCE(t.seq_scan, 0),
       COALESCE((SELECT SUM(i.idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0)
FROM pg_stat_user_tables t
"""
_IDS = {
    "id",
    "memory_id",
    "thread_id",
    "lineage_id",
    "job_id",
    "segment_id",
    "source_id",
    "scope_key",
    "head_lineage_id",
}
_OWNERS = {"thread_id": rows.THREAD, "job_id": rows.JOB, "segment_id": rows.SEGMENT}


@dataclass
class Statements:
    """The statements that ran, each with its first parameters."""

    texts: list[str] = field(default_factory=list)
    parameters: list[Any] = field(default_factory=list)

    @property
    def shapes(self) -> list[str]:
        """The texts without the number of values in a list."""
        return [_LIST.sub("IN (…)", statement) for statement in self.texts]


@dataclass
class Reads:
    """Rows read, scans of the whole table and index entries read, by table; what is zero is left out.

    Among the entries may be some of rows that are gone by now.
    """

    rows: Counter[str] = field(default_factory=Counter)
    scans: Counter[str] = field(default_factory=Counter)
    entries: Counter[str] = field(default_factory=Counter)


@contextmanager
def recording(engine: Engine) -> Iterator[Statements]:
    """The statements of the block."""
    found = Statements()

    def record(_c: object, _cursor: object, statement: str, parameters: Any, _context: object, many: bool) -> None:
        found.texts.append(statement)
        found.parameters.append(parameters[0] if many else parameters)

    event.listen(engine, "before_cursor_execute", record)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", record)


@contextmanager
def reads(engine: Engine) -> Iterator[Reads]:
    """What PostgreSQL read in the block, which must use the pool's one connection: it reports its own reads only."""
    found = Reads()
    before = _statistics(engine)
    yield found
    after = _statistics(engine)
    found.rows, found.scans, found.entries = (now - then for now, then in zip(after, before, strict=True))


def scanned_tables(engine: Engine, statements: Statements) -> dict[str, str]:
    """Table (and index, where one is walked whole) → the statement for which SQLite would read all of it."""
    found: dict[str, str] = {}
    with engine.connect() as connection:
        for statement, parameters in zip(statements.texts, statements.parameters, strict=True):
            if statement.startswith("BEGIN"):
                continue
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            for *_, detail in plan:
                scan = _SCAN.match(detail)
                if scan is not None:
                    found["/".join(filter(None, scan.groups()))] = statement
    return found


def copy_memory(engine: Engine, memory_id: str, *, times: int) -> None:
    """Make healthy copies of a memory and all that is in it on PostgreSQL, each with ids of its own."""
    with engine.begin() as connection:
        for table in rows.MEMORY.metadata.sorted_tables:
            belongs = _belongs(table, memory_id)
            if belongs is None:
                continue
            numbers = func.generate_series(1, times).table_valued("number").render_derived()
            columns = [column for column in table.columns if column is not table.autoincrement_column]
            own = [_own_id(column, numbers.c.number) if _is_id(column) else column for column in columns]
            copies = select(*own).select_from(table.join(numbers, true())).where(belongs)
            connection.execute(insert(table).from_select(columns, copies))


def _belongs(table: Table, memory_id: str) -> ColumnElement[bool] | None:
    if table is rows.MEMORY:
        return rows.MEMORY.c.id == memory_id
    if "memory_id" in table.columns:
        return table.columns["memory_id"] == memory_id
    for name, owner in _OWNERS.items():
        if name in table.columns:
            return table.columns[name].in_(select(owner.c.id).where(owner.c.memory_id == memory_id))
    return None


def _is_id(column: Column[Any]) -> bool:
    return column.name in _IDS or (column.table is rows.THREAD and column.name == "external_id")


def _own_id(column: Column[Any], number: ColumnElement[int]) -> ColumnElement[str]:
    return column + "-" + cast(number, String)


def _statistics(engine: Engine) -> list[Counter[str]]:
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    with engine.begin() as connection:
        found = connection.execute(text(_READ)).all()
    return [Counter({row[0]: int(row[number]) for row in found}) for number in (1, 2, 3)]
