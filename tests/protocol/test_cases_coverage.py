"""What is covered when, and what a context holds meanwhile: trouble that users reported."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from om_workers.engine.jobs import Lane
from om_workers.engine.messages import Part, part_type
from om_workers.engine.retry import Outcome
from om_workers.ports.model import ModelError
from om_workers.services.sweep import sweep
from tests.support.world import World, call_part, message, result_part, text_part, words_of

SYNC = {"messageTokens": 100, "bufferTokens": False}


def test_a_huge_tool_result_counts_whole_and_only_the_observers_copy_is_trimmed(world: World) -> None:
    """TC-1."""
    world.thread("t", observation={"messageTokens": 20_000})
    rows = [{"row": number, "value": f"v {number}"} for number in range(20_000)]
    size = 60_000
    parts: list[Part] = [call_part("c1"), result_part("c1", " ".join(str(row["value"]) for row in rows)[: size * 6])]
    world.append("t", message("m1", role="assistant", parts=[*parts, text_part("done")]))
    assert world.view("t").state.pending > 40_000
    assert [job.lane for job in world.queue.waiting] == [Lane.OBSERVE]
    world.drain()
    prompt = world.models.requests[0].prompt.blocks[-1]
    assert world.ports.tokens.count(prompt) < 10_000
    assert "trimmed" in prompt


@pytest.mark.parametrize(("words", "jobs"), [(99, 0), (100, 1), (101, 1), (250, 1)])
def test_one_message_at_or_over_the_threshold_is_one_job(world: World, words: int, jobs: int) -> None:
    """TC-2, first turn, without buffering."""
    world.thread("t", observation=SYNC)
    world.say("t", 1, words)
    assert len(world.queue.waiting) == jobs
    world.drain()
    assert world.view("t").state.pending < 100


@pytest.mark.parametrize(("words", "jobs"), [(49, 0), (50, 1), (51, 1)])
def test_a_later_message_that_reaches_the_threshold_is_one_job(world: World, words: int, jobs: int) -> None:
    """TC-2, later turn."""
    world.thread("t", observation=SYNC)
    world.say("t", 1, 50)
    world.say("t", 2, words, role="assistant")
    assert len(world.queue.waiting) == jobs


def test_a_huge_first_message_is_observed_with_buffering_too(world: World) -> None:
    """TC-2: exactly one job for one message of two and a half times the threshold, and the message stays readable."""
    world.thread("t", observation={"messageTokens": 100})
    world.say("t", 1, 250)
    assert len(world.queue.waiting) == 1
    world.drain()
    assert world.seen_ranges() == [(1, 1)]
    assert world.view("t").state.pending == 0
    assert [shown.seq for shown in world.context("t").messages] == [1]


def test_parts_of_unknown_kind_and_state_do_not_stop_a_threads_memory(world: World) -> None:
    """TC-5."""
    world.thread("t", observation=SYNC)
    parts: list[Part] = [{**call_part("c1"), "state": "future-state"}, {"type": "hologram", "shape": {"a": 1}}]
    world.append("t", message("m0", role="assistant", parts=parts), final=True)
    for number in range(1, 4):
        world.say("t", number, 60)
    world.drain()
    assert world.segments("t")[0].first_seq == 1
    assert world.violations() == []


def test_reasoning_counts_nothing_and_a_minimum_raw_tail_survives_any_activation(world: World) -> None:
    """TC-9: T = 1 000, retention floor 200; an assistant turn with 3 000 tokens of reasoning and 20 of text."""
    world.thread("t", observation={"messageTokens": 1_000})
    reasoning: Part = {"type": "reasoning", "text": words_of(3_000)}
    world.append("t", message("m0", role="assistant", parts=[reasoning, text_part(words_of(20))]))
    assert world.view("t").state.pending == 20
    for number in range(1, 60):
        world.say("t", number, 40, role="assistant" if number % 2 else "user")
        world.drain()
        shown = world.context("t").messages
        raw = sum(4 + world.ports.tokens.count(str(part.get("text"))) for m in shown for part in m.parts)
        assert raw >= min(200, 20 + 40 * number) - 40


@pytest.mark.parametrize("failure", ["plain words that are no observation list at all, many of them", "error"])
def test_an_answer_that_failed_covers_nothing_and_is_not_asked_again_on_every_turn(world: World, failure: str) -> None:
    """CL-2 (b) and (c)."""
    reply: ModelError | str = ModelError(Outcome.TRANSPORT, "down") if failure == "error" else failure
    world.models.script = lambda _request: reply
    world.thread("t", observation=SYNC)
    world.say("t", 1, 150)
    while world.run_one() is not None:
        pass
    for number in range(2, 5):
        world.say("t", number, 10)
        while world.run_one() is not None:
            pass
    assert len(world.models.requests) == 1
    assert world.view("t").position.buffered_seq == 0
    assert [shown.seq for shown in world.context("t").messages] == [1, 2, 3, 4]


def test_a_backlog_drains_oldest_first_in_bounded_ranges(world: World) -> None:
    """CL-3: 40 messages of 200 tokens at once, at most 2 000 a call: at least four jobs, progress after each."""
    world.thread("t", observation={"messageTokens": 2_000, "bufferTokens": False, "maxTokensPerCall": 2_000})
    world.append("t", *[message(f"m{n}", words_of(200), role="assistant") for n in range(40)])
    reached: list[int] = []
    while world.run_one() is not None:
        reached.append(world.view("t").position.buffered_seq)
    ranges = world.seen_ranges()
    assert len(ranges) >= 4
    assert all(last - first + 1 <= 10 for first, last in ranges)
    assert reached == sorted(set(reached))
    assert ranges[0][0] == 1
    assert world.view("t").state.pending < 2_000


def test_context_never_holds_half_a_pair_when_a_result_comes_late(world: World) -> None:
    """CL-9: a call is covered after the user wrote on; its result arrives afterwards."""
    world.thread("t", observation=SYNC)
    world.append("t", message("m1", "find it"))
    world.append("t", message("m2", role="assistant", parts=[text_part("looking"), call_part("c1", q="x")]))
    world.say("t", 3, 150)
    world.say("t", 4, 150, role="assistant")
    world.drain()
    assert world.view("t").position.active_seq >= 2
    world.append("t", message("m5", role="tool", parts=[result_part("c1", "found")]))
    parts = [part for shown in world.context("t").messages for part in shown.parts]
    calls = [part["toolCallId"] for part in parts if part_type(part) == "tool-call"]
    results = [part["toolCallId"] for part in parts if part_type(part) == "tool-result"]
    assert calls == results == ["c1"]


def test_an_open_call_is_not_covered_until_it_times_out(world: World) -> None:
    """CL-9: the last message of a quiet thread is a call that nobody answers."""
    world.thread("t", observation=SYNC)
    world.append("t", message("m1", role="assistant", parts=[text_part(words_of(200)), call_part("c1")]))
    world.drain()
    assert world.view("t").position.buffered_seq == 0
    world.clock.advance(15 * 60 + 1)
    assert sweep(world.ports).planned == 1
    world.drain()
    assert world.view("t").position.active_seq == 1


def test_a_model_that_never_answers_delays_no_turn_and_no_context(world: World) -> None:
    """CL-12."""
    world.models.script = lambda _request: ModelError(Outcome.TRANSPORT, "timed out")
    world.thread("t", observation=SYNC)
    for number in range(1, 30):
        world.say("t", number, 60)
        world.run_one()
        assert world.context("t").last_seq == number
    assert [shown.seq for shown in world.context("t").messages] == list(range(1, 30))


def test_equal_and_backward_times_change_nothing_about_coverage(world: World) -> None:
    """ST-5: coverage goes by seq; every message is shown to the observer exactly once."""
    world.thread("t", observation=SYNC)
    at = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    for number in range(1, 11):
        world.append("t", message(f"m{number}", words_of(25), at=at))
        world.drain()
    world.append("t", message("early", words_of(120), at=at - timedelta(days=1)))
    world.drain()
    covered = [seq for first, last in world.seen_ranges() for seq in range(first, last + 1)]
    assert covered == list(range(1, len(covered) + 1))
    assert world.violations() == []


def test_the_processes_time_zone_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TM-2: at half past midnight UTC, in Tokyo and in Los Angeles."""
    seen: list[object] = []
    for zone in ("Asia/Tokyo", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        world = World(f"sqlite:///{tmp_path / zone.replace('/', '-')}")
        world.clock.time = datetime(2026, 3, 2, 0, 30, tzinfo=UTC)
        world.thread("t", observation=SYNC)
        world.say("t", 1, 150)
        world.drain()
        stored = [segment.created_at for segment in world.segments("t")]
        prompts = [request.prompt for request in world.models.requests]
        seen.append((world.context("t"), stored, prompts))
        assert stored[0].isoformat() == "2026-03-02T00:30:00+00:00"
    monkeypatch.undo()
    time.tzset()
    assert seen[0] == seen[1]


def test_what_was_just_said_is_in_the_context_at_once(world: World) -> None:
    """AU-1."""
    world.append("t", message("m1", "my dog is Rex"))
    context = world.context("t")
    assert context.messages[0].parts[0]["text"] == "my dog is Rex"
    assert context.pending_messages == 1


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_every_context_of_a_long_agent_run_is_bounded_and_holds_the_users_message(world: World) -> None:
    """One user message, then 300 tool steps of 500 tokens; T = 3 000, R = 1 000."""
    world.thread("t", observation={"messageTokens": 3_000}, reflection={"observationTokens": 1_000})
    world.append("t", message("u", "count the stars"))
    step = 500
    for number in range(300):
        world.append("t", message(f"c{number}", role="assistant", parts=[call_part(f"k{number}", n=number)]))
        world.append("t", message(f"r{number}", role="tool", parts=[result_part(f"k{number}", words_of(step))]))
        while world.run_one() is not None:
            pass
        context = world.context("t")
        assert any(shown.id == "u" for shown in context.messages)
        size = rendered_tokens(world, context.messages) + sum(world.ports.tokens.count(b.text) for b in context.system)
        assert size <= 1.2 * (3_000 + 1_000) + step + 10 + 4
    assert world.view("t").lineage.generation >= 1
    assert world.violations() == []


def rendered_tokens(world: World, messages: Sequence[object]) -> int:
    """Tokens of the raw messages as an actor would send them."""
    texts = [str(part.get("text") or part.get("result") or part.get("args")) for m in messages for part in m.parts]  # type: ignore[attr-defined]
    return sum(world.ports.tokens.count(text) for text in texts)
