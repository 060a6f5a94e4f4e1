"""What goes wrong, and when: crashes and freezes at any step, and everything that happens to calls and messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from om_workers.ports.errors import BusyError
from tests.simulation.choices import Choices
from tests.simulation.scenario import Faults, Scenario
from tests.simulation.scheduler import Actor, Scheduler

_EMPHASIS = {"COMMIT": 8, "committed": 8, "send": 8, "publish": 8, "answered": 40}
"""How much likelier crashes and freezes are where they do most harm."""
_FROZEN = (4_000, 13_000, 15_000, 18_000, 45_000)


class Weather:
    """The faults of one run. ``tally`` counts what happened, ``calm`` ends all faults."""

    def __init__(self, scenario: Scenario, choices: Choices) -> None:
        self.choices = choices
        self.faults: Faults = scenario.faults
        self.tally: Counter[str] = Counter()
        self.calm = False
        self.scheduler = Scheduler(choices, restless=scenario.restless)
        self.scheduler.disturb = self._disturb

    def count(self, what: str, times: int = 1) -> None:
        """Something worth counting happened."""
        self.tally[what] += times

    def strike(self, what: str) -> None:
        """A fault happened."""
        self.count(what)
        self.scheduler.note(f"! {what}")

    def happens(self, what: str, probability: float) -> bool:
        """Whether this fault happens now; it is counted."""
        if self.calm or not self.choices.chance(probability):
            return False
        self.strike(what)
        return True

    def which(self, names: Sequence[str], weights: Sequence[float]) -> str | None:
        """The fault that happens now, or none; it is counted."""
        number = 0 if self.calm or not any(weights) else self.choices.which(weights)
        if number == 0:
            return None
        self.strike(names[number - 1])
        return names[number - 1]

    def may_be_busy(self) -> None:
        """Raises ``BusyError`` when the database is."""
        if self.happens("busy", self.faults.busy):
            raise BusyError

    def crash(self, actor: Actor) -> None:
        """The actor's process dies."""
        if actor.process is not None:
            self.strike("crashes")
            self.scheduler.crash(actor.process)

    def freeze(self, actor: Actor) -> None:
        """The actor's process stops for a while, and does not know."""
        if actor.process is not None:
            length = self.choices.pick(_FROZEN)
            self.strike("freezes")
            actor.process.frozen_until = self.scheduler.now + length
            self.scheduler.give_way()

    def _disturb(self, actor: Actor, label: str) -> None:
        weights = [self.scheduler.restless]
        if actor.process is not None and not self.calm:
            times = _EMPHASIS.get(label, 1)
            weights += [self.faults.freeze * times, self.faults.crash * times]
        match self.choices.which(weights):
            case 1:
                self.scheduler.give_way()
            case 2:
                self.freeze(actor)
            case 3:
                self.crash(actor)
