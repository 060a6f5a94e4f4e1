"""What the texts of a range state: decisions, preferences, corrections, requests, answers and confirmations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from om_workers.engine.extractive.facts import Fact, Level, clock_of, reference_of
from om_workers.engine.extractive.sentences import plain, sentences, shorten
from om_workers.engine.extractive.terms import terms_of
from om_workers.engine.extractive.wording import (
    DONE,
    FAILURE,
    cue_worth,
    is_closing,
    is_plain_answer,
    is_question,
    is_small_talk,
)
from om_workers.engine.messages import Message, Part, part_type, text_of

WHOLE_CHARACTERS = 90
SENTENCE_CHARACTERS = 300
QUESTION_CHARACTERS = 90
ANSWER_CHARACTERS = 40
AGREEING_CHARACTERS = 80
TELLING = 2.0


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message as its plain sentences; ``asks`` is the question it ends with, ``acts`` whether it calls a tool."""

    message: Message
    sentences: tuple[str, ...]
    asks: str
    acts: bool


def statement_facts(messages: Sequence[Message]) -> list[Fact]:
    """The facts stated in the texts of these messages, in order; small talk and offers of help state none."""
    found: list[Fact] = []
    asked, acted = "", False
    for message in messages:
        spoken = _spoken(message)
        by_user = message.role == "user"
        found.extend(_user_facts(spoken, asked) if by_user else _other_facts(spoken, acted=acted or spoken.acts))
        found.extend(_attachments(message))
        if spoken.sentences:
            asked = "" if by_user else spoken.asks
        acted = spoken.acts or (acted and not spoken.sentences)
    return found


def first_words(messages: Sequence[Message], limit: int) -> str:
    """Who sent the first message that holds words, and how it begins; or nothing."""
    for message in messages:
        for sentence in sentences(text_of(message.parts), limit=1):
            return f"{speaker_of(message)}: {shorten(sentence, limit)}"
    return ""


def speaker_of(message: Message) -> str:
    """How the sender is named in a line."""
    return shorten(plain(message.role[:40]), 20).capitalize() or "Someone"


def _spoken(message: Message) -> Spoken:
    found = sentences(text_of(message.parts))
    asks = next((sentence for sentence in reversed(found) if is_question(sentence) and not is_closing(sentence)), "")
    acts = any(part_type(part) in {"tool-call", "tool-result"} for part in message.parts)
    return Spoken(message=message, sentences=tuple(found), asks=shorten(asks, QUESTION_CHARACTERS), acts=acts)


def _user_facts(spoken: Spoken, asked: str) -> Iterator[Fact]:
    if asked and (answer := _answer(spoken.sentences)):
        text = f'User, asked "{asked}": {answer}'
        yield _fact(spoken.message, Level.HIGH, text, worth=1.0 + cue_worth(answer), short=f"User: {answer}")
        return
    for position, text in enumerate(_units(spoken.sentences)):
        worth = cue_worth(text) + (0.5 if position == 0 else 0.0)
        level = Level.HIGH if _asserts(text, worth) else Level.MEDIUM
        yield _fact(spoken.message, level, f"User: {text}", worth=worth)


def _answer(found: Sequence[str]) -> str:
    """A whole answer that needs its question, or nothing when it says enough by itself, asks back, or only thanks."""
    limit = AGREEING_CHARACTERS if found and is_plain_answer(found[0]) else ANSWER_CHARACTERS
    if len(" ".join(found)) > limit or any(map(is_question, found)):
        return ""
    telling = [sentence for sentence in found if not is_small_talk(sentence)]
    if not telling and found and is_plain_answer(found[0]):
        return found[0]
    return " ".join(telling)


def _units(found: Sequence[str]) -> Iterator[str]:
    telling = [shorten(sentence, SENTENCE_CHARACTERS) for sentence in found if not is_small_talk(sentence)]
    whole = " ".join(telling)
    if len(whole) <= WHOLE_CHARACTERS:
        telling = [whole] if whole else []
    yield from telling


def _asserts(text: str, worth: float) -> bool:
    if worth >= 1.5:
        return True
    return not is_question(text) and sum(terms_of(text).values()) >= TELLING


def _other_facts(spoken: Spoken, *, acted: bool) -> Iterator[Fact]:
    speaker = speaker_of(spoken.message)
    for position, sentence in enumerate(spoken.sentences):
        if is_question(sentence) or is_closing(sentence) or is_small_talk(sentence):
            continue
        text = f"{speaker}: {shorten(sentence, SENTENCE_CHARACTERS)}"
        if DONE.search(sentence) and not acted:
            yield _fact(spoken.message, Level.DONE, text, worth=2.0)
        else:
            worth = 1.0 if FAILURE.search(sentence) and not acted else 0.3 if position == 0 else 0.0
            yield _fact(spoken.message, Level.MEDIUM, text, worth=worth)


def _attachments(message: Message) -> Iterator[Fact]:
    for part in message.parts:
        kind = part_type(part)
        if kind in {"image", "file"}:
            text = f"{speaker_of(message)} sent {_attachment(part, kind)}"
            yield _fact(message, Level.MEDIUM, text, worth=0.8)


def _attachment(part: Part, kind: str) -> str:
    name = part.get("filename") or part.get("mimeType")
    return f"{kind} {shorten(plain(name[:200]), 60)}" if isinstance(name, str) else kind


def _fact(message: Message, level: Level, text: str, *, worth: float, short: str = "") -> Fact:
    return Fact(
        level=level,
        text=text,
        day=message.created_at.date(),
        clock=clock_of(message.created_at),
        reference=reference_of(message.seq, message.seq),
        seq=message.seq,
        short=short,
        worth=worth,
    )
