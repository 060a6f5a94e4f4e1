"""What a fault in the middle leaves behind: trouble that users reported."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import pytest
from sqlalchemy import event, select
from sqlmodel import SQLModel

from om_workers.engine.jobs import JobState, Lane
from om_workers.services.claim import claim_job
from om_workers.services.delete import delete_message
from om_workers.services.delete_thread import delete_thread
from om_workers.services.health import pipeline_health
from om_workers.services.ingest import Appended
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.operate import operator_cancels
from om_workers.services.sweep import sweep
from tests.support.world import TENANT, World, message, result_part, text_part, words_of

BUFFERING = {"observation": {"messageTokens": 1_000, "bufferTokens": 100, "bufferActivation": 1}}


class CutError(RuntimeError):
    """The database went away in the middle of a transaction."""


@contextmanager
def cut(world: World, after: int) -> Iterator[None]:
    """In the block, the database goes away before the ``after``-th statement that writes."""
    numbers = count(1)

    def before(_c: object, _cursor: object, statement: str, *_rest: object) -> None:
        if not statement.lstrip().startswith(("SELECT", "BEGIN", "WITH", "PRAGMA")) and next(numbers) == after:
            raise CutError

    event.listen(world.engine, "before_cursor_execute", before)
    try:
        yield
    finally:
        event.remove(world.engine, "before_cursor_execute", before)


def rows(world: World) -> dict[str, list[Any]]:
    """Everything that is stored."""
    with world.engine.connect() as connection:
        return {
            name: sorted(map(repr, connection.execute(select(table)).all()))
            for name, table in SQLModel.metadata.tables.items()
        }


def talk(world: World) -> None:
    """Observations that are buffered, and a reflection of others that waits."""
    world.thread("t", **BUFFERING)
    for number in range(1, 9):
        world.say("t", number, 50)
    world.drain()
    activate_now(world.ports, TENANT, "t")
    start_lane(world.ports, TENANT, "t", Lane.REFLECT)
    world.drain()
    for number in range(9, 13):
        world.say("t", number, 50)
    world.drain()


ACTS: dict[str, Callable[[World], object]] = {
    "activation and an applied reflection": lambda world: activate_now(world.ports, TENANT, "t"),
    "delete of a message": lambda world: delete_message(world.ports, TENANT, "t", "m3"),
    "delete of a thread": lambda world: delete_thread(world.ports, TENANT, "t"),
    "cancel": lambda world: operator_cancels(world.ports, TENANT, world.view("t").jobs[Lane.OBSERVE].id),
    "append": lambda world: world.say("t", 40, 50),
}


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.replace(" ", "-"))
def test_a_transaction_that_is_cut_off_anywhere_leaves_the_old_state_whole(world: World, act: str) -> None:
    """CL-10: nothing is cleared before what stands for it is written; there is no statement after which it is half."""
    talk(world)
    if act == "cancel":
        start_lane(world.ports, TENANT, "t", Lane.OBSERVE)
        world.say("t", 30, 120)
    before = rows(world)
    after = 0
    while rows(world) == before:
        after += 1
        with suppress(CutError), cut(world, after):
            ACTS[act](world)
        assert world.violations() == []
    # It took effect whole, either without a cut or with one in what follows its commit.
    assert after > 3


def test_of_five_messages_the_huge_one_is_trimmed_and_the_others_are_observed_whole(world: World) -> None:
    """CL-4: nothing that was not observed is left out or deleted."""
    world.thread("t", observation={"messageTokens": 500, "bufferTokens": False})
    for number in (1, 2):
        world.say("t", number, 100)
    world.append("t", message("m3", role="tool", parts=[result_part("c", words_of(200_000))]), final=True)
    for number in (4, 5):
        world.say("t", number, 100)
    world.drain()
    start_lane(world.ports, TENANT, "t", Lane.OBSERVE)
    world.drain()
    seen = [seq for first, last in world.seen_ranges() for seq in range(first, last + 1)]
    assert seen == [1, 2, 3, 4, 5]
    shown = "".join(block for request in world.models.requests for block in request.prompt.blocks)
    assert world.ports.tokens.count(shown) < 50_000
    assert "trimmed" in shown
    with world.ports.store.read() as snapshot:
        stored = snapshot.messages.between(world.view("t").thread.id, 1, 5)
    assert sum(entry.message.tokens for entry in stored) > 200_000


def test_the_same_message_delivered_twice_at_once_is_one_row_and_one_observation(world: World) -> None:
    """CL-13: the key that makes it one is checked where rows are written, under the memory's lock."""
    world.thread("t", **BUFFERING)
    gate, answers = threading.Barrier(4), list[Appended]()

    def deliver() -> None:
        gate.wait(timeout=20)
        answers.append(world.append("t", message("webhook-1", f"likes rail {words_of(120)}")))

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert [answer.stored[0].seq for answer in answers] == [1, 1, 1, 1]
    assert sorted(answer.stored[0].duplicate for answer in answers) == [False, True, True, True]
    world.drain()
    assert world.seen_ranges() == [(1, 1)]
    assert world.violations() == []


def test_a_job_whose_worker_died_is_taken_up_without_any_new_turn_and_its_age_is_seen_meanwhile(world: World) -> None:
    """CL-15: the sweep finds it; health tells how old the oldest due job is."""
    world.thread("t", **BUFFERING)
    for number in range(1, 4):
        world.say("t", number, 50)
    job = world.queue.take()
    assert job is not None
    assert claim_job(world.ports, job.memory_id, job.id, "worker-gone") is not None
    world.clock.advance(world.ports.timing.lease_seconds + 1)
    sweep(world.ports)
    world.queue.waiting.clear()
    world.clock.advance(30)
    assert pipeline_health(world.ports)["oldest_due_seconds"] >= 30
    sweep(world.ports)
    assert world.run_one() is True
    with world.ports.store.read() as snapshot:
        assert snapshot.jobs.get(job.id).state is JobState.DONE
    assert world.violations() == []


def test_what_was_written_is_read_at_once_and_what_is_not_found_is_no_empty_thread(world: World) -> None:
    """ST-8: contexts are read from the database that was written to, in one snapshot."""
    world.thread("t")
    for number in range(1, 6):
        world.append("t", message(f"m{number}", parts=[text_part(f"text {number}")]))
        assert world.context("t").last_seq == number
        assert world.context("t").messages[-1].parts[0]["text"] == f"text {number}"
