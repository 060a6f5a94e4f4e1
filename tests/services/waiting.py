"""How tests wait: for a condition, with a limit. Nothing else in the tests may sleep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_POLL_SECONDS = 0.02
T = TypeVar("T")


def wait_until(predicate: Callable[[], T], timeout_seconds: float = 10.0, *, what: str = "") -> T:
    """The first true value of ``predicate``, asked every 20 ms; fails with ``what`` after ``timeout_seconds``."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout_seconds} s: {what or predicate}; last value: {value!r}")
        time.sleep(_POLL_SECONDS)  # noqa: TID251 - the one place
