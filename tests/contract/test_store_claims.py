"""Of many that want a job one gets it, a job is sent once, and only who holds the lease can commit."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select

from om_workers.adapters.sql.connection import writing
from om_workers.adapters.sql.rows import JOB, MODEL_CALL
from om_workers.engine.jobs import JobState, Lane, WorkQueue
from om_workers.ports.bundle import Timing
from om_workers.ports.model import ModelRequest
from om_workers.ports.records import DueJob
from om_workers.services.claim import Claim, claim_job
from om_workers.services.observe import observe
from om_workers.services.run import run_job
from om_workers.services.running import Running
from om_workers.services.sweep import sweep
from tests.contract.racing import LIMIT_SECONDS, after_statement, crowd, flatten, meanwhile, race
from tests.support.world import World, note

OPTIONS = {"observation": {"messageTokens": 100, "bufferTokens": False}}
UNSENT = Timing(window=0)
"""No task goes out by itself, so that the test decides who sends."""


@pytest.fixture
def many(database_url: str) -> Iterator[World]:
    """The service for many threads."""
    with crowd(database_url) as world:
        yield world


def test_of_four_workers_that_claim_one_job_one_gets_it(many: World) -> None:
    job = due_job(many)
    claims = race(*(partial(claim, many, job, f"worker-{number}") for number in range(4)))
    (won,) = [claim for claim in claims if claim is not None]
    assert (won.attempt, won.fence) == (1, 1)
    assert count_calls(many) == 1
    assert many.violations() == []


def test_a_task_delivered_four_times_at_once_gives_one_result_and_one_call(many: World) -> None:
    job = due_job(many)
    ran = race(*(partial(run, many, job, f"worker-{number}") for number in range(4)))
    assert sorted(ran) == [False, False, False, True]
    assert len(many.segments("t")) == 1
    assert len(many.models.requests) == count_calls(many) == 1
    assert many.violations() == []


def test_a_commit_is_refused_once_another_worker_has_taken_over(many: World) -> None:
    """CL-1 (b), with a worker that is really stuck in its model call."""
    job = due_job(many)
    stuck, free = threading.Event(), threading.Event()

    def script(request: ModelRequest) -> str:
        if request.attempt == 1:
            stuck.set()
            assert free.wait(LIMIT_SECONDS)
        return note(request)

    many.models.script = script
    with meanwhile(partial(run, many, job, "worker-1")) as first:
        assert stuck.wait(LIMIT_SECONDS)
        many.clock.advance(many.ports.timing.lease_seconds + 1)
        assert run(many, job, "worker-2") is True
        stored = many.segments("t")
        free.set()
        assert first() is False
    assert [segment.attempt for segment in stored] == [2]
    assert many.segments("t") == stored
    assert many.violations() == []


def test_of_a_late_commit_and_a_take_over_at_once_one_succeeds(many: World) -> None:
    for round_number in range(6):
        job = due_job(many, f"t{round_number}")
        late = claim(many, job, "worker-1")
        assert late is not None
        many.clock.advance(many.ports.timing.lease_seconds + 1)
        outcomes = race(
            partial(observe, many.ports, late),
            lambda job=job: claim(many, job, "worker-2") is not None,  # type: ignore[misc]
        )
        assert sorted(outcomes) == [False, True]
        assert many.violations() == []


def test_two_sweeps_at_once_send_each_job_once(many: World) -> None:
    jobs = due_jobs(many, 20)
    race(*(partial(sweep, many.ports) for _ in range(3)))
    assert sorted(job.id for job in many.queue.waiting) == sorted(job.id for job in jobs)


def test_two_that_look_for_due_jobs_at_once_get_each_job_once(many: World) -> None:
    jobs = due_jobs(many, 20)
    look = partial(many.ports.store.dispatching.due, queue=WorkQueue.OBSERVE, limit=50, lost_after_seconds=None)
    found = flatten(race(look, look, look))
    assert sorted(job.id for job in found) == sorted(job.id for job in jobs)


def test_a_sweep_and_the_turn_that_made_a_job_do_not_both_send_it(many: World) -> None:
    jobs = due_jobs(many, 20)
    dispatching = many.ports.store.dispatching
    found = flatten(
        race(
            partial(dispatching.mark_sent, jobs),
            partial(dispatching.mark_sent, jobs),
            partial(dispatching.due, queue=WorkQueue.OBSERVE, limit=50, lost_after_seconds=None),
        )
    )
    assert sorted(job.id for job in found) == sorted(job.id for job in jobs)


def test_a_job_that_got_lost_is_found_again_by_one_of_two_sweeps(many: World) -> None:
    jobs = due_jobs(many, 5)
    dispatching = many.ports.store.dispatching
    assert len(dispatching.mark_sent(jobs)) == 5
    look = partial(dispatching.due, queue=WorkQueue.OBSERVE, limit=50, lost_after_seconds=5)
    assert look() == []
    many.clock.advance(5)
    assert sorted(job.id for job in flatten(race(look, look))) == sorted(job.id for job in jobs)


def test_turns_are_taken_in_while_a_sweep_ranks_what_is_due(tmp_path: Path) -> None:
    """A long backlog takes a moment to rank; on SQLite nobody could write in it if the sweep already did."""
    with crowd(f"sqlite:///{tmp_path / 'om.db'}", lock_timeout_seconds=1) as world:
        jobs = due_jobs(world, 3)
        ranking = 1  # behind BEGIN
        with after_statement(world.engine, ranking, lambda: world.say("t0", 99, 10)) as said:
            found = world.ports.store.dispatching.due(queue=WorkQueue.OBSERVE, limit=50, lost_after_seconds=None)
        assert [len(appended.stored) for appended in said] == [1]
        assert sorted(job.id for job in found) == sorted(job.id for job in jobs)


@pytest.mark.postgres
@pytest.mark.parametrize("number", range(3))
def test_two_sweeps_that_overlap_at_any_statement_send_each_job_once(postgres_url: str, number: int) -> None:
    with crowd(postgres_url) as world:
        jobs = due_jobs(world, 3)
        look = partial(world.ports.store.dispatching.due, queue=WorkQueue.OBSERVE, limit=50, lost_after_seconds=None)
        with after_statement(world.engine, number, look) as others:
            found = look()
        assert sorted(job.id for job in flatten([found, *others])) == sorted(job.id for job in jobs)
        assert len(others) == 1


@pytest.mark.postgres
def test_jobs_that_another_transaction_holds_are_passed_over_without_waiting(postgres_url: str) -> None:
    with crowd(postgres_url) as world:
        jobs = due_jobs(world, 4)
        held = {job.id for job in jobs[:2]}
        dispatching = world.ports.store.dispatching
        look = partial(dispatching.due, queue=WorkQueue.OBSERVE, limit=50, lost_after_seconds=None)
        with writing(world.engine) as connection:
            connection.execute(select(JOB.c.id).where(JOB.c.id.in_(held)).with_for_update())
            assert {job.id for job in look()} == {job.id for job in jobs} - held
            assert dispatching.mark_sent(jobs) == []
        assert {job.id for job in look()} == held


def claim(world: World, job: DueJob, owner: str) -> Claim | None:
    return claim_job(world.ports, job.memory_id, job.id, owner)


def run(world: World, job: DueJob, owner: str) -> bool:
    return run_job(world.ports, Running(owner), memory_id=job.memory_id, job_id=job.id)


def due_job(world: World, thread: str = "t") -> DueJob:
    """The one job that a new thread needs done, sent and taken off the queue."""
    world.thread(thread, **OPTIONS)
    world.say(thread, 1, 60)
    world.say(thread, 2, 60, role="assistant")
    job = world.queue.take()
    assert job is not None
    assert world.queue.take() is None
    return job


def due_jobs(world: World, count: int) -> list[DueJob]:
    """One unsent job in each of so many threads."""
    ports = world.ports
    world.ports = replace(ports, timing=UNSENT)
    for number in range(count):
        world.thread(f"t{number}", **OPTIONS)
        world.say(f"t{number}", 1, 120)
    world.ports = ports
    with world.engine.connect() as connection:
        found = connection.execute(select(JOB).where(JOB.c.state == JobState.QUEUED, JOB.c.sends == 0)).all()
    assert len(found) == count
    return [DueJob(row.id, row.memory_id, Lane(row.lane)) for row in found]


def count_calls(world: World) -> int:
    with world.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(MODEL_CALL)).scalar_one()
