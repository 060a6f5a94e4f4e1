"""Which parts of a model's answer stand in which of our tags, however carelessly they were written.

Tags may be in capitals, on one line, repeated, unclosed, or copied from a message into the middle of a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_OURS = "observations?|observation-group|current-task|suggested-response|thread|transcript|previous-observations"
_END = r"""(?:\s+[\w-]+[ \t]*=[ \t]*(?:"[^"<>\n]*"|'[^'<>\n]*'|[^\s"'<>=]+))*(?:\s*/?>|\s*\Z)"""
_TAG = re.compile(rf"<(?P<closing>/?)(?:{_OURS}){_END}", re.IGNORECASE)
_START = re.compile(rf"<(?=/?(?:{_OURS})(?:[\s/>]|\Z))", re.IGNORECASE)
_LOG = re.compile(rf"<(?P<closing>/?)observations?{_END}", re.IGNORECASE)
_HINTS = {
    name: re.compile(rf"<(?P<closing>/?){name}{_END}", re.IGNORECASE) for name in ("current-task", "suggested-response")
}
_THOUGHT = re.compile(r"\A\s*<(think|thinking)>.*?</\1>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class TaggedAnswer:
    """An answer taken apart: what stood in its observation tags (``None`` without any), and its two hints.

    ``opened``, ``closed``: whether the first block was opened and the last one closed. ``outside``: the answer without
    the hints, for one that forgot the tags.
    """

    blocks: tuple[str, ...] | None
    opened: bool
    closed: bool
    outside: str
    current_task: str | None
    suggested_response: str | None


def split_answer(answer: str) -> TaggedAnswer:
    """Take ``answer`` apart. Reasoning that it opens with is dropped; nothing else is cleaned. Linear in its length."""
    rest = _THOUGHT.sub("", answer, count=1)
    rest, task = _take_hint(rest, _HINTS["current-task"])
    rest, response = _take_hint(rest, _HINTS["suggested-response"])
    tags = list(_LOG.finditer(rest))
    return TaggedAnswer(
        blocks=_blocks(rest, tags) if tags else None,
        opened=bool(tags) and not tags[0]["closing"],
        closed=bool(tags) and (bool(tags[-1]["closing"]) or tags[-1].group().endswith("/>")),
        outside=rest,
        current_task=task,
        suggested_response=response,
    )


def strip_tags(text: str) -> str:
    """``text`` without those of our tags that lead a line or close one; others belong to its sentences."""
    return _TAG.sub(lambda tag: "" if _structural(text, tag) else tag.group(), text)


def escape_tags(text: str) -> str:
    """``text`` in which none of our tags starts: their ``<`` is written ``&lt;`` (case SE-1)."""
    return _START.sub("&lt;", text)


def _structural(text: str, tag: re.Match[str]) -> bool:
    return _leads(text, tag.start()) or (bool(tag["closing"]) and _trails(text, tag.end()))


def _take_hint(text: str, tag: re.Pattern[str]) -> tuple[str, str | None]:
    """``text`` without the spans of this tag, and what the first of them held.

    Only a tag that leads its line opens a span: one inside a sentence was copied from a message. A span that is never
    closed ends at the next of our tags.
    """
    pieces: list[str] = []
    values: list[str] = []
    kept = 0
    for found in tag.finditer(text):
        if found.start() < kept or found["closing"] or not _leads(text, found.start()):
            continue
        stop = _TAG.search(text, found.end())
        pieces.append(text[kept : found.start()])
        values.append(text[found.end() : stop.start() if stop else len(text)])
        kept = _resume(stop, tag) if stop else len(text)
    return "".join([*pieces, text[kept:]]), values[0] if values else None


def _resume(stop: re.Match[str], tag: re.Pattern[str]) -> int:
    """Where the answer goes on after a span: behind its own closing tag, before any other."""
    own = tag.fullmatch(stop.group())
    return stop.end() if own and own["closing"] else stop.start()


def _leads(text: str, position: int) -> bool:
    """Whether nothing but blanks stands between ``position`` and the start of its line or another of our tags."""
    end = position
    while end and text[end - 1] in " \t":
        end -= 1
    if end == 0 or text[end - 1] == "\n":
        return True
    return text[end - 1] == ">" and _TAG.fullmatch(text, max(0, text.rfind("<", 0, end)), end) is not None


def _trails(text: str, position: int) -> bool:
    """Whether nothing but blanks stands between ``position`` and the end of its line or another of our tags."""
    while position < len(text) and text[position] in " \t":
        position += 1
    return position == len(text) or text[position] == "\n" or _TAG.match(text, position) is not None


def _blocks(text: str, tags: Sequence[re.Match[str]]) -> tuple[str, ...]:
    """What stands in the observation tags.

    A block runs to the last closing tag before the next opening one that leads its line, so that a closing tag copied
    into an observation ends nothing. An answer that lacks only the opening tag starts with its first character.
    """
    blocks: list[str] = []
    start, end = 0 if tags[0]["closing"] else tags[0].end(), None
    for tag in tags:
        if tag["closing"]:
            end = tag.start()
        elif end is not None and _leads(text, tag.start()):
            blocks.append(text[start:end])
            start, end = tag.end(), None
    return (*blocks, text[start:end])
