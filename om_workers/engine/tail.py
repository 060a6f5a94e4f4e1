"""Which raw messages a context shows, with every tool call beside its result or neither."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from om_workers.engine.counting import count_message, count_part, payload_text
from om_workers.engine.messages import CountTokens, Message, Part, part_type
from om_workers.engine.pairs import Answered, Place, ToolParts, match_pairs
from om_workers.engine.text import cut_tokens


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A message as the actor reads it; ``seq`` is where it is stored."""

    id: str
    seq: int
    role: str
    parts: tuple[Part, ...]
    created_at: datetime


def show_messages(
    messages: Sequence[Message],
    calls: Iterable[Answered],
    earlier: Mapping[int, Message],
    *,
    unfinished_from: int | None,
) -> list[ShownMessage]:
    """``messages`` (in order) as the actor reads them (RULES 8.4).

    ``calls``: the thread's calls that touch them. A call that is not among them, or that the user did not wait for, is
    repeated before its result, taken from ``earlier`` (call seq → message) where it is not shown. A call without a
    result, or a result without a call, is told as text. Reasoning is shown in the unfinished step only.
    """
    tools = match_pairs(messages, calls, earlier)
    sources = {**earlier, **{message.seq: message for message in messages}}
    shown: list[ShownMessage] = []
    for message in messages:
        shown += _repeated_calls(tools.repeated.get(message.seq, ()), sources, before=message.seq)
        thinks = unfinished_from is not None and message.seq >= unfinished_from
        parts = tuple(
            _shown_part(part, (message.seq, index), tools)
            for index, part in enumerate(message.parts)
            if _is_shown(part, with_reasoning=thinks)
        )
        if parts:
            shown.append(ShownMessage(message.id, message.seq, message.role, parts, message.created_at))
    return shown


def pin(message: Message, *, limit: int, count: CountTokens) -> Message:
    """The newest user message for a context that no longer shows it otherwise, within ``limit`` tokens (RULES 8.6).

    The text that reaches the limit is cut with a mark, which alone may stand beyond it, and ends the message; other
    parts stay whole or are left out.
    """
    parts: list[Part] = []
    sizes: list[int] = []
    for part in message.parts:
        remaining = limit - sum(sizes)
        size = count_part(part, count)
        if size > remaining and part_type(part) == "text":
            text = cut_tokens(str(part.get("text") or ""), remaining, count)
            parts.append({**part, "text": text})
            sizes.append(count(text))
            break
        if size <= remaining:
            parts.append(part)
            sizes.append(size)
    return replace(message, parts=tuple(parts), tokens=count_message(sizes))


def newest_fitting(messages: Sequence[Message], limit: float) -> list[Message]:
    """The newest of ``messages`` (in order) that together have at most ``limit`` tokens (RULES 8.7)."""
    kept: list[Message] = []
    total = 0
    for message in reversed(messages):
        total += message.tokens
        if total > limit:
            break
        kept.append(message)
    return kept[::-1]


def _repeated_calls(places: Iterable[Place], sources: Mapping[int, Message], *, before: int) -> list[ShownMessage]:
    """The calls answered by message ``before``, one message for each message that made them."""
    repeated: list[ShownMessage] = []
    for seq, group in groupby(sorted(places), key=lambda place: place[0]):
        source = sources[seq]
        parts = tuple(source.parts[index] for _, index in group)
        repeated.append(ShownMessage(f"{source.id}#call-{before}", seq, source.role, parts, source.created_at))
    return repeated


def _shown_part(part: Part, place: Place, tools: ToolParts) -> Part:
    kind = part_type(part)
    if kind not in ("tool-call", "tool-result") or place in tools.whole:
        return part
    return {"type": "text", "text": _told_call(part, place, tools) if kind == "tool-call" else _told_result(part)}


def _told_call(part: Part, place: Place, tools: ToolParts) -> str:
    if place in tools.later:
        return f"[called {_name(part)}; its result came later, see below]"
    return f"[called {_name(part)} {payload_text(part.get('args'))}; no result yet]"


def _told_result(part: Part) -> str:
    return f"[result of {_name(part)}: {payload_text(part.get('result'))}]"


def _is_shown(part: Part, *, with_reasoning: bool) -> bool:
    kind = part_type(part)
    return not kind.startswith("data-") and (with_reasoning or kind != "reasoning")


def _name(part: Part) -> str:
    return str(part.get("toolName") or "a tool")
