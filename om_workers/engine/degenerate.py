"""Is a model's answer caught in a loop, and what of it is only honest repetition?

Both look alike at first sight. An honest log repeats short lines, or lines that differ in their time, numbers or
sources; a loop copies whole stretches letter by letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from om_workers.engine.log_lines import is_date
from om_workers.engine.sources import Source, format_sources, split_sources

SHORTEST = 2_000
"""Characters below which a text is never called degenerate."""

_STRETCH = 4
"""Lines in a row that must come again, in the same order, to count as a copy."""
_SHORT_LINE = 24
_WINDOW = 40
_LONG_LINE = 400
_COPIED_SHARE = 0.4
_RUN = 4

_LEAD = re.compile(r"[ \t]*(?:[-*•+]|[0-9]{1,4}[.)])?[ \t]*[🔴🟡🟢✅]?\ufe0f?[ \t]*")
_TIME = re.compile(r"\(([0-9]{1,2}:[0-9]{2})\)[ \t]*")


def degenerate_reason(text: str) -> str | None:
    """Why ``text`` is a loop rather than an answer, or ``None`` when it is fine (case LP-1).

    Either a long line mostly repeats itself, or most of the text is stretches of four lines that were there before.
    Equal lines shorter than 24 characters (bullet, time and sources aside) are no evidence, unless four different
    ones come again in the same order. Takes time in proportion to the text.
    """
    if len(text) < SHORTEST:
        return None
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    looping = [len(line) >= _LONG_LINE and _repeats_itself(line) for line in lines]
    longest = max((len(line) for line, loops in zip(lines, looping, strict=True) if loops), default=0)
    if longest >= SHORTEST:
        return f"a line of {longest} characters repeats itself"
    copied = sum(len(line) for line, *loops in zip(lines, looping, _copies(lines), strict=True) if any(loops))
    share = copied / max(1, sum(map(len, lines)))
    return f"{share:.0%} of the text repeats what was there before" if share > _COPIED_SHARE else None


def collapse_repeats(text: str) -> str:
    """``text`` with every run of four or more lines that say the same made one line with its count.

    Times and sources do not matter; the line keeps the first time, names the last one, and stands on all sources.
    """
    return "\n".join(line for said, run in groupby(text.split("\n"), key=_said) for line in _collapsed(said, list(run)))


def _repeats_itself(line: str) -> bool:
    """Whether more than half of the line's windows were in it before."""
    windows = len(line) - _WINDOW + 1
    return len({line[start : start + _WINDOW] for start in range(windows)}) * 2 < windows


def _copies(lines: Sequence[str]) -> list[bool]:
    """For each line, whether it belongs to a stretch that stood earlier in the text too."""
    copied = [False] * len(lines)
    telling = [len(_bare(line)) >= _SHORT_LINE for line in lines]
    seen: set[tuple[str, ...]] = set()
    for start in range(len(lines) - _STRETCH + 1):
        stretch = tuple(lines[start : start + _STRETCH])
        if stretch in seen and (len(set(stretch)) == _STRETCH or any(telling[start : start + _STRETCH])):
            copied[start : start + _STRETCH] = [True] * _STRETCH
        seen.add(stretch)
    return copied


def _bare(line: str) -> str:
    """The line's own words: no bullet, priority, time or sources."""
    return _split_time(split_sources(line)[0])[2].strip()


def _said(line: str) -> str:
    """What a line says, time and sources aside."""
    lead, _, words = _split_time(split_sources(line)[0])
    return (lead + words).rstrip()


def _split_time(line: str) -> tuple[str, str, str]:
    """A line as bullet and priority, time (``""`` without one), and the rest."""
    lead = _LEAD.match(line)
    start = lead.end() if lead else 0
    time = _TIME.match(line, start)
    return (line[:start], time.group(1), line[time.end() :]) if time else (line[:start], "", line[start:])


def _collapsed(said: str, run: list[str]) -> Iterator[str]:
    if len(run) < _RUN or not said or is_date(said):
        yield from run
        return
    began, ended = (_split_time(line)[1] for line in (run[0], run[-1]))
    until = f", until {ended}" if ended not in {"", began} else ""
    head = split_sources(run[0])[0].rstrip()
    yield f"{head} (×{len(run)}{until}) {format_sources(_span(run))}".rstrip()


def _span(run: Sequence[str]) -> tuple[Source, ...]:
    """One run of messages from the first to the last that these lines name."""
    sources = [source for line in run for source in split_sources(line)[1]]
    return ((min(first for first, _ in sources), max(last for _, last in sources)),) if sources else ()
