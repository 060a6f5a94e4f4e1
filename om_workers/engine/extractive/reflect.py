"""What a sequence of observation logs comes to when it has to fit in fewer tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from om_workers.engine.extractive.facts import Fact, Level
from om_workers.engine.extractive.reading import likeness, read
from om_workers.engine.extractive.scoring import Selection, best_of, choose, squeeze, written
from om_workers.engine.extractive.sentences import shorten
from om_workers.engine.messages import CountTokens

TIERS = ((Level.DONE, Level.HIGH), (Level.MEDIUM,), (Level.LOW,))
ORDER = tuple(level for tier in TIERS for level in tier)
FRESHNESS = 1.0
BRIEF_CHARACTERS = 110


def reflect(texts: Sequence[str], *, target_tokens: int, count: CountTokens) -> str:
    """One log of at most ``target_tokens`` tokens that stands for these logs, given oldest first.

    Equal lines are kept once, where they stood last; days and threads are put together. When that is not small enough,
    lines leave by level (🟢, then 🟡; 🔴 and ✅ last) and, within a level, those that repeat others and old ones first;
    none stays while one of a higher level has to leave.
    Empty when there is nothing to keep, or when the target is too small for the beginning of a single line.
    """
    facts = _in_order(_latest(list(read(texts))))
    tiers = [[(index, fact) for index, fact in enumerate(facts) if fact.level in tier] for tier in TIERS]
    selection = Selection(room=target_tokens, count=count)
    for tier in tiers:
        if not choose(tier, selection):
            break
    return written(selection, target_tokens) or _one_line(next(filter(None, tiers), []), target_tokens, count)


def _one_line(tier: Sequence[tuple[int, Fact]], limit: int, count: CountTokens) -> str:
    best = best_of([fact for _, fact in tier], least=0.0)
    return squeeze(best, limit, count) if best else ""


def _latest(facts: Sequence[Fact]) -> list[Fact]:
    """The last of each group of alike facts, at its highest level; ``worth`` grows with how late it stands."""
    kept: dict[str, Fact] = {}
    for position, fact in enumerate(facts):
        key = likeness(fact)
        earlier = kept.pop(key, fact)
        level = min(earlier.level, fact.level, key=ORDER.index)
        kept[key] = replace(
            fact, level=level, worth=FRESHNESS * (1 + position / len(facts)), short=shorten(fact.text, BRIEF_CHARACTERS)
        )
    return list(kept.values())


def _in_order(facts: Sequence[Fact]) -> list[Fact]:
    """Threads in order of appearance, their undated lines first, then day by day, lines of a day as they came."""
    threads = {thread: index for index, thread in enumerate(dict.fromkeys(fact.thread for fact in facts))}
    return sorted(facts, key=lambda fact: (threads[fact.thread], fact.day or date.min))
