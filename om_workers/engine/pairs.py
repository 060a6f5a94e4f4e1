"""Which tool calls and results of a context are whole pairs, and which calls must stand again beside their result.

Every provider refuses half a pair, and a user's message between a call and its result. So a pair is shown as such only
when its result follows at once; a call that was covered, or that the user did not wait for, is repeated before its
late result; whatever else there is of calls and results is told as text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from om_workers.engine.messages import Message, part_type
from om_workers.engine.steps import only_results

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
    call_id: str
    call: Place
    result: Place
    apart: bool

    @property
    def start(self) -> Place:
        """Where the call is shown: right before its result's message when the two stand apart."""
        return (self.result[0], -1) if self.apart else self.call


def match_pairs(messages: Sequence[Message], calls: Iterable[Answered], earlier: Mapping[int, Message]) -> ToolParts:
    """How the tool parts of ``messages`` are shown (RULES 8.4); ``earlier`` holds messages before them, by seq.

    Two pairs with one id never overlap: of a second one that would, both halves are told.
    """
    known = {**earlier, **{message.seq: message for message in messages}}
    shown = {message.seq for message in messages}
    breaks = [message.seq for message in messages if _breaks(message)]
    pairs = sorted(_pairs(calls, known, shown, breaks), key=lambda pair: (pair.start, pair.call))
    parts, ends = ToolParts(), dict[str, Place]()
    for pair in pairs:
        if pair.start <= ends.get(pair.call_id, (0, 0)):
            continue
        ends[pair.call_id] = pair.result
        parts.whole.add(pair.result)
        if pair.apart:
            parts.later.add(pair.call)
            parts.repeated.setdefault(pair.result[0], []).append(pair.call)
        else:
            parts.whole.add(pair.call)
    return parts


def _pairs(
    calls: Iterable[Answered], known: Mapping[int, Message], shown: set[int], breaks: Sequence[int]
) -> Iterator[_Pair]:
    for call in calls:
        if call.result_seq not in shown or call.call_seq not in known or call.call_seq > call.result_seq:
            continue
        places = _places(known[call.call_seq], known[call.result_seq], call.call_id)
        if places is not None:
            apart = call.call_seq not in shown or _between(breaks, call.call_seq, call.result_seq)
            yield _Pair(call.call_id, *places, apart)


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


def _breaks(message: Message) -> bool:
    return message.role in ("user", "system") and not only_results(message.parts)


def _between(breaks: Sequence[int], first: int, last: int) -> bool:
    position = bisect_right(breaks, first)
    return position < len(breaks) and breaks[position] < last
