"""Lineages, positions and segments in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, or_, select, text, update

from om_workers.adapters.sql.rows import LINEAGE, POSITION, RANGE, SEGMENT, SOURCE, record
from om_workers.adapters.sql.tables import REBUILD_SQL
from om_workers.ports.errors import NotFoundError
from om_workers.ports.records import LineageRecord, PositionRecord, SegmentRecord, SegmentSize

_ORDER = (SEGMENT.c.ordinal, SEGMENT.c.generation)
_SIZE_COLUMNS = (
    SEGMENT.c.id,
    SEGMENT.c.message_tokens,
    SEGMENT.c.tokens,
    SEGMENT.c.text_tokens,
    SEGMENT.c.message_count,
    SEGMENT.c.job_id,
    SEGMENT.c.attempt,
)
# Statements of every turn are made once: making one costs more than running it.
_LINEAGE = select(LINEAGE).where(LINEAGE.c.id == bindparam("id"))
_POSITION = select(POSITION).where(
    POSITION.c.lineage_id == bindparam("lineage_id"), POSITION.c.thread_id == bindparam("thread_id")
)
_OF_LINEAGE = SEGMENT.c.lineage_id == bindparam("lineage_id")
_SIZES = select(*_SIZE_COLUMNS).where(_OF_LINEAGE, SEGMENT.c.state == "buffered").order_by(*_ORDER)
_IN_STATES = select(SEGMENT).where(_OF_LINEAGE, SEGMENT.c.state.in_(bindparam("states", expanding=True)))
_IN_STATES = _IN_STATES.order_by(*_ORDER)
_CANDIDATE = select(SEGMENT.c.id).where(_OF_LINEAGE, SEGMENT.c.state == "candidate")
_RANGES = select(RANGE.c.segment_id, RANGE.c.first_seq, RANGE.c.last_seq).where(
    RANGE.c.segment_id.in_(bindparam("ids", expanding=True))
)
_MOST_PARAMETERS = 1_000
_RANGE_COLUMNS = ("first_seq", "last_seq")


class SqlSegments:
    """Lineages and what they hold, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def lineage(self, lineage_id: str) -> LineageRecord:
        """The lineage; raises ``NotFoundError``."""
        row = self._connection.execute(_LINEAGE, {"id": lineage_id}).mappings().first()
        if row is None:
            raise NotFoundError("there is no such lineage")
        return record(LineageRecord, row)

    def lineages(self, memory_id: str) -> list[LineageRecord]:
        """Every lineage of a memory, by id."""
        found = self._connection.execute(select(LINEAGE).where(LINEAGE.c.memory_id == memory_id).order_by(LINEAGE.c.id))
        return [record(LineageRecord, row) for row in found.mappings()]

    def update_lineage(self, lineage_id: str, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        self._connection.execute(update(LINEAGE).where(LINEAGE.c.id == lineage_id).values(**values))

    def position(self, lineage_id: str, thread_id: str) -> PositionRecord:
        """The position; raises ``NotFoundError``."""
        row = self._connection.execute(_POSITION, {"lineage_id": lineage_id, "thread_id": thread_id}).mappings().first()
        if row is None:
            raise NotFoundError("there is no such position")
        return record(PositionRecord, row)

    def update_position(self, lineage_id: str, thread_id: str, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        where = (POSITION.c.lineage_id == lineage_id, POSITION.c.thread_id == thread_id)
        self._connection.execute(update(POSITION).where(*where).values(**values))

    def buffered(self, lineage_id: str) -> list[SegmentSize]:
        """The buffered segments, oldest first."""
        return [record(SegmentSize, row) for row in self._found(_SIZES, {"lineage_id": lineage_id})]

    def in_state(self, lineage_id: str, *states: str) -> list[SegmentRecord]:
        """The segments in these states, in order."""
        values = {"lineage_id": lineage_id, "states": list(states)}
        return [record(SegmentRecord, row) for row in self._found(_IN_STATES, values)]

    def states(self, segment_ids: Sequence[str]) -> dict[str, str]:
        """The state of each of these segments."""
        found = self._connection.execute(select(SEGMENT.c.id, SEGMENT.c.state).where(SEGMENT.c.id.in_(segment_ids)))
        return {row.id: row.state for row in found}

    def has_candidate(self, lineage_id: str) -> bool:
        """Whether a candidate reflection waits."""
        return self._connection.execute(_CANDIDATE, {"lineage_id": lineage_id}).first() is not None

    def count(self, lineage_id: str) -> int:
        """How many segments a lineage holds, in whatever state."""
        held = select(func.count()).select_from(SEGMENT).where(SEGMENT.c.lineage_id == lineage_id)
        return int(self._connection.execute(held).scalar_one())

    def holding(self, lineage_id: str, thread_id: str, seq: int) -> list[SegmentRecord]:
        """The segments of every state whose range holds the message ``seq``, in order."""
        held = select(RANGE.c.segment_id).where(
            RANGE.c.lineage_id == lineage_id,
            RANGE.c.thread_id == thread_id,
            RANGE.c.first_seq <= seq,
            RANGE.c.last_seq >= seq,
        )
        ids = list(self._connection.execute(held).scalars())
        return self._records(select(SEGMENT).where(SEGMENT.c.id.in_(ids)).order_by(*_ORDER))

    def awaiting_rebuild(self, lineage_id: str) -> list[SegmentRecord]:
        """Stand-ins of deletes whose messages are to be observed again, in order."""
        # Spelt as in the index: one over some of the rows serves only queries that say the same.
        waiting = select(SEGMENT).where(SEGMENT.c.lineage_id == lineage_id, text(f"segment.{REBUILD_SQL}"))
        return self._records(waiting.order_by(*_ORDER))

    def keep_stand_in(self, segment_id: str) -> None:
        """The stand-in is no longer to be replaced."""
        self._connection.execute(update(SEGMENT).where(SEGMENT.c.id == segment_id).values(rebuild=False))

    def remove(self, segment_ids: Sequence[str]) -> None:
        """Leave nothing of these segments."""
        either = or_(SOURCE.c.segment_id.in_(segment_ids), SOURCE.c.source_id.in_(segment_ids))
        self._connection.execute(delete(SOURCE).where(either))
        self._connection.execute(delete(RANGE).where(RANGE.c.segment_id.in_(segment_ids)))
        self._connection.execute(delete(SEGMENT).where(SEGMENT.c.id.in_(segment_ids)))

    def sources(self, segment_id: str) -> list[str]:
        """Ids of the segments that a reflection replaces, oldest first."""
        found = self._connection.execute(
            select(SOURCE.c.source_id)
            .select_from(SOURCE.join(SEGMENT, SEGMENT.c.id == SOURCE.c.source_id))
            .where(SOURCE.c.segment_id == segment_id)
            .order_by(*_ORDER)
        )
        return list(found.scalars())

    def insert(self, segment: SegmentRecord, thread_id: str, *, sources: Sequence[str] = (), live: bool) -> None:
        """Store a segment with its range and sources."""
        values = asdict(segment)
        span = {column: values.pop(column) for column in _RANGE_COLUMNS}
        self._connection.execute(insert(SEGMENT).values(**values))
        self._connection.execute(
            insert(RANGE).values(
                segment_id=segment.id, lineage_id=segment.lineage_id, thread_id=thread_id, live=live, **span
            )
        )
        if sources:
            rows = [{"segment_id": segment.id, "source_id": source} for source in sources]
            self._connection.execute(insert(SOURCE), rows)

    def set_state(self, segment_ids: Sequence[str], state: str, *, live: bool, at: datetime) -> None:
        """Move segments to a state, and their ranges in or out of coverage."""
        values: dict[str, Any] = {"state": state}
        if state == "active":
            values["activated_at"] = at
        self._connection.execute(update(SEGMENT).where(SEGMENT.c.id.in_(segment_ids)).values(**values))
        self._connection.execute(update(RANGE).where(RANGE.c.segment_id.in_(segment_ids)).values(live=live))

    def serve(self, segment_id: str, text: str, tokens: int) -> None:
        """Serve a shorter text of a segment from now on; the whole stays stored."""
        values = {"served": text, "tokens": tokens, "degraded": True}
        self._connection.execute(update(SEGMENT).where(SEGMENT.c.id == segment_id).values(**values))

    def _records(self, query: Select[Any]) -> list[SegmentRecord]:
        return [record(SegmentRecord, row) for row in self._found(query, {})]

    def _found(self, query: Select[Any], values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        # Two statements: joined, PostgreSQL takes state and lineage for independent, expects far too many segments
        # of a long memory, and reads the ranges of all memories.
        segments = [dict(row) for row in self._connection.execute(query, values).mappings()]
        if not segments:
            return []
        ids = [segment["id"] for segment in segments]
        spans: dict[str, dict[str, int]] = {}
        for start in range(0, len(ids), _MOST_PARAMETERS):
            ranges = self._connection.execute(_RANGES, {"ids": ids[start : start + _MOST_PARAMETERS]})
            spans |= {row.segment_id: {"first_seq": row.first_seq, "last_seq": row.last_seq} for row in ranges}
        return [segment | spans[segment["id"]] for segment in segments]
