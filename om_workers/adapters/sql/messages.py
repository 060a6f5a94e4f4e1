"""Messages and the tool calls among them, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, or_, select, text, update

from om_workers.adapters.sql.rows import CALL, MESSAGE, record, stored_message
from om_workers.engine.counting import COUNTER_VERSION
from om_workers.engine.edges import Pair
from om_workers.engine.steps import only_results
from om_workers.ports.records import CallRecord, KnownMessage, NewMessage, StoredMessage, ThreadRecord

# Spelt as in the index over open calls: an index over some of the rows serves only queries that say the same.
_OPEN = text("tool_call.result_seq IS NULL AND NOT tool_call.closed")

# Statements of every turn are made once: making one costs more than running it.
_OFFSET = select(MESSAGE.c.offset_tokens).where(
    MESSAGE.c.thread_id == bindparam("thread_id"), MESSAGE.c.seq == bindparam("seq")
)
_OPEN_CALLS = select(CALL).where(CALL.c.thread_id == bindparam("thread_id"), _OPEN).order_by(CALL.c.call_seq)
_CROSSING = select(CALL.c.call_seq, CALL.c.result_seq).where(
    CALL.c.thread_id == bindparam("thread_id"),
    CALL.c.result_seq > bindparam("limit"),
    CALL.c.call_seq <= bindparam("limit"),
    CALL.c.call_seq > bindparam("after"),
)


class SqlMessages:
    """Messages, within one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def known(self, thread_id: str, external_ids: Sequence[str]) -> list[KnownMessage]:
        """Those of these ids that are stored already."""
        columns = (MESSAGE.c.external_id, MESSAGE.c.seq, MESSAGE.c.content_hash, MESSAGE.c.deleted_at)
        found = self._connection.execute(
            select(*columns).where(MESSAGE.c.thread_id == thread_id, MESSAGE.c.external_id.in_(external_ids))
        )
        return [KnownMessage(row.external_id, row.seq, row.content_hash, row.deleted_at is not None) for row in found]

    def insert(self, thread: ThreadRecord, messages: Sequence[NewMessage], at: datetime) -> None:
        """Store the messages from ``thread.next_seq`` on."""
        rows: list[dict[str, Any]] = []
        offset = thread.message_tokens
        for number, message in enumerate(messages):
            rows.append(_row(thread, message) | {"seq": thread.next_seq + number, "offset_tokens": offset})
            offset += message.tokens
        self._connection.execute(insert(MESSAGE), [row | {"received_at": at} for row in rows])

    def offset_before(self, thread_id: str, seq: int) -> int:
        """Tokens of all messages before ``seq``."""
        found = self._connection.execute(_OFFSET, {"thread_id": thread_id, "seq": seq})
        return int(found.scalar_one())

    def sizes(self, thread_id: str, after: int, upto: int, *, limit: int) -> list[tuple[int, int]]:
        """Seq and tokens of at most ``limit`` messages in (after, upto] that are not deleted, in order."""
        found = self._connection.execute(
            select(MESSAGE.c.seq, MESSAGE.c.tokens)
            .where(
                MESSAGE.c.thread_id == thread_id,
                MESSAGE.c.seq > after,
                MESSAGE.c.seq <= upto,
                MESSAGE.c.deleted_at.is_(None),
            )
            .order_by(MESSAGE.c.seq)
            .limit(limit)
        )
        return [(row.seq, row.tokens) for row in found]

    def between(self, thread_id: str, first: int, last: int) -> list[StoredMessage]:
        """The messages first..last that are not deleted, in order."""
        found = self._connection.execute(
            select(MESSAGE)
            .where(MESSAGE.c.thread_id == thread_id, MESSAGE.c.seq.between(first, last), MESSAGE.c.deleted_at.is_(None))
            .order_by(MESSAGE.c.seq)
        )
        return [stored_message(row) for row in found.mappings()]

    def newest_before(self, thread_id: str, seq: int, *, limit: int) -> list[StoredMessage]:
        """At most ``limit`` messages up to and with ``seq``, newest first."""
        found = self._connection.execute(
            select(MESSAGE)
            .where(MESSAGE.c.thread_id == thread_id, MESSAGE.c.seq <= seq, MESSAGE.c.deleted_at.is_(None))
            .order_by(MESSAGE.c.seq.desc())
            .limit(limit)
        )
        return [stored_message(row) for row in found.mappings()]

    def add_calls(self, thread_id: str, calls: Sequence[tuple[str, int]], at: datetime) -> None:
        """Record calls (call id, seq)."""
        if not calls:
            return
        rows = [
            {"thread_id": thread_id, "call_id": call, "call_seq": seq, "opened_at": at, "closed": False}
            for call, seq in dict.fromkeys(calls)
        ]
        self._connection.execute(insert(CALL), rows)

    def answer(self, thread_id: str, results: Sequence[tuple[str, int]]) -> None:
        """Record results (call id, seq, in order): each answers the newest open call of its id at or before it."""
        waiting = self._unanswered(thread_id, {call_id for call_id, _ in results})
        for call_id, seq in results:
            open_before = [call_seq for call_seq in waiting.get(call_id, ()) if call_seq <= seq]
            if open_before:
                waiting[call_id].remove(open_before[-1])
                self._connection.execute(
                    update(CALL)
                    .where(CALL.c.thread_id == thread_id, CALL.c.call_seq == open_before[-1], CALL.c.call_id == call_id)
                    .values(result_seq=seq)
                )

    def close_calls(self, thread_id: str, *, before: int) -> None:
        """Count the open calls before seq ``before`` as closed without a result."""
        self._connection.execute(
            update(CALL).where(CALL.c.thread_id == thread_id, _OPEN, CALL.c.call_seq < before).values(closed=True)
        )

    def open_calls(self, thread_id: str) -> list[CallRecord]:
        """Calls that are neither answered nor closed, in order."""
        found = self._connection.execute(_OPEN_CALLS, {"thread_id": thread_id})
        return [record(CallRecord, row) for row in found.mappings()]

    def crossing(self, thread_id: str, limit: int, *, after: int) -> list[Pair]:
        """Answered pairs with the call in (after, limit] and the result behind ``limit``."""
        found = self._connection.execute(_CROSSING, {"thread_id": thread_id, "limit": limit, "after": after})
        return [Pair(row.call_seq, row.result_seq) for row in found]

    def count(self, thread_id: str) -> int:
        """How many messages of a thread are not deleted."""
        left = (MESSAGE.c.thread_id == thread_id, MESSAGE.c.deleted_at.is_(None))
        return int(self._connection.execute(select(func.count()).select_from(MESSAGE).where(*left)).scalar_one())

    def erase(self, thread_id: str, seq: int, at: datetime) -> None:
        """Leave nothing of a message but its id, its seq and when it was deleted; later offsets shrink."""
        own = (MESSAGE.c.thread_id == thread_id, MESSAGE.c.seq == seq)
        tokens = self._connection.execute(select(MESSAGE.c.tokens).where(*own)).scalar_one()
        blank = {"content_hash": "", "role": "", "parts": [], "part_tokens": [], "tokens": 0, "actor_model": None}
        times = {"created_at": at, "received_at": at, "utc_offset_minutes": 0, "time_given": False, "deleted_at": at}
        self._connection.execute(update(MESSAGE).where(*own).values(**blank, **times))
        self._connection.execute(
            update(MESSAGE)
            .where(MESSAGE.c.thread_id == thread_id, MESSAGE.c.seq > seq)
            .values(offset_tokens=MESSAGE.c.offset_tokens - tokens)
        )
        self._connection.execute(delete(CALL).where(CALL.c.thread_id == thread_id, CALL.c.call_seq == seq))
        answered = (CALL.c.thread_id == thread_id, CALL.c.result_seq == seq)
        self._connection.execute(update(CALL).where(*answered).values(result_seq=None, closed=True))

    def newest_user_before(self, thread_id: str, seq: int) -> int | None:
        """The seq of the newest message of the user before ``seq`` that says more than tool results."""
        found = self._connection.execute(
            select(MESSAGE.c.seq, MESSAGE.c.parts)
            .where(MESSAGE.c.thread_id == thread_id, MESSAGE.c.seq < seq, MESSAGE.c.role == "user")
            .order_by(MESSAGE.c.seq.desc())
        )
        with found:
            return next((row.seq for row in found if not only_results(tuple(row.parts))), None)

    def calls_touching(self, thread_id: str, first: int, last: int) -> list[CallRecord]:
        """Calls whose call or result lies in first..last."""
        found = self._connection.execute(
            select(CALL)
            .where(
                CALL.c.thread_id == thread_id,
                or_(CALL.c.call_seq.between(first, last), CALL.c.result_seq.between(first, last)),
            )
            .order_by(CALL.c.call_seq)
        )
        return [record(CallRecord, row) for row in found.mappings()]

    def _unanswered(self, thread_id: str, call_ids: set[str]) -> dict[str, list[int]]:
        if not call_ids:
            return {}
        found = self._connection.execute(
            select(CALL.c.call_id, CALL.c.call_seq)
            .where(CALL.c.thread_id == thread_id, CALL.c.call_id.in_(call_ids), CALL.c.result_seq.is_(None))
            .order_by(CALL.c.call_seq)
        )
        waiting: dict[str, list[int]] = {}
        for row in found:
            waiting.setdefault(row.call_id, []).append(row.call_seq)
        return waiting


def _row(thread: ThreadRecord, message: NewMessage) -> dict[str, Any]:
    offset = message.created_at.utcoffset()
    return {
        "thread_id": thread.id,
        "external_id": message.external_id,
        "content_hash": message.content_hash,
        "role": message.role,
        "parts": [dict(part) for part in message.parts],
        "part_tokens": list(message.part_tokens),
        "counter_version": COUNTER_VERSION,
        "tokens": message.tokens,
        "created_at": message.created_at,
        "utc_offset_minutes": 0 if offset is None else int(offset.total_seconds() // 60),
        "time_given": message.time_given,
        "actor_model": message.actor_model,
    }
