"""What an operator's cancel and requeue do, and what quarantine keeps apart."""

from __future__ import annotations

import pytest

from om_workers.engine.jobs import JobState, Lane, WorkQueue
from om_workers.engine.retry import Outcome
from om_workers.ports.errors import ConflictError, NotFoundError
from om_workers.ports.model import ModelError
from om_workers.ports.records import DueJob
from om_workers.services.claim import Claim, claim_job
from om_workers.services.listing import list_all_jobs, read_job
from om_workers.services.manual import start_lane
from om_workers.services.observe import observe
from om_workers.services.operate import HOLD_SECONDS, operator_cancels, operator_requeues
from om_workers.services.running import Running, hand_back
from om_workers.services.sweep import sweep
from om_workers.services.threads import configure_thread, find_thread
from tests.support.doubles import Answer
from tests.support.world import TENANT, World

OPTIONS = {"observation": {"messageTokens": 1_000, "bufferTokens": 100}}


def due(world: World) -> DueJob:
    """A job that waits on the queue."""
    world.thread("t", **OPTIONS)
    for number in range(1, 4):
        world.say("t", number, 50)
    job = world.queue.take()
    assert job is not None
    return job


def claimed(world: World, job: DueJob, owner: str = "worker-1") -> Claim:
    """The job in the hands of a worker, of the one for quarantine where it waits there."""
    apart = read_job(world.ports, job.id).quarantined
    claim = claim_job(world.ports, job.memory_id, job.id, owner, apart=apart)
    assert claim is not None
    return claim


def test_a_cancelled_job_commits_nothing_and_its_lane_rests_for_an_hour(world: World) -> None:
    job = due(world)
    claim = claimed(world, job)
    assert operator_cancels(world.ports, TENANT, job.id).state is JobState.CANCELLED
    assert observe(world.ports, claim) is False
    world.say("t", 4, 200)
    assert world.drain() == 0
    world.clock.advance(HOLD_SECONDS + 1)
    assert world.drain() >= 1
    assert world.segments("t")[0].first_seq == 1
    assert world.violations() == []


def test_cancelling_twice_is_one_cancel_and_what_is_done_cannot_be_cancelled(world: World) -> None:
    job = due(world)
    operator_cancels(world.ports, TENANT, job.id)
    assert operator_cancels(world.ports, TENANT, job.id).state is JobState.CANCELLED
    operator_requeues(world.ports, TENANT, job.id)
    world.drain()
    done = next(job for job in list_all_jobs(world.ports, tenant_id=TENANT, state=JobState.DONE, limit=5))
    for act in (operator_cancels, operator_requeues):
        with pytest.raises(ConflictError):
            act(world.ports, TENANT, done.id)
    assert world.violations() == []


@pytest.mark.parametrize("how", ["requeue", "by hand", "options"])
def test_a_hold_ends_early_when_somebody_wants_the_work(world: World, how: str) -> None:
    job = due(world)
    operator_cancels(world.ports, TENANT, job.id)
    if how == "requeue":
        assert operator_requeues(world.ports, TENANT, job.id).state is JobState.QUEUED
    elif how == "by hand":
        start_lane(world.ports, TENANT, "t", Lane.OBSERVE)
    else:
        configure_thread(world.ports, find_thread(world.ports, TENANT, "t"), OPTIONS)
    world.drain()
    assert world.segments("t") != []
    assert world.violations() == []


def test_a_parked_job_runs_again_when_it_is_requeued(world: World) -> None:
    answers: list[Answer] = [ModelError(Outcome.AUTH, "no key")]
    answer = world.models.script
    world.models.script = lambda request: answers.pop() if answers else answer(request)
    world.thread("t", **OPTIONS)
    for number in range(1, 4):
        world.say("t", number, 50)
    world.drain()
    (dead,) = list_all_jobs(world.ports, tenant_id=None, state=JobState.DEAD, limit=5)
    assert operator_requeues(world.ports, None, dead.id).state is JobState.QUEUED
    assert world.run_one() is True
    assert world.violations() == []


def test_a_running_job_is_not_requeued_and_another_tenants_is_not_found(world: World) -> None:
    job = due(world)
    claimed(world, job)
    with pytest.raises(ConflictError):
        operator_requeues(world.ports, TENANT, job.id)
    for act in (operator_cancels, operator_requeues):
        with pytest.raises(NotFoundError):
            act(world.ports, "globex", job.id)


def lose(world: World, job: DueJob) -> None:
    """A worker takes the job and is never heard of again."""
    claimed(world, job, "worker-gone")
    world.clock.advance(world.ports.timing.lease_seconds + 1)
    sweep(world.ports)


def test_a_job_that_was_lost_twice_waits_in_quarantine_and_stays_there(world: World) -> None:
    job = due(world)
    for expected in (WorkQueue.OBSERVE, WorkQueue.QUARANTINE, WorkQueue.QUARANTINE):
        lose(world, job)
        again = world.queue.take()
        assert again is not None
        assert (again.id, again.queue) == (job.id, expected)


def test_a_loss_in_quarantine_shrinks_the_range_down_to_a_stand_in_and_the_thread_goes_on(world: World) -> None:
    job = due(world)
    lose(world, job)
    lose(world, job)
    first = read_job(world.ports, job.id).last_seq
    assert first is not None
    lose(world, job)
    smaller = read_job(world.ports, job.id).last_seq
    assert smaller is not None
    assert smaller < first
    while read_job(world.ports, job.id).state is JobState.QUEUED:
        lose(world, job)
    assert [segment.kind for segment in world.segments("t")] == ["stand_in"]
    world.queue.waiting.clear()
    world.say("t", 4, 100)
    world.clock.advance(10)
    world.drain()
    assert world.segments("t")[1].kind == "observation"
    assert world.violations() == []


def test_a_hand_back_is_no_loss(world: World) -> None:
    """RULES 7.9: deploys put nothing into quarantine."""
    job = due(world)
    for number in range(4):
        owner = f"worker-{number}"
        claimed(world, job, owner)
        assert hand_back(world.ports, Running(owner)) == 1
    assert read_job(world.ports, job.id).quarantined is False


def test_an_old_task_of_a_job_in_quarantine_does_not_bring_it_to_an_ordinary_worker(world: World) -> None:
    """RULES 6.9: tasks that were sent before it got there may still wait in the ordinary queue."""
    job = due(world)
    lose(world, job)
    lose(world, job)
    assert claim_job(world.ports, job.memory_id, job.id, "worker-1") is None
    assert claim_job(world.ports, job.memory_id, job.id, "apart", apart=True) is not None
