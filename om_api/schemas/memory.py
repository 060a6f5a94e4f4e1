"""Contexts, status, observations and jobs."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, Field

from om_api.schemas.common import Strict
from om_workers.ports.records import JobRecord, SegmentRecord
from om_workers.services.context import Context
from om_workers.services.events import status_data
from om_workers.services.state import MemoryView


class ContextBody(Strict):
    """How to read a context after planning what is due."""

    wait: bool | float = Field(
        False, description="Wait for a blocking observation: true (as long as blockTimeout says), or seconds."
    )
    max_tokens: int | None = Field(None, gt=0, description="Leave out the oldest pending messages beyond this.")
    actor_model: str | None = Field(None, max_length=256, description="The agent's own model, as provider/model.")
    min_seq: int | None = Field(None, ge=0, description="With wait: until messages up to this one are observed.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"wait": True}]})


class StartBody(Strict):
    """How to start work by hand."""

    wait: bool | float = Field(False, description="Wait until the job has ended: true, or seconds.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"wait": True}]})


def context_json(context: Context) -> dict[str, Any]:
    """A context. Send the system blocks in order, then the messages."""
    omitted = context.omitted
    return {
        "thread": context.thread,
        "system": [
            {"text": block.text, "stable": block.stable, "breakpoint": block.breakpoint} for block in context.system
        ],
        "messages": [
            {
                "id": shown.id,
                "seq": shown.seq,
                "role": shown.role,
                "parts": list(shown.parts),
                "created_at": shown.created_at.isoformat(),
            }
            for shown in context.messages
        ],
        "continuation": context.continuation,
        "status": context.status,
        "epoch": context.epoch,
        "generation": context.generation,
        "prefix_hash": context.prefix_hash,
        "covered_seq": context.covered_seq,
        "last_seq": context.last_seq,
        "pending_messages": context.pending_messages,
        "omitted": None
        if omitted is None
        else {"first_seq": omitted.first_seq, "last_seq": omitted.last_seq, "tokens": omitted.tokens},
        "stale": context.stale,
    }


def status_json(view: MemoryView) -> dict[str, Any]:
    """The status event's data, with what planning looks at and the unfinished jobs."""
    return status_data(view) | {
        "pendingTokens": view.state.pending,
        "coverableTokens": view.state.coverable,
        "bufferedTokens": view.position.buffered_tokens,
        "blocksAt": view.policy.observation.blocks_at,
        "jobs": [job_json(job) for job in view.jobs.values()],
    }


def job_json(job: JobRecord) -> dict[str, Any]:
    """A job as callers see it."""
    return {
        "id": job.id,
        "lane": str(job.lane),
        "state": str(job.state),
        "trigger": str(job.trigger),
        "attempts": job.attempts,
        "first_seq": job.first_seq,
        "last_seq": job.last_seq,
        "last_outcome": job.last_outcome,
        "last_error": job.last_error,
        "not_before": job.not_before.isoformat(),
        "created_at": job.created_at.isoformat(),
    }


def segment_json(segment: SegmentRecord) -> dict[str, Any]:
    """A piece of the observation log with the messages it stands for."""
    return {
        "id": segment.id,
        "kind": segment.kind,
        "state": segment.state,
        "ordinal": segment.ordinal,
        "generation": segment.generation,
        "text": segment.text,
        "tokens": segment.tokens,
        "degraded": segment.degraded,
        "message_tokens": segment.message_tokens,
        "first_seq": segment.first_seq,
        "last_seq": segment.last_seq,
        "job_id": segment.job_id,
        "attempt": segment.attempt,
        "model": segment.revision.get("model"),
        "created_at": segment.created_at.isoformat(),
    }
