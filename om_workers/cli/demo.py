"""`om demo`: a conversation played on the embedded stack."""

from __future__ import annotations


def demo() -> None:
    """Play a conversation (soon)."""
