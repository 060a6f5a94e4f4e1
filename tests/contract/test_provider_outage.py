"""A provider that answers nothing for a while: turns go on, work rests, and afterwards all of it is done in order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from om_workers.engine.jobs import JobState, Lane
from om_workers.engine.retry import PROBE_SECONDS, RULES, Outcome
from om_workers.ports.model import ModelError, ModelRequest
from om_workers.services.sweep import sweep
from tests.support.doubles import Answer
from tests.support.world import World, note

THREADS = ("a", "b", "c")
STEP_SECONDS = 20
LONGEST_PAUSE_SECONDS = 120 * 1.2
MOST_TRIES = RULES[Lane.OBSERVE][Outcome.TRANSPORT].tries + 1


def away_until(world: World, end: datetime) -> Callable[[ModelRequest], Answer]:
    """A provider that nobody reaches before ``end``."""

    def answer(request: ModelRequest) -> Answer:
        if world.clock.now() < end:
            return ModelError(Outcome.TRANSPORT, "connection refused")
        return note(request)

    return answer


def pass_time(world: World) -> None:
    """Twenty seconds, with a sweep and all the work that it sends."""
    world.clock.advance(STEP_SECONDS)
    sweep(world.ports)
    while world.run_one() is not None:
        pass


def talk(world: World, number: int) -> None:
    """A turn in every thread, each followed by a context that holds it."""
    for thread in THREADS:
        world.say(thread, number, 30)
        context = world.context(thread)
        assert context.last_seq == number
        assert [shown.seq for shown in context.messages][-1] == number
        assert context.omitted is None


def is_at_rest(world: World) -> bool:
    views = [world.view(thread) for thread in THREADS]
    return all(not view.jobs and view.state.pending < view.policy.observation.message_tokens for view in views)


@pytest.mark.parametrize(
    ("minutes", "parked", "seconds_to_rest"),
    [(3, False, LONGEST_PAUSE_SECONDS + 2 * STEP_SECONDS), (20, True, PROBE_SECONDS + 2 * STEP_SECONDS)],
)
def test_after_an_outage_of_the_provider_every_turn_is_observed_in_order(
    world: World, minutes: int, parked: bool, seconds_to_rest: float
) -> None:
    """RULES 6.2, 6.5 and 6.6: a short one is bridged by retries, a long one by the hourly probe of parked jobs."""
    for thread in THREADS:
        world.thread(
            thread,
            observation={"messageTokens": 60, "bufferTokens": False},
            reflection={"observationTokens": 40},
        )
    end = world.clock.now() + timedelta(minutes=minutes, seconds=1)
    world.models.script = away_until(world, end)
    number = 0
    for _ in range(minutes * 60 // STEP_SECONDS):
        if world.clock.now().second == 0:
            number += 1
            talk(world, number)
        pass_time(world)
    states = {job.state for thread in THREADS for job in world.view(thread).jobs.values()}
    assert states == {JobState.DEAD if parked else JobState.QUEUED}
    assert 0 < len(world.models.requests) <= MOST_TRIES * len(THREADS)
    while not is_at_rest(world):
        assert (world.clock.now() - end).total_seconds() <= seconds_to_rest
        pass_time(world)
    for thread in THREADS:
        ranges = [(s.first_seq, s.last_seq) for s in world.segments(thread, reflected=True) if s.kind == "observation"]
        assert [seq for first, last in ranges for seq in range(first, last + 1)] == list(range(1, ranges[-1][1] + 1))
        assert [shown.seq for shown in world.context(thread).messages][-1] == number
    assert world.violations() == []
