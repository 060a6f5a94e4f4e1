"""What is read together is of one moment, and time under a lock is the time after the wait for it."""

from __future__ import annotations

import re
from contextlib import ExitStack
from datetime import datetime

import pytest

from om_workers.adapters.clock import SystemClock
from om_workers.adapters.sql.connection import DatabaseClock, reading
from om_workers.adapters.sql.store import SqlStore
from om_workers.services.context import Context
from om_workers.services.manual import activate_now
from tests.contract.measuring import recording
from tests.contract.racing import after_statement, crowd, meanwhile, waiting_for_a_lock
from tests.services.waiting import wait_until
from tests.support.world import TENANT, World

OPTIONS = {
    "observation": {"messageTokens": 1_000, "bufferTokens": 20},
    "reflection": {"observationTokens": 10_000},
}


def test_a_context_read_while_an_activation_commits_holds_every_message_once(world: World) -> None:
    """After each of its statements in turn: what was read before and after it must fit together."""
    world.thread("t", **OPTIONS)
    buffer_some(world, 0)
    with recording(world.engine) as statements:
        world.context("t")
    for number in range(len(statements.texts)):
        buffer_some(world, number + 1)
        last = world.view("t").thread.next_seq - 1
        with after_statement(world.engine, number, lambda: activate_now(world.ports, TENANT, "t")) as activated:
            context = world.context("t")
        assert sum(activated) > 0
        assert shown_pending(context) == list(range(context.covered_seq + 1, last + 1))
        assert noted_until(context) == context.covered_seq


def test_a_snapshot_does_not_see_what_was_committed_after_its_first_read(world: World) -> None:
    world.thread("t")
    world.say("t", 1, 10)
    thread = world.view("t").thread
    with world.ports.store.read() as snapshot:
        before = snapshot.threads.get(thread.id)
        world.say("t", 2, 10)
        assert snapshot.threads.get(thread.id) == before
        assert [entry.message.seq for entry in snapshot.messages.between(thread.id, 1, 9)] == [1]
    assert world.view("t").thread.next_seq == 3


@pytest.mark.postgres
def test_time_under_a_lock_is_later_than_the_wait_for_it(postgres_url: str) -> None:
    """PostgreSQL's now() is the time before the wait: a lease could begin before the one before it ended."""
    with crowd(postgres_url) as world:
        world.thread("t")
        memory_id = world.view("t").memory.id
        clock = DatabaseClock(SystemClock())
        store = SqlStore(world.engine, clock)

        def locked_at() -> datetime:
            with store.write(memory_id) as tx:
                return tx.now

        with ExitStack() as held:
            held.enter_context(store.write(memory_id))
            with meanwhile(locked_at) as later:
                wait_until(lambda: waiting_for_a_lock(world.engine) == 1, what="the other writer to wait")
                with reading(world.engine) as connection:
                    released = clock.read(connection)
                held.close()
                assert later() >= released


@pytest.mark.postgres
def test_all_processes_have_the_time_of_the_database(postgres_url: str) -> None:
    """A process whose own clock is an hour wrong writes the same times as others."""
    with crowd(postgres_url) as world:
        world.thread("t")
        memory_id = world.view("t").memory.id
        times = []
        for offset in (-3_600.0, 3_600.0):
            with SqlStore(world.engine, DatabaseClock(SystemClock(offset))).write(memory_id) as tx:
                times.append(tx.now)
    assert 0 <= (times[1] - times[0]).total_seconds() < 60


def buffer_some(world: World, step: int) -> None:
    """Three messages more, with a buffered segment for what activation can take."""
    for number in range(3):
        world.say("t", 3 * step + number, 14)
    world.drain()
    assert world.view("t").buffered


def shown_pending(context: Context) -> list[int]:
    return [shown.seq for shown in context.messages if shown.seq > context.covered_seq]


def noted_until(context: Context) -> int:
    """The last message that the memory says it has noted."""
    return max((int(seq) for block in context.system for seq in re.findall(r"to (\d+)", block.text)), default=0)
