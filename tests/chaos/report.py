"""What a run of storms has to show."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

MOST_RECOVERY_SECONDS = 15.0
"""Longest time after which work must go on once everything is back."""


@dataclass(frozen=True)
class Result:
    """One storm's figures. ``killed_calls``: calls in flight in a worker when it was killed, never answered."""

    seed: int
    database: str
    seconds: float = 0.0
    recovery_seconds: float = 0.0
    slowest_append_seconds: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    clients: dict[str, int] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    killed_calls: int = 0
    broken_calls: int = 0
    paid_twice: int = 0
    parked: int = 0
    losses: int = 0
    doubles: int = 0
    violations: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether every promise was kept."""
        slow = self.recovery_seconds > MOST_RECOVERY_SECONDS
        return not (self.losses or self.doubles or self.violations or slow)


def one_line(result: Result) -> str:
    """A storm in one line, for people who watch."""
    verdict = "ok" if result.good else "BROKEN"
    return (
        f"seed {result.seed:>4} {result.database:<10} {verdict:<6} {result.seconds:5.1f} s"
        f" · {result.clients.get('messages', 0)} messages, {result.calls} calls, {result.killed_calls} killed in"
        f" mid-call, {result.paid_twice} paid twice · recovery {result.recovery_seconds:.1f} s"
    )


def print_table(results: Sequence[Result], console: Console) -> None:
    """All storms together."""
    table = Table("", "", show_header=False, title=f"{len(results)} storms")
    for name, value in summary(results).items():
        if isinstance(value, dict):
            for key, number in sorted(value.items()):
                table.add_row(f"{name}: {key}", str(number))
        else:
            table.add_row(name, str(value))
    console.print(table)


def write_json(results: Sequence[Result], file: Path) -> None:
    """The same as data, with every storm."""
    storms = [asdict(result) | {"good": result.good} for result in results]
    file.write_text(json.dumps({"summary": summary(results), "storms": storms}, indent=2) + "\n", encoding="utf-8")


def summary(results: Sequence[Result]) -> dict[str, int | float | dict[str, int]]:
    """Sums over all storms, and the slowest of each kind."""
    return {
        "storms": len(results),
        "broken": sum(not result.good for result in results),
        "messages acknowledged": sum(result.clients.get("messages", 0) for result in results),
        "contexts checked": sum(result.clients.get("contexts read", 0) for result in results),
        "model calls": sum(result.calls for result in results),
        "calls killed in flight": sum(result.killed_calls for result in results),
        "calls nobody waited for": sum(result.broken_calls for result in results),
        "calls paid twice": sum(result.paid_twice for result in results),
        "jobs parked": sum(result.parked for result in results),
        "losses": sum(result.losses for result in results),
        "doubles": sum(result.doubles for result in results),
        "violations": sum(len(result.violations) for result in results),
        "slowest recovery (s)": round(max((result.recovery_seconds for result in results), default=0.0), 1),
        "slowest append (s)": round(max((result.slowest_append_seconds for result in results), default=0.0), 1),
        "fault": _sum(result.faults for result in results),
        "clients": _sum(result.clients for result in results),
        "attempts": _sum(result.attempts for result in results),
    }


def _sum(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)
