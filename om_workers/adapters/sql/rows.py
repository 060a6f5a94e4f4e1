"""How rows become records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta, timezone
from typing import Any, TypeVar

from sqlalchemy import RowMapping, Table
from sqlmodel import SQLModel

from om_workers.adapters.sql import tables
from om_workers.engine.jobs import JobState, Lane, Trigger
from om_workers.engine.messages import Message
from om_workers.ports.keys import KeyRecord
from om_workers.ports.records import JobRecord, LeaseRecord, StoredMessage

R = TypeVar("R")


def table(model: type[SQLModel]) -> Table:
    """The Core table of a model."""
    found: Table = model.metadata.tables[str(model.__tablename__)]
    return found


MEMORY = table(tables.Memory)
THREAD = table(tables.Thread)
MESSAGE = table(tables.MessageRow)
CALL = table(tables.ToolCall)
LINEAGE = table(tables.Lineage)
POSITION = table(tables.Position)
SEGMENT = table(tables.Segment)
RANGE = table(tables.SegmentRange)
SOURCE = table(tables.SegmentSource)
JOB = table(tables.Job)
LEASE = table(tables.Lease)
ATTEMPT = table(tables.Attempt)
MODEL_CALL = table(tables.ModelCall)
EVENT = table(tables.Event)
KEY = table(tables.ApiKey)
TENANT = table(tables.Tenant)
CONFIG = table(tables.Config)


def record(kind: type[R], row: RowMapping | Mapping[str, Any]) -> R:
    """The record of this kind from columns of the same names."""
    return kind(**{field.name: row[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def job_record(row: RowMapping) -> JobRecord:
    """A job."""
    values = _values(JobRecord, row)
    values.update(lane=Lane(row["lane"]), state=JobState(row["state"]), trigger=Trigger(row["trigger"]))
    values["basis"] = None if row["basis"] is None else tuple(row["basis"])
    return JobRecord(**values)


def lease_record(row: RowMapping) -> LeaseRecord:
    """A lease."""
    return LeaseRecord(**{**_values(LeaseRecord, row), "lane": Lane(row["lane"])})


def key_record(row: RowMapping) -> KeyRecord:
    """An API key."""
    return KeyRecord(**{**_values(KeyRecord, row), "scopes": tuple(row["scopes"])})


def stored_message(row: RowMapping) -> StoredMessage:
    """A message, its event time in the sender's offset."""
    zone = timezone(timedelta(minutes=row["utc_offset_minutes"]))
    message = Message(
        id=row["external_id"],
        seq=row["seq"],
        role=row["role"],
        parts=tuple(row["parts"]),
        created_at=row["created_at"].astimezone(zone),
        tokens=row["tokens"],
    )
    return StoredMessage(message, row["received_at"], row["time_given"], row["actor_model"])


def _values(kind: type[Any], row: RowMapping) -> dict[str, Any]:
    return {field.name: row[field.name] for field in fields(kind)}
