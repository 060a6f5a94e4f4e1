"""Lineages, positions and segments, as a transaction sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from om_workers.ports.records import (
    LineageRecord,
    PositionRecord,
    SegmentRecord,
    SegmentSize,
)


class Segments(Protocol):
    """Lineages, positions and segments."""

    def lineages(self, memory_id: str) -> list[LineageRecord]:
        """Every lineage of a memory, by id."""
        ...

    def lineage(self, lineage_id: str) -> LineageRecord:
        """The lineage; raises ``NotFoundError``."""
        ...

    def update_lineage(self, lineage_id: str, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        ...

    def position(self, lineage_id: str, thread_id: str) -> PositionRecord:
        """The position; raises ``NotFoundError``."""
        ...

    def update_position(self, lineage_id: str, thread_id: str, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        ...

    def buffered(self, lineage_id: str) -> list[SegmentSize]:
        """The buffered segments, oldest first."""
        ...

    def in_state(self, lineage_id: str, *states: str) -> list[SegmentRecord]:
        """The segments in these states, in order."""
        ...

    def states(self, segment_ids: Sequence[str]) -> dict[str, str]:
        """The state of each of these segments."""
        ...

    def has_candidate(self, lineage_id: str) -> bool:
        """Whether a candidate reflection waits."""
        ...

    def count(self, lineage_id: str) -> int:
        """How many segments a lineage holds, in whatever state."""
        ...

    def holding(self, lineage_id: str, thread_id: str, seq: int) -> list[SegmentRecord]:
        """The segments of every state whose range holds the message ``seq``, in order."""
        ...

    def awaiting_rebuild(self, lineage_id: str) -> list[SegmentRecord]:
        """Stand-ins of deletes whose messages are to be observed again, in order."""
        ...

    def keep_stand_in(self, segment_id: str) -> None:
        """The stand-in is no longer to be replaced."""
        ...

    def remove(self, segment_ids: Sequence[str]) -> None:
        """Leave nothing of these segments."""
        ...

    def sources(self, segment_id: str) -> list[str]:
        """Ids of the segments that a reflection replaces, oldest first."""
        ...

    def insert(self, segment: SegmentRecord, thread_id: str, *, sources: Sequence[str] = (), live: bool) -> None:
        """Store a segment with its range and sources."""
        ...

    def set_state(self, segment_ids: Sequence[str], state: str, *, live: bool, at: datetime) -> None:
        """Move segments to a state, and their ranges in or out of coverage."""
        ...

    def serve(self, segment_id: str, text: str, tokens: int) -> None:
        """Serve a shorter text of a segment from now on; the whole stays stored."""
        ...
