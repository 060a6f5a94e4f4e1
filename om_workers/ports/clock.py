"""Where time, new ids and chance come from."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The process's clock; decisions under a lock use the store's own time instead."""

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        ...

    def wait(self, seconds: float) -> None:
        """Return after ``seconds``."""
        ...


class Ids(Protocol):
    """A source of ids and chance."""

    def new(self) -> str:
        """A fresh random id of 32 hexadecimal digits."""
        ...

    def secret(self) -> str:
        """A fresh secret that cannot be guessed."""
        ...

    def jitter(self) -> float:
        """A number spread evenly over [-1, 1]."""
        ...
