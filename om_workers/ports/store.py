"""What the store does, inside one transaction and across them.

Every writing transaction on a memory goes through ``Store.write``: it locks the memory's row first, and only then is
time read and anything else looked at (RULES 7.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from om_workers.engine.edges import Pair
from om_workers.engine.jobs import JobState, Lane
from om_workers.ports.records import (
    AttemptRecord,
    CallEnd,
    CallRecord,
    CallStart,
    DueJob,
    EventRecord,
    HeldLease,
    JobRecord,
    KeyRecord,
    KnownMessage,
    LeaseRecord,
    LineageRecord,
    MemoryRecord,
    NewMessage,
    OptionLayers,
    PositionRecord,
    SegmentRecord,
    SegmentSize,
    StoredMessage,
    ThreadRecord,
    ThreadRef,
    Violation,
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
        """Seq and tokens of at most ``limit`` messages in (after, upto], in order."""
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

    def answer(self, thread_id: str, results: Sequence[tuple[str, int]]) -> dict[int, int]:
        """Record results (call id, seq) on the newest unanswered call of their id; result seq → first call seq."""
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

    def calls_touching(self, thread_id: str, first: int, last: int) -> list[CallRecord]:
        """Calls whose call or result lies in first..last."""
        ...


class Segments(Protocol):
    """Lineages, positions and segments."""

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


class Jobs(Protocol):
    """Jobs, leases and attempts."""

    def get(self, job_id: str) -> JobRecord:
        """The job; raises ``NotFoundError``."""
        ...

    def unfinished(self, lineage_id: str) -> list[JobRecord]:
        """The queued, running and dead jobs of a lineage: at most one a lane."""
        ...

    def insert(self, job: JobRecord) -> None:
        """Store a new job."""
        ...

    def update(self, job: JobRecord, state: JobState, values: Mapping[str, Any]) -> None:
        """Change a job's state and columns; raises ``IllegalTransitionError``."""
        ...

    def leases(self, lineage_id: str) -> list[LeaseRecord]:
        """The lineage's leases."""
        ...

    def update_lease(self, lineage_id: str, lane: Lane, values: Mapping[str, Any]) -> None:
        """Set these columns."""
        ...

    def start_attempt(self, attempt: AttemptRecord) -> None:
        """Store an attempt that begins."""
        ...

    def attempt_started_at(self, job_id: str, n: int) -> datetime | None:
        """When an attempt began."""
        ...

    def end_attempt(self, job_id: str, n: int, *, outcome: str, error: str | None, at: datetime) -> None:
        """Close an attempt, unless it is closed already."""
        ...


class Ledger(Protocol):
    """Model calls."""

    def start(self, call: CallStart) -> None:
        """Write a call as started."""
        ...

    def orphan(self, job_id: str, attempt: int, at: datetime) -> None:
        """Close the attempt's calls that never finished as unknown."""
        ...


class Events(Protocol):
    """Status events of the locked memory."""

    def add(self, kind: str, thread: str | None, data: Mapping[str, Any]) -> EventRecord:
        """Append an event under the memory's next n."""
        ...

    def added(self) -> tuple[EventRecord, ...]:
        """The events this transaction has appended."""
        ...


class Readable(Protocol):
    """What both kinds of transaction can read."""

    @property
    def now(self) -> datetime:
        """The time of this transaction: read after the lock, where there is one."""
        ...

    @property
    def threads(self) -> Threads:
        """Conversations."""
        ...

    @property
    def messages(self) -> Messages:
        """Messages and calls."""
        ...

    @property
    def segments(self) -> Segments:
        """Lineages, positions and segments."""
        ...

    @property
    def jobs(self) -> Jobs:
        """Jobs, leases and attempts."""
        ...


class MemoryTx(Readable, Protocol):
    """A writing transaction that holds the memory's lock."""

    @property
    def memory(self) -> MemoryRecord:
        """The memory, as read under the lock."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Model calls."""
        ...

    @property
    def events(self) -> Events:
        """Status events."""
        ...

    def options(self) -> OptionLayers:
        """The memory options in force."""
        ...

    def set_options(self, options: Mapping[str, Any]) -> int:
        """Store a new version of this memory's own options; its id."""
        ...

    def update_memory(self, values: Mapping[str, Any]) -> None:
        """Set these columns of the memory."""
        ...


