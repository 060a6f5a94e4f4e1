"""How text is cleaned on the way in, cut without breaking characters, and escaped on the way out."""

from __future__ import annotations

import re
from typing import Any

from om_workers.engine.messages import CountTokens

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MARKUP = re.compile(r"<(?=[/!?A-Za-z])")
_ENTITY = re.compile(r"&(?=(?:amp|lt);)")
_MARK = " …[{cut} characters trimmed]"


def clean_text(text: str) -> str:
    """``text`` with every NUL and lone surrogate replaced by U+FFFD (RULES 2.1)."""
    return _UNSTORABLE.sub("�", text)


def clean_json(value: Any) -> Any:
    """A JSON value whose strings and keys are all clean; other values as they are."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
    return value


def escape(text: str) -> str:
    """``text`` that can neither close nor open a wrapper: a ``<`` that could start a tag becomes ``&lt;`` (RULES 8.2).

    An ``&lt;`` or ``&amp;`` that was already there is escaped too, so ``unescape(escape(t)) == t``.
    """
    return _MARKUP.sub("&lt;", _ENTITY.sub("&amp;", text))


def unescape(text: str) -> str:
    """The text that ``escape`` was given."""
    return text.replace("&lt;", "<").replace("&amp;", "&")


def cut_characters(text: str, limit: int) -> str:
    """At most ``limit`` characters of ``text``, with a visible mark when something was left out.

    Python strings are sequences of whole characters, so a cut never splits one.
    """
    if len(text) <= limit:
        return text
    return text[:limit] + _MARK.format(cut=len(text) - limit)


def cut_tokens(text: str, limit: int, count: CountTokens) -> str:
    """``text`` when it fits in ``limit`` tokens, else a long prefix of it that fits together with its mark.

    What is returned was counted, so it fits whatever ``count`` is like; only where nothing fits, it is the mark alone.
    """
    if count(text) <= limit:
        return text
    low, high = 0, min(len(text), limit * 16)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle] + _MARK.format(cut=len(text) - middle)) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low] + _MARK.format(cut=len(text) - low)
