"""Which invariants the stored rows keep and which they break."""

from __future__ import annotations

from dataclasses import dataclass

from om_workers.ports.bundle import Ports
from om_workers.ports.violations import Violation


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of check and what it found; nothing is healthy."""

    name: str
    violations: tuple[Violation, ...]


def examine(ports: Ports, *, limit: int = 5) -> list[Finding]:
    """Every check with at most ``limit`` violations each. Raises ``OmError`` when the database cannot be checked."""
    ports.store.ping()
    found = ports.store.check(limit=limit)
    return [
        Finding(name, tuple(violation for violation in found if violation.detail.startswith(f"{name}: ")))
        for name in ports.store.check_names
    ]
