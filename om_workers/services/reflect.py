"""How active segments are condensed: asked level by level, and committed as the lineage's candidate."""

from __future__ import annotations

from dataclasses import dataclass, field

from om_workers.engine.jobs import Lane, Trigger
from om_workers.engine.numbers import round_half_up
from om_workers.engine.parsing import AnswerKind, parse_reflector_answer
from om_workers.engine.prompts import reflector_prompt
from om_workers.engine.reflection import compression_levels, compression_target, smallest_valid
from om_workers.engine.retry import Outcome
from om_workers.engine.sources import drop_out_of_range
from om_workers.ports.bundle import Ports
from om_workers.ports.model import ModelReply, ReflectorInput
from om_workers.ports.records import SegmentRecord
from om_workers.services.calls import call_model
from om_workers.services.claim import Claim, start_of_call
from om_workers.services.commit import commit, refuse
from om_workers.services.failure import Failure
from om_workers.services.results import Observation, finish_job, store_candidate
from om_workers.services.settle import settle_failure
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit


@dataclass(slots=True)
class _Tries:
    """What the levels have given so far."""

    candidates: list[tuple[str, int]] = field(default_factory=list)
    failure: Failure | None = None


def reflect(ports: Ports, claim: Claim) -> bool:
    """Condense the claim's segments; whether the outcome was committed."""
    segments = _read(ports, claim)
    if segments is None:
        return refuse(ports, claim)
    whole = sum(segment.text_tokens for segment in segments)
    tries = _climb(ports, claim, segments, target=compression_target(whole))
    best = smallest_valid(tries.candidates, replaced_tokens=whole)
    return commit(ports, claim, lambda unit, view: _settle(unit, view, claim, tries, best))


def _climb(ports: Ports, claim: Claim, segments: list[SegmentRecord], *, target: int) -> _Tries:
    tries = _Tries()
    texts = [segment.text for segment in segments]
    levels = compression_levels(claim.model, manual=claim.job.trigger is Trigger.MANUAL)
    for number, level in enumerate(levels):
        call_id = claim.call_id if number == 0 else _begin_call(ports, claim)
        if call_id is None:
            tries.failure = Failure(Outcome.LOST, "the attempt has ended meanwhile")
            return tries
        instruction = claim.policy.reflection.instruction
        prompt = reflector_prompt(
            observations="\n".join(texts), level=level, target_tokens=target, instruction=instruction
        )
        called = call_model(ports, claim, call_id, prompt, ReflectorInput(texts, target))
        if called.reply is None:
            tries.failure = called.failure
            return tries
        _take(ports, tries, called.reply, segments)
        if tries.candidates and tries.candidates[-1][1] < target:
            return tries
    return tries


def _take(ports: Ports, tries: _Tries, reply: ModelReply, segments: list[SegmentRecord]) -> None:
    answer = parse_reflector_answer(reply.text, finish=reply.finish)
    if answer.kind is AnswerKind.OBSERVATIONS:
        text, _ = drop_out_of_range(answer.text, segments[0].first_seq, segments[-1].last_seq)
        tries.candidates.append((text, ports.tokens.count(text)))
        return
    outcome = Outcome.EMPTY if answer.kind is AnswerKind.EMPTY else Outcome.UNUSABLE
    tries.failure = Failure(outcome, answer.reason or "the answer holds no observations")


def _settle(unit: Unit, view: MemoryView, claim: Claim, tries: _Tries, best: tuple[str, int] | None) -> None:
    job = view.jobs[Lane.REFLECT]
    active = {segment.id: segment for segment in unit.tx.segments.in_state(view.lineage.id, "active")}
    replaced = [active[segment_id] for segment_id in claim.basis if segment_id in active]
    if len(replaced) < len(claim.basis):
        settle_failure(unit, view, job, Failure(Outcome.LOST, "a segment it read is no longer active"))
    elif best is not None:
        result = Observation("reflection", best[0], revision=claim.revision, started_at=claim.started_at)
        store_candidate(unit, view, job, result, replaced)
    elif tries.candidates:
        # Every answer was as long as what it was to replace, and would be again: the log must grow first.
        above = round_half_up(view.state.active + view.policy.reflection.growth)
        unit.tx.segments.update_lineage(view.lineage.id, {"reflect_above": above})
        smallest = min(tokens for _, tokens in tries.candidates)
        finish_job(unit, view, job, Outcome.TOO_LARGE, error=f"the smallest answer has {smallest} tokens")
    else:
        settle_failure(unit, view, job, tries.failure or Failure(Outcome.EMPTY, "no answer"))


def _begin_call(ports: Ports, claim: Claim) -> str | None:
    call_id = ports.ids.new()
    begun = ports.store.ledgers.begin(start_of_call(claim, call_id, ports.clock.now()))
    return call_id if begun else None


def _read(ports: Ports, claim: Claim) -> list[SegmentRecord] | None:
    """The segments that are condensed; ``None`` when one is no longer active, so that no answer could be stored.

    A delete came in between, or this worker slept through its lease and another has done the job.
    """
    with ports.store.read() as snapshot:
        if snapshot.segments.lineage(claim.job.lineage_id).epoch != claim.epoch:
            return None
        active = snapshot.segments.in_state(claim.job.lineage_id, "active")
    wanted = set(claim.basis)
    found = [segment for segment in active if segment.id in wanted]
    return found if len(found) == len(wanted) else None
