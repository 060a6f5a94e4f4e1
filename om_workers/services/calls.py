"""How a model is called: accounted before and after, with no transaction open in between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from om_workers.engine.prompts import Prompt
from om_workers.ports.attempts import CallEnd
from om_workers.ports.bundle import Ports
from om_workers.ports.model import ModelError, ModelReply, ModelRequest, ObserverInput, ReflectorInput
from om_workers.services.claim import Claim
from om_workers.services.commit import patiently
from om_workers.services.failure import Failure

_TEMPERATURES = {"observe": 0.3, "reflect": 0.0}


@dataclass(frozen=True, slots=True)
class Called:
    """What came of a call: a reply, or the failure that stands for it."""

    reply: ModelReply | None
    failure: Failure | None = None


def call_model(
    ports: Ports, claim: Claim, call_id: str, prompt: Prompt, material: ObserverInput | ReflectorInput
) -> Called:
    """Ask the claim's model; the ledger row ``call_id``, started before, is finished whatever comes (RULES 7.8)."""
    remaining = (claim.deadline - ports.clock.now()).total_seconds()
    request = ModelRequest(
        model=claim.model,
        kind=str(claim.job.lane),
        prompt=prompt,
        material=material,
        call_id=call_id,
        job_id=claim.job.id,
        attempt=claim.attempt,
        timeout_seconds=max(1.0, remaining),
        temperature=_TEMPERATURES[claim.job.lane],
    )
    size = ports.tokens.count(prompt.system) + sum(ports.tokens.count(block) for block in prompt.blocks)
    try:
        reply = ports.models.get(claim.model).generate(request)
    except ModelError as error:
        failure = Failure(error.outcome, str(error), error.retry_after_seconds)
        end = CallEnd(outcome=error.outcome, prompt_tokens=size, error=str(error)[:2_000])
        patiently(ports, claim, partial(ports.store.ledgers.finish, call_id, end))
        return Called(None, failure)
    end = CallEnd(
        outcome="answered",
        prompt_tokens=size,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        finish_reason=reply.finish,
    )
    patiently(ports, claim, partial(ports.store.ledgers.finish, call_id, end))
    return Called(reply)