class Snapshot(Readable, Protocol):
    """A reading transaction: everything in it is of one moment."""

    def find(self, tenant_id: str, external_id: str) -> ThreadRef | None:
        """Where the caller's thread is stored, if it is."""
        ...

    def list_threads(self, tenant_id: str, *, resource_id: str | None, after: str, limit: int) -> list[ThreadRecord]:
        """The tenant's threads in order of their external id, behind ``after``."""
        ...

    def memory(self, memory_id: str) -> MemoryRecord:
        """The memory; raises ``NotFoundError``."""
        ...

    def options(self, memory_id: str) -> OptionLayers:
        """The memory options in force."""
        ...

    def events(self, memory_id: str, *, after: int, limit: int) -> list[EventRecord]:
        """The memory's events with n > after, in order."""
        ...


class Ledgers(Protocol):
    """Ledger writes that stand alone: one short transaction each, with no memory's lock."""

    def begin(self, call: CallStart) -> None:
        """Write a call as started, before the model is asked."""
        ...

    def finish(self, call_id: str, end: CallEnd) -> None:
        """Close a call with what is known of it, whatever becomes of its job."""
        ...


class Dispatching(Protocol):
    """What dispatch and sweep look for across memories; short transactions of their own."""

    def due(self, *, lane: Lane, limit: int, lost_after_seconds: float | None) -> list[DueJob]:
        """Queued jobs to send now, fair over tenants and oldest first, marked as sent in the same transaction.

        Jobs that were sent before are among them only when ``lost_after_seconds`` is given: those sent and unclaimed
        for that long. Rows that another sweep holds are passed over.
        """
        ...

    def mark_sent(self, jobs: Sequence[DueJob]) -> list[DueJob]:
        """Those of these jobs that were not sent yet, marked as sent."""
        ...

    def in_flight(self) -> int:
        """Jobs sent and not claimed yet."""
        ...

    def memories_to_plan(self, *, limit: int) -> list[str]:
        """Memories whose ``plan_at`` has come."""
        ...

    def memories_with_lost_leases(self, *, limit: int) -> list[str]:
        """Memories with a lease that ran out."""
        ...

    def memories_with_due_probes(self, *, limit: int) -> list[str]:
        """Memories with a dead job whose probe time has come."""
        ...

    def health(self) -> Mapping[str, Any]:
        """Counts of jobs by state and lane, and the age of the oldest due job in seconds."""
        ...


class Heartbeats(Protocol):
    """A worker's leases; one statement each."""

    def renew(self, owner: str, *, lease_seconds: float) -> list[HeldLease]:
        """Extend every lease of ``owner`` up to its attempt's deadline, and say which those are."""
        ...

    def held_by(self, owner: str) -> list[str]:
        """Memories in which ``owner`` holds a lease."""
        ...


class Keys(Protocol):
    """API keys."""

    def add(self, key: KeyRecord, secret_hash: str) -> None:
        """Store a key (and its tenant, when it is new)."""
        ...

    def find(self, secret_hash: str) -> KeyRecord | None:
        """The key with this secret."""
        ...

    def list(self, tenant_id: str | None) -> list[KeyRecord]:
        """Keys, oldest first."""
        ...

    def revoke(self, key_id: str, at: datetime) -> bool:
        """Revoke a key; whether there was one."""
        ...


class Store(Protocol):
    """The database."""

    @property
    def keys(self) -> Keys:
        """API keys."""
        ...

    @property
    def dispatching(self) -> Dispatching:
        """Due work across memories."""
        ...

    @property
    def heartbeats(self) -> Heartbeats:
        """A worker's leases."""
        ...

    @property
    def ledgers(self) -> Ledgers:
        """Ledger writes that stand alone."""
        ...

    def write(self, memory_id: str) -> AbstractContextManager[MemoryTx]:
        """A transaction that holds the memory's lock; commits at the end, rolls back on any error.

        Raises ``NotFoundError``, ``BusyError`` when the lock cannot be had in time.
        """
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """A snapshot."""
        ...

    def create_thread(
        self, tenant_id: str, external_id: str, *, resource_id: str | None, ids: Sequence[str]
    ) -> tuple[ThreadRef, bool]:
        """The caller's thread, made with its memory and lineage when there is none; whether it is new.

        ``ids``: three fresh ids for thread, memory and lineage.
        """
        ...

    def set_installation_options(self, options: Mapping[str, Any]) -> bool:
        """Store a new version of the installation's options unless the newest says the same; whether it did."""
        ...

    def check(self, *, limit: int) -> list[Violation]:
        """Broken invariants in the stored rows, at most ``limit`` of each kind."""
        ...

    def ping(self) -> None:
        """Return when the database answers and its schema is the program's; raises ``OmError`` otherwise."""
        ...
