"""Jobs, leases, attempts and model calls: inside a transaction, and across memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from om_workers.engine.jobs import JobState, Lane, WorkQueue
from om_workers.ports.attempts import AttemptRecord, CallEnd, CallStart, HeldLease
from om_workers.ports.records import DueJob, JobRecord, LeaseRecord


@dataclass(frozen=True, slots=True)
class CallTotal:
    """Calls of one kind, and the tokens of their prompts by our own count."""

    kind: str
    calls: int
    prompt_tokens: int


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


class Ledgers(Protocol):
    """Ledger writes that stand alone: one short transaction each, with no memory's lock."""

    def begin(self, call: CallStart) -> bool:
        """Write a call as started, before the model is asked; ``False``: its attempt has ended, nothing is written."""
        ...

    def finish(self, call_id: str, end: CallEnd) -> None:
        """Close a call with what is known of it, whatever becomes of its job."""
        ...

    def totals(self, tenant_id: str) -> list[CallTotal]:
        """The tenant's calls by kind."""
        ...


class Dispatching(Protocol):
    """What dispatch and sweep look for across memories; short transactions of their own."""

    def due(self, *, queue: WorkQueue, limit: int, lost_after_seconds: float | None) -> list[DueJob]:
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


class Purging(Protocol):
    """Takes away the rows of deleted memories, in short transactions of their own."""

    def waiting(self, *, limit: int) -> list[str]:
        """Memories that are deleted and still hold rows, the oldest delete first."""
        ...

    def purge(self, memory_id: str, *, limit: int) -> bool:
        """Take away at most ``limit`` rows of a deleted memory; whether none is left."""
        ...


class Heartbeats(Protocol):
    """A worker's leases; one statement each."""

    def renew(self, owner: str, job_ids: Sequence[str], *, lease_seconds: float) -> list[HeldLease]:
        """Extend the leases of ``owner`` on these jobs up to their attempts' deadlines, and say which it still holds.

        A lease of its own that it no longer works under is left to run out.
        """
        ...

    def held_by(self, owner: str) -> list[str]:
        """Memories in which ``owner`` holds a lease."""
        ...
