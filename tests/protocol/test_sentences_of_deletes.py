"""Sentences of the protocol about deletes, reflections and their lane that no other test would miss."""

from __future__ import annotations

import pytest
from sqlalchemy import Table, func, select

from om_workers.adapters.sql import rows
from om_workers.engine.jobs import JobState, Lane, Trigger
from om_workers.ports.errors import BusyError, GoneError
from om_workers.services.claim import claim_job
from om_workers.services.delete import delete_message
from om_workers.services.delete_thread import delete_thread
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.observe import observe
from om_workers.services.running import Running, beat
from om_workers.services.sweep import sweep
from om_workers.services.threads import make_thread
from tests.support.world import TENANT, World, call_part, message, result_part, words_of

BUFFERING = {"observation": {"messageTokens": 1_000, "bufferTokens": 100, "bufferActivation": 1}}
PURGED = (rows.SEGMENT, rows.MESSAGE, rows.CALL, rows.EVENT, rows.CONFIG)
KEPT = (rows.JOB, rows.ATTEMPT, rows.MODEL_CALL)


@pytest.fixture
def talk(world: World) -> World:
    """Eight messages in four observations of two, all buffered."""
    world.thread("t", **BUFFERING)
    for number in range(1, 9):
        world.append("t", message(f"m{number}", f"secret{number} {words_of(49)}"))
    world.drain()
    assert len(world.segments("t")) == 4
    return world


def counts(world: World, *tables: Table) -> list[int]:
    with world.engine.connect() as connection:
        return [connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables]


def test_of_a_deleted_message_its_id_its_seq_and_the_time_are_left_and_nothing_else(talk: World) -> None:
    """RULES 10.1."""
    delete_message(talk.ports, TENANT, "t", "m3")
    with talk.engine.connect() as connection:
        row = connection.execute(select(rows.MESSAGE).where(rows.MESSAGE.c.external_id == "m3")).one()
    assert (row.seq, row.deleted_at) == (3, talk.clock.now())
    assert "secret" not in str(row)
    assert (row.tokens, list(row.parts), row.content_hash) == (0, [], "")


def test_what_was_claimed_before_a_delete_is_not_even_asked_for(talk: World) -> None:
    """RULES 10.1: the epoch goes up, and contexts tell it."""
    talk.say("t", 9, 120)
    job = talk.queue.take()
    assert job is not None
    claim = claim_job(talk.ports, job.memory_id, job.id, "worker")
    assert claim is not None
    epoch, calls = talk.context("t").epoch, len(talk.models.requests)
    delete_message(talk.ports, TENANT, "t", "m3")
    assert talk.context("t").epoch == epoch + 1
    assert observe(talk.ports, claim) is False
    assert len(talk.models.requests) == calls


def test_new_messages_are_observed_before_what_a_delete_took_out(talk: World) -> None:
    """RULES 10.3."""
    talk.say("t", 9, 120)
    delete_message(talk.ports, TENANT, "t", "m3")
    assert talk.view("t").jobs[Lane.OBSERVE].trigger is Trigger.PLAN
    before = len(talk.seen_ranges())
    talk.drain()
    assert talk.seen_ranges()[before:] == [(9, 9), (4, 4)]
    assert talk.violations() == []


def test_a_job_that_finds_nothing_to_do_makes_room_for_the_next(talk: World) -> None:
    """RULES 7.3: a late result has closed the range; what a delete took out is observed again without any new turn."""
    talk.append("t", message("call", role="assistant", parts=[call_part("c")]))
    talk.say("t", 10, 120)
    delete_message(talk.ports, TENANT, "t", "m3")
    talk.append("t", message("result", role="tool", parts=[result_part("c")]))
    assert talk.view("t").jobs[Lane.OBSERVE].trigger is Trigger.PLAN
    talk.drain()
    assert talk.view("t").lineage.rebuilds == 0
    assert talk.seen_ranges()[-1] == (4, 4)
    assert talk.violations() == []


def test_no_reflection_is_planned_while_a_range_is_to_be_observed_again(world: World) -> None:
    """RULES 10.3."""
    world.thread("t", **BUFFERING, reflection={"observationTokens": 20, "blockAfter": 200})
    for number in range(1, 9):
        world.say("t", number, 50)
        while world.queue.waiting:
            world.run_one()
    activate_now(world.ports, TENANT, "t")
    assert Lane.REFLECT in world.view("t").jobs
    delete_message(world.ports, TENANT, "t", "m3")
    assert Lane.REFLECT not in world.view("t").jobs
    while Lane.OBSERVE in world.view("t").jobs:
        world.run_one()
    assert Lane.REFLECT in world.view("t").jobs


