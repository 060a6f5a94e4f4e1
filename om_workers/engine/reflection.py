"""How observations are condensed: compression levels, the choice among answers, and the bounded last rung."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from om_workers.engine.messages import CountTokens
from om_workers.engine.numbers import round_half_up

_HEADER = re.compile(r"[ \t]*(?:#{1,4}[ \t]+)?(?:\*\*)?Date:", re.IGNORECASE)
_RANKS = (("🔴", 2), ("✅", 1))
_NOTHING_SAID = -1
"""The rank of blank lines and of dates without a line, which leave whenever anything has to."""
_WEAK_COMPRESSOR = "gemini-2.5-flash"
HIGHEST_LEVEL = 4


@dataclass(frozen=True, slots=True)
class ServedSegment:
    """The rendered text of one active segment and its tokens."""

    id: str
    text: str
    tokens: int


def compression_levels(model: str, *, manual: bool) -> tuple[int, ...]:
    """The levels tried in turn, at most four: from 1, for a manual reflection from 0 (RULES 5.4).

    A model known to compress too little starts at 2.
    """
    start = 0 if manual else 2 if _WEAK_COMPRESSOR in model else 1
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

    Lines leave by importance, then by age: neither 🔴 nor ✅ first, then ✅, then 🔴; oldest first. A date line stays
    as long as a line below it stays. Only changed segments are returned; their whole texts stay stored.
    """
    served = {segment.id: segment for segment in segments}
    total = sum(segment.tokens for segment in segments)
    for rank in (_NOTHING_SAID, 0, 1, 2):
        for segment in segments:
            # Tokens of lines do not add up to those of their text, so what was dropped is counted and looked at again.
            while total > limit:
                shorter = _drop_lines(served[segment.id], rank, excess=total - limit, count=count)
                if shorter is None:
                    break
                total += shorter.tokens - served[segment.id].tokens
                served[segment.id] = shorter
    return tuple(served[segment.id] for segment in segments if served[segment.id] is not segment)


def _drop_lines(segment: ServedSegment, rank: int, *, excess: int, count: CountTokens) -> ServedSegment | None:
    """The segment without blank lines and its oldest lines of this rank, as many as ``excess`` asks for.

    ``None`` when there is nothing to leave out.
    """
    lines = [line for line in segment.text.split("\n") if line.strip()]
    kept: list[str] = []
    freed = 0
    for line in lines:
        if freed < excess and not _HEADER.match(line) and _rank(line) == rank:
            freed += count(line)
        else:
            kept.append(line)
    text = "\n".join(_without_bare_headers(kept))
    return None if text == segment.text else ServedSegment(segment.id, text, count(text))


def _without_bare_headers(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    for line in reversed(lines):
        if not _HEADER.match(line) or (kept and not _HEADER.match(kept[-1])):
            kept.append(line)
    return kept[::-1]


def _rank(line: str) -> int:
    return next((rank for mark, rank in _RANKS if mark in line), 0)
