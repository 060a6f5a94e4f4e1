"""Which terms of a text are worth remembering, how much each weighs, and roughly how many tokens a text takes."""

from __future__ import annotations

import re

TERM_CHARACTERS = 1_000
SPEAKER_CHARACTERS = len("Assistant: ")
_TERM = re.compile(r"[^\W_]+(?:[.,:/@'’_\-][^\W_]+)*")
_STOP = frozenset(
    """a about all also am an and any are as asked assistant at be been but by can could did do does for found from get
    had has have he her him his how i i'd i'll i'm i've if in into is it it's its just like make me more my need no not
    of ok okay on one or our out please she should so some sure than thanks that that's the their them then there these
    they this those to too up us user want was we were what what's when where which who will with would yes you
    your""".split()
)


def terms_of(text: str) -> dict[str, float]:
    """The weight of each distinct term: figures and names weigh most, plain words little, filler words nothing.

    The order is that of the text, so that sums over it are the same in every run.
    """
    found: dict[str, float] = {}
    text = text[:TERM_CHARACTERS]
    for match in _TERM.finditer(text):
        word = match.group()
        key = word.casefold()
        if key not in _STOP and key not in found:
            before = text[max(0, match.start() - 2) : match.start()]
            begins = match.start() <= SPEAKER_CHARACTERS or before.startswith((".", "!", "?")) or before.endswith('"')
            found[key] = _weight(word, begins=begins)
    return found


def words_of(text: str) -> frozenset[str]:
    """Every distinct word and figure of the text's bounded beginning, case folded."""
    return frozenset(match.group().casefold() for match in _TERM.finditer(text[:TERM_CHARACTERS]))


def _weight(word: str, *, begins: bool) -> float:
    if any(map(str.isdigit, word)):
        return 3.0 if len(word) >= 3 else 1.2
    if "@" in word or "/" in word or "." in word:
        return 2.0
    if word[:1].isupper():
        return 0.6 if begins else 2.5
    if word.upper() == word.lower():
        return min(6.0, 0.3 * len(word))  # a script without case rarely parts its words, so this is a phrase
    return 0.4 if len(word) >= 4 else 0.1


def rough_tokens(text: str) -> float:
    """About how many tokens a short text takes: four ASCII characters, or one and a half others, to a token."""
    if text.isascii():
        return len(text) / 4
    foreign = len(text.encode("utf-8", "replace")) - len(text)
    return len(text) / 4 + foreign / 4