def test_every_applied_reflection_starts_a_generation(talk: World) -> None:
    """RULES 5.2."""
    for generation in (1, 2):
        talk.say("t", 10 + generation, 120)
        talk.drain()
        activate_now(talk.ports, TENANT, "t")
        start_lane(talk.ports, TENANT, "t", Lane.REFLECT)
        talk.drain()
        activate_now(talk.ports, TENANT, "t")
        assert talk.view("t").lineage.generation == talk.segments("t")[0].generation == generation


def test_a_sweep_leaves_the_other_lane_to_its_living_worker(world: World) -> None:
    """RULES 7.7: one lease of the memory ran out, the other is renewed."""
    world.thread("t", **BUFFERING, reflection={"observationTokens": 20, "blockAfter": 200})
    for number in range(1, 9):
        world.say("t", number, 50)
        while world.queue.waiting:
            world.run_one()
    activate_now(world.ports, TENANT, "t")
    world.say("t", 9, 120)
    jobs = world.view("t").jobs
    living = Running("living")
    gone = claim_job(world.ports, jobs[Lane.OBSERVE].memory_id, jobs[Lane.OBSERVE].id, "gone")
    kept = claim_job(world.ports, jobs[Lane.REFLECT].memory_id, jobs[Lane.REFLECT].id, living.owner)
    assert gone is not None
    assert kept is not None
    living.add(kept)
    world.clock.advance(6)
    assert beat(world.ports, living) == 1
    world.clock.advance(6)
    assert sweep(world.ports).taken_back == 1
    assert world.view("t").jobs[Lane.REFLECT].state is JobState.RUNNING


def test_after_a_reflection_the_log_must_grow_before_the_next(world: World) -> None:
    """RULES 5.5: R = 100, so by 20 tokens."""
    world.thread("t", **BUFFERING, reflection={"observationTokens": 100})
    number = 0
    while world.view("t").lineage.generation == 0:
        number += 1
        assert number < 200
        world.say("t", number, 50)
        world.drain()
    lineage = world.view("t").lineage
    assert lineage.reflect_above == lineage.whole_tokens + 20


def test_after_answers_that_were_all_too_long_the_log_must_grow_before_the_next(talk: World) -> None:
    """RULES 5.5: R = 40 000, so by 8 000 tokens; nothing is replaced."""
    activate_now(talk.ports, TENANT, "t")
    start_lane(talk.ports, TENANT, "t", Lane.REFLECT)
    talk.models.script = lambda _request: f"<observations>\n* 🔴 {words_of(1_000)}\n</observations>"
    talk.drain()
    lineage = talk.view("t").lineage
    assert (lineage.generation, lineage.reflect_above) == (0, lineage.whole_tokens + 8_000)


def test_a_range_of_which_nothing_can_be_made_is_observed_again_once(talk: World) -> None:
    """RULES 10.3."""
    talk.models.script = lambda _request: "<observations>\n</observations>"
    delete_message(talk.ports, TENANT, "t", "m3")
    assert talk.run_one() is True
    assert (talk.view("t").lineage.rebuilds, talk.queue.waiting) == (0, [])


def test_a_deleted_memory_is_refused_under_its_lock_too(talk: World) -> None:
    """RULES 10.4: who found the thread just before the delete writes nothing either."""
    memory_id = talk.view("t").memory.id
    delete_thread(talk.ports, TENANT, "t")
    with pytest.raises(GoneError), talk.ports.store.write(memory_id):
        pass


def test_a_batch_takes_no_more_rows_than_it_may(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """RULES 10.4."""
    monkeypatch.setattr("om_workers.services.delete_thread._BATCHES_AT_ONCE", 0)
    memory_id = talk.view("t").memory.id
    assert delete_thread(talk.ports, TENANT, "t").purged is False
    left, done = sum(counts(talk, *PURGED)), False
    while not done:
        done = talk.ports.store.purging.purge(memory_id, limit=3)
        before, left = left, sum(counts(talk, *PURGED))
        assert before - left <= 3
    assert left == 0


def test_a_memory_that_lives_is_not_purged(talk: World) -> None:
    """RULES 10.4."""
    before = counts(talk, *PURGED)
    assert talk.ports.store.purging.purge(talk.view("t").memory.id, limit=3) is True
    assert counts(talk, *PURGED) == before


def test_a_thread_is_made_anew_only_once_it_is_purged(talk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """RULES 10.4."""
    monkeypatch.setattr("om_workers.services.delete_thread._BATCHES_AT_ONCE", 0)
    delete_thread(talk.ports, TENANT, "t")
    with pytest.raises(BusyError):
        make_thread(talk.ports, TENANT, "t", resource=None, options=None)


def test_jobs_attempts_and_calls_of_a_deleted_thread_stay(talk: World) -> None:
    """RULES 10.4: they hold no text, and what was paid stays known."""
    before = counts(talk, *KEPT)
    assert min(before) > 0
    assert delete_thread(talk.ports, TENANT, "t").purged is True
    assert counts(talk, *KEPT) == before
