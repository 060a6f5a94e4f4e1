"""Which lines of a model's text are log lines, and how such text is cleaned before it is stored."""

from __future__ import annotations

import re

from om_workers.engine.answer_tags import escape_tags, strip_tags
from om_workers.engine.text import cut_characters, unescape

LONGEST_LINE = 10_000
_KEPT = LONGEST_LINE - 40
"""Characters kept of a longer line, so that with its mark it is within the limit."""

_MARKED = re.compile(r"[🔴🟡🟢✅]|\([0-9]{1,2}:[0-9]{2}\)|\[[0-9]+(?:[-–—, \t]+[0-9]+)*\][ \t]*$")
_BULLET = re.compile(r"[ \t]*(?:[-*•+]|[0-9]{1,4}[.)])[ \t]+\S|[ \t]*[🔴🟡🟢✅]")
_DATE = re.compile(r"[ \t]*(?:#{1,4}[ \t]+)?(?:\*\*)?Date:[^\n]*[0-9]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_CALENDAR = frozenset(
    "dat jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun st nd rd th of".split()
)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[\w-]*[ \t]*")
_ANCHOR = re.compile(r"([ \t]*(?:[-*•+][ \t]+)?)\[O[0-9]+(?:-N[0-9]+)*\][ \t]*")
_GAPS = re.compile(r"\n{3,}")


def log_body(text: str) -> str:
    """The text of a block as the model meant it: without code fence, stray tags, anchors and large gaps.

    What it copied from the escaped transcript is unescaped again; rendering escapes it anew.
    """
    lines = strip_tags(text).strip("\n").split("\n")
    if _FENCE.fullmatch(lines[0]):
        lines = lines[1:]
    if lines and _FENCE.fullmatch(lines[-1]):
        lines = lines[:-1]
    return _GAPS.sub("\n\n", "\n".join(_line(line) for line in lines)).strip("\n")


def is_observation(line: str) -> bool:
    """Whether the line is a list entry, by bullet, number or priority."""
    return _BULLET.match(line) is not None


def is_date(line: str) -> bool:
    """Whether the line is a date heading and nothing else: ``Date:`` with a number, months and weekdays."""
    words = _WORD.findall(line.lower()) if _DATE.match(line) else ()
    return bool(words) and all(word[:3] in _CALENDAR for word in words)


def is_marked(line: str) -> bool:
    """Whether the line carries a mark of the asked form: a priority, a time, or sources at its end."""
    return _MARKED.search(line) is not None


def list_lines(text: str) -> list[str]:
    """The list entries of ``text`` with the date headings among them."""
    return [line for line in text.split("\n") if is_observation(line) or is_date(line)]


def bulleted(text: str) -> str:
    """Prose as observations: every line that says something becomes a list entry, date headings stay."""
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line if is_date(line) else f"* {line}" for line in lines if line)


def bounded_lines(text: str) -> str:
    """``text`` as it may be stored: none of our tags, no line above 10 000 characters (cut with a mark, RULES 2.1)."""
    lines = (line if len(line) <= LONGEST_LINE else cut_characters(line, _KEPT) for line in text.split("\n"))
    return escape_tags("\n".join(lines)).strip("\n")


def _line(line: str) -> str:
    return unescape(_ANCHOR.sub(r"\1", line, count=1) if _ANCHOR.match(line) else line).rstrip()
