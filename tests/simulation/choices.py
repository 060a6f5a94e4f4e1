"""Where the chance of a run comes from: a seed, or the list of choices that an earlier run made.

Zero is always the dullest choice (go on, no fault, no delay), so that a run is made simpler by making choices zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Draws that are recorded. ``replay``: choices to take instead, zeros after their end."""

    def __init__(self, seed: int, replay: Sequence[int] | None = None) -> None:
        self._random = Random(seed)
        self._replay = replay
        self.made: list[int] = []

    def draw(self, count: int) -> int:
        """A number from 0 to ``count`` - 1, all equally likely."""
        return self._keep(self._random.randrange(count) if self._replay is None else self._next(count))

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        if probability <= 0:
            return False
        return self._keep(int(self._random.random() < probability) if self._replay is None else self._next(2)) == 1

    def which(self, weights: Sequence[float]) -> int:
        """The number of what happens, from 1, each with its probability; 0 for nothing of it."""
        if self._replay is not None:
            chosen = self._next(len(weights) + 1)
            return self._keep(chosen if chosen and weights[chosen - 1] > 0 else 0)
        left = self._random.random()
        for number, weight in enumerate(weights, 1):
            left -= weight
            if left < 0:
                return self._keep(number)
        return self._keep(0)

    def pick(self, values: Sequence[T]) -> T:
        """One of the values; the first is the dullest."""
        return values[self.draw(len(values))]

    def _next(self, count: int) -> int:
        made, replay = len(self.made), self._replay or ()
        return min(replay[made], count - 1) if made < len(replay) else 0

    def _keep(self, choice: int) -> int:
        self.made.append(choice)
        return choice
