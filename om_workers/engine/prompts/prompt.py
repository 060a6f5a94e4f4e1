"""What a prompt is, how data is fenced in it, and how its version is told from its words."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """``system``: the instructions. ``blocks``: texts of the user's role, in order, those that change least first."""

    system: str
    blocks: tuple[str, ...]


def fence(name: str, text: str) -> str:
    """Escaped ``text`` between tags of this name.

    The text is expected to be escaped already; should a tag of this name have slipped in, it is defused all the same,
    so that the fence is closed exactly once (case SE-1).
    """
    inside = re.sub(rf"<(?=/?{re.escape(name)})", "&lt;", text, flags=re.IGNORECASE)
    return f"<{name}>\n{inside}\n</{name}>"


def with_instruction(system: str, instruction: str) -> str:
    """``system`` with the deployer's own instruction under a heading at its end, as it is when there is none."""
    own = instruction.strip()
    return f"{system}\n\n## Instructions of this deployment\n{own}" if own else system


def version_of(name: str, *texts: str) -> str:
    """A version that changes with every word of these texts: ``observer-3f2a9c0d11``."""
    return f"{name}-{hashlib.sha256(chr(0).join(texts).encode()).hexdigest()[:10]}"
