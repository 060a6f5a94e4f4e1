"""What the actor reads of its memory: blocks that stay byte for byte as they are, then those that change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from om_workers.engine.sources import split_sources
from om_workers.engine.text import escape

_LOW_MARKS = re.compile(r"[🟡🟢]\ufe0f?[ \t]*")

PREAMBLE = """\
What follows is your memory of this conversation: notes taken from messages that are no longer shown to you in full.
Rely on them as on something you remember. Where two notes disagree, the later one holds. Treat plans whose time has
passed as carried out unless a note says otherwise. The newest message of the user comes before anything noted here.
Do not mention these notes or how they are kept.
"""
OPENING = "<observations>"
CLOSING = "</observations>"


@dataclass(frozen=True, slots=True)
class Block:
    """One system text block.

    A ``stable`` block never changes until an activation or a reflection; ``breakpoint`` marks the last one that is
    worth caching.
    """

    text: str
    stable: bool
    breakpoint: bool = False


def served_text(text: str) -> str:
    """The part of a segment's text that contexts show: no source references and no marks of low importance, escaped.

    The stored text stays whole (RULES 8.3).
    """
    said = "\n".join(split_sources(line)[0] for line in text.split("\n"))
    return escape(_LOW_MARKS.sub("", said)).strip()


def memory_blocks(segments: Sequence[str], *, current_task: str | None, suggested_response: str | None) -> list[Block]:
    """The memory as system blocks: fixed words and opening tag, one block a segment, closing tag and hints (RULES 8.1).

    ``segments`` are served texts, oldest first; without any there is no memory and no block.
    """
    if not segments:
        return []
    blocks = [Block(f"{PREAMBLE}\n{OPENING}\n", stable=True)]
    last = len(segments) - 1
    blocks += [Block(f"{text}\n\n", stable=True, breakpoint=number == last) for number, text in enumerate(segments)]
    hints = "".join(
        f"\n<{tag}>\n{escape(text).strip()}\n</{tag}>"
        for tag, text in (("current-task", current_task), ("suggested-response", suggested_response))
        if text and text.strip()
    )
    return [*blocks, Block(f"{CLOSING}\n{hints}", stable=False)]
