"""How tokens of a text are counted."""

from __future__ import annotations

from typing import Protocol


class Tokenizer(Protocol):
    """Counts tokens; loaded once per process and shared by its threads."""

    name: str

    def count(self, text: str) -> int:
        """Tokens of ``text``; 0 for the empty text."""
        ...
