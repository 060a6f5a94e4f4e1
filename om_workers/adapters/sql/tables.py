"""Every table, with explicit names for the constraints and indexes that carry the protocol."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, Text, UniqueConstraint, false, text
from sqlmodel import Field, SQLModel

from om_workers.adapters.sql.types import UtcDateTime

# Databases name primary keys each in its own way; a migration that changes one needs a name to call it by.
SQLModel.metadata.naming_convention = {"pk": "pk_%(table_name)s"}

UNFINISHED_SQL = "state IN ('queued', 'running', 'dead')"
REBUILD_SQL = "rebuild"
PURGE_SQL = "deleted_at IS NOT NULL AND purged_at IS NULL"
_JOB_SENT_SQL = "state = 'queued' AND sends > 0"


def _partial(name: str, *columns: str, where: str, unique: bool = True) -> Index:
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))


def _no() -> Any:
    return Field(default=False, sa_column_kwargs={"server_default": false()})


class Tenant(SQLModel, table=True):
    """A customer of the service."""

    id: str = Field(primary_key=True)
    created_at: datetime = Field(sa_type=UtcDateTime)


class ApiKey(SQLModel, table=True):
    """A key, kept as the hash of its secret only."""

    __tablename__ = "api_key"
    __table_args__ = (UniqueConstraint("secret_hash", name="uq_api_key_secret_hash"),)

    id: str = Field(primary_key=True)
    tenant_id: str = Field(sa_column_args=(ForeignKey("tenant.id", name="fk_api_key_tenant"),))
    name: str
    secret_hash: str
    scopes: list[str] = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revoked_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class Config(SQLModel, table=True):
    """One immutable version of memory options: the installation's (no memory) or one memory's own."""

    __table_args__ = (Index("ix_config_memory", "memory_id", "id"),)

    id: int | None = Field(default=None, primary_key=True)
    memory_id: str | None = None
    options: dict[str, Any] = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)


class Memory(SQLModel, table=True):
    """The unit that owns observations; its row is the lock of every writing transaction.

    A deleted one stays, for the ledger's sake: without any text once it is purged.
    """

    __table_args__ = (
        UniqueConstraint("tenant_id", "scope", "scope_key", name="uq_memory_scope_key"),
        Index("ix_memory_plan_at", "plan_at"),
        _partial("ix_memory_purge", "deleted_at", where=PURGE_SQL, unique=False),
    )

    id: str = Field(primary_key=True)
    tenant_id: str = Field(sa_column_args=(ForeignKey("tenant.id", name="fk_memory_tenant"),))
    scope: str
    scope_key: str
    head_lineage_id: str
    event_count: int = Field(default=0, sa_type=BigInteger)
    plan_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_activity_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_model: str | None = None
    idle_handled_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    purged_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    created_at: datetime = Field(sa_type=UtcDateTime)


class Thread(SQLModel, table=True):
    """One conversation; ``external_id`` and ``resource_id`` are the caller's, unique within the tenant.

    A deleted one stays as a tombstone, until the caller makes it anew with another memory.
    """

    __table_args__ = (
        UniqueConstraint("tenant_id", "external_id", name="uq_thread_external_id"),
        Index("ix_thread_resource", "tenant_id", "resource_id", "external_id"),
        Index("ix_thread_memory", "memory_id"),
    )

    id: str = Field(primary_key=True)
    tenant_id: str = Field(sa_column_args=(ForeignKey("tenant.id", name="fk_thread_tenant"),))
    memory_id: str = Field(sa_column_args=(ForeignKey("memory.id", name="fk_thread_memory"),))
    external_id: str
    resource_id: str | None = None
    title: str | None = None
    meta: dict[str, Any] = Field(sa_type=JSON, default_factory=dict)
    next_seq: int = Field(default=1, sa_type=BigInteger)
    message_tokens: int = Field(default=0, sa_type=BigInteger)
    unfinished_from: int | None = Field(default=None, sa_type=BigInteger)
    newest_user_seq: int | None = Field(default=None, sa_type=BigInteger)
    step_count: int = 0
    created_at: datetime = Field(sa_type=UtcDateTime)
    updated_at: datetime = Field(sa_type=UtcDateTime)
    deleted_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class MessageRow(SQLModel, table=True):
    """One entry of a thread; ``offset_tokens`` is the running sum of the messages before it."""

    __tablename__ = "message"
    __table_args__ = (UniqueConstraint("thread_id", "external_id", name="uq_message_external_id"),)

    thread_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("thread.id", name="fk_message_thread"),))
    seq: int = Field(primary_key=True, sa_type=BigInteger)
    external_id: str
    content_hash: str
    role: str
    parts: list[dict[str, Any]] = Field(sa_type=JSON)
    part_tokens: list[int] = Field(sa_type=JSON)
    counter_version: int
    tokens: int
    offset_tokens: int = Field(sa_type=BigInteger)
    created_at: datetime = Field(sa_type=UtcDateTime)
    utc_offset_minutes: int
    time_given: bool
    received_at: datetime = Field(sa_type=UtcDateTime)
    actor_model: str | None = None
    deleted_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class ToolCall(SQLModel, table=True):
    """A tool call and the message that answered it; ``closed`` when it counts as closed without a result."""

    __tablename__ = "tool_call"
    __table_args__ = (
        Index("ix_tool_call_result", "thread_id", "result_seq"),
        Index("ix_tool_call_id", "thread_id", "call_id"),
        _partial("ix_tool_call_open", "thread_id", "call_seq", where="result_seq IS NULL AND NOT closed", unique=False),
    )

    thread_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("thread.id", name="fk_tool_call_thread"),))
    call_seq: int = Field(primary_key=True, sa_type=BigInteger)
    call_id: str = Field(primary_key=True)
    result_seq: int | None = Field(default=None, sa_type=BigInteger)
    opened_at: datetime = Field(sa_type=UtcDateTime)
    closed: bool = Field(default=False)


class Lineage(SQLModel, table=True):
    """One complete sequence of segments of a memory, with its counters."""

    id: str = Field(primary_key=True)
    memory_id: str = Field(sa_column_args=(ForeignKey("memory.id", name="fk_lineage_memory"),))
    epoch: int = 0
    generation: int = 0
    frozen: bool = False
    next_ordinal: int = 1
    active_tokens: int = Field(default=0, sa_type=BigInteger)
    whole_tokens: int = Field(default=0, sa_type=BigInteger)
    buffered_tokens: int = Field(default=0, sa_type=BigInteger)
    reflect_above: int = Field(default=0, sa_type=BigInteger)
    rebuilds: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    created_at: datetime = Field(sa_type=UtcDateTime)


class Position(SQLModel, table=True):
    """How far a lineage covers a thread, and the message tokens behind and between its positions."""

    lineage_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("lineage.id", name="fk_position_lineage"),))
    thread_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("thread.id", name="fk_position_thread"),))
    active_seq: int = Field(default=0, sa_type=BigInteger)
    buffered_seq: int = Field(default=0, sa_type=BigInteger)
    pending_tokens: int = Field(default=0, sa_type=BigInteger)
    buffered_tokens: int = Field(default=0, sa_type=BigInteger)


class Segment(SQLModel, table=True):
    """One piece of observation text. ``served`` is what contexts show of it, ``tokens`` counts that.

    ``rebuild``: it stands in for what a delete took out, until its messages are observed again.
    """

    __table_args__ = (
        Index("ix_segment_order", "lineage_id", "state", "ordinal", "generation"),
        Index("ix_segment_job", "job_id"),
        _partial("ix_segment_rebuild", "lineage_id", where=REBUILD_SQL, unique=False),
        _partial("uq_segment_candidate", "lineage_id", where="state = 'candidate'"),
    )

    id: str = Field(primary_key=True)
    lineage_id: str = Field(sa_column_args=(ForeignKey("lineage.id", name="fk_segment_lineage"),))
    memory_id: str
    kind: str
    state: str
    ordinal: int
    generation: int
    text: str = Field(sa_type=Text)
    text_tokens: int
    served: str = Field(sa_type=Text)
    tokens: int
    degraded: bool = False
    rebuild: bool = _no()
    message_tokens: int = Field(default=0, sa_type=BigInteger)
    message_count: int = 0
    current_task: str | None = Field(default=None, sa_type=Text)
    suggested_response: str | None = Field(default=None, sa_type=Text)
    job_id: str
    attempt: int
    revision: dict[str, Any] = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=UtcDateTime)
    activated_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class SegmentRange(SQLModel, table=True):
    """The messages of one thread that a segment stands for."""

    __tablename__ = "segment_range"
    __table_args__ = (
        _partial("uq_segment_range_live", "lineage_id", "thread_id", "first_seq", where="live"),
        Index("ix_segment_range_lineage", "lineage_id", "thread_id", "first_seq"),
    )

    segment_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("segment.id", name="fk_range_segment"),))
    thread_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("thread.id", name="fk_range_thread"),))
    lineage_id: str
    first_seq: int = Field(sa_type=BigInteger)
    last_seq: int = Field(sa_type=BigInteger)
    live: bool


class SegmentSource(SQLModel, table=True):
    """A segment that a reflection replaces."""

    __tablename__ = "segment_source"

    segment_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("segment.id", name="fk_source_segment"),))
    source_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("segment.id", name="fk_source_source"),))


class Job(SQLModel, table=True):
    """A piece of model work; its state is the truth, its task on the broker only a wake-up."""

    __table_args__ = (
        _partial("uq_job_unfinished", "lineage_id", "lane", where=UNFINISHED_SQL),
        _partial("ix_job_due", "not_before", where="state = 'queued'", unique=False),
        _partial("ix_job_sent", "sent_at", where=_JOB_SENT_SQL, unique=False),
        _partial("ix_job_dead", "not_before", where="state = 'dead'", unique=False),
        Index("ix_job_memory", "memory_id", "created_at"),
    )

    id: str = Field(primary_key=True)
    tenant_id: str
    memory_id: str = Field(sa_column_args=(ForeignKey("memory.id", name="fk_job_memory"),))
    lineage_id: str
    thread_id: str | None = None
    lane: str
    state: str
    trigger: str
    sequence: int
    first_seq: int | None = Field(default=None, sa_type=BigInteger)
    last_seq: int | None = Field(default=None, sa_type=BigInteger)
    basis: list[str] | None = Field(default=None, sa_type=JSON)
    attempts: int = 0
    failures: dict[str, int] = Field(sa_type=JSON, default_factory=dict)
    last_outcome: str | None = None
    last_error: str | None = Field(default=None, sa_type=Text)
    not_before: datetime = Field(sa_type=UtcDateTime)
    sends: int = 0
    sent_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    quarantined: bool = _no()
    created_at: datetime = Field(sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class Lease(SQLModel, table=True):
    """Expiring ownership of a lineage's lane; ``fence`` only grows."""

    __table_args__ = (
        Index("ix_lease_owner", "owner"),
        _partial("ix_lease_expiry", "expires_at", where="owner IS NOT NULL", unique=False),
    )

    lineage_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("lineage.id", name="fk_lease_lineage"),))
    lane: str = Field(primary_key=True)
    memory_id: str
    job_id: str | None = None
    owner: str | None = None
    fence: int = Field(default=0, sa_type=BigInteger)
    expires_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    deadline: datetime | None = Field(default=None, sa_type=UtcDateTime)
    sequence: int = Field(default=0, sa_type=BigInteger)
    hold_until: datetime | None = Field(default=None, sa_type=UtcDateTime)


