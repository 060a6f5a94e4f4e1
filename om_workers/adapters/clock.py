"""The system's clock, ids and chance."""

from __future__ import annotations

import secrets
import time
import uuid
from datetime import UTC, datetime, timedelta

_RANDOM = secrets.SystemRandom()


class SystemClock:
    """The clock of this machine; ``offset_seconds`` moves it, to test what wrong clocks do."""

    def __init__(self, offset_seconds: float = 0.0) -> None:
        self._offset = timedelta(seconds=offset_seconds)

    def now(self) -> datetime:
        """This instant, aware, in UTC."""
        return datetime.now(UTC) + self._offset

    def wait(self, seconds: float) -> None:
        """Return after ``seconds``."""
        time.sleep(seconds)


class SystemIds:
    """Random ids and chance from the operating system."""

    def new(self) -> str:
        """A fresh random id of 32 hexadecimal digits."""
        return uuid.uuid4().hex

    def secret(self) -> str:
        """A fresh secret that cannot be guessed."""
        return "om_" + secrets.token_urlsafe(32)

    def jitter(self) -> float:
        """A number spread evenly over [-1, 1]."""
        return _RANDOM.uniform(-1.0, 1.0)
