"""The line of our own that stands for messages of which no observation could be made."""

from __future__ import annotations

from collections.abc import Sequence

from om_workers.engine.messages import Message, text_of

_BEGINNING = 80
"""Characters quoted of the first text."""


def stand_in(messages: Sequence[Message]) -> str:
    """A dated one-line observation: when, how many messages, how the first text among them began (RULES 6.8)."""
    first, last = messages[0], messages[-1]
    beginning = next((text for text in (text_of(message.parts) for message in messages) if text.strip()), "")
    words = " ".join(beginning.split())[:_BEGINNING]
    noun = "message" if len(messages) == 1 else "messages"
    began = f', beginning "{words}"' if words else ""
    day = first.created_at
    return (
        f"Date: {day:%b} {day.day}, {day.year}\n"
        f"* 🟢 ({day:%H:%M}) {len(messages)} {noun} kept without a summary{began} {_reference(first.seq, last.seq)}"
    )


def removed_line(first_seq: int, last_seq: int) -> str:
    """What stands for a range of which every message was deleted."""
    return f"* 🟢 deleted {_reference(first_seq, last_seq)}"


def _reference(first: int, last: int) -> str:
    return f"[{first}]" if first == last else f"[{first}-{last}]"
