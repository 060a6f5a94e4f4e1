"""How images and files appear in a transcript: as numbered placeholders, never as their bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from om_workers.engine.messages import Part
from om_workers.engine.text import cut_characters

_NAME = 80
_DEEPEST = 40
_LONG_BASE64 = 1_000

_DATA_URI = re.compile(r"data:([\w.+-]{1,60}/[\w.+-]{1,80})?(?:;[\w.+-]+=[^;,\s]*)*;base64,[\w+/=%-]*", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_\r\n-]+={0,2}\s*")
_BINARY_KINDS = frozenset({"image", "image-data", "media", "file", "file-data", "audio"})
_BINARY_TYPES = ("image/", "audio/", "video/", "font/", "application/pdf", "application/octet-stream")
_TYPE_KEYS = ("mimeType", "mediaType", "mime_type", "media_type")


class Attachments:
    """Gives out the placeholders of one transcript: images and files are numbered apart, from 1."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def placeholder(self, part: Part) -> str:
        """``[Image #1: name]`` or ``[File #1: name]``; the name is file name, end of the address or media type."""
        mime = _first_text(part, *_TYPE_KEYS)
        is_image = part.get("type") in ("image", "image-data") or mime.startswith("image/")
        return self._give("Image" if is_image else "File", _name_of(part) or mime)

    def in_text(self, text: str) -> str:
        """``text`` with every base64 data URI in it replaced by a placeholder."""
        if "base64," not in text.lower():
            return text
        return _DATA_URI.sub(lambda uri: self.placeholder({"mimeType": (uri[1] or "").lower()}), text)

    def in_value(self, value: Any, depth: int = 0) -> Any:
        """A JSON value without bytes: attachment objects, data URIs and long base64 strings become placeholders.

        What is nested deeper than 40 levels is cut with a mark, and what is no JSON becomes its text.
        """
        if isinstance(value, str):
            return self._give("File", "base64") if _is_base64(value) else self.in_text(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if depth >= _DEEPEST:
            return "…[deeper levels trimmed]"
        if isinstance(value, Mapping):
            return self._in_mapping(value, depth + 1)
        if isinstance(value, list | tuple):
            return [self.in_value(item, depth + 1) for item in value]
        return self.in_text(str(value))

    def _in_mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        bytes_key = "data" if _holds_bytes(value) else None
        return {
            str(key): self.placeholder(value) if key == bytes_key else self.in_value(item, depth)
            for key, item in value.items()
        }

    def _give(self, kind: str, name: str) -> str:
        self._given[kind] += 1
        label = " ".join(name.split())
        return f"[{kind} #{self._given[kind]}: {cut_characters(label, _NAME) or kind.lower()}]"


def _name_of(part: Part) -> str:
    name = _first_text(part, "filename", "name")
    if name:
        return name
    address = _first_text(part, "url", "image").partition("?")[0].rstrip("/")
    return address.rpartition("/")[2] if address.lower().startswith(("http://", "https://")) else ""


def _first_text(part: Part, *keys: str) -> str:
    return next((value for value in map(part.get, keys) if isinstance(value, str) and value), "")


def _holds_bytes(value: Mapping[Any, Any]) -> bool:
    """Whether ``data`` of a JSON object is bytes, because it is an attachment by its kind or media type."""
    kind, mime = value.get("type"), _first_text(value, *_TYPE_KEYS).lower()
    declared = (isinstance(kind, str) and kind in _BINARY_KINDS) or mime.startswith(_BINARY_TYPES)
    return declared and isinstance(value.get("data"), str)


def _is_base64(value: str) -> bool:
    """Whether a long string is nothing but base64; one without capitals, small letters or digits is taken for text."""
    if len(value) < _LONG_BASE64 or not _BASE64.fullmatch(value):
        return False
    start = value[:_LONG_BASE64]
    return any(map(str.isupper, start)) and any(map(str.islower, start)) and any(map(str.isdigit, start))
