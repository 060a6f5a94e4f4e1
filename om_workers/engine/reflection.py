"""How observations are condensed: compression levels, the choice among answers, and the bounded last rung."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from om_workers.engine.messages import CountTokens
from om_workers.engine.numbers import round_half_up

_HEADER = re.compile(r"Date: ")
_RANKS = (("🔴", 2), ("✅", 1))
_SLOW_COMPRESSOR = "gemini-2.5-flash"
HIGHEST_LEVEL = 4


@dataclass(frozen=True, slots=True)
class ServedSegment:
    """The rendered text of one active segment and its tokens."""

    id: str
    text: str
    tokens: int


def compression_levels(model: str, *, manual: bool) -> tuple[int, ...]:
    """The levels tried in turn: four of them, from 1 (0 for a manual reflection, 2 for a model known to need it)."""
    start = 2 if _SLOW_COMPRESSOR in model else 1
    start = 0 if manual else start
    return tuple(range(start, min(HIGHEST_LEVEL, start + 3) + 1))


def compression_target(input_tokens: int) -> int:
    """Tokens a reflection of ``input_tokens`` must stay below to be taken at once (RULES 5.4)."""
    return round_half_up(0.75 * input_tokens)


def smallest_valid(candidates: Sequence[tuple[str, int]], *, replaced_tokens: int) -> tuple[str, int] | None:
    """The smallest of ``candidates`` (text, tokens) that is smaller than what it replaces, or ``None`` (RULES 5.4)."""
    valid = [candidate for candidate in candidates if candidate[0].strip() and candidate[1] < replaced_tokens]
    return min(valid, key=lambda candidate: candidate[1], default=None)


def degrade(segments: Sequence[ServedSegment], *, limit: int, count: CountTokens) -> tuple[ServedSegment, ...]:
    """The segments that must be served shorter so that all together take at most ``limit`` tokens (RULES 5.6).

    Lines leave by importance, then by age: neither 🔴 nor ✅ first, then ✅, then 🔴; oldest first. A date line stays as
    long as a line below it stays. Only changed segments are returned; their whole texts stay stored.
    """
    total = sum(segment.tokens for segment in segments)
    changed: dict[str, ServedSegment] = {}
    for rank in (0, 1, 2):
        for segment in segments:
            if total <= limit:
                return tuple(changed.values())
            current = changed.get(segment.id, segment)
            shorter = _drop_lines(current, rank, excess=total - limit, count=count)
            if shorter.text != current.text:
                changed[segment.id] = shorter
                total += shorter.tokens - current.tokens
    return tuple(changed.values())


def _drop_lines(segment: ServedSegment, rank: int, *, excess: int, count: CountTokens) -> ServedSegment:
    lines = segment.text.split("\n")
    dropped: set[int] = set()
    freed = 0
    for number, line in enumerate(lines):
        if freed >= excess:
            break
        if line.strip() and not _HEADER.match(line) and _rank(line) == rank:
            dropped.add(number)
            freed += count(line)
    if not dropped:
        return segment
    text = "\n".join(_without_bare_headers([line for number, line in enumerate(lines) if number not in dropped]))
    return ServedSegment(segment.id, text, count(text))


def _without_bare_headers(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for line in reversed(lines):
        follows = kept[-1] if kept else ""
        if _HEADER.match(line) and (not follows or _HEADER.match(follows)):
            continue
        if line.strip():
            kept.append(line)
    return kept[::-1]


def _rank(line: str) -> int:
    return next((rank for mark, rank in _RANKS if mark in line), 0)
