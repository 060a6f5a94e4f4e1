"""How long a worker holds a job, and what happens when it no longer does."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest

from om_workers.adapters.sql.transactions import SqlMemoryTx
from om_workers.engine.jobs import Lane
from om_workers.engine.retry import Outcome
from om_workers.ports.attempts import CallEnd
from om_workers.ports.errors import BusyError
from om_workers.ports.model import ModelRequest
from om_workers.ports.store import MemoryTx
from om_workers.services.claim import claim_job
from om_workers.services.observe import observe
from om_workers.services.reflect import reflect
from om_workers.services.running import Running, beat, hand_back
from om_workers.services.sweep import sweep
from tests.support.world import World

LEASE = 10


@pytest.fixture
def due(world: World) -> World:
    """A thread with one observe job sent."""
    world.thread("t", observation={"messageTokens": 100, "bufferTokens": False})
    world.say("t", 1, 60)
    world.say("t", 2, 60, role="assistant")
    return world


def test_a_sweep_takes_a_dead_workers_job_back_and_it_runs_once_more(due: World) -> None:
    job = due.queue.take()
    assert job is not None
    assert claim_job(due.ports, job.memory_id, job.id, "dead") is not None
    due.clock.advance(LEASE + 1)
    assert sweep(due.ports).taken_back == 1
    due.drain()
    assert [(segment.first_seq, segment.last_seq) for segment in due.segments("t")] == [(1, 1)]
    assert [e.type for e in due.bus.events].count("data-om-buffering-failed") == 1
    assert due.violations() == []


def test_a_renewed_lease_is_not_taken_back(due: World) -> None:
    job = due.queue.take()
    assert job is not None
    worker = Running("a")
    claim = claim_job(due.ports, job.memory_id, job.id, worker.owner)
    assert claim is not None
    worker.add(claim)
    for _ in range(5):
        due.clock.advance(LEASE - 1)
        assert beat(due.ports, worker) == 1
        assert sweep(due.ports).taken_back == 0


def test_a_lease_is_not_renewed_past_the_attempts_deadline(due: World) -> None:
    job = due.queue.take()
    assert job is not None
    worker = Running("a")
    claim = claim_job(due.ports, job.memory_id, job.id, worker.owner)
    assert claim is not None
    worker.add(claim)
    due.clock.advance(due.ports.timing.attempt_seconds + 1)
    beat(due.ports, worker)
    assert due.models.cancelled == [claim.call_id]
    assert sweep(due.ports).taken_back == 1


def test_a_heartbeat_ends_the_call_of_a_lease_that_another_worker_has(due: World) -> None:
    job = due.queue.take()
    assert job is not None
    worker = Running("a")
    claim = claim_job(due.ports, job.memory_id, job.id, worker.owner)
    assert claim is not None
    worker.add(claim)
    due.clock.advance(LEASE + 1)
    assert claim_job(due.ports, job.memory_id, job.id, "b") is not None
    assert beat(due.ports, worker) == 0
    assert due.models.cancelled == [claim.call_id]


def test_a_job_handed_back_at_shutdown_runs_again_and_counts_no_failure(due: World) -> None:
    job = due.queue.take()
    assert job is not None
    worker = Running("a")
    assert claim_job(due.ports, job.memory_id, job.id, worker.owner) is not None
    assert hand_back(due.ports, worker) == 1
    assert Outcome.LOST not in due.view("t").jobs[Lane.OBSERVE].failures
    due.drain()
    assert len(due.segments("t")) == 1
    assert due.violations() == []


def test_a_worker_that_lost_its_lease_asks_no_further_and_leaves_no_call_open(world: World) -> None:
    """A reflector climbs levels; its lease is taken over during the first."""
    long_answer = "<observations>\n" + "\n".join(f"* 🔴 fact {n}" for n in range(900)) + "\n</observations>"
    world.thread("t", observation={"messageTokens": 100, "bufferTokens": False}, reflection={"observationTokens": 20})
    for number in range(1, 9):
        world.say("t", number, 60)
        while world.queue.waiting and world.queue.waiting[0].lane is Lane.OBSERVE:
            world.run_one()
    job = world.queue.take()
    assert job is not None
    claim = claim_job(world.ports, job.memory_id, job.id, "slow")
    assert claim is not None

    def lose(_request: ModelRequest) -> str:
        world.clock.advance(LEASE + 1)
        assert sweep(world.ports).taken_back == 1
        return long_answer

    before = len(world.models.requests)
    world.models.script = lose
    assert reflect(world.ports, claim) is False
    assert len(world.models.requests) == before + 1
    assert world.violations() == []


def test_a_lease_whose_worker_gave_up_is_not_renewed(due: World) -> None:
    """The commit failed for good: the process lives, but nobody in it works on the job any more."""
    job = due.queue.take()
    assert job is not None
    worker = Running("a")
    assert claim_job(due.ports, job.memory_id, job.id, worker.owner) is not None
    due.clock.advance(LEASE - 1)
    assert beat(due.ports, worker) == 0
    due.clock.advance(2)
    assert sweep(due.ports).taken_back == 1


def test_a_result_waits_for_a_database_that_is_busy_for_a_moment(due: World, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = [True, True]
    write = due.ports.store.write

    def sometimes(memory_id: str) -> AbstractContextManager[MemoryTx]:
        if due.models.requests and busy:
            busy.pop()
            raise BusyError
        return write(memory_id)

    monkeypatch.setattr(due.ports.store, "write", sometimes)
    assert due.run_one() is True
    assert len(due.models.requests) == 1
    assert len(due.segments("t")) == 1


def test_an_answer_waits_for_a_database_that_cannot_note_its_call_for_a_moment(
    due: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = [True, True]
    finish = due.ports.store.ledgers.finish

    def sometimes(call_id: str, end: CallEnd) -> None:
        if busy:
            busy.pop()
            raise BusyError
        finish(call_id, end)

    monkeypatch.setattr(due.ports.store.ledgers, "finish", sometimes)
    assert due.run_one() is True
    assert len(due.models.requests) == 1
    assert len(due.segments("t")) == 1
    assert due.violations() == []


def test_an_attempt_whose_commit_fails_is_not_told_as_ended(due: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class DiskGoneError(RuntimeError):
        """The transaction cannot be finished."""

    job = due.queue.take()
    assert job is not None
    claim = claim_job(due.ports, job.memory_id, job.id, "worker-1")
    assert claim is not None

    def fail(_tx: SqlMemoryTx) -> None:
        raise DiskGoneError

    monkeypatch.setattr(SqlMemoryTx, "finish", fail)
    with pytest.raises(DiskGoneError):
        observe(due.ports, claim)
    assert "attempt_ended" not in [action for action, _ in due.log.entries]
