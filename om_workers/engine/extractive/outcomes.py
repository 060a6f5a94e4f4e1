"""What a tool result came to: the values the assistant went on to say, or a count, a line, an error, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from om_workers.engine.extractive.sentences import bounded, plain, shorten
from om_workers.engine.extractive.terms import words_of
from om_workers.engine.extractive.values import Leaf, is_bare, label_of, last_word, leaves_of
from om_workers.engine.extractive.wording import DONE, FAILURE

LEAVES = 120
SHOWN = 3
LINE_CHARACTERS = 110
VALUE_CHARACTERS = 48
_ERROR_KEYS = ("error", "errors", "exception", "errorMessage")
_TELLING = frozenset(
    {"id", "number", "name", "title", "status", "state", "total", "amount", "price", "url", "message", "summary"}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, in a few words. ``confirmed``: the assistant said afterwards that it is done."""

    text: str = ""
    failed: bool = False
    empty: bool = False
    confirmed: bool = False


def outcome_of(result: object, *, is_error: bool, spoken: str, known: str) -> Outcome:
    """The outcome of a result; ``spoken`` is what was said after it, ``known`` the arguments that need no repeating."""
    error = _error_of(result)
    if is_error or error:
        return Outcome(text=f"failed: {error or _line(result) or 'no reason given'}", failed=True)
    if not result and FAILURE.search(spoken):
        return Outcome(text="failed", failed=True)
    confirmed = DONE.search(spoken) is not None
    if isinstance(result, str):
        return Outcome(text=_line(result), confirmed=confirmed, empty=not result.strip())
    if isinstance(result, (list, Mapping)) and not result:
        return Outcome(text="none" if isinstance(result, list) else "", empty=isinstance(result, list))
    found = _found(result)
    values = list(islice(_values(result, spoken=spoken, known=known), SHOWN))
    return Outcome(text=": ".join(piece for piece in (found, ", ".join(values)) if piece), confirmed=confirmed)


def _error_of(result: object) -> str:
    if not isinstance(result, Mapping):
        return ""
    for key in _ERROR_KEYS:
        if result.get(key):
            return _line(result[key]) or "error"
    return ""


def _line(value: object) -> str:
    """The telling line of a text: the first that speaks of failure, or else the first of all."""
    if not isinstance(value, str):
        return ", ".join(shorten(text, VALUE_CHARACTERS) for _, text in islice(leaves_of(value, SHOWN), SHOWN))
    lines = [line for line in (plain(line[:400]) for line in bounded(value).split("\n")[:200]) if line]
    telling = next((line for line in lines if FAILURE.search(line)), lines[0] if lines else "")
    return shorten(telling, LINE_CHARACTERS)


def _found(result: object) -> str:
    records = result
    if isinstance(result, Mapping):
        records = next((value for value in islice(result.values(), 20) if isinstance(value, list)), None)
    return f"{len(records)} found" if isinstance(records, list) and len(records) > 1 else ""


def _values(result: object, *, spoken: str, known: str) -> Iterator[str]:
    """The values of the result that were said, each once; when none was, those under the most telling keys."""
    said = words_of(spoken)
    heard = spoken.casefold()
    old = known.casefold()
    leaves = list(islice(leaves_of(result, LEAVES), LEAVES))
    new = [leaf for leaf in dict.fromkeys(leaves) if leaf[1].casefold() not in old]
    chosen = [leaf for leaf in new if _is_said(leaf[1].casefold(), heard, said)]
    if not chosen:
        chosen = [leaf for leaf in new if not leaf[0] or last_word(leaf[0]) in _TELLING]
    return map(_written, _distinct(chosen))


def _is_said(text: str, heard: str, said: frozenset[str]) -> bool:
    if is_bare(text):
        return len(text) > 1 and text in said
    return len(text) >= 3 and text in heard


def _distinct(leaves: list[Leaf]) -> Iterator[Leaf]:
    seen: set[str] = set()
    for key, text in leaves:
        if text.casefold() not in seen:
            seen.add(text.casefold())
            yield key, text


def _written(leaf: Leaf) -> str:
    key, text = leaf
    value = shorten(text, VALUE_CHARACTERS)
    return f"{label_of(key)} {value}".strip() if is_bare(text) else value
