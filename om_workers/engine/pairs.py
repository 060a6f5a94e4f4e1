"""Which tool calls and results of a context are whole pairs, and which calls must stand again beside their result.

Every provider refuses half a pair, and anything but other results between a call and its result. So a pair is shown as
such only when its result follows at once; a call that was covered, or that the user did not wait for, is repeated
before its late result; whatever else there is of calls and results is told as text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from om_workers.engine.messages import Message, part_type

Place = tuple[int, int]
"""Seq of a message and index of a part in it."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool call of the thread by its id: the seq of the call and of its result, where there is one."""

    call_id: str
    call_seq: int
    result_seq: int | None


@dataclass(frozen=True, slots=True)
class ToolParts:
    """How the tool parts of a context are shown; parts that are named nowhere are told as text.

    ``whole``: places of calls and results shown as they are. ``later``: calls of this kind are told where they stand,
    and ``repeated`` before the message with their result, by whose seq they are listed.
    """

    whole: set[Place] = field(default_factory=set)
    later: set[Place] = field(default_factory=set)
    repeated: dict[int, list[Place]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A call and its result; ``covered``: the message with the call is not shown."""

    call_id: str
    call: Place
    result: Place
    covered: bool

    def start(self, breaks: Sequence[int]) -> Place:
        """Where the call is shown: in its place, or right before the result's message when the two stand apart."""
        position = bisect_right(breaks, self.call[0])
        apart = self.covered or (position < len(breaks) and breaks[position] < self.result[0])
        return (self.result[0], -1) if apart else self.call


def match_pairs(messages: Sequence[Message], calls: Iterable[Answered], earlier: Mapping[int, Message]) -> ToolParts:
    """How the tool parts of ``messages`` are shown (RULES 8.4); ``earlier`` holds messages before them, by seq.

    Two pairs with one id never overlap: of a second one that would, both halves are told.
    """
    known = {**earlier, **{message.seq: message for message in messages}}
    pairs = list(_pairs(calls, known, {message.seq for message in messages}))
    said = {message.seq: _said(message) for message in messages if message.role != "assistant"}
    results = {pair.result for pair in pairs}
    breaks = {seq for seq, places in said.items() if not places <= results}
    while True:
        parts = _accepted(pairs, sorted(breaks))
        # A result that is told is text, and stands in the way of the pairs around it like anything else that is said.
        told = {seq for seq, places in said.items() if not places <= parts.whole}
        if told <= breaks:
            return parts
        breaks |= told


def _accepted(pairs: Iterable[_Pair], breaks: Sequence[int]) -> ToolParts:
    parts, ends = ToolParts(), dict[str, Place]()
    for start, pair in sorted(
        ((pair.start(breaks), pair) for pair in pairs), key=lambda found: (found[0], found[1].call)
    ):
        if start <= ends.get(pair.call_id, (0, 0)):
            continue
        ends[pair.call_id] = pair.result
        parts.whole.add(pair.result)
        if start == pair.call:
            parts.whole.add(pair.call)
        else:
            parts.later.add(pair.call)
            parts.repeated.setdefault(pair.result[0], []).append(pair.call)
    return parts


def _pairs(calls: Iterable[Answered], known: Mapping[int, Message], shown: set[int]) -> Iterator[_Pair]:
    for call in calls:
        if call.result_seq not in shown or call.call_seq not in known or call.call_seq > call.result_seq:
            continue
        calling, answering = known[call.call_seq], known[call.result_seq]
        if calling.role != "assistant" or answering.role == "system":
            continue
        places = _places(calling, answering, call.call_id)
        if places is not None:
            yield _Pair(call.call_id, *places, covered=call.call_seq not in shown)


def _places(calling: Message, answering: Message, call_id: str) -> tuple[Place, Place] | None:
    """The first result behind a call of this id, and the last call before it; ``None`` when there is no such pair."""
    calls = _indexes(calling, "tool-call", call_id)
    for result in _indexes(answering, "tool-result", call_id):
        before = [index for index in calls if calling.seq < answering.seq or index < result]
        if before:
            return (calling.seq, before[-1]), (answering.seq, result)
    return None


def _indexes(message: Message, kind: str, call_id: str) -> list[int]:
    return [
        index
        for index, part in enumerate(message.parts)
        if part_type(part) == kind and part.get("toolCallId") == call_id
    ]


def _said(message: Message) -> set[Place]:
    return {(message.seq, index) for index, part in enumerate(message.parts) if not part_type(part).startswith("data-")}
