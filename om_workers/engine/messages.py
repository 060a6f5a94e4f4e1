"""What a stored message is, and how its parts are read.

A part is a JSON object kept exactly as it was sent (after cleaning), so that kinds this version does not know survive:

- ``{"type": "text", "text": str}``
- ``{"type": "tool-call", "toolCallId": str, "toolName": str, "args": JSON}``
- ``{"type": "tool-result", "toolCallId": str, "toolName": str, "result": JSON, "isError": bool?}``
- ``{"type": "reasoning", "text": str}``
- ``{"type": "image" | "file", "mimeType": str?, "filename": str?, "data": base64? , "url": str?}``
- ``{"type": "data-…", …}`` and anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Part = Mapping[str, Any]
CountTokens = Callable[[str], int]
"""Counts the tokens of one text; ``0`` for the empty text, never negative."""


@dataclass(frozen=True, slots=True)
class Message:
    """One stored entry of a thread.

    ``seq`` is its dense position in the thread (from 1), ``created_at`` its event time in the sender's own offset
    (always aware), ``tokens`` its stored count.
    """

    id: str
    seq: int
    role: str
    parts: tuple[Part, ...]
    created_at: datetime
    tokens: int = 0


def part_type(part: Part) -> str:
    """The part's ``type``, or ``"unknown"`` when it has none."""
    value = part.get("type")
    return value if isinstance(value, str) else "unknown"


def call_ids(parts: tuple[Part, ...]) -> Iterator[str]:
    """Ids of the tool calls made in these parts, in order."""
    return _ids(parts, "tool-call")


def result_ids(parts: tuple[Part, ...]) -> Iterator[str]:
    """Ids of the tool calls answered in these parts, in order."""
    return _ids(parts, "tool-result")


def text_of(parts: tuple[Part, ...]) -> str:
    """The plain text of the parts, one per line; other kinds are left out."""
    return "\n".join(str(part.get("text", "")) for part in parts if part_type(part) == "text")


def _ids(parts: tuple[Part, ...], kind: str) -> Iterator[str]:
    for part in parts:
        if part_type(part) == kind and isinstance(part.get("toolCallId"), str):
            yield part["toolCallId"]
