from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from om_workers.engine.durations import MOST_MILLISECONDS, parse_duration
from om_workers.engine.numbers import round_half_up
from om_workers.engine.option_values import MOST_TOKENS, InvalidOptionError
from om_workers.engine.options import merge_options, resolve_policy
from om_workers.engine.policy import KEYLESS_MODEL, ObservationPolicy, Policy, ReflectionPolicy

ROWS = json.loads((Path(__file__).parents[1] / "vectors/config.json").read_text(encoding="utf-8"))["rows"]


def supported(row: Mapping[str, Any]) -> bool:
    return "shareTokenBudget" not in row["config"] and row["config"].get("scope", "thread") == "thread"


def refusal(options: Mapping[str, Any]) -> InvalidOptionError:
    with pytest.raises(InvalidOptionError) as caught:
        resolve_policy(options)
    return caught.value


@pytest.mark.parametrize(("value", "whole"), [(0.5, 1), (1.5, 2), (2.5, 3), (2.4999, 2), (-0.4, 0), (5_999.999, 6_000)])
def test_halves_are_rounded_upwards(value: float, whole: int) -> None:
    assert round_half_up(value) == whole


@pytest.mark.parametrize("row", [row for row in ROWS if supported(row)], ids=lambda row: json.dumps(row["config"]))
def test_supported_options_resolve_as_in_the_reference(row: dict[str, Any]) -> None:
    """Extractors are no part of this version; what a row leaves out is switched off."""
    if row.get("error"):
        refusal(row["config"])
        return
    policy = resolve_policy(row["config"])
    seen, wanted = policy.observation, row["observation"]
    assert seen.message_tokens == wanted["messageTokens"]
    assert seen.buffer_tokens == wanted.get("bufferTokens")
    if seen.buffer_tokens is not None:  # while buffering is off, the reference drops the share and we keep it
        assert seen.buffer_activation == wanted["bufferActivation"]
    assert seen.block_after == wanted.get("blockAfter")
    assert (False if seen.previous_observer_tokens is None else seen.previous_observer_tokens) == wanted[
        "previousObserverTokens"
    ]
    assert seen.activate_after_idle_ms == wanted.get("activateAfterIdle")
    assert seen.activate_on_provider_change is wanted["activateOnProviderChange"]
    reflected, wanted = policy.reflection, row["reflection"]
    assert reflected.observation_tokens == wanted["observationTokens"]
    assert reflected.buffer_activation == wanted.get("bufferActivation")
    assert reflected.block_after == wanted.get("blockAfter")


@pytest.mark.parametrize("row", [row for row in ROWS if not supported(row)], ids=lambda row: json.dumps(row["config"]))
def test_options_of_the_reference_that_are_not_supported_yet_are_refused_with_a_clear_word(row: dict[str, Any]) -> None:
    """CF-2: an option that nothing reads is never accepted in silence (RULES 3.9)."""
    error = refusal(row["config"])
    assert error.field in ("scope", "shareTokenBudget")
    assert "this version" in error.rule


@pytest.mark.parametrize(
    ("options", "field", "word"),
    [
        ({"retrieval": True}, "retrieval", "not an option of this version"),
        ({"observation": {"extract": []}}, "observation.extract", "not an option of this version"),
        ({"observation": {"message_tokens": 5}}, "observation.message_tokens", "not an option of this version"),
        ({"reflection": {"activateAfterIdle": "5m"}}, "reflection.activateAfterIdle", "not an option of this version"),
        ({"enabled": False}, "enabled", "only true is supported"),
        ({"enabled": 1}, "enabled", "only true is supported"),
        ({"activateAfterIdle": "auto"}, "activateAfterIdle", "not supported by this version"),
        ({"observation": {"activateAfterIdle": "auto"}}, "observation.activateAfterIdle", "not supported"),
        ({"observation": 5}, "observation", "must be an object"),
        ({"reflection": None}, "reflection", "must be an object"),
    ],
)
def test_what_is_no_option_is_refused_by_its_name(options: dict[str, Any], field: str, word: str) -> None:
    error = refusal(options)
    assert (error.field, word in error.rule) == (field, True)


RATIOS_AND_COUNTS: dict[str, dict[object, int | float | None]] = {
    "bufferTokens": {1.2: 1, 1.99: 2, 2: 2, 99: 99, 100: 100, 4000: 4000, 0: None, -1: None, "1.2": None, 0.5: 15_000},
    "bufferActivation": {
        1.2: None, 1.99: None, 2: None, 99: None, 100: None, 4000: 4000, 0: None, -1: None, "1.2": None, 0.5: 0.5,
    },
    "blockAfter": {
        1.2: 36_000, 1.99: 59_700, 2: 60_000, 99: 2_970_000, 100: None, 4000: None, 0: None, -1: None, "1.2": None,
        40_000: 40_000,
    },
}  # fmt: skip
FIELDS = {"bufferTokens": "buffer_tokens", "bufferActivation": "buffer_activation", "blockAfter": "block_after"}


