"""Who waits for whom, what time it is then, and what is read together."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_TX = "om_workers/adapters/sql/transactions.py"
_CONNECTION = "om_workers/adapters/sql/connection.py"
_WRITERS = "tests/contract/test_store_writers.py"
_SNAPSHOTS = "tests/contract/test_store_snapshots.py"

LOCKS = (
    Mutant(
        "no-row-lock",
        "7.1",
        "Who writes to a memory waits for whoever writes to it already (PostgreSQL).",
        (Edit(_TX, "MEMORY.c.id == memory_id).with_for_update()", "MEMORY.c.id == memory_id)"),),
        (f"{_WRITERS}::test_a_memory_that_stays_locked_is_reported_busy_and_can_be_read[postgres]",),
    ),
    Mutant(
        "time-before-lock",
        "7.1",
        "Time is read after the wait for the lock.",
        (
            Edit(
                _TX,
                "        row = connection.execute(select(MEMORY).where(MEMORY.c.id == memory_id).with",
                "        before: datetime = clock.read(connection)\n"
                "        row = connection.execute(select(MEMORY).where(MEMORY.c.id == memory_id).with",
            ),
            Edit(
                _TX,
                "        self.memory = record(MemoryRecord, row)\n        self.now: datetime = clock.read(connection)",
                "        self.memory = record(MemoryRecord, row)\n        self.now: datetime = before",
            ),
        ),
        (f"{_SNAPSHOTS}::test_time_under_a_lock_is_later_than_the_wait_for_it",),
    ),
    Mutant(
        "time-of-the-transactions-start",
        "7.1",
        "Time is this instant's, not that of the transaction's start (PostgreSQL).",
        (Edit(_CONNECTION, '"SELECT clock_timestamp()"', '"SELECT now()"'),),
        (f"{_SNAPSHOTS}::test_time_under_a_lock_is_later_than_the_wait_for_it",),
    ),
    Mutant(
        "time-of-the-process",
        "7.1",
        "All processes have the time of the database.",
        (
            Edit(
                _CONNECTION,
                'if connection.dialect.name != "postgresql":\n            return self',
                "if self:\n            return self",
            ),
        ),
        (f"{_SNAPSHOTS}::test_all_processes_have_the_time_of_the_database",),
    ),
)
