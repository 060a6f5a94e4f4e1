"""Which invariants the stored rows break: what runs behind ``om doctor``."""

from __future__ import annotations

from sqlalchemy import Connection, text

from om_workers.adapters.sql.checks_of_counters import COUNTER_CHECKS
from om_workers.adapters.sql.checks_of_coverage import COVERAGE_CHECKS
from om_workers.adapters.sql.checks_of_work import WORK_CHECKS
from om_workers.adapters.sql.tables import UNFINISHED_SQL
from om_workers.engine.counting import MESSAGE_OVERHEAD
from om_workers.engine.jobs import Lane
from om_workers.ports.violations import Violation

_CHECKS = {**COVERAGE_CHECKS, **WORK_CHECKS, **COUNTER_CHECKS}
_WORDS = {"unfinished": UNFINISHED_SQL, "lanes": str(len(Lane)), "overhead": str(MESSAGE_OVERHEAD)}
_ELEMENTS = {"sqlite": "json_each", "postgresql": "json_array_elements_text"}

CHECK_NAMES: tuple[str, ...] = tuple(_CHECKS)
"""What is checked. A name begins with its invariant, a query gives the memory and what in it breaks the rule."""


def find_violations(connection: Connection, *, limit: int) -> list[Violation]:
    """Broken invariants, at most ``limit`` of each kind; an empty list is a healthy database."""
    words = _WORDS | {"elements": _ELEMENTS[connection.dialect.name]}
    return [
        Violation(name.partition(" ")[0], memory_id, f"{name}: {detail}")
        for name, sql in _CHECKS.items()
        for memory_id, detail in connection.execute(text(f"{sql.format_map(words)} LIMIT {int(limit)}"))
    ]
