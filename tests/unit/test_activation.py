from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from om_workers.engine.activation import (
    ActivationReason,
    Activity,
    activation_reason,
    choose_prefix,
    idle_deadline,
    provider_changed,
)
from om_workers.engine.policy import ObservationPolicy

CASES = json.loads((Path(__file__).parents[1] / "vectors/activation.json").read_text(encoding="utf-8"))["cases"]
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def test_all_recorded_choices_are_made_again() -> None:
    """RULES 4.4: 400 of 400 choices of the reference, with the tokens that leave and those that stay."""
    wrong = []
    for case in CASES:
        chunks = case["chunkTokens"]
        count = choose_prefix(
            chunks,
            pending=case["pending"],
            threshold=case["threshold"],
            buffer_activation=case["bufferActivation"],
            force=case["force"],
        )
        taken = sum(chunks[:count])
        if (count, taken, case["pending"] - taken) != (
            case["chunksActivated"], case["tokensActivated"], case["remaining"],
        ):  # fmt: skip
            wrong.append(case)
    assert len(CASES) == 400
    assert wrong == []


@pytest.mark.parametrize(
    ("threshold", "activation", "pending", "chunks", "taken"),
    [
        (30_000, 0.8, 28_500, [6_000, 6_100, 5_900, 6_200], 4),
        (30_000, 0.8, 30_500, [6_000, 6_100, 5_900, 6_200], 4),
        (30_000, 0.8, 24_500, [6_000, 6_000, 12_000], 2),
        (30_000, 0.8, 30_000, [29_000], 1),
        (30_000, 3_000, 31_000, [6_000] * 5, 5),
        (30_000, 1, 30_500, [6_000] * 5, 5),
        (400, 0.8, 316, [146, 109, 109], 1),
        (400, 0.8, 364, [109, 109, 109], 2),
    ],
)
def test_the_worked_examples_come_out(
    threshold: int, activation: float, pending: int, chunks: list[int], taken: int
) -> None:
    """RULES 4.4; the working of each row stands there."""
    found = choose_prefix(chunks, pending=pending, threshold=threshold, buffer_activation=activation, force=False)
    assert found == taken


@pytest.mark.parametrize(("force", "taken"), [(False, 1), (True, 2)])
def test_force_drops_the_guard_against_overshooting_and_nothing_else(force: bool, taken: int) -> None:
    """RULES 4.4. T = 100 000, share 0.7: floor 30 000, target 40 000 of 70 000; two chunks are 68 900, 28 900 too many.

    28 900 > 0.95 x 30 000 = 28 500 stops rule 2, although 1 100 ≥ 1 000 stay; rule 1 does not ask.
    """
    found = choose_prefix([10_000, 58_900], pending=70_000, threshold=100_000, buffer_activation=0.7, force=force)
    assert found == taken


def test_force_never_goes_beyond_the_smallest_prefix_that_reaches_the_target() -> None:
    found = choose_prefix([6_000] * 8, pending=36_000, threshold=30_000, buffer_activation=0.8, force=True)
    assert found == 5


@pytest.mark.parametrize(
    ("chunks", "pending", "taken"),
    [([], 500, 0), ([0], 0, 1), ([500], 0, 1), ([100, 100], 100, 1), ([0, 0, 400], 400, 3)],
)
def test_one_chunk_is_the_least_and_none_only_when_there_is_none(chunks: list[int], pending: int, taken: int) -> None:
    """RULES 4.4, rule 5: floor 80 of T = 400. The last row: 400 - 80 = 320 is reached with the third chunk only."""
    assert choose_prefix(chunks, pending=pending, threshold=400, buffer_activation=0.8, force=False) == taken


@pytest.mark.parametrize(
    ("before", "now", "changed"),
    [
        ("openai/gpt-4o", "openai/gpt-4o", False),
        ("openai/gpt-4o", "openai/gpt-5", True),
        ("openai/gpt-4o", "anthropic/gpt-4o", True),
        ("openai.responses/gpt-4o", "openai/gpt-4o", False),
        ("openai.responses/gpt-4o", "openai.chat/gpt-4o", False),
        ("openrouter/meta/llama", "openrouter/meta/llama", False),
        ("openrouter/meta/llama", "openrouter/meta/other", True),
        ("gpt-4o", "openai/gpt-4o", False),
        ("gpt-4o", "gpt-5", True),
        (None, "openai/gpt-4o", False),
        ("openai/gpt-4o", None, False),
        ("", "openai/gpt-4o", False),
    ],
)
def test_a_change_of_provider_or_model_is_one_and_the_unknown_is_none(
    before: str | None, now: str | None, changed: bool
) -> None:
    """RULES 4.2."""
    assert provider_changed(before, now) is changed


CHANGED = Activity(last_at=NOW, last_model="a/m", model="b/m")


@pytest.mark.parametrize(
    ("pending", "activity", "options", "reason"),
    [
        (100, CHANGED, {"activate_on_provider_change": True}, ActivationReason.PROVIDER_CHANGE),
        (100, CHANGED, {}, ActivationReason.THRESHOLD),
        (99, CHANGED, {}, None),
        (0, CHANGED, {"activate_after_idle_ms": 0}, ActivationReason.TTL),
        (500, CHANGED, {"activate_after_idle_ms": 0}, ActivationReason.TTL),
        (
            500,
            CHANGED,
            {"activate_after_idle_ms": 0, "activate_on_provider_change": True},
            ActivationReason.PROVIDER_CHANGE,
        ),
        (0, Activity(last_at=NOW, idle_handled=True), {"activate_after_idle_ms": 0}, None),
        (0, Activity(), {"activate_after_idle_ms": 0}, None),
    ],
)
def test_the_strongest_reason_is_given(
    pending: int, activity: Activity, options: dict[str, int | bool], reason: ActivationReason | None
) -> None:
    """RULES 4.2: provider change, then idle time, then the threshold, which counts from equality on."""
    rules = ObservationPolicy(message_tokens=100, **options)  # type: ignore[arg-type]
    assert activation_reason(pending, activity, rules, NOW) is reason


@pytest.mark.parametrize(("seconds", "reason"), [(299, None), (300, ActivationReason.TTL), (301, ActivationReason.TTL)])
def test_an_idle_time_is_over_from_its_last_moment_on(seconds: int, reason: ActivationReason | None) -> None:
    """CC-5 (the rule): only the time since the last activity counts, on one clock."""
    rules = ObservationPolicy(activate_after_idle_ms=300_000)
    found = activation_reason(0, Activity(last_at=NOW), rules, NOW + timedelta(seconds=seconds))
    assert found is reason


def test_an_idle_deadline_is_known_only_where_there_is_one() -> None:
    rules = ObservationPolicy(activate_after_idle_ms=300_000)
    assert idle_deadline(Activity(last_at=NOW), rules) == NOW + timedelta(minutes=5)
    assert idle_deadline(Activity(last_at=NOW, idle_handled=True), rules) is None
    assert idle_deadline(Activity(), rules) is None
    assert idle_deadline(Activity(last_at=NOW), ObservationPolicy()) is None
