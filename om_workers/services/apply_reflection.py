"""How a candidate reflection takes the place of what it read."""

from __future__ import annotations

from om_workers.engine.activation import ActivationReason
from om_workers.engine.numbers import round_half_up
from om_workers.ports.records import SegmentSize
from om_workers.services.activate import serve_within_limit
from om_workers.services.events import activation_data, cycle_id
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit


def apply_reflection(unit: Unit, view: MemoryView, reason: ActivationReason) -> None:
    """Replace exactly the segments that the candidate read; later ones stay. A new generation starts (RULES 5.2)."""
    segments = unit.tx.segments
    (candidate,) = segments.in_state(view.lineage.id, "candidate")
    active = {segment.id: segment for segment in segments.in_state(view.lineage.id, "active")}
    replaced = [active[source] for source in segments.sources(candidate.id)]
    segments.set_state([segment.id for segment in replaced], "reflected", live=False, at=unit.tx.now)
    segments.set_state([candidate.id], "active", live=True, at=unit.tx.now)
    before = sum(segment.tokens for segment in replaced)
    tokens = view.lineage.active_tokens - before + candidate.tokens
    tokens += serve_within_limit(unit, view, tokens)
    whole = view.lineage.whole_tokens - sum(segment.text_tokens for segment in replaced) + candidate.text_tokens
    segments.update_lineage(
        view.lineage.id,
        {
            "generation": candidate.generation,
            "active_tokens": tokens,
            "whole_tokens": whole,
            "reflect_above": round_half_up(whole + view.policy.reflection.growth),
        },
    )
    size = SegmentSize(
        candidate.id,
        before,
        candidate.tokens,
        candidate.text_tokens,
        candidate.last_seq,
        0,
        candidate.job_id,
        candidate.attempt,
    )
    extra = {
        "cycleId": cycle_id(candidate.job_id, candidate.attempt),
        "operationType": "reflection",
        "generationCount": candidate.generation,
    }
    data = activation_data(view, size, reason, unit.tx.now, extra=extra)
    unit.tx.events.add("data-om-activation", view.thread.external_id, data)
