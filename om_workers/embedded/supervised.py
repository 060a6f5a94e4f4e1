"""How a program of the stack is kept running: started again when it ends by itself, later each time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

from om_workers.embedded.processes import ChildProcess

Say = Callable[[str], None]
"""Tells the person at the terminal one line."""

_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 30.0
_STEADY_SECONDS = 60.0
"""A program that ran this long is healthy: its next end counts as the first."""


class Supervised:
    """One program. Its methods are called from the main thread, since children die with the thread they start in."""

    def __init__(self, name: str, start: Callable[[], ChildProcess], say: Say) -> None:
        """``start`` gives the running child; a ``RuntimeError`` or ``OSError`` of it counts as an end."""
        self.name = name
        self._start = start
        self._say = say
        self._child: ChildProcess | None = None
        self._ends = 0
        self._started_at = 0.0
        self._again_at: float | None = None

    @property
    def child(self) -> ChildProcess | None:
        """The child as it was last started."""
        return self._child

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._child is not None and self._child.alive

    def start(self) -> None:
        """Start it; errors of the start are the caller's."""
        self._started_at = time.monotonic()
        self._again_at = None
        self._child = self._start()

    def look(self) -> None:
        """Say when it has ended, start it again when its time has come, and keep its log small."""
        if self._child is not None:
            self._child.bound_log()
        now = time.monotonic()
        if self._again_at is not None:
            if now >= self._again_at:
                self._start_again()
        elif self._child is not None and not self._child.alive:
            self._expect_again(f"ended with status {self._child.returncode} (see {self._child.log})")

    def ask_to_end(self) -> None:
        """Send SIGTERM and return at once; it is not started again."""
        self._again_at = float("inf")
        if self._child is not None and self._child.alive:
            os.kill(self._child.pid, signal.SIGTERM)

    def end(self, timeout_seconds: float) -> bool:
        """Wait for the end that was asked for, and kill it after ``timeout_seconds``; whether it ended by itself."""
        if self._child is None or self._child.wait(timeout_seconds) is not None:
            return True
        self._child.kill()
        return False

    def _start_again(self) -> None:
        try:
            self.start()
        except (RuntimeError, OSError) as error:
            self._expect_again(f"cannot be started: {error}")
        else:
            self._say(f"{self.name} runs again")

    def _expect_again(self, what: str) -> None:
        now = time.monotonic()
        self._ends = 1 if now - self._started_at >= _STEADY_SECONDS else self._ends + 1
        delay = min(_FIRST_DELAY_SECONDS * 2 ** (self._ends - 1), _LONGEST_DELAY_SECONDS)
        self._again_at = now + delay
        self._say(f"{self.name} {what}; starting it again in {delay:g} s")
