"""Where in a transcript each tool call and its outcome are shown, once each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from om_workers.engine.messages import Message, Part, part_type

Place = tuple[int, int]
"""Index of a message and, within it, of a part."""


@dataclass(frozen=True, slots=True)
class _Exchange:
    call: Place | None = None
    result: Place | None = None


def shown_tool_parts(messages: Sequence[Message]) -> Mapping[Place, Part]:
    """The tool parts to show, by where they stand; parts of the same call that are left out are missing (case AU-3).

    A call that was stored several times, as while it streamed, is shown where it came first, with its latest
    arguments; its outcome where it came last. An id that is used again after its result, with other arguments, is a new
    call. Parts without an id are all shown. A result without a name takes that of its call.
    """
    shown: dict[Place, Part] = {}
    open_exchanges: dict[str, _Exchange] = {}
    for place, part in _tool_parts(messages):
        identity = part.get("toolCallId")
        if not isinstance(identity, str) or not identity:
            shown[place] = part
            continue
        step = _with_call if part_type(part) == "tool-call" else _with_result
        open_exchanges[identity] = step(shown, open_exchanges.get(identity, _Exchange()), place, part)
    return shown


def _with_call(shown: dict[Place, Part], exchange: _Exchange, place: Place, part: Part) -> _Exchange:
    if exchange.result is not None and (exchange.call is None or shown[exchange.call].get("args") != part.get("args")):
        exchange = _Exchange()
    first = exchange.call or place
    if first not in shown or part.get("args"):
        shown[first] = part
    return replace(exchange, call=first)


def _with_result(shown: dict[Place, Part], exchange: _Exchange, place: Place, part: Part) -> _Exchange:
    if exchange.result is not None:
        del shown[exchange.result]
    call = shown[exchange.call] if exchange.call is not None else {}
    shown[place] = part if part.get("toolName") else {**part, "toolName": call.get("toolName")}
    return replace(exchange, result=place)


def _tool_parts(messages: Sequence[Message]) -> Iterator[tuple[Place, Part]]:
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if part_type(part) in {"tool-call", "tool-result"}:
                yield (index, position), part
