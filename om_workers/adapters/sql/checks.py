"""Which invariants the stored rows break: what runs behind ``om doctor``."""

from __future__ import annotations

from sqlalchemy import Connection, text

from om_workers.adapters.sql.checks_of_counters import COUNTER_CHECKS
from om_workers.adapters.sql.checks_of_coverage import COVERAGE_CHECKS
from om_workers.adapters.sql.checks_of_deletes import DELETE_CHECKS
from om_workers.adapters.sql.checks_of_work import WORK_CHECKS
from om_workers.adapters.sql.tables import UNFINISHED_SQL
from om_workers.engine.counting import MESSAGE_OVERHEAD
from om_workers.engine.jobs import Lane
from om_workers.ports.violations import Violation

_CHECKS = {**COVERAGE_CHECKS, **WORK_CHECKS, **COUNTER_CHECKS}
_WORDS = {"unfinished": UNFINISHED_SQL, "lanes": str(len(Lane)), "overhead": str(MESSAGE_OVERHEAD)}
_ELEMENTS = {"sqlite": "json_each", "postgresql": "json_array_elements_text"}

# A deleted memory is purged bit by bit, and whole no more; what a query finds without its memory counts too.
_LIVING = """
    WITH found(memory_id, detail) AS ({check})
    SELECT found.memory_id, found.detail FROM found LEFT JOIN memory ON memory.id = found.memory_id
    WHERE memory.deleted_at IS NULL LIMIT {limit}
    """
_DELETED = "WITH found(memory_id, detail) AS ({check}) SELECT memory_id, detail FROM found LIMIT {limit}"

CHECK_NAMES: tuple[str, ...] = (*_CHECKS, *DELETE_CHECKS)
"""What is checked. A name begins with its invariant, a query gives the memory and what in it breaks the rule."""


def find_violations(connection: Connection, *, limit: int) -> list[Violation]:
    """Broken invariants, at most ``limit`` of each kind; an empty list is a healthy database."""
    words = _WORDS | {"elements": _ELEMENTS[connection.dialect.name]}
    found: list[Violation] = []
    for checks, among in ((_CHECKS, _LIVING), (DELETE_CHECKS, _DELETED)):
        for name, sql in checks.items():
            query = among.format(check=sql.format_map(words), limit=int(limit))
            rows = connection.execute(text(query))
            found += [Violation(name.partition(" ")[0], memory_id, f"{name}: {detail}") for memory_id, detail in rows]
    return found
