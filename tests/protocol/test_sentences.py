"""Sentences of the protocol about work that no other test would miss: who may do it, when, and how often."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import select

from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.rows import MODEL_CALL
from om_workers.adapters.sql.store import SqlStore
from om_workers.engine.jobs import JobState, Lane, WorkQueue, job_id
from om_workers.engine.retry import Outcome
from om_workers.ports.errors import BusyError, ConflictError
from om_workers.ports.model import ModelError, ModelReply
from om_workers.ports.records import DueJob
from om_workers.services.claim import Claim, claim_job
from om_workers.services.ingest import Append, append_messages
from om_workers.services.listing import read_job
from om_workers.services.manual import start_lane
from om_workers.services.observe import observe
from om_workers.services.operate import HOLD_SECONDS, operator_cancels, operator_requeues
from tests.support.doubles import Answer, FakeDatabaseClock
from tests.support.world import TENANT, World, call_part, message, note, result_part, text_part, words_of

LEASE = 10
SYNC = {"messageTokens": 100, "bufferTokens": False, "bufferActivation": 1, "maxTokensPerCall": 500}
DOWN = ModelError(Outcome.TRANSPORT, "down")


def due(world: World) -> DueJob:
    """The one job of a thread, taken off the queue: an observation of four messages."""
    world.thread("t", observation=SYNC)
    world.append("t", *[message(f"m{number}", words_of(30), role="assistant") for number in range(1, 5)])
    start_lane(world.ports, TENANT, "t", Lane.OBSERVE)
    job = world.queue.take()
    assert job is not None
    return job


def claimed(world: World, job: DueJob, owner: str) -> Claim:
    claim = claim_job(world.ports, job.memory_id, job.id, owner)
    assert claim is not None
    return claim


def answer_in_turn(world: World, *answers: Answer) -> None:
    """The model gives these answers and honest ones afterwards."""
    left = list(answers)
    world.models.script = lambda request: left.pop(0) if left else note(request)


def fail(world: World, times: int) -> None:
    """The job of thread ``t`` fails so often, each time as soon as it may run again."""
    for _ in range(times):
        world.drain()
        job = world.view("t").jobs[Lane.OBSERVE]
        world.clock.advance((job.not_before - world.clock.now()).total_seconds() + 6)


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_a_writer_of_another_process_waits_from_the_first_read_on(world: World) -> None:
    """RULES 7.1: two that read first and then both want to write would end with one of them refused half way."""
    world.thread("t")
    memory_id = world.view("t").memory.id
    other = connect(str(world.engine.url), lock_timeout_seconds=0.2)
    store = SqlStore(other, FakeDatabaseClock(world.clock))
    with world.ports.store.write(memory_id), pytest.raises(BusyError), store.write(memory_id):
        pass
    with store.write(memory_id) as tx:
        assert tx.memory.id == memory_id
    other.dispose()


def test_the_id_of_a_job_is_that_of_its_place(world: World) -> None:
    """RULES 6.1."""
    due(world)
    view = world.view("t")
    assert view.jobs[Lane.OBSERVE].id == job_id(view.memory.id, view.lineage.id, Lane.OBSERVE, 1)
    assert view.leases[Lane.OBSERVE].sequence == 1


def test_the_database_itself_lets_one_unfinished_job_of_a_lane_stand(world: World) -> None:
    """RULES 6.2: whatever a program decides."""
    job = read_job(world.ports, due(world).id)
    with pytest.raises(ConflictError), world.ports.store.write(job.memory_id) as tx:
        tx.jobs.insert(replace(job, id="another", sequence=job.sequence + 1))


def test_who_asks_by_hand_joins_the_job_that_is_there(world: World) -> None:
    """RULES 6.2."""
    job = due(world)
    joined = start_lane(world.ports, TENANT, "t", Lane.OBSERVE)
    assert joined is not None
    assert joined.id == job.id


def test_who_asks_by_hand_wakes_a_parked_job(world: World) -> None:
    """RULES 6.2."""
    answer_in_turn(world, ModelError(Outcome.AUTH, "no key"))
    world.queue.waiting.append(due(world))
    world.drain()
    assert world.view("t").jobs[Lane.OBSERVE].state is JobState.DEAD
    start_lane(world.ports, TENANT, "t", Lane.OBSERVE)
    world.drain()
    assert len(world.segments("t")) == 1


def test_a_woken_job_has_all_its_patience_again(world: World) -> None:
    """RULES 6.2, 6.6: after the hourly probe a failure waits one second, not another hour."""
    world.models.script = lambda _request: DOWN
    world.queue.waiting.append(due(world))
    fail(world, times=9)
    world.drain()
    job = world.view("t").jobs[Lane.OBSERVE]
    assert (job.state, job.failures) == (JobState.QUEUED, {Outcome.TRANSPORT: 1})
    assert (job.not_before - world.clock.now()).total_seconds() == 1


def test_a_task_that_comes_before_its_jobs_time_does_nothing(world: World) -> None:
    """RULES 7.4: an old task of a job that waits to be tried again."""
    answer_in_turn(world, DOWN)
    job = due(world)
    world.queue.waiting.append(job)
    world.run_one()
    assert claim_job(world.ports, job.memory_id, job.id, "early") is None
    world.clock.advance(1)
    assert claim_job(world.ports, job.memory_id, job.id, "in time") is not None


def test_a_job_that_waits_to_be_tried_again_is_not_sent_by_whoever_made_it(world: World) -> None:
    """RULES 7.6: it ran and failed before its maker came to send it."""
    answer_in_turn(world, DOWN)
    job = due(world)
    world.queue.waiting.append(job)
    world.run_one()
    assert world.ports.store.dispatching.mark_sent([job]) == []


def test_who_was_taken_over_commits_nothing_while_the_other_still_works(world: World) -> None:
    """RULES 7.5, I5."""
    job = due(world)
    slow = claimed(world, job, "slow")
    world.clock.advance(LEASE + 1)
    second = claimed(world, job, "second")
    assert observe(world.ports, slow) is False
    assert world.segments("t") == []
    assert observe(world.ports, second) is True
    assert [segment.attempt for segment in world.segments("t")] == [2]
    assert world.violations() == []


def test_whose_job_was_cancelled_commits_nothing_into_the_next_one(world: World) -> None:
    """RULES 7.5, 6.10: the next job of the lane runs already, over the same range."""
    job = due(world)
    slow = claimed(world, job, "slow")
    operator_cancels(world.ports, TENANT, job.id)
    operator_requeues(world.ports, TENANT, job.id)
    following = world.queue.take()
    assert following is not None
    claimed(world, following, "second")
    assert observe(world.ports, slow) is False
    assert world.segments("t") == []


def test_a_take_over_counts_as_a_loss_and_ends_the_former_attempt(world: World) -> None:
    """RULES 7.4."""
    job = due(world)
    claimed(world, job, "gone")
    world.clock.advance(LEASE + 1)
    claimed(world, job, "second")
    assert read_job(world.ports, job.id).failures == {Outcome.LOST: 1}
    assert world.violations() == []


def test_every_attempt_has_a_higher_fence_than_all_before_it(world: World) -> None:
    """RULES 7.4, 7.5."""
    job = due(world)
    first = claimed(world, job, "first").fence
    world.clock.advance(LEASE + 1)
    assert claimed(world, job, "second").fence > first > 0


def test_an_ended_job_leaves_its_lane_free_and_its_fence_raised(world: World) -> None:
    """RULES 6.10: by an operator's cancel, and by a result."""
    job = due(world)
    claim = claimed(world, job, "worker")
    operator_cancels(world.ports, TENANT, job.id)
    lease = world.view("t").leases[Lane.OBSERVE]
    assert (lease.owner, lease.job_id) == (None, None)
    assert lease.fence > claim.fence


