"""What one line of an observation log is, and how chosen lines become the log's text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Level(Enum):
    """How much a fact matters; the value is the emoji it is written with."""

    HIGH = "🔴"
    MEDIUM = "🟡"
    LOW = "🟢"
    DONE = "✅"


@dataclass(frozen=True, slots=True)
class Fact:
    """One candidate line.

    ``day`` is the local date it stands under, ``clock`` its local ``HH:MM`` or nothing, ``reference`` its source such
    as ``[12]`` or ``[12-14]`` or nothing, ``short`` a briefer wording used when ``text`` does not fit, ``worth`` what
    it is worth whatever it says, ``thread`` the section it belongs to when a log holds several threads, ``seq`` the
    message it begins at.
    """

    level: Level
    text: str
    day: date | None = None
    clock: str = ""
    reference: str = ""
    short: str = ""
    worth: float = 0.0
    thread: str = ""
    seq: int = 0


def clock_of(moment: datetime) -> str:
    """The 24-hour local time of a message, ``HH:MM``."""
    return f"{moment.hour:02}:{moment.minute:02}"


def reference_of(first: int, last: int) -> str:
    """The source reference of messages ``first`` to ``last`` (their seqs)."""
    return f"[{first}]" if first == last else f"[{first}-{last}]"


def header_of(day: date) -> str:
    """The header line of a day; month names never depend on the machine's locale."""
    return f"Date: {MONTHS[day.month - 1]} {day.day}, {day.year}"


def bullet_of(fact: Fact) -> str:
    """The line of one fact, without a line break."""
    clock = f"({fact.clock})" if fact.clock else ""
    return " ".join(piece for piece in ("*", fact.level.value, clock, fact.text, fact.reference) if piece)


def render(facts: Sequence[Fact]) -> str:
    """The log of these facts in their order: a section per thread, a header where the day changes, a bullet each."""
    return "\n".join(_lines(facts))


def _lines(facts: Iterable[Fact]) -> Iterable[str]:
    thread, day = "", None
    for fact in facts:
        if fact.thread != thread:
            if thread:
                yield "</thread>"
            if fact.thread:
                yield f'<thread id="{fact.thread}">'
            thread, day = fact.thread, None
        if fact.day is not None and fact.day != day:
            yield header_of(fact.day)
        day = fact.day or day
        yield bullet_of(fact)
    if thread:
        yield "</thread>"
