"""What a model's answer comes to: observations, nothing by choice, or something that cannot be used."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from om_workers.engine.answer_tags import TaggedAnswer, split_answer
from om_workers.engine.degenerate import collapse_repeats, degenerate_reason
from om_workers.engine.log_lines import (
    bounded_lines,
    bulleted,
    is_date,
    is_marked,
    is_observation,
    list_lines,
    log_body,
)
from om_workers.engine.negatives import says_nothing
from om_workers.engine.sources import drop_out_of_range
from om_workers.engine.text import clean_text, cut_characters

_LONGEST_HINT = 2_000
_SHORT_PROSE = 200


class AnswerKind(StrEnum):
    """What an answer is good for; each kind has its own counter and its own policy (RULES 6.6)."""

    OBSERVATIONS = "observations"
    EMPTY = "empty"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """An answer after parsing.

    ``text``: the log lines, ``""`` unless the kind is observations. ``reason``: why it cannot be used, or how it was
    saved; ``""`` for an answer in good form. ``dropped_sources``: references to messages outside the range.
    """

    kind: AnswerKind
    text: str = ""
    current_task: str | None = None
    suggested_response: str | None = None
    reason: str = ""
    dropped_sources: int = 0


def parse_observer_answer(answer: str, *, finish: str, first_seq: int, last_seq: int) -> ParsedAnswer:
    """What an Observer's answer about the messages ``first_seq`` to ``last_seq`` comes to. Raises nothing.

    ``finish`` is read first: a cut-off or refused answer is never taken for a short one (case LP-8). Plain lists
    without our tags count only when they carry marks of the asked form: priority, time or sources (case CL-16).
    """
    text = _plain(answer)
    failure = _failure(text, finish)
    if failure:
        return ParsedAnswer(AnswerKind.UNUSABLE, reason=failure)
    tagged = split_answer(text)
    lines, reason = _tagged_lines(tagged) if tagged.blocks is not None else _marked_lines(tagged.outside)
    if not lines and tagged.blocks is None and finish != "stop":
        reason = f"nothing recorded, finish reason {finish}"
    if not lines and reason:
        return ParsedAnswer(AnswerKind.UNUSABLE, reason=reason)
    kept, dropped = drop_out_of_range(lines, first_seq, last_seq)
    return _answer(tagged, kept, reason, dropped)


def parse_reflector_answer(answer: str, *, finish: str) -> ParsedAnswer:
    """What a Reflector's answer comes to. Raises nothing.

    Without tags its list lines are taken, or all its prose unless that is a single short line, which can stand for no
    log. Empty means that nothing is left; the caller treats that as a failure (case LP-2).
    """
    text = _plain(answer)
    failure = _failure(text, finish)
    if failure:
        return ParsedAnswer(AnswerKind.UNUSABLE, reason=failure)
    tagged = split_answer(text)
    lines, reason = _tagged_lines(tagged) if tagged.blocks is not None else _any_lines(tagged.outside)
    if not lines and reason and tagged.blocks is None:
        return ParsedAnswer(AnswerKind.UNUSABLE, reason=reason)
    return _answer(tagged, lines, reason, 0)


def _plain(answer: str) -> str:
    return clean_text(answer.replace("\r\n", "\n").replace("\r", "\n"))


def _failure(text: str, finish: str) -> str | None:
    if finish in {"length", "refusal"}:
        return f"finish reason {finish} after {len(text)} characters"
    return degenerate_reason(text)


def _answer(tagged: TaggedAnswer, lines: str, reason: str, dropped: int) -> ParsedAnswer:
    text = "" if says_nothing(lines) else bounded_lines(collapse_repeats(lines))
    return ParsedAnswer(
        kind=AnswerKind.OBSERVATIONS if text else AnswerKind.EMPTY,
        text=text,
        current_task=_hint(tagged.current_task),
        suggested_response=_hint(tagged.suggested_response),
        reason=reason,
        dropped_sources=dropped,
    )


def _hint(value: str | None) -> str | None:
    body = log_body(value or "").strip()
    return None if says_nothing(body) else bounded_lines(cut_characters(body, _LONGEST_HINT))


def _tagged_lines(tagged: TaggedAnswer) -> tuple[str, str]:
    """The log inside the tags; prose there becomes one observation per line (case LP-4)."""
    body = "\n".join(filter(str.strip, map(log_body, tagged.blocks or ())))
    lines = body.split("\n")
    paired = tagged.opened and tagged.closed
    if says_nothing(body) or all(is_date(line) for line in lines if line):
        return "", "" if paired else "nothing recorded, and a tag is missing"
    if not any(map(is_observation, lines)):
        return bulleted(body), "prose inside the tags kept as observations"
    return body, "" if paired else "a tag is missing, log lines kept"


def _marked_lines(outside: str) -> tuple[str, str]:
    """The list lines of an Observer's answer without tags, when at least one of them has the asked form."""
    body = log_body(outside)
    if says_nothing(body):
        return "", ""
    kept = list_lines(body)
    if any(is_observation(line) and is_marked(line) for line in kept):
        return "\n".join(kept), "no tags, list lines kept"
    return "", "answered without tags or marked list lines"


def _any_lines(outside: str) -> tuple[str, str]:
    """The list lines of a Reflector's answer without tags, or else all of it."""
    body = log_body(outside)
    if says_nothing(body):
        return "", ""
    kept = list_lines(body)
    if any(map(is_observation, kept)):
        return "\n".join(kept), "no tags, list lines kept"
    if "\n" not in body and len(body) < _SHORT_PROSE:
        return "", "one short line without tags"
    return bulleted(body), "no tags, prose kept"
