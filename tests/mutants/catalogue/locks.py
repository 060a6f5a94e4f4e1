"""Who waits for whom, what time it is then, what is read together, and what is written whole."""

from __future__ import annotations

from tests.mutants.mutant import Edit, Mutant

_TX = "om_workers/adapters/sql/transactions.py"
_CONNECTION = "om_workers/adapters/sql/connection.py"
_OBSERVE = "om_workers/services/observe.py"
_INGEST = "om_workers/services/ingest.py"
_WRITERS = "tests/contract/test_store_writers.py"
_SNAPSHOTS = "tests/contract/test_store_snapshots.py"
_EVENTS = "tests/protocol/test_event_order.py"
_PUBLISHING = "om_workers/adapters/redis/publish_in_order.lua"
_SENTENCES = "tests/protocol/test_sentences.py"

LOCKS = (
    Mutant(
        "no-row-lock",
        "7.1",
        "Who writes to a memory waits for whoever writes to it already (PostgreSQL).",
        (Edit(_TX, "_BY_ID.with_for_update()", "_BY_ID"),),
        (f"{_WRITERS}::test_a_memory_that_stays_locked_is_reported_busy_and_can_be_read[postgres]",),
    ),
    Mutant(
        "deferred-begin",
        "7.1",
        "A writer has the lock before it reads anything (SQLite).",
        (Edit(_CONNECTION, '"BEGIN IMMEDIATE" if writer else "BEGIN"', '"BEGIN" if writer else "BEGIN"'),),
        (f"{_SENTENCES}::test_a_writer_of_another_process_waits_from_the_first_read_on[sqlite]",),
    ),
    Mutant(
        "time-before-lock",
        "7.1",
        "Time is read after the wait for the lock.",
        (
            Edit(
                _TX,
                '        row = connection.execute(_LOCKED, {"id": memory_id})',
                "        before: datetime = clock.read(connection)\n"
                '        row = connection.execute(_LOCKED, {"id": memory_id})',
            ),
            Edit(
                _TX,
                "self.memory = record(MemoryRecord, row)\n        self.now: datetime = clock.read(connection)",
                "self.memory = record(MemoryRecord, row)\n        self.now: datetime = before",
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
    Mutant(
        "transaction-during-the-call",
        "7.1",
        "No transaction is open while a model is asked.",
        (
            Edit(
                _OBSERVE,
                "    called = call_model(",
                "    with ports.store.write(claim.job.memory_id):\n        called = call_model(",
            ),
        ),
        ("tests/protocol/test_claims.py::test_no_transaction_is_open_while_the_model_is_asked[sqlite]",),
    ),
    Mutant(
        "context-of-several-moments",
        "7.1",
        "What a context is made of is read in one snapshot.",
        (Edit(_CONNECTION, '{"isolation_level": "REPEATABLE READ"}', '{"isolation_level": "READ COMMITTED"}'),),
        (f"{_SNAPSHOTS}::test_a_context_read_while_an_activation_commits_holds_every_message_once[postgres]",),
    ),
    Mutant(
        "half-a-transaction",
        "7.5",
        "A transaction that fails leaves nothing.",
        (
            Edit(
                _CONNECTION,
                "**_WRITER) as connection, connection.begin():\n        yield connection",
                "**_WRITER) as connection, connection.begin() as begun:\n"
                "        try:\n            yield connection\n        finally:\n            begun.commit()",
            ),
        ),
        (f"{_WRITERS}::test_a_transaction_that_fails_leaves_nothing_and_frees_the_memory[sqlite]",),
    ),
    Mutant(
        "append-in-halves",
        "2.3",
        "A step is stored whole or not at all.",
        (
            Edit(_INGEST, "        _check_known(messages, known)\n        new =", "        new ="),
            Edit(
                _INGEST,
                "    seqs = {message.id: thread.next_seq",
                "    _check_known(messages, known)\n    seqs = {message.id: thread.next_seq",
            ),
        ),
        (f"{_SENTENCES}::test_a_step_of_which_one_message_is_refused_stores_none[sqlite]",),
    ),
    Mutant(
        "append-twice",
        "2.3",
        "The same message sent again is the same message.",
        (Edit(_INGEST, "for message in messages if message.id not in known]", "for message in messages]"),),
        (f"{_WRITERS}::test_one_message_sent_four_times_at_once_is_stored_once[sqlite]",),
    ),
    Mutant(
        "other-content-accepted",
        "2.3",
        "Another content under a known id is refused.",
        (Edit(_INGEST, "if found.content_hash != message.content_hash:", "if not found.content_hash:"),),
        (f"{_WRITERS}::test_of_two_contents_under_one_id_one_is_stored_and_the_other_refused[sqlite]",),
    ),
    Mutant(
        "events-numbered-before-the-lock",
        "9.3",
        "An event's number is given out under the memory's lock.",
        (
            Edit(
                _TX,
                '        row = connection.execute(_LOCKED, {"id": memory_id})',
                "        counted = select(MEMORY.c.event_count).where(MEMORY.c.id == memory_id)\n"
                "        count = connection.execute(counted).scalar_one_or_none() or 0\n"
                '        row = connection.execute(_LOCKED, {"id": memory_id})',
            ),
            Edit(_TX, "memory_id, self.memory.event_count, self.now)", "memory_id, count, self.now)"),
        ),
        (f"{_WRITERS}::test_eight_writers_lose_nothing_and_number_everything_once[postgres]",),
    ),
    Mutant(
        "events-never-caught-up",
        "9.3",
        "Who publishes first publishes what others have committed before, too.",
        (
            Edit(
                "om_workers/services/publish.py",
                "if reached is None or reached >= events[0].n - 1:",
                "if reached is None or reached >= 0:",
            ),
        ),
        (f"{_EVENTS}::test_events_of_a_slower_process_are_published_before_those_behind_them[sqlite]",),
    ),
    Mutant(
        "events-out-of-order",
        "9.3",
        "Subscribers hear events in the order of their numbers.",
        (
            Edit(_PUBLISHING, "if first > last + 1 then", "if first < 0 then"),
            Edit(_PUBLISHING, "if n == last + 1 then", "if n > last then"),
        ),
        (f"{_EVENTS}::test_events_of_a_slower_process_are_published_before_those_behind_them[sqlite]",),
    ),
    Mutant(
        "events-heard-twice",
        "9.3",
        "Subscribers hear each event once.",
        (Edit(_PUBLISHING, "if n == last + 1 then", "if n <= last + 1 then"),),
        (f"{_EVENTS}::test_events_of_a_slower_process_are_published_before_those_behind_them[sqlite]",),
    ),
)
