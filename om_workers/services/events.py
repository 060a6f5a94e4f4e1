"""What each status event says: the reference's typed parts with exactly their fields, never any text of messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from om_workers.engine.activation import ActivationReason
from om_workers.engine.jobs import JobState, Lane
from om_workers.ports.records import JobRecord, SegmentRecord, SegmentSize
from om_workers.services.state import MemoryView

_OPERATIONS = {Lane.OBSERVE: "observation", Lane.REFLECT: "reflection"}


def cycle_id(job_id: str, attempt: int) -> str:
    """The id of one attempt's cycle (RULES 9.2)."""
    return f"{job_id}-{attempt}"


def status_data(view: MemoryView) -> dict[str, Any]:
    """``data-om-status``: token windows against their thresholds, and what is buffered (RULES 9.1)."""
    observe, reflect = view.jobs.get(Lane.OBSERVE), view.jobs.get(Lane.REFLECT)
    return {
        "windows": {
            "active": {
                "messages": {"tokens": view.state.pending, "threshold": view.policy.observation.message_tokens},
                "observations": {
                    "tokens": view.state.active,
                    "threshold": view.policy.reflection.observation_tokens,
                },
            },
            "buffered": {
                "observations": {
                    "chunks": len(view.buffered),
                    "messageTokens": view.position.buffered_tokens,
                    "observationTokens": view.lineage.buffered_tokens,
                    "status": _window_status(observe, complete=bool(view.buffered)),
                },
                "reflection": {"status": _window_status(reflect, complete=view.state.candidate)},
            },
        },
        "recordId": view.memory.id,
        "threadId": view.thread.external_id,
        "stepNumber": view.thread.step_count,
        "generationCount": view.lineage.generation,
    }


def start_data(view: MemoryView, job: JobRecord, attempt: int, tokens: int, at: datetime) -> dict[str, Any]:
    """``data-om-buffering-start``: a model is about to be asked."""
    return {
        "cycleId": cycle_id(job.id, attempt),
        "operationType": _OPERATIONS[job.lane],
        "startedAt": at.isoformat(),
        "tokensToBuffer": tokens,
        "recordId": view.memory.id,
        "threadId": view.thread.external_id,
        "threadIds": [view.thread.external_id],
        "config": config_data(view),
    }


def end_data(view: MemoryView, segment: SegmentRecord, tokens: int, started_at: datetime) -> dict[str, Any]:
    """``data-om-buffering-end``: the result is stored."""
    return {
        "cycleId": cycle_id(segment.job_id, segment.attempt),
        "operationType": "reflection" if segment.kind == "reflection" else "observation",
        "completedAt": segment.created_at.isoformat(),
        "durationMs": _milliseconds(started_at, segment.created_at),
        "tokensBuffered": tokens,
        "bufferedTokens": segment.tokens + (0 if segment.kind == "reflection" else view.lineage.buffered_tokens),
        "observationTokens": segment.tokens,
        "recordId": view.memory.id,
        "threadId": view.thread.external_id,
    }


def failed_data(
    view: MemoryView, job: JobRecord, attempt: int, *, error: str, started_at: datetime, at: datetime
) -> dict[str, Any]:
    """``data-om-buffering-failed``: an attempt ended without a result; ``error`` never holds message text."""
    return {
        "cycleId": cycle_id(job.id, attempt),
        "operationType": _OPERATIONS[job.lane],
        "failedAt": at.isoformat(),
        "durationMs": _milliseconds(started_at, at),
        "tokensAttempted": view.state.coverable if job.lane is Lane.OBSERVE else view.state.active,
        "error": error,
        "recordId": view.memory.id,
        "threadId": view.thread.external_id,
    }


def activation_data(
    view: MemoryView, segment: SegmentSize, reason: ActivationReason, at: datetime, *, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """``data-om-activation``: a buffered segment, or a candidate reflection, is served from now on."""
    return {
        "activatedAt": at.isoformat(),
        "chunksActivated": 1,
        "observationTokens": segment.tokens,
        "tokensActivated": segment.message_tokens,
        "messagesActivated": segment.message_count,
        "recordId": view.memory.id,
        "threadId": view.thread.external_id,
        "generationCount": view.lineage.generation,
        "config": config_data(view),
        "triggeredBy": str(reason),
        **extra,
    }


def job_data(job: JobRecord, state: JobState, *, outcome: str | None = None, detail: str = "") -> dict[str, Any]:
    """``om-job``: a job changed its state."""
    return {"jobId": job.id, "lane": str(job.lane), "state": str(state), "outcome": outcome, "detail": detail}


def config_data(view: MemoryView) -> dict[str, Any]:
    """The thresholds in force."""
    return {
        "messageTokens": view.policy.observation.message_tokens,
        "observationTokens": view.policy.reflection.observation_tokens,
        "scope": "thread",
    }


def _window_status(job: JobRecord | None, *, complete: bool) -> str:
    if job is not None and job.state in (JobState.QUEUED, JobState.RUNNING):
        return "running"
    return "complete" if complete else "idle"


def _milliseconds(start: datetime, end: datetime) -> int:
    return max(0, int((end - start).total_seconds() * 1_000))