class Attempt(SQLModel, table=True):
    """One try of a job."""

    job_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("job.id", name="fk_attempt_job"),))
    n: int = Field(primary_key=True)
    owner: str
    fence: int = Field(sa_type=BigInteger)
    epoch: int
    revision: dict[str, Any] = Field(sa_type=JSON)
    started_at: datetime = Field(sa_type=UtcDateTime)
    deadline: datetime = Field(sa_type=UtcDateTime)
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    outcome: str | None = None
    error: str | None = Field(default=None, sa_type=Text)


class ModelCall(SQLModel, table=True):
    """One call of a model: the ledger."""

    __tablename__ = "model_call"
    __table_args__ = (
        Index("ix_model_call_memory", "memory_id", "started_at"),
        Index("ix_model_call_attempt", "job_id", "attempt"),
    )

    id: str = Field(primary_key=True)
    tenant_id: str
    memory_id: str
    thread_id: str | None = None
    job_id: str
    attempt: int
    kind: str
    model: str
    state: str
    prompt_tokens: int = 0
    started_at: datetime = Field(sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    outcome: str | None = None
    error: str | None = Field(default=None, sa_type=Text)


class Event(SQLModel, table=True):
    """One status event of a memory; ``n`` follows commit order."""

    memory_id: str = Field(primary_key=True, sa_column_args=(ForeignKey("memory.id", name="fk_event_memory"),))
    n: int = Field(primary_key=True, sa_type=BigInteger)
    thread_id: str | None = None
    type: str
    data: dict[str, Any] = Field(sa_type=JSON)
    at: datetime = Field(sa_type=UtcDateTime)
