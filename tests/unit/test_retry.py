from __future__ import annotations

import math

import pytest

from om_workers.engine.jobs import Lane
from om_workers.engine.retry import PROBE_SECONDS, RULES, NextStep, Outcome, Verdict, backoff_seconds, verdict

O, R = Lane.OBSERVE, Lane.REFLECT  # noqa: E741
TABLE = [
    (O, Outcome.RATE_LIMITED, 12, True, NextStep.PARK),
    (O, Outcome.TRANSPORT, 8, True, NextStep.PARK),
    (O, Outcome.AUTH, 0, False, NextStep.PARK),
    (O, Outcome.EMPTY, 1, False, NextStep.STAND_IN),
    (O, Outcome.UNUSABLE, 2, True, NextStep.SHRINK),
    (O, Outcome.REFUSED, 1, True, NextStep.SHRINK),
    (O, Outcome.TOO_LARGE, 0, False, NextStep.SHRINK),
    (O, Outcome.LOST, 2, False, NextStep.SHRINK),
    (R, Outcome.RATE_LIMITED, 12, True, NextStep.PARK),
    (R, Outcome.TRANSPORT, 8, True, NextStep.PARK),
    (R, Outcome.AUTH, 0, False, NextStep.PARK),
    (R, Outcome.EMPTY, 4, True, NextStep.PARK),
    (R, Outcome.UNUSABLE, 4, True, NextStep.PARK),
    (R, Outcome.REFUSED, 2, True, NextStep.PARK),
    (R, Outcome.TOO_LARGE, 0, False, NextStep.PARK),
    (R, Outcome.LOST, 4, True, NextStep.PARK),
]


@pytest.mark.parametrize(("lane", "outcome", "tries", "waits", "then"), TABLE)
def test_a_failure_is_tried_again_so_often_and_then_handled_for_good(
    lane: Lane, outcome: Outcome, tries: int, waits: bool, then: NextStep
) -> None:
    """RULES 6.6, LP-2, CL-2 and CL-16 (the decision): every kind of failure has an end, and none ends in a result."""
    for failures in range(1, tries + 1):
        delay = min(2.0 ** (failures - 1), 120.0) if waits else 0.0
        assert verdict(outcome, failures, lane=lane) == Verdict(NextStep.RETRY, delay)
    end = verdict(outcome, tries + 1, lane=lane)
    assert end == Verdict(then, PROBE_SECONDS if then is NextStep.PARK else 0.0)


def test_the_table_is_whole() -> None:
    """RULES 6.6: whatever can go wrong in an attempt has its rule in both lanes."""
    assert {(lane, outcome) for lane in RULES for outcome in RULES[lane]} == {row[:2] for row in TABLE}
    decided_elsewhere = {Outcome.STORED, Outcome.CANCELLED, Outcome.HANDED_BACK, Outcome.REMOVED}
    assert set(Outcome) - {row[1] for row in TABLE} == decided_elsewhere


def test_the_delay_doubles_from_one_second_to_two_minutes() -> None:
    """RULES 6.5: 247 s in all for 8 retries."""
    delays = [backoff_seconds(retry, jitter=0.0) for retry in range(8)]
    assert delays == [1, 2, 4, 8, 16, 32, 64, 120]
    assert backoff_seconds(10_000, jitter=0.0) == 120


@pytest.mark.parametrize(("jitter", "delay"), [(-1.0, 12.8), (0.0, 16.0), (1.0, 19.2), (0.5, 17.6)])
def test_chance_spreads_a_delay_by_a_fifth(jitter: float, delay: float) -> None:
    """RULES 6.5."""
    assert backoff_seconds(4, jitter=jitter) == pytest.approx(delay)


@pytest.mark.parametrize(
    ("asked", "delay"),
    [(None, 1), (0, 1), (0.5, 1), (30, 30), (PROBE_SECONDS, 3_600), (1e12, 3_600), (math.inf, 3_600), (-5, 1)],
)
def test_what_the_provider_asks_for_is_waited_for_within_reason(asked: float | None, delay: float) -> None:
    """RULES 6.5. A header of ``1e12`` seconds once made a time that no calendar has."""
    found = verdict(Outcome.RATE_LIMITED, 1, lane=O, retry_after_seconds=asked)
    assert found == Verdict(NextStep.RETRY, delay)


def test_a_delay_that_is_no_number_is_ignored() -> None:
    assert verdict(Outcome.RATE_LIMITED, 1, lane=O, retry_after_seconds=math.nan) == Verdict(NextStep.RETRY, 1.0)


def test_a_loss_in_quarantine_counts_against_the_range_at_once() -> None:
    """RULES 6.9: what kills a worker apart from all others is to blame itself."""
    assert verdict(Outcome.LOST, 1, lane=O).step is NextStep.RETRY
    assert verdict(Outcome.LOST, 1, lane=O, quarantined=True).step is NextStep.SHRINK
    assert verdict(Outcome.LOST, 1, lane=Lane.REFLECT, quarantined=True).step is NextStep.PARK
    assert verdict(Outcome.TRANSPORT, 1, lane=O, quarantined=True).step is NextStep.RETRY