def test_each_kind_of_failure_has_a_patience_of_its_own(world: World) -> None:
    """RULES 6.4: garbage twice, then one refusal; each alone is simply tried again."""
    garbage = "plain words that are no list of observations at all, many of them"
    answer_in_turn(world, garbage, garbage, ModelReply("", finish="refusal"))
    world.queue.waiting.append(due(world))
    fail(world, times=3)
    world.drain()
    assert world.seen_ranges() == [(1, 4)] * 4
    assert [segment.kind for segment in world.segments("t")] == ["observation"]


def test_a_range_that_was_made_smaller_has_all_its_patience_again(world: World) -> None:
    """RULES 6.7."""
    refusal = ModelReply("", finish="refusal")
    answer_in_turn(world, refusal, refusal, refusal)
    world.queue.waiting.append(due(world))
    fail(world, times=2)
    world.drain()
    assert world.seen_ranges()[:4] == [(1, 4), (1, 4), (1, 2), (1, 2)]


def test_a_retry_keeps_its_range_whatever_was_said_meanwhile(world: World) -> None:
    """RULES 4.7, 7.4."""
    answer_in_turn(world, DOWN)
    world.queue.waiting.append(due(world))
    world.run_one()
    world.append("t", message("later", words_of(60), role="assistant"))
    world.clock.advance(6)
    world.drain()
    assert world.seen_ranges()[:2] == [(1, 4), (1, 4)]


