"""What an operation costs the database: its statements, the rows they read, and the tables they scan."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, event, text

_LIST = re.compile(r"IN \((?!SELECT)[^()]*\)")
_SCAN = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
_READ = """
SELECT t.relname, COALESCE(t.seq_tup_read, 0) + COALESCE(t.idx_tup_fetch, 0)
       + COALESCE((SELECT SUM(i.idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0)
FROM pg_stat_user_tables t
"""
_SCANNED = "SELECT relname, seq_scan FROM pg_stat_user_tables"


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
    """Rows and index entries read, and whole tables scanned, by table; what is zero is left out."""

    rows: Counter[str] = field(default_factory=Counter)
    scans: Counter[str] = field(default_factory=Counter)


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
    rows, scans = _statistics(engine)
    yield found
    rows_after, scans_after = _statistics(engine)
    found.rows = rows_after - rows
    found.scans = scans_after - scans


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


def _statistics(engine: Engine) -> tuple[Counter[str], Counter[str]]:
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_stat_force_next_flush()"))
    with engine.begin() as connection:
        rows = {name: int(count) for name, count in connection.execute(text(_READ))}
        scans = {name: int(count) for name, count in connection.execute(text(_SCANNED))}
    return Counter(rows), Counter(scans)
