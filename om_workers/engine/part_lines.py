"""What one part of a message looks like in a transcript: a kind in our words, and a bounded, escaped body."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from om_workers.engine.attachments import Attachments
from om_workers.engine.counting import payload_text
from om_workers.engine.messages import CountTokens, Part, part_type
from om_workers.engine.payloads import show_payload, show_text
from om_workers.engine.text import cut_characters, escape

HOST_NOTE = "host note, not user speech"
SPEECH = ""
"""The kind of plain speech, which needs no word for it."""

_REASONING_TOKENS = 200
_NAME = 80
_SILENT = frozenset({"step-start"})
_STATES = {
    "": "",
    "call": "",
    "partial-call": "",
    "input-streaming": "",
    "input-available": "",
    "result": "",
    "output-available": "",
    "output-error": "failed",
    "error": "failed",
    "output-denied": "denied",
    "denied": "denied",
    "approval-requested": "waiting for approval",
    "approval-responded": "",
}
_FRAME = frozenset({"type", "toolCallId", "toolName", "args", "result", "isError", "state", "denied"})
_REMINDER = re.compile(r"<(?P<closing>/?)system-reminder\b[^<>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PartLine:
    """One entry under a message: its kind (``""`` for plain speech) and its body, which may span several lines."""

    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class PartRenderer:
    """Renders parts within token limits; ``attachments`` numbers the placeholders of the whole transcript."""

    count: CountTokens
    args_tokens: int
    result_tokens: int
    text_tokens: int
    attachments: Attachments = field(default_factory=Attachments)

    def lines(self, part: Part) -> Iterator[PartLine]:
        """The entries of a part: none for what is meant for programs, several where notes stand among speech."""
        kind = part_type(part)
        if kind in _SILENT or kind.startswith("data-"):
            return
        if kind == "text":
            yield from self._speech(part)
        elif kind == "reasoning":
            yield from self._some("thinks", part.get("text"), _REASONING_TOKENS)
        elif kind in {"image", "file"}:
            yield PartLine(SPEECH, escape(self.attachments.placeholder(part)))
        elif kind in {"tool-call", "tool-result"} and _state(part) in _STATES:
            yield self._tool(part)
        else:
            yield PartLine(f'part of kind "{name_text(kind)}"', self._json(part, self.args_tokens))

    def _speech(self, part: Part) -> Iterator[PartLine]:
        for is_note, text in split_notes(payload_text(part.get("text"))):
            yield from self._some(HOST_NOTE if is_note else SPEECH, text, self.text_tokens)

    def _some(self, kind: str, value: Any, limit: int) -> Iterator[PartLine]:
        text = payload_text(value).strip()
        if text:
            yield PartLine(kind, show_text(text, limit, count=self.count, attachments=self.attachments))

    def _tool(self, part: Part) -> PartLine:
        """A call with its arguments, or a result; failed and denied ones say so (case AU-3)."""
        is_call = part_type(part) == "tool-call"
        ending = _STATES[_state(part)]
        if part.get("denied") is True:
            ending = "denied"
        elif part.get("isError") is True:
            ending = ending or "failed"
        noun = "calls" if is_call else "result of"
        mark = f" ({ending})" if ending else ""
        value = part.get("args" if is_call else "result")
        limit = self.args_tokens if is_call else self.result_tokens
        return PartLine(
            f"{noun} {name_text(part.get('toolName') or 'unnamed tool')}{mark}", self._outcome(part, value, limit)
        )

    def _outcome(self, part: Part, value: Any, limit: int) -> str:
        """The value, or whatever else the part says when it has none."""
        if _is_blank(value):
            value = {key: item for key, item in part.items() if key not in _FRAME}
        return "(nothing)" if _is_blank(value) else self._json(value, limit)

    def _json(self, value: Any, limit: int) -> str:
        return show_payload(value, limit, count=self.count, attachments=self.attachments)


def name_text(value: object) -> str:
    """A name from outside on one line, escaped (RULES 8.2), at most 80 characters."""
    return cut_characters(escape(" ".join(str(value).split())), _NAME)


def split_notes(text: str) -> Iterator[tuple[bool, str]]:
    """``text`` in order, as pieces of speech (``False``) and of what the host wrote into reminders (``True``).

    A reminder that is never closed is one only when the text starts with it; else somebody speaks of reminders
    (case LP-11).
    """
    position = 0
    opened: re.Match[str] | None = None
    for tag in _REMINDER.finditer(text):
        if not tag["closing"] and opened is None:
            opened = tag
        elif tag["closing"] and opened is not None:
            yield False, text[position : opened.start()]
            yield True, text[opened.end() : tag.start()]
            position, opened = tag.end(), None
    if opened is not None and not text[: opened.start()].strip():
        yield True, text[opened.end() :]
    else:
        yield False, text[position:]


def _state(part: Part) -> str:
    state = part.get("state")
    return state if isinstance(state, str) else "" if state is None else "unknown"


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str | list | Mapping) and not value)
