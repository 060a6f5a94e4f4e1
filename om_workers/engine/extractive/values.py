"""How the values of a call's arguments and of a result are read: a bounded number of leaves, each written compactly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from om_workers.engine.extractive.sentences import plain, shorten

DEPTH = 8
VALUE_CHARACTERS = 60
LONG_CHARACTERS = 200
EXCERPT_CHARACTERS = 24
TEXT_CHARACTERS = 400
KEY_CHARACTERS = 80
MOST_BITS = 128
Leaf = tuple[str, str]
"""The nearest key above a leaf, or nothing, and the leaf as plain text."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_FILLER = frozenset({"number", "of", "num", "no", "count", "is", "has", "the", "id", "name", "value", "checked"})
_BARE = re.compile(r"[-+]?\d{1,12}(?:\.\d{1,6})?%?|true|false|yes|no|none|null|dontcare|any", re.IGNORECASE)


def leaves_of(value: object, limit: int) -> Iterator[Leaf]:
    """The first ``limit`` text, number and truth values inside a JSON value, in order, without recursion."""
    stack: list[Iterator[tuple[str, object]]] = [iter([("", value)])]
    steps = 0
    while stack and steps < limit * 2:
        entry = next(stack[-1], None)
        if entry is None:
            stack.pop()
            continue
        steps += 1
        key, inner = entry
        if isinstance(inner, (Mapping, list, tuple)):
            if len(stack) < DEPTH:
                stack.append(_entries(key, inner))
        elif inner is not None and (text := _text(inner)):
            yield key, text


def words_of_key(key: str) -> list[str]:
    """The words of a key or of a tool's name in lower case: ``buyBusTicket`` has three."""
    return [word.lower() for word in _WORDS.findall(key)]


def label_of(key: str) -> str:
    """A short label made of the telling words of a key: ``number_of_seats`` is ``seats``."""
    words = words_of_key(key)
    telling = [word for word in words if word not in _FILLER] or words
    return " ".join(telling[-2:])


def last_word(key: str) -> str:
    """The last word of a key: ``id`` of ``orderId``; nothing when it has none."""
    return next(reversed(words_of_key(key)), "")


def is_bare(text: str) -> bool:
    """Whether a value means nothing without its key."""
    return len(text) < 2 or _BARE.fullmatch(text) is not None


def arguments_text(args: object, limit: int) -> str:
    """Up to ``limit`` arguments of a call, comma-separated; keys are named only where the value alone would not tell.

    Two keys with the same last word (``origin_city``, ``destination_city``) are told apart by their first.
    """
    leaves = list(leaves_of(args, limit))[:limit]
    endings = [last_word(key) for key, _ in leaves]
    pieces = []
    for (key, text), ending in zip(leaves, endings, strict=True):
        value = shorten(text, VALUE_CHARACTERS if len(text) <= LONG_CHARACTERS else EXCERPT_CHARACTERS)
        if is_bare(text):
            pieces.append(f"{label_of(key)} {value}".strip())
        elif ending and endings.count(ending) > 1 and (first := _first_word(key)) != ending:
            pieces.append(f"{first} {value}")
        else:
            pieces.append(value)
    return ", ".join(pieces)


def _first_word(key: str) -> str:
    return next(iter(words_of_key(key)), "")


def _entries(key: str, value: Mapping[str, object] | Sequence[object]) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        return ((str(name)[:KEY_CHARACTERS], inner) for name, inner in value.items())
    return ((key, inner) for inner in value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return plain(value[:TEXT_CHARACTERS])
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return ""  # Python refuses to write numbers of thousands of digits
    return str(value)[:TEXT_CHARACTERS]