def test_a_late_result_keeps_its_call_from_being_covered_without_it(world: World) -> None:
    """RULES 4.5, 4.6: the result begins a step that nobody has gone on from; what lies before it holds its call."""
    world.thread("t", observation={"messageTokens": 1_000, "bufferTokens": False})
    world.append("t", message("call", role="assistant", parts=[text_part(words_of(100)), call_part("c")]))
    world.say("t", 2, 100)
    world.append("t", message("result", role="tool", parts=[result_part("c", words_of(900))]))
    assert world.view("t").coverable.limit == 0
    assert world.queue.waiting == []
    world.say("t", 4, 100)
    world.drain()
    assert world.seen_ranges()[0] in {(1, 3), (1, 4)}


def test_a_hold_ends_by_itself_without_any_new_turn(world: World) -> None:
    """RULES 6.10, 7.2, 7.3: cancelling plans too, and the plan tells when to look again."""
    operator_cancels(world.ports, TENANT, due(world).id)
    world.clock.advance(HOLD_SECONDS - 1)
    assert world.drain() == 0
    world.clock.advance(2)
    world.drain()
    assert world.segments("t")[0].first_seq == 1


def test_every_call_is_in_the_ledger_with_how_it_ended(world: World) -> None:
    """RULES 7.8, I11."""
    answer_in_turn(world, DOWN)
    world.queue.waiting.append(due(world))
    fail(world, times=1)
    world.drain()
    with world.engine.connect() as connection:
        rows = connection.execute(select(MODEL_CALL).order_by(MODEL_CALL.c.attempt)).all()
    assert [(row.attempt, row.state, row.outcome) for row in rows] == [
        (1, "finished", "transport"),
        (2, "finished", "answered"),
    ]


def test_a_tenant_with_much_work_does_not_keep_another_from_its_turn(world: World) -> None:
    """RULES 7.7."""
    world.ports = replace(world.ports, timing=replace(world.ports.timing, window=0))
    for number in range(4):
        world.thread(f"t{number}", observation=SYNC)
        world.say(f"t{number}", 1, 120)
        world.clock.advance(1)
    append_messages(world.ports, Append("other", "o", [message("m", words_of(40_000))]))
    found = world.ports.store.dispatching.due(queue=WorkQueue.OBSERVE, limit=2, lost_after_seconds=None)
    assert {read_job(world.ports, job.id).tenant_id for job in found} == {TENANT, "other"}


def test_a_step_of_which_one_message_is_refused_stores_none(world: World) -> None:
    """RULES 2.3."""
    world.thread("t")
    world.say("t", 1, 10)
    with pytest.raises(ConflictError):
        world.append("t", message("m2", "new"), message("m1", "other words"))
    assert world.context("t").last_seq == 1
    with pytest.raises(ConflictError):
        world.append("t", message("m2", "new"), message("m2", "other words"))
    assert world.context("t").last_seq == 1


def test_an_activation_takes_what_leaves_the_floor_and_moves_the_position(world: World) -> None:
    """RULES 4.4: T = 1 000, half of it is to stay: of ten segments of 100, five leave at 1 000 pending."""
    world.thread("t", observation={"messageTokens": 1_000, "bufferTokens": 100, "bufferActivation": 0.5})
    for number in range(1, 21):
        world.say("t", number, 50)
        while world.run_one() is not None:
            pass
    position = world.view("t").position
    assert (position.active_seq, position.pending_tokens) == (10, 500)
    assert [shown.seq for shown in world.context("t").messages] == list(range(11, 21))
