"""What the store does, inside one transaction and across them.

Every writing transaction on a memory goes through ``Store.write``: it locks the memory's row first, and only then is
time read and anything else looked at (RULES 7.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from om_workers.engine.jobs import JobState
from om_workers.ports.conversations import Messages, Threads
from om_workers.ports.keys import Keys
from om_workers.ports.observations import Segments
from om_workers.ports.records import (
    EventRecord,
    JobRecord,
    MemoryRecord,
    OptionLayers,
    ThreadRecord,
    ThreadRef,
)
from om_workers.ports.violations import Violation
from om_workers.ports.work import Dispatching, Heartbeats, Jobs, Ledger, Ledgers, Purging


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
        """Where the caller's thread is stored, if it is. Raises ``GoneError`` for a deleted one."""
        ...

    def list_jobs(
        self, *, tenant_id: str | None, memory_id: str | None, state: JobState | None, limit: int
    ) -> list[JobRecord]:
        """Jobs, the newest first; of one tenant, of one memory, in one state, where these are given."""
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
    def purging(self) -> Purging:
        """Rows of deleted memories."""
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

        Raises ``NotFoundError``, ``GoneError`` for a deleted memory, ``BusyError`` when the lock cannot be had in time.
        """
        ...

    def read(self) -> AbstractContextManager[Snapshot]:
        """A snapshot."""
        ...

    def create_thread(
        self, tenant_id: str, external_id: str, *, resource_id: str | None, ids: Sequence[str], anew: bool = False
    ) -> tuple[ThreadRef, bool]:
        """The caller's thread, made with its memory and lineage when there is none; whether it is new.

        ``ids``: three fresh ids for thread, memory and lineage. ``anew``: a deleted one is made anew, with another
        memory; otherwise it raises ``GoneError``. Raises ``BusyError`` while the deleted one is being purged.
        """
        ...

    def set_installation_options(self, options: Mapping[str, Any]) -> bool:
        """Store a new version of the installation's options unless the newest says the same; whether it did."""
        ...

    @property
    def check_names(self) -> tuple[str, ...]:
        """What ``check`` looks for, one name a kind; the detail of a violation starts with the name of its kind."""
        ...

    def check(self, *, limit: int) -> list[Violation]:
        """Broken invariants in the stored rows, at most ``limit`` of each kind."""
        ...

    def ping(self) -> None:
        """Return when the database answers and its schema is the program's; raises ``OmError`` otherwise."""
        ...
