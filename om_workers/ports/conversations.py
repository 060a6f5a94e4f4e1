"""Conversations and what was said in them, as a transaction sees them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from om_workers.engine.edges import Pair
from om_workers.ports.records import (
    CallRecord,
    KnownMessage,
    NewMessage,
    StoredMessage,
    ThreadRecord,
)


class Threads(Protocol):
    """Conversations."""

    def get(self, thread_id: str) -> ThreadRecord:
        """The thread; raises ``NotFoundError``."""
        ...

    def of_memory(self, memory_id: str) -> ThreadRecord:
        """The one thread of a memory of thread scope; raises ``NotFoundError``."""
        ...

    def update(self, thread_id: str, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        ...


class Messages(Protocol):
    """Messages and the tool calls among them."""

    def known(self, thread_id: str, external_ids: Sequence[str]) -> list[KnownMessage]:
        """Those of these ids that are stored already."""
        ...

    def insert(self, thread: ThreadRecord, messages: Sequence[NewMessage], at: datetime) -> None:
        """Store the messages from ``thread.next_seq`` on."""
        ...

    def offset_before(self, thread_id: str, seq: int) -> int:
        """Tokens of all messages before ``seq``."""
        ...

    def sizes(self, thread_id: str, after: int, upto: int, *, limit: int) -> list[tuple[int, int]]:
        """Seq and tokens of at most ``limit`` messages in (after, upto] that are not deleted, in order."""
        ...

    def between(self, thread_id: str, first: int, last: int) -> list[StoredMessage]:
        """The messages first..last that are not deleted, in order."""
        ...

    def newest_before(self, thread_id: str, seq: int, *, limit: int) -> list[StoredMessage]:
        """At most ``limit`` messages up to and with ``seq``, newest first."""
        ...

    def add_calls(self, thread_id: str, calls: Sequence[tuple[str, int]], at: datetime) -> None:
        """Record calls (call id, seq)."""
        ...

    def answer(self, thread_id: str, results: Sequence[tuple[str, int]]) -> None:
        """Record results (call id, seq, in order): each answers the newest open call of its id at or before it."""
        ...

    def close_calls(self, thread_id: str, *, before: int) -> None:
        """Count the open calls before seq ``before`` as closed without a result."""
        ...

    def open_calls(self, thread_id: str) -> list[CallRecord]:
        """Calls that are neither answered nor closed, in order."""
        ...

    def crossing(self, thread_id: str, limit: int, *, after: int) -> list[Pair]:
        """Answered pairs with the call in (after, limit] and the result behind ``limit``."""
        ...

    def count(self, thread_id: str) -> int:
        """How many messages of a thread are not deleted."""
        ...

    def erase(self, thread_id: str, seq: int, at: datetime) -> None:
        """Leave nothing of a message but its id, its seq and when it was deleted; later offsets shrink by its tokens.

        Its calls are forgotten; calls that it answered count as closed without a result.
        """
        ...

    def newest_user_before(self, thread_id: str, seq: int) -> int | None:
        """The seq of the newest message of the user before ``seq`` that says more than tool results."""
        ...

    def calls_touching(self, thread_id: str, first: int, last: int) -> list[CallRecord]:
        """Calls whose call or result lies in first..last."""
        ...
