"""The rows about single tries of a job: attempts, the leases they run under, and their model calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from om_workers.engine.jobs import Lane


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease that a heartbeat found to be still its owner's."""

    lineage_id: str
    lane: Lane
    fence: int


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One try of a job."""

    job_id: str
    n: int
    owner: str
    fence: int
    epoch: int
    revision: Mapping[str, Any]
    started_at: datetime
    deadline: datetime


@dataclass(frozen=True, slots=True)
class CallStart:
    """A ledger row as it is written before the model is called."""

    id: str
    tenant_id: str
    memory_id: str
    thread_id: str | None
    job_id: str
    attempt: int
    kind: str
    model: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a model call ended; tokens are the provider's own figures, where it gave them."""

    outcome: str
    prompt_tokens: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    error: str | None = None
