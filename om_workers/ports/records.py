"""The rows that services read and write, as frozen values; times are aware, in UTC unless said otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from om_workers.engine.jobs import JobState, Lane, Trigger, WorkQueue, queue_of
from om_workers.engine.messages import Message, Part


@dataclass(frozen=True, slots=True)
class ThreadRef:
    """Where a caller's thread is stored."""

    tenant_id: str
    thread_id: str
    memory_id: str


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory's own row, as read under its lock or in a snapshot."""

    id: str
    tenant_id: str
    head_lineage_id: str
    event_count: int
    last_activity_at: datetime | None
    last_model: str | None
    idle_handled_at: datetime | None
    deleted_at: datetime | None


@dataclass(frozen=True, slots=True)
class ThreadRecord:
    """A conversation.

    ``message_tokens`` is the running sum over its messages, ``unfinished_from`` the first seq of a step that the actor
    has not answered yet.
    """

    id: str
    tenant_id: str
    memory_id: str
    external_id: str
    resource_id: str | None
    title: str | None
    meta: Mapping[str, Any]
    next_seq: int
    message_tokens: int
    unfinished_from: int | None
    newest_user_seq: int | None
    step_count: int
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that was accepted and gets its seq with the insert."""

    external_id: str
    content_hash: str
    role: str
    parts: tuple[Part, ...]
    part_tokens: tuple[int, ...]
    tokens: int
    created_at: datetime
    time_given: bool
    actor_model: str | None = None


@dataclass(frozen=True, slots=True)
class KnownMessage:
    """What is needed of a stored message to recognise a repeated one."""

    external_id: str
    seq: int
    content_hash: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A stored message with what only the store knows of it; ``time_given`` says whether the sender gave its time."""

    message: Message
    received_at: datetime
    time_given: bool
    actor_model: str | None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A tool call: who called, which message answered, whether it counts as closed without a result."""

    call_id: str
    call_seq: int
    result_seq: int | None
    opened_at: datetime
    closed: bool


@dataclass(frozen=True, slots=True)
class LineageRecord:
    """A lineage and its counters: ``whole_tokens`` of the active segments' stored texts, the others as served.

    ``rebuilds``: stand-ins of deletes whose messages are to be observed again.
    """

    id: str
    memory_id: str
    epoch: int
    generation: int
    frozen: bool
    next_ordinal: int
    active_tokens: int
    whole_tokens: int
    buffered_tokens: int
    reflect_above: int
    rebuilds: int


@dataclass(frozen=True, slots=True)
class PositionRecord:
    """How far a lineage covers a thread; tokens are message tokens."""

    active_seq: int
    buffered_seq: int
    pending_tokens: int
    buffered_tokens: int


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """A segment with the one range it has in thread scope."""

    id: str
    lineage_id: str
    memory_id: str
    kind: str
    state: str
    ordinal: int
    generation: int
    text: str
    text_tokens: int
    served: str
    tokens: int
    degraded: bool
    message_tokens: int
    message_count: int
    current_task: str | None
    suggested_response: str | None
    job_id: str
    attempt: int
    revision: Mapping[str, Any]
    created_at: datetime
    activated_at: datetime | None
    first_seq: int
    last_seq: int
    rebuild: bool = False


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """What planning needs of a buffered segment."""

    id: str
    message_tokens: int
    tokens: int
    text_tokens: int
    last_seq: int
    message_count: int
    job_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job's row."""

    id: str
    tenant_id: str
    memory_id: str
    lineage_id: str
    thread_id: str | None
    lane: Lane
    state: JobState
    trigger: Trigger
    sequence: int
    first_seq: int | None
    last_seq: int | None
    basis: tuple[str, ...] | None
    attempts: int
    failures: Mapping[str, int]
    last_outcome: str | None
    last_error: str | None
    not_before: datetime
    sends: int
    quarantined: bool
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class LeaseRecord:
    """A lane's lease; ``owner`` is ``None`` while nobody holds it."""

    lineage_id: str
    lane: Lane
    memory_id: str
    job_id: str | None
    owner: str | None
    fence: int
    expires_at: datetime | None
    deadline: datetime | None
    sequence: int
    hold_until: datetime | None


@dataclass(frozen=True, slots=True)
class EventRecord:
    """A status event; ``n`` counts the memory's events in commit order, from 1."""

    memory_id: str
    n: int
    thread: str | None
    type: str
    data: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class DueJob:
    """A job whose task is to be sent, and the queue it goes to."""

    id: str
    memory_id: str
    lane: Lane
    quarantined: bool = False

    @property
    def queue(self) -> WorkQueue:
        """The queue its task waits in."""
        return queue_of(self.lane, quarantined=self.quarantined)


@dataclass(frozen=True, slots=True)
class OptionLayers:
    """The memory options in force, weakest layer first, with the version id of each (``None``: no such layer)."""

    installation: Mapping[str, Any] = field(default_factory=dict)
    installation_version: int | None = None
    memory: Mapping[str, Any] = field(default_factory=dict)
    memory_version: int | None = None
