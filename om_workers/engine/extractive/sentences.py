"""How arbitrary text becomes short, harmless, single-line sentences; every step looks at a bounded piece of it."""

from __future__ import annotations

import re

HEAD_CHARACTERS = 12_000
TAIL_CHARACTERS = 4_000
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_LEVELS = re.compile("[🔴🟡🟢✅]")
_REFERENCE = re.compile(r"\[(\d{1,12}(?:-\d{1,12})?)\]")
_MARKER = re.compile(r"^(?:[*+•\-–>#]{1,6}|\d{1,3}[.)])\s+")
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]{0,3}\s+|(?<=[。！？])|\n")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|vs|No|approx|e\.g|i\.e|etc)\.$")


def bounded(text: str) -> str:
    """``text``, or its beginning and its end when it is longer than anyone needs to read."""
    if len(text) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return text
    return f"{text[:HEAD_CHARACTERS]}\n{text[-TAIL_CHARACTERS:]}"


def plain(text: str) -> str:
    """``text`` on one line that cannot pass for part of a log: no control characters, level emoji or references."""
    text = _LEVELS.sub("", _CONTROL.sub(" ", text))
    return " ".join(_REFERENCE.sub(r"(\1)", text).split())


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters, cut at a word where one ends nearby, with ``…`` when something was left out."""
    if len(text) <= limit:
        return text
    kept = text[: max(0, limit - 1)]
    space = kept.rfind(" ", len(kept) * 2 // 3)
    return (kept[:space] if space > 0 else kept).rstrip() + "…"


def sentences(text: str, limit: int = 60) -> list[str]:
    """The first ``limit`` plain sentences of the bounded text outside of fenced code; empty ones are left out."""
    found: list[str] = []
    start = 0
    text = _outside_code(bounded(text))
    for end in _END.finditer(text):
        if end.group().startswith(" ") and _ABBREVIATION.search(text, max(start, end.start() - 8), end.start()):
            continue
        _keep(found, text[start : end.end()])
        start = end.end()
        if len(found) >= limit:
            return found
    _keep(found, text[start:])
    return found


def _keep(found: list[str], piece: str) -> None:
    if piece.isspace():
        return
    sentence = _MARKER.sub("", plain(piece))
    if any(map(str.isalnum, sentence)):
        found.append(sentence)


def _outside_code(text: str) -> str:
    if "```" not in text:
        return text
    pieces = text.split("```")
    return "\n".join(pieces[::2])
