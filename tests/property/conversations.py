"""Arbitrary histories of calls and results, and which of them the store records as answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hypothesis import strategies as st

from om_workers.engine.messages import Message, Part, call_ids, result_ids
from om_workers.engine.pairs import Answered

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

# Three ids make repeats, crossings and orphans likely.
ids = st.sampled_from("abc")
parts = st.one_of(
    ids.map(lambda call: {"type": "tool-call", "toolCallId": call, "toolName": "find", "args": {"q": call}}),
    ids.map(lambda call: {"type": "tool-result", "toolCallId": call, "toolName": "find", "result": "ok"}),
    st.sampled_from([{"type": "text", "text": "hello"}, {"type": "reasoning", "text": "hm"}, {"type": "data-x"}]),
)
messages = st.tuples(
    st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "system"]),
    st.lists(parts, min_size=1, max_size=4),
)
batches = st.lists(st.lists(messages, min_size=1, max_size=4), min_size=1, max_size=8)


@dataclass(frozen=True)
class History:
    """A thread's messages and calls."""

    messages: tuple[Message, ...]
    calls: tuple[Answered, ...]


def stored(drawn: Sequence[Sequence[tuple[str, Sequence[Part]]]]) -> History:
    """The batches as the store takes them in: a result answers the newest unanswered call of its id."""
    kept: list[Message] = []
    calls: list[Answered] = []
    for batch in drawn:
        new = [
            Message(f"m{seq}", seq, role, tuple(parts), NOON) for seq, (role, parts) in enumerate(batch, len(kept) + 1)
        ]
        kept += new
        made = dict.fromkeys((call, message.seq) for message in new for call in call_ids(message.parts))
        calls += [Answered(call, seq, None) for call, seq in made]
        first: dict[str, int] = {}
        for message in new:
            for call in result_ids(message.parts):
                first.setdefault(call, message.seq)
        for call_id, seq in first.items():
            _answer(calls, call_id, seq)
    return History(tuple(kept), tuple(calls))


def _answer(calls: list[Answered], call_id: str, result_seq: int) -> None:
    for index in reversed(range(len(calls))):
        if calls[index].call_id == call_id and calls[index].result_seq is None:
            calls[index] = replace(calls[index], result_seq=result_seq)
            return