@pytest.mark.parametrize(
    ("option", "value", "resolved"),
    [(option, value, resolved) for option, rows in RATIOS_AND_COUNTS.items() for value, resolved in rows.items()],
)
def test_a_number_is_a_ratio_or_a_count_or_an_error_that_names_it(
    option: str, value: object, resolved: float | None
) -> None:
    """CF-1 for every field of the observation with two meanings, at T = 30 000 (RULES 3.3-3.5)."""
    options = {"observation": {option: value}}
    if resolved is not None:
        assert getattr(resolve_policy(options).observation, FIELDS[option]) == resolved
        return
    error = refusal(options)
    assert (error.field, error.value) == (f"observation.{option}", value)
    assert error.rule


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, 10**400, -(10**400), True, None, [], {}, "5"])
@pytest.mark.parametrize(
    "option",
    ["messageTokens", "bufferTokens", "bufferActivation", "blockAfter", "previousObserverTokens", "maxTokensPerCall",
     "openCallTimeout", "maxPinnedTokens", "blockTimeout", "activateAfterIdle"],
)  # fmt: skip
def test_no_value_whatever_breaks_more_than_its_own_option(option: str, value: object) -> None:
    """A number too large for a float, or for a span of time, once passed here would break every later plan."""
    assert refusal({"observation": {option: value}}).field == f"observation.{option}"


def test_sizes_are_whole_numbers_up_to_a_bound() -> None:
    assert resolve_policy({"observation": {"messageTokens": 1e5}}).observation.message_tokens == 100_000
    assert resolve_policy({"observation": {"messageTokens": MOST_TOKENS}}).observation.message_tokens == MOST_TOKENS
    for value in (MOST_TOKENS + 1, 0, -1, 0.5):
        refusal({"observation": {"messageTokens": value}})


@pytest.mark.parametrize("section", ["observation", "reflection"])
def test_a_block_after_that_is_not_used_is_checked_all_the_same(section: str) -> None:
    options = {"observation": {"bufferTokens": False}}
    wrong = merge_options(options, {section: {"blockAfter": 0.5}})
    assert refusal(wrong).field == f"{section}.blockAfter"
    policy = resolve_policy(merge_options(options, {section: {"blockAfter": 2}}))
    assert (policy.observation.block_after, policy.reflection.block_after) == (None, None)


@pytest.mark.parametrize("text", ["a\x00b", "\ud83d"])
def test_a_text_that_no_database_takes_is_refused_and_can_be_told(text: str) -> None:
    error = refusal({"observation": {"instruction": text}})
    assert error.field == "observation.instruction"
    json.dumps({"field": error.field, "value": error.value, "detail": str(error)}, ensure_ascii=False).encode()


def test_an_unknown_name_that_cannot_be_encoded_can_be_told() -> None:
    refusal({"\ud83d": 1}).field.encode()


@pytest.mark.parametrize(
    ("value", "milliseconds"),
    [
        (0, 0), (1, 1), (0.5, 1), (90_000, 90_000), ("90 s", 90_000), ("5m", 300_000), ("5M", 300_000),
        (" 5 min ", 300_000), ("1hr", 3_600_000), ("1.5 hr", 5_400_000), ("2hours", 7_200_000), ("250ms", 250),
        ("1msec", 1), ("3 seconds", 3_000), ("0.5 millisecond", 1), ("8760h", MOST_MILLISECONDS),
    ],
)  # fmt: skip
def test_a_duration_is_milliseconds_or_a_number_with_its_unit(value: object, milliseconds: int) -> None:
    """RULES 3.7."""
    assert parse_duration("f", value) == milliseconds


@pytest.mark.parametrize(
    "value",
    [
        "90",
        "",
        "m",
        "-5m",
        "5d",
        "5 m s",
        "1e3s",
        "٥m",
        "5\nm\n5",
        "8761h",
        f"{'9' * 400}ms",
        -1,
        MOST_MILLISECONDS + 1,
    ],
)
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(InvalidOptionError, match="duration"):
        parse_duration("f", value)


def test_idle_time_and_provider_change_are_inherited_and_can_be_switched_off_below() -> None:
    top = {"activateAfterIdle": "5m", "activateOnProviderChange": True}
    assert resolve_policy(top).observation.activate_after_idle_ms == 300_000
    below = resolve_policy({**top, "observation": {"activateAfterIdle": False, "activateOnProviderChange": False}})
    assert below.observation.activate_after_idle_ms is None
    assert not below.observation.activate_on_provider_change


