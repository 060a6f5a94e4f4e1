"""How many tokens a stored message counts."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from typing import Any

from om_workers.engine.messages import CountTokens, Part, part_type

COUNTER_VERSION = 1
MESSAGE_OVERHEAD = 4
"""Tokens every message costs beside its parts: its role and its frame (RULES 2.4)."""

IMAGE_TOKENS = 765
_ATTACHMENT_REFERENCE_TOKENS = 20
_BYTES_PER_TOKEN = 4
_MEDIA_TYPE_KEYS = ("mimeType", "mediaType", "mime_type", "media_type")
_DATA_URI = re.compile(r"data:([^;,]*)[^,]*,", re.IGNORECASE)


def count_part(part: Part, count: CountTokens) -> int:
    """Tokens of one part by its kind (RULES 2.4-2.6): what the actor's model would read of it.

    Reasoning counts nothing, because it is shown only while its step is unfinished. A kind that is not known counts as
    its JSON text, which is more rather than less than it costs.
    """
    rule = _RULES.get(part_type(part))
    if rule is not None:
        return rule(part, count)
    if part_type(part).startswith("data-"):
        return 0
    return count(compact_json(dict(part)))


def count_message(part_tokens: list[int]) -> int:
    """Tokens of a message with parts of these sizes; at least the overhead, never negative."""
    return MESSAGE_OVERHEAD + sum(part_tokens)


def compact_json(value: Any) -> str:
    """JSON without spaces, other alphabets as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def payload_text(value: Any) -> str:
    """A tool's arguments or result as text: a string as it is, nothing for ``None``, else compact JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else compact_json(value)


def _text(part: Part, count: CountTokens) -> int:
    return count(str(part.get("text") or ""))


def _call(part: Part, count: CountTokens) -> int:
    return count(str(part.get("toolName") or "")) + count(payload_text(part.get("args")))


def _result(part: Part, count: CountTokens) -> int:
    return count(str(part.get("toolName") or "")) + count(payload_text(part.get("result")))


def _reasoning(_part: Part, _count: CountTokens) -> int:
    return 0


def _image(_part: Part, _count: CountTokens) -> int:
    return IMAGE_TOKENS


def _file(part: Part, count: CountTokens) -> int:
    data = _inline_data(part)
    if _media_type(part, data).startswith("image/"):
        return IMAGE_TOKENS
    if data:
        return max(1, _decoded_size(data) // _BYTES_PER_TOKEN)
    return _ATTACHMENT_REFERENCE_TOKENS + count(str(part.get("filename") or ""))


def _inline_data(part: Part) -> str:
    """The part's bytes as they were sent, also when they stand in its address; empty without any."""
    data, address = part.get("data"), part.get("url")
    if isinstance(data, str) and data:
        return data
    return address if isinstance(address, str) and address[:5].lower() == "data:" else ""


def _media_type(part: Part, data: str) -> str:
    named = (part.get(key) for key in _MEDIA_TYPE_KEYS)
    uri = _DATA_URI.match(data)
    return next((name for name in named if isinstance(name, str)), uri[1] if uri else "").strip().lower()


def _decoded_size(data: str) -> int:
    uri = _DATA_URI.match(data)
    payload = data[uri.end() :] if uri else data
    try:
        return len(base64.b64decode(payload, validate=True))
    except ValueError:
        return len(payload.encode())


_RULES: dict[str, Callable[[Part, CountTokens], int]] = {
    "text": _text,
    "tool-call": _call,
    "tool-result": _result,
    "reasoning": _reasoning,
    "image": _image,
    "file": _file,
}
