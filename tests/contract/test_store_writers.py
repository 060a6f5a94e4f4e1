"""Writers of one memory take turns: nothing is lost, doubled or numbered twice, and nobody waits without end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import func, select

from om_workers.adapters.clock import SystemIds
from om_workers.adapters.sql import rows
from om_workers.adapters.sql.connection import connect
from om_workers.adapters.sql.store import SqlStore
from om_workers.ports.errors import BusyError, ConflictError, StoreUnavailableError
from om_workers.services.ingest import Append, Appended, append_messages
from om_workers.services.listing import list_messages
from om_workers.services.sweep import sweep
from tests.contract.busy import long_note
from tests.contract.racing import crowd, meanwhile, race
from tests.support.doubles import FakeDatabaseClock
from tests.support.world import TENANT, World, message, words_of

SMALL = {"observation": {"messageTokens": 100, "bufferTokens": 20}, "reflection": {"observationTokens": 200}}


@pytest.fixture
def many(database_url: str) -> Iterator[World]:
    """The service for many threads."""
    with crowd(database_url) as world:
        yield world


def test_two_first_appends_of_one_thread_make_one_thread_with_both_turns(many: World) -> None:
    """CL-1 (a)."""
    first, second = race(partial(append, many, "new", "a"), partial(append, many, "new", "b"))
    assert first.ref == second.ref
    assert sorted(entry.seq for entry in (*first.stored, *second.stored)) == [1, 2]
    assert stored_ids(many, "new") == {"a", "b"}
    assert made_rows(many) == {"tenant": 1, "memory": 1, "thread": 1, "lineage": 1}
    assert many.violations() == []


def test_of_many_that_make_one_thread_at_once_one_makes_it_and_all_get_it(many: World) -> None:
    ids = SystemIds()
    make = partial(many.ports.store.create_thread, TENANT, "new", resource_id=None)
    made = race(*(partial(make, ids=[ids.new() for _ in range(3)]) for _ in range(8)))
    assert sorted(new for _, new in made) == [False] * 7 + [True]
    assert len({ref for ref, _ in made}) == 1
    assert made_rows(many) == {"tenant": 1, "memory": 1, "thread": 1, "lineage": 1}


def test_eight_writers_lose_nothing_and_number_everything_once(many: World) -> None:
    many.thread("t")

    def write(writer: int) -> list[int]:
        appended = [append(many, "t", f"{writer}-{number}") for number in range(6)]
        return [entry.seq for one in appended for entry in one.stored]

    seqs = race(*(partial(write, writer) for writer in range(8)))
    assert all(own == sorted(own) for own in seqs)
    assert sorted(seq for own in seqs for seq in own) == list(range(1, 49))
    assert stored_ids(many, "t") == {f"{writer}-{number}" for writer in range(8) for number in range(6)}
    assert many.violations() == []


def test_one_message_sent_four_times_at_once_is_stored_once(many: World) -> None:
    many.thread("t")
    answers = race(*(partial(append, many, "t", "same") for _ in range(4)))
    assert sorted(answer.stored[0].duplicate for answer in answers) == [False, True, True, True]
    assert {answer.stored[0].seq for answer in answers} == {1}


def test_of_two_contents_under_one_id_one_is_stored_and_the_other_refused(many: World) -> None:
    many.thread("t")

    def write(words: int) -> bool:
        try:
            append(many, "t", "same", words=words)
        except ConflictError:
            return False
        return True

    assert sorted(race(partial(write, 10), partial(write, 20))) == [False, True]
    assert many.violations() == []


def test_turns_workers_and_sweeps_in_each_others_way_leave_every_message_covered_or_pending_once(many: World) -> None:
    many.models.script = long_note
    many.thread("t", **SMALL)

    def talk(writer: int) -> None:
        for number in range(10):
            append(many, "t", f"{writer}-{number}", words=12)
            many.context("t")

    def work() -> None:
        for _ in range(25):
            many.run_one()
            sweep(many.ports)

    race(partial(talk, 0), partial(talk, 1), partial(talk, 2), work, work)
    assert many.violations() == []
    many.drain()
    assert many.violations() == []
    assert many.view("t").lineage.generation > 0
    assert many.view("t").state.pending < 100
    assert len(stored_ids(many, "t")) == 30


def test_a_memory_that_stays_locked_is_reported_busy_and_can_be_read(database_url: str) -> None:
    with crowd(database_url, lock_timeout_seconds=0.2) as world:
        world.thread("t")
        world.say("t", 1, 10)
        with (
            world.ports.store.write(world.view("t").memory.id),
            meanwhile(lambda: append(world, "t", "late")) as answer,
        ):
            with pytest.raises(BusyError):
                answer()
            assert [shown.id for shown in world.context("t").messages] == ["m1"]
        assert append(world, "t", "late").stored[0].seq == 2


def test_a_transaction_that_fails_leaves_nothing_and_frees_the_memory(many: World) -> None:
    many.thread("t")
    memory_id = many.view("t").memory.id

    def fail() -> None:
        with many.ports.store.write(memory_id) as tx:
            tx.events.add("om-job", "t", {})
            tx.threads.update(many.view("t").thread.id, {"title": "never stored"})
            tx.update_memory({"last_model": "never/stored"})
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (many.view("t").thread.title, many.view("t").memory.last_model) == (None, None)
    assert many.say("t", 1, 10).stored[0].seq == 1
    assert many.violations() == []


@pytest.mark.postgres
def test_writers_of_different_memories_do_not_wait_for_each_other(postgres_url: str) -> None:
    with crowd(postgres_url, lock_timeout_seconds=5) as world:
        for name in ("one", "other"):
            world.thread(name)
        with world.ports.store.write(world.view("one").memory.id):
            assert append(world, "other", "m").stored[0].seq == 1


def test_a_pool_without_a_free_connection_is_no_endless_wait(database_url: str) -> None:
    world = World(database_url)
    world.thread("t")
    engine = connect(database_url, pool_size=1, lock_timeout_seconds=0.2)
    store = SqlStore(engine, FakeDatabaseClock(world.clock))
    with store.read(), store.read(), pytest.raises(StoreUnavailableError), store.read():
        pass
    engine.dispose()
    world.engine.dispose()


def append(world: World, thread: str, message_id: str, *, words: int = 10) -> Appended:
    return append_messages(world.ports, Append(TENANT, thread, [message(message_id, words_of(words))]))


def stored_ids(world: World, thread: str) -> set[str]:
    return {entry.message.id for entry in list_messages(world.ports, TENANT, thread, after=0, limit=1_000)}


def made_rows(world: World) -> dict[str, int]:
    with world.engine.connect() as connection:
        tables = (rows.TENANT, rows.MEMORY, rows.THREAD, rows.LINEAGE)
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
        }
