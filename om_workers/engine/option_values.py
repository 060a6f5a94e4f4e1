"""What a single option's value may be, and what is said of one that it may not be."""

from __future__ import annotations

from om_workers.engine.text import clean_json, clean_text

MOST_TOKENS = 1_000_000_000
"""No size may be larger (RULES 3.1): stored counters and times stay in their ranges whatever they are added to."""
_LARGEST_NUMBER = 1_000_000_000_000


class InvalidOptionError(ValueError):
    """A memory option breaks its rule; ``field``, ``value`` and ``rule`` say which and why (RULES 3.1)."""

    def __init__(self, field: str, value: object, rule: str) -> None:
        super().__init__(f"{clean_text(field)} = {value!r}: {rule}")
        self.field = clean_text(field)
        self.value: object = clean_json(value)
        self.rule = rule


def read_number(field: str, value: object, rule: str) -> int | float:
    """A finite number, never a boolean or a text; raises ``InvalidOptionError`` with ``rule``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidOptionError(field, value, rule)
    # Compared, not converted: an integer too large for a float is a wrong value, not a crash; NaN fails as well.
    if not -_LARGEST_NUMBER <= value <= _LARGEST_NUMBER:
        raise InvalidOptionError(field, value, rule)
    return value


def read_count(field: str, value: object) -> int:
    """A whole number of tokens from 0 to ``MOST_TOKENS``; raises ``InvalidOptionError``."""
    rule = f"must be a whole number of tokens, 0 to {MOST_TOKENS}"
    number = read_number(field, value, rule)
    if number < 0 or number > MOST_TOKENS or number != int(number):
        raise InvalidOptionError(field, value, rule)
    return int(number)


def read_tokens(field: str, value: object) -> int:
    """A whole number of tokens above 0; raises ``InvalidOptionError``."""
    number = read_count(field, value)
    if number == 0:
        raise InvalidOptionError(field, value, "must be more than 0 tokens")
    return number


def read_flag(field: str, value: object) -> bool:
    """True or false, nothing that stands for it; raises ``InvalidOptionError``."""
    if not isinstance(value, bool):
        raise InvalidOptionError(field, value, "must be true or false")
    return value


def read_text(field: str, value: object) -> str:
    """A text that can be stored as it is; raises ``InvalidOptionError``."""
    if not isinstance(value, str):
        raise InvalidOptionError(field, value, "must be a text")
    if clean_text(value) != value:
        raise InvalidOptionError(field, value, "must not hold NUL characters or lone surrogates")
    return value
