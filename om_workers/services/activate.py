"""How buffered segments become active: the only way there."""

from __future__ import annotations

from om_workers.engine.activation import ActivationReason
from om_workers.engine.reflection import ServedSegment, degrade
from om_workers.engine.rendering import CLOSING, OPENING, PREAMBLE
from om_workers.services.events import activation_data, cycle_id
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit


def activate_segments(unit: Unit, view: MemoryView, count: int, reason: ActivationReason) -> None:
    """Make the ``count`` oldest buffered segments active and move the active position behind them."""
    taken = view.buffered[:count]
    message_tokens = sum(segment.message_tokens for segment in taken)
    tokens = sum(segment.tokens for segment in taken)
    unit.tx.segments.set_state([segment.id for segment in taken], "active", live=True, at=unit.tx.now)
    unit.tx.segments.update_position(
        view.lineage.id,
        view.thread.id,
        {
            "active_seq": taken[-1].last_seq,
            "pending_tokens": view.position.pending_tokens - message_tokens,
            "buffered_tokens": view.position.buffered_tokens - message_tokens,
        },
    )
    active = view.lineage.active_tokens + tokens
    active += serve_within_limit(unit, view, active)
    unit.tx.segments.update_lineage(
        view.lineage.id,
        {
            "active_tokens": active,
            "whole_tokens": view.lineage.whole_tokens + sum(segment.text_tokens for segment in taken),
            "buffered_tokens": view.lineage.buffered_tokens - tokens,
        },
    )
    if reason is ActivationReason.TTL:
        unit.tx.update_memory({"idle_handled_at": view.memory.last_activity_at})
    if reason is ActivationReason.PROVIDER_CHANGE:
        # Handled: planning again with the same model must not see the change once more.
        unit.tx.update_memory({"last_model": view.state.activity.model})
    for segment in taken:
        extra = {"cycleId": cycle_id(segment.job_id, segment.attempt), "operationType": "observation"}
        data = activation_data(view, segment, reason, unit.tx.now, extra=extra | _cause(view, reason, unit))
        unit.tx.events.add("data-om-activation", view.thread.external_id, data)


def serve_within_limit(unit: Unit, view: MemoryView, active_tokens: int) -> int:
    """Serve less of the active segments when together they exceed the limit; the change in tokens, 0 or below.

    The last rung: it works whatever the reflect lane does, so that the rendered log is bounded always (RULES 5.6).
    """
    fixed = unit.ports.tokens.count(f"{PREAMBLE}\n{OPENING}\n{CLOSING}")
    limit = max(view.policy.reflection.served_limit - fixed, view.policy.reflection.served_limit // 2)
    if active_tokens <= limit:
        return 0
    active = unit.tx.segments.in_state(view.lineage.id, "active")
    served = [ServedSegment(segment.id, segment.served, segment.tokens) for segment in active]
    before = {segment.id: segment.tokens for segment in served}
    shorter = degrade(served, limit=limit, count=unit.ports.tokens.count)
    for segment in shorter:
        unit.tx.segments.serve(segment.id, segment.text, segment.tokens)
    return sum(segment.tokens - before[segment.id] for segment in shorter)


def _cause(view: MemoryView, reason: ActivationReason, unit: Unit) -> dict[str, object]:
    activity = view.state.activity
    if reason is ActivationReason.TTL and activity.last_at is not None:
        idle_ms = int((unit.tx.now - activity.last_at).total_seconds() * 1_000)
        return {"lastActivityAt": activity.last_at.isoformat(), "ttlExpiredMs": idle_ms}
    if reason is ActivationReason.PROVIDER_CHANGE:
        return {"previousModel": activity.last_model, "currentModel": activity.model}
    return {}
