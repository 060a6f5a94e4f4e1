"""What a turn costs does not depend on how long its thread is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import pytest
from sqlalchemy import Engine, text

from om_workers.engine.jobs import Lane
from om_workers.services.manual import activate_now, start_lane
from om_workers.services.sweep import sweep
from tests.contract.busy import exchange, long_note
from tests.contract.measuring import Reads, Statements, copy_memory, reads, recording, scanned_tables
from tests.services.postgres import PostgresServer
from tests.support.world import TENANT, World, call_part, message, result_part, words_of

pytestmark = pytest.mark.xdist_group("costs")  # its databases take seconds to make: once, where groups are kept
LENGTHS = (100, 1_000, 10_000)
TAIL = 20
"""Pending messages of every measured thread."""
NEIGHBOURS = 1_000
"""Memories beside them on PostgreSQL, which plans for large tables otherwise than for small ones."""
OPTIONS = {
    "observation": {"messageTokens": 4_000, "bufferTokens": False, "maxTokensPerCall": 10_000},
    "reflection": {"observationTokens": 600},
}
PENDING = (20, 2_000)
PATIENT = {"observation": {"messageTokens": 30_000, "bufferTokens": False}}
BIG_TABLES = {
    *("message", "segment", "segment_range", "job", "event", "attempt", "model_call", "tool_call"),
    *("memory", "thread", "lineage", "position", "lease"),
}
WALKED = {"job/ix_job_sent", "job/uq_job_unfinished"}
"""Indexes over no other rows than those that are counted: jobs that were sent, jobs that are unfinished."""


@dataclass(frozen=True)
class Cost:
    """What one operation took; ``reads`` are known on PostgreSQL only."""

    statements: Statements
    reads: Reads


@pytest.fixture(scope="module")
def sqlite_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(f"sqlite:///{tmp_path_factory.mktemp('costs') / 'om.db'}")
    grow_all(world)
    yield world
    world.engine.dispose()


@pytest.fixture(scope="module")
def postgres_world(postgres_server: PostgresServer) -> Iterator[World]:
    url = postgres_server.create_database()
    world = World(url)
    grow_all(world)
    yield world
    world.engine.dispose()
    postgres_server.drop_database(url)


@pytest.fixture(params=["sqlite_world", pytest.param("postgres_world", marks=pytest.mark.postgres)])
def grown(request: pytest.FixtureRequest) -> World:
    """Threads of all lengths, each observed and reflected, with the same few messages pending."""
    world: World = request.getfixturevalue(request.param)
    return world


def test_an_append_costs_the_same_in_threads_of_all_lengths(grown: World) -> None:
    costs = [append(grown, f"t{length}") for length in LENGTHS]
    assert_equal(costs)
    assert_own_memory_only(costs[0])


def test_a_context_costs_the_same_in_threads_of_all_lengths(grown: World) -> None:
    costs = []
    for length in LENGTHS:
        settle(grown.engine)
        with measuring(grown.engine) as cost:
            context = grown.context(f"t{length}")
        costs.append(cost)
        assert context.pending_messages >= TAIL
    assert_equal(costs)
    assert_own_memory_only(costs[0])


def test_an_observation_costs_the_same_in_threads_of_all_lengths(grown: World) -> None:
    """From the claim to the commit, with the activation that follows."""
    costs = []
    for length in LENGTHS:
        first = grown.view(f"t{length}").thread.next_seq
        grown.append(f"t{length}", *(message(f"n{first + number}", words_of(10)) for number in range(500)))
        settle(grown.engine)
        with measuring(grown.engine) as cost:
            assert grown.run_one() is True
        costs.append(cost)
    assert_equal(costs)


def test_an_append_costs_the_same_behind_2000_small_turns_as_behind_20(grown: World) -> None:
    """CC-4: nothing is observed before the threshold, so all of them are pending."""
    costs = [append(grown, f"pending{count}") for count in PENDING]
    assert_equal(costs)
    assert_own_memory_only(costs[0])
    assert [grown.view(f"pending{count}").state.pending for count in PENDING] == [10 * (count + 1) for count in PENDING]


def test_no_statement_of_a_turn_or_its_work_walks_a_whole_table(sqlite_world: World) -> None:
    """Tool calls, an unfinished step, the end of a turn, claims, commits, activations, reflections and sweeps."""
    world = sqlite_world
    world.thread("all", observation={"messageTokens": 100, "bufferTokens": 20}, reflection={"observationTokens": 600})
    with recording(world.engine) as statements:
        for number in range(12):
            world.say("all", number, 12)
            world.append("all", message(f"call{number}", role="assistant", parts=[call_part(f"c{number}")]))
            world.context("all")
            world.append("all", message(f"result{number}", role="tool", parts=[result_part(f"c{number}")]))
            world.append("all", message(f"answer{number}", role="assistant"), final=True)
            world.drain()
            world.context("all", max_tokens=50)
        sweep(world.ports)
        world.ports.store.dispatching.health()
        world.ports.store.heartbeats.renew("worker-1", ["job"], lease_seconds=10)
        world.ports.store.heartbeats.held_by("worker-1")
    assert world.view("all").lineage.generation > 0
    scanned = scanned_tables(world.engine, statements)
    assert {name for name in scanned if name.partition("/")[0] in BIG_TABLES} <= WALKED


def test_a_walk_over_a_whole_table_is_seen(sqlite_world: World) -> None:
    with recording(sqlite_world.engine) as statements, sqlite_world.engine.connect() as connection:
        connection.execute(text("SELECT COUNT(*) FROM message WHERE role = 'user'"))
        connection.execute(text("SELECT thread_id FROM message"))
    assert set(scanned_tables(sqlite_world.engine, statements)) == {"message", "message/sqlite_autoindex_message_2"}


def test_a_row_more_that_is_read_is_seen(postgres_world: World) -> None:
    thread = postgres_world.view("t1000").thread
    ports = postgres_world.ports
    for count in (10, 20):
        with reads(postgres_world.engine) as found, ports.store.read() as snapshot:
            assert len(snapshot.messages.between(thread.id, 1, count)) == count
        assert (found.rows, found.entries) == ({"message": count}, {"message": count})


def grow_all(world: World) -> None:
    world.models.script = long_note
    for length in LENGTHS:
        grow(world, f"t{length}", length)
    for count in PENDING:
        world.thread(f"pending{count}", **PATIENT)
        append_many(world, f"pending{count}", count)
    grow(world, "neighbour", TAIL)
    if world.engine.dialect.name == "postgresql":
        copy_memory(world.engine, world.view("neighbour").memory.id, times=NEIGHBOURS)
        with world.engine.begin() as connection:
            # Planning reads a few rows, too: it is done each time, or each first time would read more.
            connection.execute(text("SET plan_cache_mode = force_custom_plan"))
    assert world.violations() == []


def grow(world: World, thread: str, length: int) -> None:
    """A thread whose ``length`` messages one reflection stands for, and a few pending ones."""
    world.thread(thread, **OPTIONS)
    world.append(thread, *exchange(0))
    append_many(world, thread, length)
    for lane in Lane:
        start_lane(world.ports, TENANT, thread, lane)
        world.drain()
        activate_now(world.ports, TENANT, thread)
    for number in range(length, length + TAIL):
        world.say(thread, number, 10)
    states = [segment.state for segment in world.segments(thread)]
    assert (states, world.view(thread).state.pending) == (["active"], TAIL * 10)


def append_many(world: World, thread: str, count: int) -> None:
    for start in range(0, count, 500):
        end = min(start + 500, count)
        world.append(thread, *(message(f"m{number}", words_of(10)) for number in range(start, end)))
        world.drain()


def append(world: World, thread: str) -> Cost:
    """The cost of one message more."""
    settle(world.engine)
    number = world.view(thread).thread.next_seq
    with measuring(world.engine) as cost:
        world.say(thread, number, 10)
    return cost


def assert_equal(costs: list[Cost]) -> None:
    """All the same statements; on PostgreSQL as many rows read of each table, and no table scanned."""
    first, *others = costs
    for other in others:
        assert other.statements.shapes == first.statements.shapes
        assert other.reads.rows == first.reads.rows
        tables = {*other.reads.entries, *first.reads.entries}
        assert all(abs(other.reads.entries[name] - first.reads.entries[name]) <= 3 for name in tables)
    assert all(not cost.reads.scans for cost in costs)


def assert_own_memory_only(cost: Cost) -> None:
    """A few rows of every table, but of messages."""
    assert {name: rows for name, rows in cost.reads.rows.items() if rows > 10 and name != "message"} == {}


@contextmanager
def measuring(engine: Engine) -> Iterator[Cost]:
    """The cost of the block: statements on both databases, rows read on PostgreSQL."""
    reading = reads(engine) if engine.dialect.name == "postgresql" else nullcontext(Reads())
    with reading as found, recording(engine) as statements:
        yield Cost(statements, found)


def settle(engine: Engine) -> None:
    """Leave no dead rows behind, which PostgreSQL would read once more."""
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM (ANALYZE, INDEX_CLEANUP ON)"))
