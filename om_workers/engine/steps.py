"""Which step of an actor is unfinished, and what a message makes of that."""

from __future__ import annotations

from om_workers.engine.messages import Part, call_ids, part_type, result_ids


def unfinished_after(unfinished_from: int | None, *, seq: int, role: str, parts: tuple[Part, ...]) -> int | None:
    """Where the unfinished step starts once this message is stored, or ``None`` when all steps are finished (RULES 4.5).

    A step is finished when the actor has read its results: when it has written on, or when the user has. Its messages
    are not covered before, because the actor still needs them word for word.
    """
    if role == "user":
        return None
    if role == "tool" or _only_results(parts):
        return seq if unfinished_from is None else min(unfinished_from, seq)
    if _waits(parts):
        return seq
    return None


def _only_results(parts: tuple[Part, ...]) -> bool:
    return bool(parts) and all(part_type(part) == "tool-result" for part in parts)


def _waits(parts: tuple[Part, ...]) -> bool:
    answered = set(result_ids(parts))
    open_call = any(call not in answered for call in call_ids(parts))
    return open_call or (bool(parts) and part_type(parts[-1]) == "tool-result")
