"""Does a short text say, and say only, that there was nothing to record?"""

from __future__ import annotations

import re

_LONGEST = 200
_NEGATIVE = frozenset("no none nothing not empty null n/a without".split())
_KNOWN = _NEGATIVE | frozenset(
    "a about act add added additional all any anything are as at be been chunk contains conversation could did do does "
    "durable else exchange extract extracted fact facts far for found from further had has have here i identified in "
    "information interest is it just kept lasting long-term made meaningful memorable memory message messages needed "
    "needs new note noted notable noteworthy observation observations observe observed of on only or part provided "
    "range record recorded recording relevant remember remembering report reported section seen significant small so "
    "store stored substantive talk that the there these this those time to transcript update updates useful was were "
    "which with worth yet given important".split()
)
_WORD = re.compile(r"[a-z]+(?:[/'’-][a-z]+)*")
_FOREIGN = re.compile(r"[0-9]|[^\W\d_a-zA-Z]")
_CLOCK = re.compile(r"\([0-9]{1,2}:[0-9]{2}\)")


def says_nothing(text: str) -> bool:
    """Whether ``text`` is blank or a short negative such as "No observations." (case LP-6).

    Every word must belong to a short list, one of them a negation, so that a sentence with a fact in it
    ("No sugar in the coffee") is never taken for one.
    """
    if not text.strip():
        return True
    said = _CLOCK.sub("", text)
    if len(said) > _LONGEST or _FOREIGN.search(said):
        return False
    words = set(_WORD.findall(said.lower()))
    return not words or (words <= _KNOWN and not words.isdisjoint(_NEGATIVE))
