"""How a span of time is written in an option, and how many milliseconds it is."""

from __future__ import annotations

import re

from om_workers.engine.numbers import round_half_up
from om_workers.engine.option_values import InvalidOptionError, read_number

MOST_MILLISECONDS = 365 * 86_400_000
"""No span may be longer: a time that is a span away from now always exists."""

_MILLISECONDS = (1, 1_000, 60_000, 3_600_000)
_DURATION = re.compile(
    r"(\d+(?:\.\d+)?) *(?:(ms|msecs?|milliseconds?)|(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hrs?|hours?))",
    re.IGNORECASE | re.ASCII,
)
_RULE = 'must be milliseconds or a duration such as "5m", "90s", "1.5hr", from 0 to 365 days'


def parse_duration(field: str, value: object) -> int:
    """Milliseconds of a number of milliseconds or a text such as ``"5m"`` or ``"1.5 hr"`` (RULES 3.7).

    Raises ``InvalidOptionError``.
    """
    milliseconds = _written(field, value) if isinstance(value, str) else read_number(field, value, _RULE)
    if not 0 <= milliseconds <= MOST_MILLISECONDS:
        raise InvalidOptionError(field, value, _RULE)
    return round_half_up(milliseconds)


def _written(field: str, value: str) -> float:
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise InvalidOptionError(field, value, _RULE)
    number, *units = match.groups()
    return float(number) * next(size for size, unit in zip(_MILLISECONDS, units, strict=True) if unit)
