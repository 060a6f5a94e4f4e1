"""Whether somebody asked this process to end."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

_POLL_SECONDS = 0.1


class Interrupts:
    """Ctrl-C or SIGTERM asks once, politely; the second time ``KeyboardInterrupt`` is raised wherever the program is.

    A handler that raised the first time could strike between the start of a child and the note of it.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._take)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def wait_until(self, done: Callable[[], bool], *, seconds: float = float("inf")) -> None:
        """Ask ``done`` about ten times a second until it is true, somebody asked to end, or the time is over."""
        deadline = time.monotonic() + seconds
        while not self.asked and not done() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
