"""Which facts a log of limited size keeps: those that say most that is not said yet, for the fewest tokens."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from om_workers.engine.extractive.facts import Fact, Level, bullet_of, header_of, render
from om_workers.engine.extractive.sentences import shorten
from om_workers.engine.extractive.terms import rough_tokens, terms_of
from om_workers.engine.messages import CountTokens

FACTORS = {Level.DONE: 1.4, Level.HIGH: 1.3, Level.MEDIUM: 1.0, Level.LOW: 0.4}
LINE_OVERHEAD = 10.0
RECOUNTS = 6
MISFITS = 48


@dataclass(slots=True)
class Selection:
    """What was chosen so far, what it said, and how many tokens are left."""

    room: int
    count: CountTokens
    least: float = 0.0
    chosen: dict[int, Fact] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    headed: set[str] = field(default_factory=set)

    def gain(self, fact: Fact, terms: dict[str, float]) -> float:
        """What the fact would add to what was said already."""
        new = sum(weight for term, weight in terms.items() if term not in self.said)
        return FACTORS[fact.level] * (fact.worth * min(1.0, 0.1 + new / 4) + new)

    def place(self, index: int, fact: Fact, terms: dict[str, float]) -> bool:
        """Whether the fact, or its short wording, found room; it is chosen then."""
        heading = f"{fact.thread}\n{header_of(fact.day)}\n" if fact.day else f"{fact.thread}\n"
        opening = 0 if heading in self.headed else self._opening(fact)
        for wording in (fact.text, fact.short):
            candidate = replace(fact, text=wording)
            price = opening + self.count(bullet_of(candidate) + "\n") if wording else self.room + 1
            if price <= self.room:
                self.room -= price
                self.chosen[index] = candidate
                self.said.update(terms if wording == fact.text else terms_of(wording))
                self.headed.add(heading)
                return True
        return False

    def _opening(self, fact: Fact) -> int:
        header = self.count(header_of(fact.day) + "\n") if fact.day else 0
        section = self.count(f'<thread id="{fact.thread}">\n</thread>\n') if fact.thread else 0
        return header + section


def choose(tier: Sequence[tuple[int, Fact]], selection: Selection) -> bool:
    """Fills the selection from numbered facts, by gain for the price, ties by number; whether all of them found room.

    A gain only shrinks as more is said, so a fact is weighed again when it comes up, a bounded number of times.
    """
    facts = dict(tier)
    terms = {index: terms_of(fact.text) for index, fact in tier}
    prices = {index: LINE_OVERHEAD + rough_tokens(fact.text) for index, fact in tier}
    heap = [(-selection.gain(fact, terms[index]) / prices[index], index, 0) for index, fact in tier]
    heapq.heapify(heap)
    misfits = 0
    while heap and misfits < MISFITS:
        _, index, recounts = heapq.heappop(heap)
        gain = selection.gain(facts[index], terms[index])
        if gain < selection.least:
            continue
        rank = -gain / prices[index]
        if heap and recounts < RECOUNTS and (rank, index) > heap[0][:2]:
            heapq.heappush(heap, (rank, index, recounts + 1))
        elif not selection.place(index, facts[index], terms[index]):
            misfits += 1
    return misfits == 0


def best_of(facts: Sequence[Fact], *, least: float) -> Fact | None:
    """The one fact that says most for its price, or nothing when none gains ``least``."""
    selection = Selection(room=0, count=len)
    gains = [(selection.gain(fact, terms_of(fact.text)), fact) for fact in facts]
    worthy = [
        (gain / (LINE_OVERHEAD + rough_tokens(fact.text)), -index)
        for index, (gain, fact) in enumerate(gains)
        if gain >= least
    ]
    return facts[-max(worthy)[1]] if worthy else None


def written(selection: Selection, limit: int) -> str:
    """The log of what was chosen, in the facts' order; the last chosen leave until it truly fits in ``limit`` tokens.

    Prices are sums over lines, and a tokenizer may count their whole differently.
    """
    kept = list(selection.chosen)
    leave = 1
    while kept:
        text = render([selection.chosen[index] for index in sorted(kept)])
        if selection.count(text) <= limit:
            return text
        del kept[-leave:]
        leave *= 2
    return ""


def squeeze(fact: Fact, limit: int, count: CountTokens) -> str:
    """A log of this one fact, its text cut to fit in ``limit`` tokens, or nothing when not even a few words fit."""
    length = 160
    while length >= 12:
        text = render([replace(fact, text=shorten(fact.text, length))])
        if count(text) <= limit:
            return text
        length = length * 3 // 4
    return ""
