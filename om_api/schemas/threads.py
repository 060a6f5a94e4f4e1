"""Threads and messages."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field, JsonValue

from om_api.schemas.common import Strict
from om_workers.engine.acceptance import AcceptedMessage, InvalidMessageError, accept
from om_workers.ports.records import StoredMessage, ThreadRecord
from om_workers.services.ingest import Appended

_MESSAGES: list[JsonValue] = [
    {"id": "m-1", "role": "user", "content": "My dog is Rex."},
    {
        "id": "m-2",
        "role": "assistant",
        "parts": [{"type": "tool-call", "toolCallId": "c-1", "toolName": "save", "args": {"dog": "Rex"}}],
        "created_at": "2026-03-02T09:30:00+01:00",
    },
]


class ThreadBody(Strict):
    """A thread to make, or one whose options are to be set."""

    id: str = Field(description="Your id of the thread, unique within the tenant.")
    resource_id: str | None = Field(None, max_length=256, description="The end user or entity it belongs to.")
    options: dict[str, Any] | None = Field(
        None, description="Memory options under their camelCase names, such as observation.messageTokens."
    )

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"id": "support-42", "resource_id": "user-7", "options": {"observation": {"messageTokens": 20000}}}
            ]
        }
    )


class MessageBody(Strict):
    """One message. Give ``parts``, or ``content`` for a single text."""

    id: str = Field(description="Your id: sending it again with the same content changes nothing.")
    role: str = Field(description="user, assistant, tool or system.")
    parts: list[dict[str, Any]] | None = Field(None, description="Parts: text, tool-call, tool-result, image, file …")
    content: str | None = Field(None, description="Shorthand for one text part.")
    created_at: datetime | None = Field(None, description="When it was said, with its offset; default: now.")

    def accepted(self, field: str) -> AcceptedMessage:
        """The valid, cleaned message; raises ``InvalidMessageError``."""
        if (self.parts is None) == (self.content is None):
            raise InvalidMessageError(f"{field}.parts", None, "give either parts or content")
        parts = [{"type": "text", "text": self.content}] if self.parts is None else self.parts
        return accept(field, message_id=self.id, role=self.role, parts=parts, at=self.created_at)


class AppendBody(Strict):
    """One step of an agent: all of its messages are stored, or none."""

    messages: list[MessageBody] = Field(min_length=1, max_length=1_000)
    resource_id: str | None = Field(None, max_length=256, description="Owner of a thread that this append makes.")
    actor_model: str | None = Field(None, max_length=256, description="The agent's own model, as provider/model.")
    final: bool = Field(False, description="The turn is over, whatever its last message looks like.")

    model_config = ConfigDict(json_schema_extra={"examples": [{"messages": _MESSAGES}]})

    def accepted(self) -> list[AcceptedMessage]:
        """The valid, cleaned messages; raises ``InvalidMessageError``."""
        return [message.accepted(f"messages.{number}") for number, message in enumerate(self.messages)]


def thread_json(thread: ThreadRecord) -> dict[str, Any]:
    """A thread as callers see it."""
    return {
        "id": thread.external_id,
        "resource_id": thread.resource_id,
        "messages": thread.next_seq - 1,
        "message_tokens": thread.message_tokens,
        "created_at": thread.created_at.isoformat(),
        "updated_at": thread.updated_at.isoformat(),
    }


def message_json(stored: StoredMessage) -> dict[str, Any]:
    """A stored message; its time is in the offset it came with."""
    message = stored.message
    return {
        "id": message.id,
        "seq": message.seq,
        "role": message.role,
        "parts": list(message.parts),
        "tokens": message.tokens,
        "created_at": message.created_at.isoformat(),
        "time_given": stored.time_given,
        "received_at": stored.received_at.isoformat(),
        "actor_model": stored.actor_model,
    }


def appended_json(appended: Appended, status: dict[str, Any]) -> dict[str, Any]:
    """Where each message stands, and the memory's status."""
    stored = [{"id": one.id, "seq": one.seq, "duplicate": one.duplicate} for one in appended.stored]
    return {"stored": stored, "status": status}
