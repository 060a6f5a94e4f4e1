"""How a share of tokens becomes a whole number."""

from __future__ import annotations

import math


def round_half_up(value: float) -> int:
    """The nearest integer, halves upwards (not to even), as the thresholds are defined (RULES 3.2)."""
    return math.floor(value + 0.5)
