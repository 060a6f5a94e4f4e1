"""Who may work on a job, and whose result counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from om_workers.engine.jobs import Lane
from om_workers.engine.retry import Outcome
from om_workers.ports.model import ModelError, ModelRequest
from om_workers.services.claim import claim_job
from om_workers.services.observe import observe
from om_workers.services.reflect import reflect
from om_workers.services.sweep import sweep
from tests.support.world import World, call_part, message, note, result_part, words_of

LEASE = 10


@pytest.fixture
def due(world: World) -> World:
    """A thread with one observe job sent."""
    world.thread("t", observation={"messageTokens": 100, "bufferTokens": False})
    world.say("t", 1, 60)
    world.say("t", 2, 60, role="assistant")
    return world


def test_a_job_in_living_hands_is_not_to_be_had(due: World) -> None:
    job = due.queue.waiting[0]
    assert claim_job(due.ports, job.memory_id, job.id, "a") is not None
    assert claim_job(due.ports, job.memory_id, job.id, "b") is None


def test_the_commit_of_a_worker_that_outlived_its_lease_is_refused_once_another_took_over(due: World) -> None:
    """CL-1 (b): the frozen worker wakes after the second one has finished."""
    job = due.queue.waiting[0]
    frozen = claim_job(due.ports, job.memory_id, job.id, "a")
    assert frozen is not None
    due.clock.advance(LEASE + 1)
    second = claim_job(due.ports, job.memory_id, job.id, "b")
    assert second is not None
    assert observe(due.ports, second) is True
    before = due.segments("t")
    assert observe(due.ports, frozen) is False
    assert due.segments("t") == before
    assert [segment.attempt for segment in before] == [2]
    assert due.violations() == []


def test_a_late_commit_counts_as_long_as_nobody_took_over(due: World) -> None:
    job = due.queue.waiting[0]
    late = claim_job(due.ports, job.memory_id, job.id, "a")
    assert late is not None
    due.clock.advance(LEASE * 10)
    assert observe(due.ports, late) is True
    assert len(due.segments("t")) == 1


def test_a_task_delivered_twice_gives_one_result(due: World) -> None:
    job = due.queue.waiting[0]
    due.queue.waiting.append(job)
    due.drain()
    assert len(due.models.requests) == 1
    assert len(due.segments("t")) == 1


def test_a_lost_task_is_sent_again_only_when_its_queue_is_empty(due: World) -> None:
    lost = due.queue.take()
    assert sweep(due.ports).sent == 0
    due.clock.advance(6)
    assert sweep(due.ports).sent == 1
    assert due.queue.take() == lost


def test_a_task_that_still_waits_is_not_sent_again(due: World) -> None:
    due.clock.advance(60)
    assert sweep(due.ports).sent == 0
    assert len(due.queue.waiting) == 1


def test_work_made_while_the_broker_was_away_is_sent_when_it_is_back(world: World) -> None:
    world.queue.away = True
    world.thread("t", observation={"messageTokens": 100, "bufferTokens": False})
    world.say("t", 1, 120)
    world.queue.away = False
    world.clock.advance(6)
    assert sweep(world.ports).sent == 1


def test_the_window_bounds_what_waits_on_the_broker(world: World) -> None:
    world.ports = replace(world.ports, timing=replace(world.ports.timing, window=8))
    for number in range(20):
        world.thread(f"t{number}", observation={"messageTokens": 100, "bufferTokens": False})
        world.say(f"t{number}", 1, 120)
    assert len(world.queue.waiting) == world.ports.timing.window
    sweep(world.ports)
    assert len(world.queue.waiting) == world.ports.timing.window
    world.drain()
    assert all(world.segments(f"t{number}") for number in range(20))


def test_a_reflection_started_before_new_observations_keeps_them(world: World) -> None:
    """CL-5: the reflection replaces what it read; three newer segments stay behind it."""
    world.thread(
        "t",
        observation={"messageTokens": 100, "bufferTokens": False},
        reflection={"observationTokens": 20, "blockAfter": 200},
    )
    for number in range(1, 9):
        world.say("t", number, 60)
        while world.queue.waiting and world.queue.waiting[0].lane is Lane.OBSERVE:
            world.run_one()
    job = world.queue.take()
    assert job is not None
    assert job.lane is Lane.REFLECT
    claim = claim_job(world.ports, job.memory_id, job.id, "slow")
    assert claim is not None
    read = len(claim.basis)
    before = [segment.id for segment in world.segments("t")]
    for number in range(9, 15):
        world.say("t", number, 60)
        while world.run_one() is not None:
            pass
    newer = [segment.id for segment in world.segments("t") if segment.id not in before]
    assert len(newer) >= 3
    assert reflect(world.ports, claim) is True
    after = world.segments("t")
    assert after[0].kind == "reflection"
    assert [segment.id for segment in after][-len(newer) :] == newer
    assert after[0].last_seq == world.segments("t", reflected=True)[read - 1].last_seq
    assert world.violations() == []


def test_a_failing_provider_is_asked_again_later_and_later_then_only_every_hour(due: World) -> None:
    due.models.script = lambda _request: ModelError(Outcome.TRANSPORT, "down")
    waits: list[float] = []
    for _ in range(9):
        due.drain()
        job = due.view("t").jobs[Lane.OBSERVE]
        waits.append((job.not_before - due.clock.now()).total_seconds())
        due.clock.advance(waits[-1] + 6)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 120, 3600]
    due.models.script = note
    due.drain()
    assert len(due.segments("t")) == 1


def test_a_provider_that_refuses_the_key_parks_the_job_at_once(due: World) -> None:
    due.models.script = lambda _request: ModelError(Outcome.AUTH, "no key")
    due.drain()
    job = due.view("t").jobs[Lane.OBSERVE]
    assert (job.state, job.last_outcome, job.last_error) == ("dead", "auth", "no key")
    assert len(due.models.requests) == 1


def test_no_transaction_is_open_while_the_model_is_asked(due: World) -> None:
    def ask(request: ModelRequest) -> str:
        due.say("t", 99, 10)
        return note(request)

    due.models.script = ask
    due.drain()
    assert due.view("t").thread.next_seq == 4


def test_new_options_wake_a_parked_job(due: World) -> None:
    due.models.script = lambda _request: ModelError(Outcome.AUTH, "no key")
    due.drain()
    due.models.script = note
    due.thread("t", observation={"messageTokens": 100, "bufferTokens": False})
    due.drain()
    assert len(due.segments("t")) == 1


def test_a_change_of_provider_activates_once(world: World) -> None:
    world.thread("t", observation={"messageTokens": 1_000, "activateOnProviderChange": True})
    for number in range(1, 9):
        world.append("t", message(f"m{number}", words_of(100), role="assistant"), model="openai/a")
        world.drain()
    buffered = len(world.view("t").buffered)
    assert buffered >= 3
    world.append("t", message("m9", "hello"), model="anthropic/b")
    assert 0 < len(world.view("t").buffered) < buffered


def test_a_call_id_used_twice_in_one_step_is_answered_twice(world: World) -> None:
    step = [
        message(f"m{number}", role="assistant" if number % 2 else "tool", parts=[part])
        for number, part in enumerate([call_part("c"), result_part("c"), call_part("c"), result_part("c")], 1)
    ]
    world.append("t", *step)
    kinds = [part["type"] for shown in world.context("t").messages for part in shown.parts]
    assert kinds == ["tool-call", "tool-result"] * 2