@pytest.mark.parametrize(
    ("options", "models"),
    [
        ({}, ("d/d", "d/d")),
        ({"model": "a/a"}, ("a/a", "a/a")),
        ({"observation": {"model": "b/b"}}, ("b/b", "b/b")),
        ({"reflection": {"model": "c/c"}}, ("c/c", "c/c")),
        ({"observation": {"model": "b/b"}, "reflection": {"model": "c/c/c"}}, ("b/b", "c/c/c")),
    ],
)
def test_a_lane_without_a_model_takes_the_other_ones(options: dict[str, Any], models: tuple[str, str]) -> None:
    """RULES 3.6."""
    policy = resolve_policy(options, default_model="d/d")
    assert (policy.observation.model, policy.reflection.model) == models


@pytest.mark.parametrize("model", ["", "default", "gpt-4o", "/m", "p/", None, 0, []])
@pytest.mark.parametrize("place", ["model", "observation", "reflection"])
def test_a_model_that_names_no_provider_is_refused_where_it_stands(place: str, model: object) -> None:
    options: dict[str, object] = {"model": model} if place == "model" else {place: {"model": model}}
    assert refusal(options).field == ("model" if place == "model" else f"{place}.model")


def test_a_model_at_both_levels_is_refused() -> None:
    assert "together" in refusal({"model": "a/a", "reflection": {"model": "b/b"}}).rule


@pytest.mark.parametrize(
    ("layers", "merged"),
    [
        ([{"observation": {"messageTokens": 5}}, {"observation": {"blockAfter": 2}}],
         {"observation": {"messageTokens": 5, "blockAfter": 2}}),
        ([{"observation": {"messageTokens": 5}}, {"observation": {"messageTokens": 6}}],
         {"observation": {"messageTokens": 6}}),
        ([{"activateAfterIdle": "5m"}, {}], {"activateAfterIdle": "5m"}),
        ([{"model": "a/a"}, {"observation": {"model": "b/b"}}], {"observation": {"model": "b/b"}}),
        ([{"observation": {"model": "b/b", "messageTokens": 5}}, {"model": "a/a"}],
         {"model": "a/a", "observation": {"messageTokens": 5}}),
        ([], {}),
    ],
)  # fmt: skip
def test_a_later_layer_wins_option_by_option(layers: list[dict[str, Any]], merged: dict[str, Any]) -> None:
    """RULES 3.6; merging never changes what it is given."""
    before = json.dumps(layers)
    found = merge_options(*layers)
    assert {key: value for key, value in found.items() if value != {}} == merged
    assert json.dumps(layers) == before


def test_a_layer_whose_section_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidOptionError, match="must be an object"):
        merge_options({"observation": {"messageTokens": 5}}, {"observation": "all"})


def test_without_options_the_policy_is_the_keyless_default() -> None:
    assert resolve_policy({}) == Policy()
    assert Policy().observation.model == Policy().reflection.model == KEYLESS_MODEL


@pytest.mark.parametrize(
    ("threshold", "activation", "floor", "tail"),
    [(30_000, 0.8, 6_000, 1_000), (30_000, 3_000, 3_000, 1_000), (30_000, 1, 0, 0), (400, 0.8, 80, 80)],
)
def test_the_floor_is_what_an_activation_leaves_and_the_tail_at_most_a_thousand(
    threshold: int, activation: float, floor: float, tail: float
) -> None:
    """RULES 4.3, 8.5."""
    rules = ObservationPolicy(message_tokens=threshold, buffer_activation=activation)
    assert rules.retention_floor == pytest.approx(floor)
    assert rules.minimum_tail == pytest.approx(tail)


def test_a_caller_waits_from_block_after_or_without_buffering_from_the_threshold() -> None:
    """RULES 4.8."""
    assert ObservationPolicy().blocks_at == 36_000
    assert ObservationPolicy(buffer_tokens=None, block_after=None).blocks_at == 30_000


@pytest.mark.parametrize(
    ("policy", "starts", "limit", "growth"),
    [
        (ReflectionPolicy(), 20_000, 48_000, 8_000),
        (ReflectionPolicy(observation_tokens=1_000, buffer_activation=None, block_after=None), 1_000, 1_200, 200),
        (ReflectionPolicy(observation_tokens=500, block_after=501), 250, 501, 100),
    ],
)
def test_a_reflection_starts_grows_and_is_bounded_by_numbers_of_its_threshold(
    policy: ReflectionPolicy, starts: float, limit: int, growth: float
) -> None:
    """RULES 5.1, 5.5, 5.6."""
    assert (policy.starts_at, policy.served_limit) == (starts, limit)
    assert policy.growth == pytest.approx(growth)
