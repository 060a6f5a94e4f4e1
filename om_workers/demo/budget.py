"""How large a context may be: what is always bounded, beside what the actor has not read yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from om_workers.engine.acceptance import AcceptedMessage
from om_workers.engine.counting import count_message, count_part, payload_text
from om_workers.engine.messages import CountTokens, call_ids, result_ids
from om_workers.engine.steps import unfinished_after


@dataclass(slots=True)
class Written:
    """What an actor has written so far, in tokens: enough to know its unfinished step and its newest user message."""

    count: CountTokens
    tokens: list[int] = field(default_factory=list)
    pinned: int = 0
    _unfinished_from: int | None = None
    _open: dict[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Tokens of all messages."""
        return sum(self.tokens)

    @property
    def unfinished(self) -> int:
        """Tokens from the first message that the actor has not read the answers of, or whose call is open."""
        starts = [*self._open.values(), *([] if self._unfinished_from is None else [self._unfinished_from])]
        return sum(self.tokens[min(starts) - 1 :]) if starts else 0

    def add(self, message: AcceptedMessage) -> None:
        """One more message was appended."""
        size = count_message([count_part(part, self.count) for part in message.parts])
        self.tokens.append(size)
        seq = len(self.tokens)
        self._unfinished_from = unfinished_after(self._unfinished_from, seq=seq, role=message.role, parts=message.parts)
        if message.role == "user":
            self.pinned = size
            self._open.clear()
        self._open.update(dict.fromkeys(call_ids(message.parts), seq))
        for call_id in result_ids(message.parts):
            self._open.pop(call_id, None)


def rendered_tokens(context: Mapping[str, Any], count: CountTokens) -> int:
    """Tokens of everything in a context that a model would read."""
    system = sum(count(block["text"]) for block in context["system"])
    return system + sum(_part_tokens(part, count) for message in context["messages"] for part in message["parts"])


def _part_tokens(part: Mapping[str, Any], count: CountTokens) -> int:
    words = (part.get("text"), part.get("toolName"), part.get("args"), part.get("result"))
    return sum(count(payload_text(word)) for word in words)
