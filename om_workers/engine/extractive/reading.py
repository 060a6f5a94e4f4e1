"""How observation logs are read back: ours, a language model's, or anything else, line by line into facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from om_workers.engine.extractive.facts import MONTHS, Fact, Level
from om_workers.engine.extractive.sentences import plain, shorten

LINES = 5_000
LINE_CHARACTERS = 600
HEADER_CHARACTERS = 100
REFERENCE_CHARACTERS = 40
LEAD_MARKS = 4
_LEVELS = {level.value: level for level in Level}
_HEADER = re.compile(
    r"[*#_ ]{0,6}Date:?[*_ ]{0,4}"
    r"(?:(?P<month>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}), (?P<year>\d{4})|(?P<iso>\d{4}-\d{2}-\d{2}))"
    r"[*_: ]{0,4}(?:\([^()]{0,40}\))?[*_ ]{0,4}"
)
_OPEN = re.compile(r'<thread id="(?P<id>[^"<>\n]{1,300})">')
_WRAPPER = re.compile(r"</?(?:thread|observations?|observation-group|reflection)\b[^<>]{0,400}>")
_REFERENCE = re.compile(r"\s*(?P<reference>\[\d{1,12}(?:-\d{1,12})?\])$")
_LEAD = re.compile(r"(?:[*+•\-–—#>]{1,6}|\d{1,3}[.)])(?=\s|[🔴🟡🟢✅])\s*")
_CLOCK = re.compile(r"\(?(?P<clock>[01]?\d:[0-5]\d|2[0-3]:[0-5]\d)(?::[0-5]\d)?\)?(?=\s|:|$):?\s*")
_ALIKE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the reading stands: the section and the day the next line belongs to."""

    thread: str = ""
    day: date | None = None


def read(texts: Sequence[str]) -> Iterator[Fact]:
    """The facts of the first ``LINES`` lines of each log, in order.

    A header or wrapper says where the lines after it belong; lines without a letter or digit and headings say nothing.
    """
    for text in texts:
        place = Place()
        for raw in text.split("\n", LINES)[:LINES]:
            line = raw[: LINE_CHARACTERS * 4].strip()
            moved = _moved(place, line)
            if moved is None:
                yield _fact(place, line)
            place = moved or place


def likeness(fact: Fact) -> str:
    """Equal for facts that say the same: the text without case and punctuation, within its section."""
    return f"{fact.thread}\n{_ALIKE.sub(' ', fact.text.casefold()).strip() or fact.text}"


def _moved(place: Place, line: str) -> Place | None:
    """The place after a line that holds no fact, or nothing when it may hold one."""
    if opened := _OPEN.fullmatch(line):
        return Place(thread=opened["id"])
    if line == "</thread>":
        return Place()
    day = _day(line)
    if day:
        return replace(place, day=day)
    says_nothing = line.startswith("#") or not any(map(str.isalnum, line)) or _WRAPPER.fullmatch(line)
    return place if says_nothing else None


def _day(line: str) -> date | None:
    header = _HEADER.fullmatch(line[:HEADER_CHARACTERS])
    if header is None:
        return None
    try:
        if header["iso"]:
            return date.fromisoformat(header["iso"])
        return date(int(header["year"]), MONTHS.index(header["month"][:3].capitalize()) + 1, int(header["day"]))
    except ValueError:
        return None


def _fact(place: Place, line: str) -> Fact:
    level, clock = Level.MEDIUM, ""
    for _ in range(LEAD_MARKS):
        lead = _LEAD.match(line)
        line = line[lead.end() :] if lead else line
        if line[:1] in _LEVELS:
            level, line = _LEVELS[line[:1]], line[1:].lstrip("\ufe0f ")
        elif found := _CLOCK.match(line):
            clock, line = found["clock"].rjust(5, "0"), line[found.end() :]
    reference = _REFERENCE.search(line, max(0, len(line) - REFERENCE_CHARACTERS))
    text = plain(line[: reference.start()] if reference else line)
    return Fact(
        level=level,
        text=shorten(text, LINE_CHARACTERS),
        day=place.day,
        clock=clock,
        reference=reference["reference"] if reference else "",
        thread=place.thread,
    )
