"""What a database refuses comes out as an error of the port, with the driver's own as its cause."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, select, update

from om_workers.adapters.sql.connection import RefusedRowError, reading, writing
from om_workers.adapters.sql.rows import JOB, MEMORY, THREAD
from om_workers.ports.errors import ConflictError, InvalidInputError, OmError
from tests.support.world import World

BEYOND_64_BITS = 10**30


@pytest.fixture
def due(world: World) -> World:
    """A thread with a job."""
    world.thread("t", observation={"messageTokens": 100, "bufferTokens": False})
    world.say("t", 1, 200)
    return world


def test_a_second_row_of_what_there_can_be_one_of_is_a_conflict(due: World) -> None:
    with reading(due.engine) as connection:
        row = dict(connection.execute(select(JOB)).mappings().one())
    with pytest.raises(ConflictError) as caught, writing(due.engine) as connection:
        connection.execute(insert(JOB).values(row | {"id": "another"}))
    assert_driver_is_the_cause(caught.value)


@pytest.mark.parametrize("values", [{"memory_id": "of nobody"}, {"memory_id": None}])
def test_a_row_that_breaks_the_schema_is_refused(due: World, values: dict[str, str | None]) -> None:
    with pytest.raises(RefusedRowError) as caught, writing(due.engine) as connection:
        connection.execute(update(THREAD).values(values))
    assert_driver_is_the_cause(caught.value)


def test_a_number_beyond_64_bits_is_invalid_input_in_writing_and_in_reading(due: World) -> None:
    with pytest.raises(InvalidInputError), writing(due.engine) as connection:
        connection.execute(update(MEMORY).values(event_count=BEYOND_64_BITS))
    with pytest.raises(InvalidInputError), reading(due.engine) as connection:
        connection.execute(update(MEMORY).values(event_count=BEYOND_64_BITS))
    assert due.violations() == []


def assert_driver_is_the_cause(error: OmError) -> None:
    """The words of the driver may hold values of rows, which the error itself must not show."""
    cause = error.__cause__
    assert cause is not None
    assert "IntegrityError" in type(cause).__name__
    assert "another" not in str(error)
    assert "nobody" not in str(error)
