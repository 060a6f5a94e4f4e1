"""What the tool calls of a range come to: one fact for each, its arguments and the part of its result that mattered."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from om_workers.engine.extractive.facts import Fact, Level, clock_of, reference_of
from om_workers.engine.extractive.outcomes import Outcome, outcome_of
from om_workers.engine.extractive.sentences import bounded, plain, shorten
from om_workers.engine.extractive.values import arguments_text, words_of_key
from om_workers.engine.extractive.wording import ACCEPTED, ACTING, READING
from om_workers.engine.messages import Message, Part, part_type, text_of

ARGUMENTS = 12
NAME_CHARACTERS = 48
BRIEF_CHARACTERS = 90
LISTENING = 5
VOICE_CHARACTERS = 1_000
Voice = tuple[str, bool]
"""How a message other than the user's begins, and whether the message calls a tool."""

Places = dict[str, deque[int]]
"""By call id, where in the list of calls one half of a pair waits for the other."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call and its result, whichever of the two the range holds; positions are indexes of its messages."""

    name: str
    args: object
    called: int
    answered: int | None = None
    result: object = None
    is_error: bool = False


def calls_of(messages: Sequence[Message]) -> list[Call]:
    """Every call of the range with its result, and every result without its call, in order of appearance.

    A result finds its call by id wherever it stands, also before it. Ids used again pair up in order.
    """
    calls: list[Call] = []
    places: tuple[Places, Places] = ({}, {})
    for position, message in enumerate(messages):
        for part in message.parts:
            kind = part_type(part)
            if kind == "tool-call":
                _add_call(calls, _fresh_call(part, position), places, _id_of(part))
            elif kind == "tool-result":
                _add_result(calls, _fresh_result(part, position), places, _id_of(part))
    return calls


def call_facts(messages: Sequence[Message]) -> list[Fact]:
    """One fact per call of the range, dated by the call, or by the result when the call is elsewhere."""
    voices = [_voice(message) for message in messages]
    return [_fact(call, messages, voices) for call in calls_of(messages)]


def _fresh_call(part: Part, position: int) -> Call:
    return Call(name=_name(part), args=part.get("args"), called=position)


def _fresh_result(part: Part, position: int) -> Call:
    is_error = part.get("isError") is True
    return Call(_name(part), None, position, answered=position, result=part.get("result"), is_error=is_error)


def _add_call(calls: list[Call], call: Call, places: tuple[Places, Places], identity: str) -> None:
    waiting, early = places
    if early.get(identity):
        index = early[identity].popleft()
        calls[index] = replace(calls[index], name=call.name, args=call.args, called=call.called)
        return
    waiting.setdefault(identity, deque()).append(len(calls))
    calls.append(call)


def _add_result(calls: list[Call], answer: Call, places: tuple[Places, Places], identity: str) -> None:
    waiting, early = places
    if waiting.get(identity):
        index = waiting[identity].popleft()
        calls[index] = replace(calls[index], answered=answer.answered, result=answer.result, is_error=answer.is_error)
        return
    early.setdefault(identity, deque()).append(len(calls))
    calls.append(answer)


def _name(part: Part) -> str:
    name = part.get("toolName")
    return shorten(plain(name[:200]), NAME_CHARACTERS) if isinstance(name, str) and name.strip() else "tool"


def _id_of(part: Part) -> str:
    value = part.get("toolCallId")
    return value if isinstance(value, str) else ""


def _fact(call: Call, messages: Sequence[Message], voices: Sequence[Voice]) -> Fact:
    answered = call.called if call.answered is None else call.answered
    arguments = arguments_text(call.args, ARGUMENTS) if isinstance(call.args, (Mapping, list, str)) else ""
    head = f"{call.name}: {arguments}" if arguments else call.name
    outcome = _outcome(call, voices, known=arguments)
    first, last = sorted((messages[call.called].seq, messages[answered].seq))
    text = f"{head} → {outcome.text}" if outcome.text else head
    return Fact(
        level=_level(call, outcome),
        text=text,
        short=_short(head if arguments else text, outcome),
        day=messages[call.called].created_at.date(),
        clock=clock_of(messages[call.called].created_at),
        reference=reference_of(first, last),
        seq=messages[call.called].seq,
        worth=_worth(call, outcome),
    )


def _short(text: str, outcome: Outcome) -> str:
    brief = shorten(text, BRIEF_CHARACTERS)
    return f"{brief} → failed" if outcome.failed and "→" not in brief else brief


def _outcome(call: Call, voices: Sequence[Voice], *, known: str) -> Outcome:
    if call.answered is None:
        return Outcome("no result yet")
    return outcome_of(call.result, is_error=call.is_error, spoken=_spoken(voices, call.answered), known=known)


def _voice(message: Message) -> Voice:
    text = "" if message.role == "user" else bounded(text_of(message.parts))[:VOICE_CHARACTERS]
    return text, any(part_type(part) == "tool-call" for part in message.parts)


def _spoken(voices: Sequence[Voice], start: int) -> str:
    """What the assistant said from the result on, up to the next call: it names the part of a result that mattered."""
    pieces = [voices[start][0]]
    for text, calls in voices[start + 1 : start + LISTENING]:
        if calls:
            break
        pieces.append(text)
    return " ".join(pieces)[:VOICE_CHARACTERS]


def _level(call: Call, outcome: Outcome) -> Level:
    if outcome.failed:
        return Level.HIGH
    if call.answered is None or outcome.empty or not _acts(call, outcome):
        return Level.MEDIUM
    return Level.DONE if call.args or outcome.text else Level.LOW


def _worth(call: Call, outcome: Outcome) -> float:
    if outcome.failed or outcome.confirmed:
        return 3.0
    return 2.0 if _acts(call, outcome) else 1.5


def _acts(call: Call, outcome: Outcome) -> bool:
    """Whether the call changed something: by its name, by its result, or by what the assistant said after it."""
    words = words_of_key(call.name)
    if READING.intersection(words[:1]):
        return outcome.confirmed and words[0] == "get"
    return outcome.confirmed or ACCEPTED.search(outcome.text) is not None or not ACTING.isdisjoint(words)
