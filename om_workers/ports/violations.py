"""What a check of the stored rows finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken invariant, found in stored rows."""

    invariant: str
    memory_id: str | None
    detail: str
