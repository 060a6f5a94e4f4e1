"""How a line of observations names the messages it stands on: ``[12]``, ``[12-14]``, ``[3, 7-9]`` at its end.

Brackets anywhere else, brackets that hold more than numbers, and brackets grown onto a word (``argv[1]``) are the
line's own text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Source = tuple[int, int]
"""First and last seq of a run of messages, both included."""

_ITEM = r"[0-9]{1,12}(?:[ \t]*[-–—][ \t]*[0-9]{1,12})?"
_GROUP = re.compile(rf"\[[ \t]*{_ITEM}(?:[ \t]*,[ \t]*{_ITEM})*[ \t]*\]")
_GROWN_ON = re.compile(r"[A-Za-z0-9_$]")
_NUMBER = re.compile(r"[0-9]+")


def sources_of(text: str) -> tuple[Source, ...]:
    """Every run of messages that the lines of ``text`` name, in reading order, each once."""
    found = (source for line in text.split("\n") for source in split_sources(line)[1])
    return tuple(dict.fromkeys(found))


def format_sources(sources: Iterable[Source]) -> str:
    """The reference of these runs, ``""`` for none: ``((12, 14), (17, 17))`` gives ``[12-14, 17]``."""
    items = [str(first) if first == last else f"{first}-{last}" for first, last in sources]
    return f"[{', '.join(items)}]" if items else ""


def split_sources(line: str) -> tuple[str, tuple[Source, ...]]:
    """A line without the references at its end, and what they name; a run written backwards is turned round.

    A full stop after the references stays with the line.
    """
    end = len(line.rstrip())
    stop = "." if line[:end].endswith(".") else ""
    end = _blank_start(line, end - len(stop))
    bodies: list[str] = []
    while (start := _group_start(line, end)) >= 0:
        bodies.append(line[start:end])
        end = _blank_start(line, start)
    if not bodies:
        return line, ()
    items = (item for body in reversed(bodies) for item in body.split(","))
    return line[:end] + stop, tuple(_source(item) for item in items)


def drop_out_of_range(text: str, first: int, last: int) -> tuple[str, int]:
    """``text`` whose references stay within the messages ``first`` to ``last``, and how many were taken out.

    A run that lies only partly inside is refused as a whole: whoever wrote it did not read it there. Lines without a
    wrong reference stay as they are.
    """
    kept = [_within(line, first, last) for line in text.split("\n")]
    return "\n".join(line for line, _ in kept), sum(dropped for _, dropped in kept)


def _within(line: str, first: int, last: int) -> tuple[str, int]:
    head, sources = split_sources(line)
    inside = [source for source in sources if first <= source[0] and source[1] <= last]
    if len(inside) == len(sources):
        return line, 0
    return f"{head} {format_sources(inside)}" if inside else head, len(sources) - len(inside)


def _group_start(line: str, end: int) -> int:
    """Where the bracket group that ends at ``end`` starts, ``-1`` when none does."""
    start = line.rfind("[", 0, end)
    if start < 0 or _GROUP.fullmatch(line, start, end) is None:
        return -1
    return -1 if start and _GROWN_ON.match(line, start - 1) else start


def _blank_start(line: str, end: int) -> int:
    while end and line[end - 1].isspace():
        end -= 1
    return end


def _source(item: str) -> Source:
    numbers = [int(number) for number in _NUMBER.findall(item)]
    return min(numbers), max(numbers)
