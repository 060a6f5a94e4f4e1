"""What one range of messages comes to, as the body of an observation log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from om_workers.engine.extractive.calls import call_facts
from om_workers.engine.extractive.facts import Fact, Level, clock_of, reference_of, render
from om_workers.engine.extractive.scoring import Selection, best_of, choose, squeeze, written
from om_workers.engine.extractive.sentences import shorten
from om_workers.engine.extractive.statements import first_words, statement_facts
from om_workers.engine.extractive.values import leaves_of
from om_workers.engine.messages import CountTokens, Message, Part, part_type

COUNTED_CHARACTERS = 20_000
COUNTED_LEAVES = 500
LEAST_GAIN = 2.0
SHORTEST = 24
LAST_WORDS = 60
LAST_LINE = 48
"""Tokens a log may take when its share of the input is too small for a single line."""


def observe(messages: Sequence[Message], *, count: CountTokens, ratio: float = 6.0) -> str:
    """The observations of a range of messages: date headers and bullets, oldest first; empty only for no messages.

    Takes at most the tokens of the input divided by ``ratio``; an input too small for that gets one line of at most
    ``LAST_LINE`` tokens. A message without a stored count is counted here, each text and result by its beginning only.
    """
    messages = sorted(messages, key=lambda message: message.seq)
    if not messages:
        return ""
    limit = int(_tokens(messages, count) / max(ratio, 1.0))
    facts = sorted([*call_facts(messages), *statement_facts(messages)], key=_when)
    selection = Selection(room=limit, count=count, least=LEAST_GAIN)
    choose(list(enumerate(facts)), selection)
    return written(selection, limit) or _one_line(messages, facts, max(limit, LAST_LINE), count)


def _one_line(messages: Sequence[Message], facts: Sequence[Fact], limit: int, count: CountTokens) -> str:
    fact = best_of(facts, least=LEAST_GAIN) or _nothing_much(messages)
    return squeeze(fact, limit, count) or render([replace(fact, text=shorten(fact.text, SHORTEST), short="")])


def _nothing_much(messages: Sequence[Message]) -> Fact:
    first, last = messages[0], messages[-1]
    words = first_words(messages, LAST_WORDS)
    return Fact(
        level=Level.LOW,
        text=words or f"{len(messages)} message{'s' * (len(messages) > 1)} without words",
        day=first.created_at.date(),
        clock=clock_of(first.created_at),
        reference=reference_of(first.seq, last.seq),
    )


def _when(fact: Fact) -> tuple[date, str, int]:
    return fact.day or date.min, fact.clock, fact.seq


def _tokens(messages: Sequence[Message], count: CountTokens) -> int:
    stored = sum(max(0, message.tokens) for message in messages)
    return stored or sum(count(text) for message in messages for text in map(_visible, message.parts))


def _visible(part: Part) -> str:
    kind = part_type(part)
    if kind == "text":
        return str(part.get("text", ""))[:COUNTED_CHARACTERS]
    content = part.get("args") if kind == "tool-call" else part.get("result") if kind == "tool-result" else None
    return "" if content is None else " ".join(f"{key} {text}" for key, text in leaves_of(content, COUNTED_LEAVES))
