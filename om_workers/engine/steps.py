"""Which step of an actor is unfinished, and what a message makes of that."""

from __future__ import annotations

from om_workers.engine.messages import Part, call_ids, part_type, result_ids

_SILENT = ("data-", "reasoning")
"""Kinds of parts that say nothing to anyone."""


def unfinished_after(unfinished_from: int | None, *, seq: int, role: str, parts: tuple[Part, ...]) -> int | None:
    """Where the unfinished step starts once this message is stored, ``None`` when all steps are finished (RULES 4.5).

    A step is finished when the actor has read its results: when it has written on, or when the user has. Its messages
    are not covered before, because the actor still needs them word for word. Results count as such under any role; what
    the system says in between finishes nothing, and neither do reasoning or ``data-`` parts alone.
    """
    if role == "tool" or only_results(parts):
        return seq if unfinished_from is None else unfinished_from
    kinds = [part_type(part) for part in parts if not part_type(part).startswith(_SILENT)]
    if role == "system" or not kinds:
        return unfinished_from
    waits = kinds[-1] in ("tool-call", "tool-result") or _has_open_call(parts)
    return seq if role == "assistant" and waits else None


def only_results(parts: tuple[Part, ...]) -> bool:
    """Whether a message brings tool results and nothing else, as some providers send them in the user's role."""
    return bool(parts) and all(part_type(part) == "tool-result" for part in parts)


def _has_open_call(parts: tuple[Part, ...]) -> bool:
    answered = set(result_ids(parts))
    return any(call not in answered for call in call_ids(parts))
