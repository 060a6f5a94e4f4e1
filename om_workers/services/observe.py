"""How a range of messages is observed: read, asked, and committed as a buffered segment."""

from __future__ import annotations

from dataclasses import dataclass

from om_workers.engine.jobs import Lane, Trigger
from om_workers.engine.messages import Message
from om_workers.engine.parsing import AnswerKind, parse_observer_answer
from om_workers.engine.prompts import observer_prompt
from om_workers.engine.retry import Outcome
from om_workers.engine.transcript import render_transcript
from om_workers.ports.bundle import Ports
from om_workers.ports.model import ModelReply, ObserverInput
from om_workers.services.calls import call_model
from om_workers.services.claim import Claim
from om_workers.services.commit import Settle, commit, refuse
from om_workers.services.failure import Failure
from om_workers.services.rebuild import store_rebuilt
from om_workers.services.results import Observation, store_observation
from om_workers.services.settle import settle_failure, store_stand_in
from om_workers.services.state import MemoryView
from om_workers.services.unit import Unit

_WORTH_ASKING_TWICE = 500
"""Tokens of a range from which an empty answer is asked for once more (RULES 6.6)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an observer is shown."""

    messages: list[Message]
    previous: str


def observe(ports: Ports, claim: Claim) -> bool:
    """Observe the claim's range; whether the result was committed."""
    reading = _read(ports, claim)
    if reading is None:
        return refuse(ports, claim)
    prompt = observer_prompt(
        previous=reading.previous,
        transcript=render_transcript(reading.messages, count=ports.tokens.count),
        first_seq=claim.first_seq,
        last_seq=claim.last_seq,
        instruction=claim.policy.observation.instruction,
    )
    called = call_model(ports, claim, claim.call_id, prompt, ObserverInput(reading.messages))
    if called.reply is None:
        return commit(ports, claim, _fails(called.failure or Failure(Outcome.TRANSPORT, "no answer")))
    return commit(ports, claim, _settles(claim, reading, called.reply))


def _settles(claim: Claim, reading: Reading, reply: ModelReply) -> Settle:
    answer = parse_observer_answer(reply.text, finish=reply.finish, first_seq=claim.first_seq, last_seq=claim.last_seq)
    if answer.kind is AnswerKind.UNUSABLE:
        return _fails(Failure(_class_of(reply), answer.reason))
    if answer.kind is AnswerKind.EMPTY:
        tokens = sum(message.tokens for message in reading.messages)
        return _is_empty(Failure(Outcome.EMPTY, f"nothing recorded for {tokens} tokens"), tokens)
    result = Observation(
        kind="observation",
        text=answer.text,
        revision=claim.revision | {"dropped_sources": answer.dropped_sources},
        started_at=claim.started_at,
        current_task=answer.current_task,
        suggested_response=answer.suggested_response,
    )
    return lambda unit, view: _store(unit, view, claim, result)


def _store(unit: Unit, view: MemoryView, claim: Claim, result: Observation) -> None:
    job = view.jobs[Lane.OBSERVE]
    if job.trigger is Trigger.REBUILD:
        store_rebuilt(unit, view, job, result)
        return
    if job.first_seq != view.position.buffered_seq + 1 or job.last_seq != claim.last_seq:
        settle_failure(unit, view, job, Failure(Outcome.LOST, "the range no longer follows the buffered position"))
        return
    store_observation(unit, view, job, result)


def _fails(failure: Failure) -> Settle:
    return lambda unit, view: settle_failure(unit, view, view.jobs[Lane.OBSERVE], failure)


def _is_empty(failure: Failure, tokens: int) -> Settle:
    def settle(unit: Unit, view: MemoryView) -> None:
        job = view.jobs[Lane.OBSERVE]
        if tokens < _WORTH_ASKING_TWICE:
            store_stand_in(unit, view, job, failure)
        else:
            settle_failure(unit, view, job, failure)

    return settle


def _class_of(reply: ModelReply) -> Outcome:
    if reply.finish == "refusal":
        return Outcome.REFUSED
    # An answer that hit the output limit would hit it again: the range is made smaller at once.
    return Outcome.TOO_LARGE if reply.finish == "length" else Outcome.UNUSABLE


def _read(ports: Ports, claim: Claim) -> Reading | None:
    """What the observer is shown; ``None`` when a delete came in between and the answer could not be stored."""
    with ports.store.read() as snapshot:
        if snapshot.segments.lineage(claim.job.lineage_id).epoch != claim.epoch:
            return None
        stored = snapshot.messages.between(claim.thread.id, claim.first_seq, claim.last_seq)
        segments = snapshot.segments.in_state(claim.job.lineage_id, "active", "buffered")
    budget = claim.policy.observation.previous_observer_tokens
    kept: list[str] = []
    # Of a range that is observed again, only what comes before it.
    for segment in reversed([segment for segment in segments if segment.last_seq < claim.first_seq]):
        if budget is not None:
            budget -= segment.text_tokens
            if budget < 0:
                break
        kept.append(segment.text)
    return Reading([entry.message for entry in stored], "\n".join(reversed(kept)))
