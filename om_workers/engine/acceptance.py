"""What a message must be to be stored, and what tells a repeated one from a different one."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from om_workers.engine.messages import Part, part_type
from om_workers.engine.text import clean_json, clean_text

ROLES = ("user", "assistant", "tool", "system")
MAX_ID_LENGTH = 256
MAX_PARTS = 1_000
MAX_DEPTH = 64


class InvalidMessageError(ValueError):
    """A message breaks a rule; ``field`` says where, ``rule`` why."""

    def __init__(self, field: str, value: object, rule: str) -> None:
        super().__init__(f"{field}: {rule}")
        self.field = field
        self.value = value
        self.rule = rule


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """A valid, cleaned message. ``created_at`` is ``None`` when the sender gave no time."""

    id: str
    role: str
    parts: tuple[Part, ...]
    created_at: datetime | None
    content_hash: str


def accept(
    field: str, *, message_id: str, role: str, parts: Sequence[Mapping[str, Any]], at: datetime | None
) -> AcceptedMessage:
    """The cleaned message (RULES 2.1-2.3). ``field`` names it in errors, such as ``messages.3``.

    Raises ``InvalidMessageError`` naming the field and the rule.
    """
    check_id(f"{field}.id", message_id)
    if role not in ROLES:
        raise InvalidMessageError(f"{field}.role", clean_text(role), f"must be one of {', '.join(ROLES)}")
    if not parts or len(parts) > MAX_PARTS:
        raise InvalidMessageError(f"{field}.parts", len(parts), f"must hold 1 to {MAX_PARTS} parts")
    if at is not None:
        _check_time(f"{field}.created_at", at)
    cleaned = tuple(_part(f"{field}.parts.{number}", part) for number, part in enumerate(parts))
    return AcceptedMessage(message_id, role, cleaned, at, _hash(role, cleaned, at))


def check_id(field: str, value: str) -> None:
    """Nothing for an id that can be stored; raises ``InvalidMessageError`` for any other (RULES 2.2)."""
    if not value or len(value) > MAX_ID_LENGTH:
        raise InvalidMessageError(field, value[:MAX_ID_LENGTH], f"must be 1 to {MAX_ID_LENGTH} characters")
    if clean_text(value) != value or any(character < " " or character == "\x7f" for character in value):
        raise InvalidMessageError(field, clean_text(value), "must not hold control characters or lone surrogates")


def _check_time(field: str, at: datetime) -> None:
    if at.utcoffset() is None:
        raise InvalidMessageError(field, at.isoformat(), "must carry an offset or Z")
    try:
        at.astimezone(UTC)
    except OverflowError as error:
        raise InvalidMessageError(field, at.isoformat(), "must lie in the years 1 to 9999, in UTC") from error


def _part(field: str, part: Mapping[str, Any]) -> Part:
    _check_values(field, part, depth=0)
    cleaned: dict[str, Any] = clean_json(dict(part))
    kind = part_type(cleaned)
    if kind == "text" and not isinstance(cleaned.get("text"), str):
        raise InvalidMessageError(f"{field}.text", cleaned.get("text"), "a text part must have a text")
    if kind in ("tool-call", "tool-result"):
        call_id = cleaned.get("toolCallId")
        if not isinstance(call_id, str):
            raise InvalidMessageError(f"{field}.toolCallId", call_id, f"a {kind} part must have a toolCallId")
        check_id(f"{field}.toolCallId", call_id)
    if not isinstance(cleaned.get("type"), str):
        raise InvalidMessageError(f"{field}.type", cleaned.get("type"), "a part must have a type")
    return cleaned


def _check_values(field: str, value: Any, *, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise InvalidMessageError(field, "…", f"must not be nested deeper than {MAX_DEPTH}")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidMessageError(field, str(value), "must be a finite number")
    children = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for child in children:
        _check_values(field, child, depth=depth + 1)


def _hash(role: str, parts: tuple[Part, ...], at: datetime | None) -> str:
    content = {"role": role, "parts": [dict(part) for part in parts], "at": None if at is None else at.isoformat()}
    return hashlib.sha256(json.dumps(content, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
