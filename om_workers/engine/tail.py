"""Which raw messages a context shows, with every tool call beside its result or neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from om_workers.engine.counting import payload_text
from om_workers.engine.messages import CountTokens, Message, Part, part_type
from om_workers.engine.text import cut_tokens


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as the actor reads it; ``seq`` is where it is stored."""

    id: str
    seq: int
    role: str
    parts: tuple[Part, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool call of the thread by its id: the seq of the call and of its result, where there is one."""

    call_id: str
    call_seq: int
    result_seq: int | None


def show_messages(
    messages: Sequence[Message],
    calls: Iterable[Answered],
    earlier: Mapping[int, Message],
    *,
    unfinished_from: int | None,
) -> list[ShownMessage]:
    """``messages`` (in order) as the actor reads them (RULES 8.4).

    A result whose call is not among them comes with that call, taken from ``earlier`` (call seq → message). A call
    without a result, or a result without a call, is told as text: half a pair breaks every provider's rules. Reasoning
    is shown in the unfinished step only.
    """
    known = list(calls)
    shown_seqs = {message.seq for message in messages}
    shown: list[ShownMessage] = []
    for message in messages:
        shown += _calls_before(message, known, shown_seqs, earlier)
        reasoning = unfinished_from is not None and message.seq >= unfinished_from
        parts = tuple(
            _part(part, message.seq, known, shown_seqs) for part in message.parts if _is_shown(part, reasoning)
        )
        if parts:
            shown.append(ShownMessage(message.id, message.seq, message.role, parts, message.created_at))
    return shown


def pin(message: Message, *, limit: int, count: CountTokens) -> Message:
    """The newest user message for a context that no longer shows it otherwise, its texts cut to ``limit`` tokens."""
    remaining = limit
    parts: list[Part] = []
    for part in message.parts:
        if part_type(part) == "text":
            text = cut_tokens(str(part.get("text", "")), max(remaining, 0), count)
            remaining -= count(text)
            parts.append({**part, "text": text})
    return Message(message.id, message.seq, message.role, tuple(parts), message.created_at, limit - max(remaining, 0))


def newest_fitting(messages: Sequence[Message], limit: float) -> list[Message]:
    """The newest of ``messages`` (in order) that together have at most ``limit`` tokens."""
    kept: list[Message] = []
    total = 0
    for message in reversed(messages):
        total += message.tokens
        if total > limit:
            break
        kept.append(message)
    return kept[::-1]


def _calls_before(
    message: Message, known: Sequence[Answered], shown: set[int], earlier: Mapping[int, Message]
) -> list[ShownMessage]:
    found: list[ShownMessage] = []
    for call in known:
        source = earlier.get(call.call_seq)
        if call.result_seq == message.seq and call.call_seq not in shown and source is not None:
            parts = tuple(part for part in source.parts if _is_call(part, call.call_id))
            found.append(ShownMessage(f"{source.id}#call", source.seq, source.role, parts, source.created_at))
    return found


def _part(part: Part, seq: int, known: Sequence[Answered], shown: set[int]) -> Part:
    kind, call_id = part_type(part), part.get("toolCallId")
    if kind == "tool-call" and not _is_whole(part, seq, known, shown):
        words = f"[called {_name(part)} {payload_text(part.get('args'))}; no result yet]"
        return {"type": "text", "text": words}
    if kind == "tool-result" and not any(call.call_id == call_id and call.result_seq == seq for call in known):
        return {"type": "text", "text": f"[result of {_name(part)}: {payload_text(part.get('result'))}]"}
    return part


def _is_whole(part: Part, seq: int, known: Sequence[Answered], shown: set[int]) -> bool:
    return any(
        call.call_id == part.get("toolCallId") and call.call_seq == seq and call.result_seq in shown for call in known
    )


def _is_shown(part: Part, reasoning: bool) -> bool:
    kind = part_type(part)
    return not kind.startswith("data-") and (reasoning or kind != "reasoning")


def _is_call(part: Part, call_id: str) -> bool:
    return part_type(part) == "tool-call" and part.get("toolCallId") == call_id


def _name(part: Mapping[str, Any]) -> str:
    return str(part.get("toolName") or "a tool")
