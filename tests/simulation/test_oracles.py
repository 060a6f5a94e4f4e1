"""Every oracle says nothing about what is right, and something about what is not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from om_workers.engine.tail import ShownMessage
from om_workers.services.context import Context, Omitted
from tests.simulation.history import Promise, ThreadHistory, half_pairs
from tests.simulation.model import Call
from tests.simulation.oracles import (
    Rows,
    broken_promises,
    broken_rows,
    cut_pairs,
    disordered,
    still_said,
    unaccounted,
    unfounded,
    unrested,
)
from tests.support.doubles import START
from tests.support.world import World, call_part, message, result_part, words_of

CALL = Call("call1", "worker1", "job1", 1, "observe", (1, 2), (), (), 0, None, "noted 1 to 2 in call-call1", "answered")
LEDGER = {
    "id": "call1", "job_id": "job1", "attempt": 1, "kind": "observe", "state": "finished", "outcome": "answered",
}  # fmt: skip
SEGMENT = {
    "id": "s1", "kind": "observation", "job_id": "job1", "attempt": 1, "first_seq": 1, "last_seq": 2,
    "text": "noted 1 to 2 in call-call1", "thread_id": "thread1",
}  # fmt: skip
ATTEMPT = {"job_id": "job1", "n": 1, "outcome": "stored", "started_at": "2026-01-01 10:00:00"}
JOB = {"id": "job1", "trigger": "plan", "last_outcome": "stored", "memory_id": "memory1"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """One thread, t0, with a covered and a raw message."""
    made = World(f"sqlite:///{tmp_path / 'om.db'}")
    made.thread("t0", observation={"messageTokens": 60, "bufferTokens": False, "bufferActivation": 0.8})
    made.append("t0", message("c1-1", words_of(50)))
    made.append("t0", message("c1-2", "a reply " + words_of(30), role="assistant"))
    made.drain()
    yield made
    made.engine.dispose()


def history_of(world: World) -> ThreadHistory:
    history = ThreadHistory()
    for appended in (message("c1-1", words_of(50)), message("c1-2", "a reply " + words_of(30), role="assistant")):
        history.sends([appended])
        history.acknowledges(world.append("t0", appended))
    return history


def rows(**changes: Any) -> Rows:
    whole: dict[str, Any] = {
        "segments": [SEGMENT], "attempts": [ATTEMPT], "calls": [LEDGER], "jobs": [JOB], "messages": [], "memories": [],
        "tool_calls": [],
    }  # fmt: skip
    return Rows(**(whole | changes))


def test_a_context_that_is_right_breaks_no_promise(world: World) -> None:
    assert broken_by(world) == []
    assert unrested(world.ports, [history_of(world)]) == []
    assert broken_rows(world.ports) == []


def broken_by(world: World, **changes: Any) -> list[str]:
    history = history_of(world)
    return history.begins_read().broken_by(replace(world.context("t0"), **changes))


def test_a_context_without_an_acknowledged_message_breaks_one(world: World) -> None:
    assert any("neither shown" in broken for broken in broken_by(world, messages=()))


def test_a_context_may_leave_out_what_it_names(world: World) -> None:
    context = world.context("t0")
    left_out = Omitted(context.covered_seq + 1, context.last_seq, 1)
    assert broken_by(world, messages=(), omitted=left_out) == []


def test_a_context_that_shows_a_message_twice_breaks_one(world: World) -> None:
    shown = world.context("t0").messages
    assert any("twice" in broken for broken in broken_by(world, messages=(*shown, shown[-1])))


def test_a_context_with_other_words_or_strangers_breaks_one(world: World) -> None:
    *others, last = world.context("t0").messages
    other = replace(last, parts=({"type": "text", "text": "something else"},))
    assert any("not shown as it was sent" in broken for broken in broken_by(world, messages=(*others, other)))
    assert any("never sent" in broken for broken in broken_by(world, messages=(*others, last, replace(last, id="x"))))


def test_a_position_or_a_generation_that_moves_back_breaks_one(world: World) -> None:
    context, history = world.context("t0"), history_of(world)
    assert moved(history, context, covered=context.covered_seq + 1, generation=0)
    assert moved(history, context, covered=0, generation=1)
    assert not moved(history, context, covered=context.covered_seq, generation=0)


def moved(history: ThreadHistory, context: Context, *, covered: int, generation: int) -> list[str]:
    return Promise(history, {}, frozenset(), covered, generation).broken_by(context)


def test_a_deleted_message_that_is_shown_breaks_one(world: World) -> None:
    history = history_of(world)
    said = ShownMessage("c1-2", 2, "assistant", ({"type": "text", "text": "c12w0"},), START)
    context = replace(world.context("t0"), messages=(said,))
    assert not any("deleted" in broken for broken in history.begins_read().broken_by(context))
    history.deleted.add("c1-2")
    assert any("deleted" in broken for broken in history.begins_read().broken_by(context))


@pytest.mark.parametrize("shown", [[0], [1], [0, 2, 1], [1, 0]])
def test_half_pairs_are_seen(shown: list[int]) -> None:
    pair = [
        ShownMessage("a", 1, "assistant", (call_part("x"),), START),
        ShownMessage("b", 2, "tool", (result_part("x"),), START),
        ShownMessage("c", 3, "user", ({"type": "text", "text": "well?"},), START),
    ]
    assert half_pairs(pair) == []
    assert half_pairs([pair[number] for number in shown])


def test_a_second_answer_with_another_seq_is_seen(world: World) -> None:
    history = history_of(world)
    history.stored["c1-1"] = 9
    history.acknowledges(world.append("t0", message("c1-1", words_of(50))))
    assert history.broken


def test_messages_that_are_lost_or_nobodys_are_seen() -> None:
    history = ThreadHistory(stored={"c1-1": 1}, sent={"c1-1": message("c1-1")})
    stored = {"thread": "t0", "external_id": "c1-1", "seq": 1}
    assert broken_promises([history], rows(messages=[stored])) == []
    assert broken_promises([history], rows())
    assert broken_promises([history], rows(messages=[stored, stored | {"external_id": "x", "seq": 2}]))


def test_a_deleted_thread_that_holds_messages_is_seen() -> None:
    history = ThreadHistory(dropping=True, dropped=True)
    assert broken_promises([history], rows()) == []
    assert broken_promises([history], rows(messages=[{"thread": "t0", "external_id": "x", "seq": 1}]))


def test_work_left_at_rest_is_seen(world: World) -> None:
    history = history_of(world)
    with world.engine.begin() as connection:
        connection.execute(text("UPDATE position SET pending_tokens = 1000"))
    assert any("pending" in broken for broken in unrested(world.ports, [history]))
    assert broken_rows(world.ports)


def test_what_covers_less_than_it_says_is_seen(world: World) -> None:
    history = history_of(world)
    with world.engine.begin() as connection:
        connection.execute(text("UPDATE segment_range SET first_seq = first_seq + 1"))
    assert any("is covered up to" in broken for broken in unrested(world.ports, [history]))


def test_what_is_left_of_a_deleted_message_is_seen(world: World) -> None:
    history = ThreadHistory(deleted={"c1-1"})
    assert still_said([history], world.engine) == []
    with world.engine.begin() as connection:
        connection.execute(text("UPDATE segment SET text = 'c11w0'"))
    assert still_said([history], world.engine)


@pytest.mark.parametrize(
    ("calls", "changes"),
    [
        ([CALL], {"calls": []}),
        ([CALL], {"calls": [LEDGER | {"attempt": 2}]}),
        ([CALL], {"calls": [LEDGER | {"outcome": "transport"}]}),
        ([CALL], {"calls": [LEDGER | {"state": "started"}]}),
        ([], {}),
        ([CALL, CALL], {}),
        ([CALL, replace(CALL, id="call2")], {"calls": [LEDGER, LEDGER | {"id": "call2"}]}),
    ],
)
def test_calls_that_the_ledger_does_not_tell_as_they_were_are_seen(calls: list[Call], changes: dict[str, Any]) -> None:
    assert unaccounted([CALL], rows()) == []
    assert unaccounted(calls, rows(**changes))


@pytest.mark.parametrize(
    ("calls", "changes"),
    [
        ([], {}),
        ([replace(CALL, answer=None)], {}),
        ([replace(CALL, seqs=(1,))], {}),
        ([replace(CALL, seqs=(1, 2, 3))], {}),
        ([CALL, CALL], {}),
        ([CALL], {"segments": [SEGMENT | {"text": "noted 2 to 2 in call-call1"}]}),
        ([CALL], {"segments": [SEGMENT | {"text": "noted 1 to 2 in call-call2"}]}),
        ([CALL], {"attempts": [ATTEMPT | {"outcome": "lost"}]}),
        ([CALL], {"attempts": [ATTEMPT | {"outcome": None}]}),
        ([CALL], {"segments": []}),
        ([CALL], {"segments": [SEGMENT | {"kind": "reflection"}], "sources": {"s1": ["s1"]}}),
    ],
)
def test_results_that_the_model_did_not_give_are_seen(calls: list[Call], changes: dict[str, Any]) -> None:
    assert unfounded([CALL], rows()) == []
    assert unfounded(calls, rows(**changes))


def test_a_range_that_cuts_a_pair_is_seen() -> None:
    calls = [{"thread_id": "thread1", "call_seq": 2, "result_seq": 3}]
    early = [{"thread_id": "thread1", "seq": 3, "received_at": "2026-01-01 09:00:00"}]
    late = [{"thread_id": "thread1", "seq": 3, "received_at": "2026-01-01 11:00:00"}]
    assert cut_pairs(rows(tool_calls=calls, messages=late)) == []
    assert cut_pairs(rows(tool_calls=calls, messages=early, jobs=[JOB | {"trigger": "rebuild"}])) == []
    assert cut_pairs(rows(tool_calls=calls, messages=early))


def test_events_out_of_order_are_seen() -> None:
    assert disordered([("a", 1), ("b", 1), ("a", 2), ("a", 0), ("a", 1)]) == []
    assert disordered([("a", 1), ("a", 3)])
    assert disordered([("a", 2), ("a", 1)])
