"""How tool arguments, tool results and unknown parts are shown within a limit of tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from om_workers.engine.attachments import Attachments
from om_workers.engine.counting import compact_json
from om_workers.engine.messages import CountTokens
from om_workers.engine.text import cut_characters, cut_tokens, escape

_LONGEST_STRINGS = (2_000, 400, 80)
"""Characters that long strings inside a payload are cut to, step by step, before the payload itself is cut."""


def show_text(text: str, limit: int, *, count: CountTokens, attachments: Attachments) -> str:
    """``text`` escaped, without bytes, within ``limit`` tokens; a cut leaves a visible mark (case TC-1)."""
    return cut_tokens(escape(attachments.in_text(text)), limit, count)


def show_payload(value: Any, limit: int, *, count: CountTokens, attachments: Attachments) -> str:
    """A JSON value as text within ``limit`` tokens, escaped and without bytes (cases AU-3, MM-1, TC-1).

    A string is shown as it is, anything else as compact JSON. Too large, its long strings are shortened first, so that
    every key stays visible; only then its end is cut. Both leave a visible mark.
    """
    plain = attachments.in_value(value)
    if isinstance(plain, str):
        return cut_tokens(escape(plain), limit, count)
    text = escape(compact_json(plain))
    for longest in _LONGEST_STRINGS:
        if count(text) <= limit:
            return text
        text = escape(compact_json(_shortened(plain, longest)))
    return cut_tokens(text, limit, count)


def _shortened(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return cut_characters(value, longest)
    if isinstance(value, Mapping):
        return {key: _shortened(item, longest) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item, longest) for item in value]
    return value
