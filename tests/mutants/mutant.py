"""What a mutant is: one sentence of the protocol, the edit that makes it untrue, and where that must show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MOST_SEEDS = 60


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of a file's text that stands there exactly once, and what takes its place."""

    file: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Seeds:
    """A search that must find the mutant: so many seeds of the simulation, all of one emphasis where one is named."""

    count: int
    scenario: str | None = None


@dataclass(frozen=True, slots=True)
class Mutant:
    """``sentence``: what is promised, in our words; ``rule``: its number in the rulebook.

    ``dies_in``: the ids of the tests one of which must fail, or the seeds one of which must break a promise.
    """

    name: str
    rule: str
    sentence: str
    edits: tuple[Edit, ...]
    dies_in: tuple[str, ...] | Seeds


def changed_texts(mutant: Mutant, root: Path) -> Mapping[Path, str]:
    """The text of each file that the mutant changes; raises ``ValueError`` where an edit does not fit exactly once."""
    texts: dict[Path, str] = {}
    for edit in mutant.edits:
        path = root / edit.file
        text = texts.get(path) or path.read_text(encoding="utf-8")
        found = text.count(edit.before)
        if found != 1:
            raise ValueError(f"{mutant.name}: {edit.before!r} stands {found} times in {edit.file}")
        texts[path] = text.replace(edit.before, edit.after)
    return texts
