"""Which conversation is played: a file in the import format, read and checked line by line.

One message a line, as JSON: ``thread_id``, ``id``, ``role`` (user, assistant, tool, system), ``parts`` (or ``content``,
a text), and optionally ``resource_id``, ``created_at`` (ISO 8601 with offset) and ``step``. Neighbouring lines of one
thread with the same ``step`` are appended together; without it, each line is a step.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from om_workers.engine.acceptance import AcceptedMessage, InvalidMessageError, accept

SHIPPED = Path(__file__).with_name("conversation.ndjson")
_FIELDS = ("thread_id", "id", "role")


class ConversationError(ValueError):
    """A line of the file is not a message; the message names the line."""


@dataclass(frozen=True, slots=True)
class Step:
    """Messages that are appended in one request: as they were read, and as the service takes them."""

    bodies: tuple[Mapping[str, Any], ...]
    messages: tuple[AcceptedMessage, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One thread's steps, in order."""

    thread: str
    resource: str | None
    steps: tuple[Step, ...]


def read_conversations(path: Path) -> list[Conversation]:
    """Every thread of the file, in order of its first line. Raises ``ConversationError`` and ``OSError``."""
    found: dict[str, list[tuple[Mapping[str, Any], AcceptedMessage]]] = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                entry = _entry(number, line)
                found.setdefault(entry["thread_id"], []).append((entry, _accepted(number, entry)))
    if not found:
        raise ConversationError(f"{path} holds no message")
    return [_conversation(thread, entries) for thread, entries in found.items()]


def _entry(number: int, line: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        raise ConversationError(f"line {number}: not JSON: {error}") from error
    if not isinstance(entry, dict) or any(not isinstance(entry.get(name), str) for name in _FIELDS):
        raise ConversationError(f"line {number}: needs the texts {', '.join(_FIELDS)}")
    return entry


def _accepted(number: int, entry: Mapping[str, Any]) -> AcceptedMessage:
    parts = entry.get("parts", [{"type": "text", "text": entry.get("content")}])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ConversationError(f"line {number}: parts must be a list of objects")
    try:
        at = None if entry.get("created_at") is None else datetime.fromisoformat(entry["created_at"])
        return accept(f"line {number}", message_id=entry["id"], role=entry["role"], parts=parts, at=at)
    except (InvalidMessageError, ValueError, TypeError) as error:
        raise ConversationError(f"line {number}: {error}") from error


def _conversation(thread: str, entries: Sequence[tuple[Mapping[str, Any], AcceptedMessage]]) -> Conversation:
    return Conversation(thread, entries[0][0].get("resource_id"), tuple(_steps(entries)))


def _steps(entries: Sequence[tuple[Mapping[str, Any], AcceptedMessage]]) -> Iterator[Step]:
    together: list[tuple[Mapping[str, Any], AcceptedMessage]] = []
    for entry in entries:
        if together and (entry[0].get("step") is None or entry[0].get("step") != together[-1][0].get("step")):
            yield _step(together)
            together = []
        together.append(entry)
    yield _step(together)


def _step(together: Sequence[tuple[Mapping[str, Any], AcceptedMessage]]) -> Step:
    return Step(tuple(_body(entry) for entry, _ in together), tuple(message for _, message in together))


def _body(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("id", "role", "parts", "content", "created_at") if name in entry}
