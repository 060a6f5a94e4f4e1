"""When Redis is not asked at all for a moment, because it has just not answered."""

from __future__ import annotations

import time


class Breaker:
    """Open for ``seconds`` after a failure, so that an absent server costs a time-out now and then only."""

    def __init__(self, seconds: float = 2.0) -> None:
        self._seconds = seconds
        self._open_until = 0.0

    @property
    def open(self) -> bool:
        """Whether calls are to be left out now."""
        return time.monotonic() < self._open_until

    def trip(self) -> None:
        """A call failed."""
        self._open_until = time.monotonic() + self._seconds
