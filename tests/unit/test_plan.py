from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from om_workers.engine.activation import ActivationReason, Activity
from om_workers.engine.jobs import Lane
from om_workers.engine.options import resolve_policy
from om_workers.engine.plan import (
    Activate,
    ApplyReflection,
    Decision,
    LaneView,
    MakeJob,
    MemoryState,
    Plan,
    decide,
    interval,
)
from om_workers.engine.policy import Policy

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
OBSERVE, REFLECT = MakeJob(Lane.OBSERVE), MakeJob(Lane.REFLECT)
BUSY = {lane: LaneView(unfinished=True) for lane in Lane}
ON = resolve_policy({"observation": {"messageTokens": 100}})
OFF = resolve_policy({"observation": {"messageTokens": 100, "bufferTokens": False}})


def decisions(state: MemoryState, policy: Policy = ON) -> tuple[Decision, ...]:
    return decide(state, policy, NOW).decisions


@pytest.mark.parametrize(
    ("pending", "behind", "due"),
    [
        (5_999, 0, False),
        (6_000, 0, True),
        (23_399, 18_000, False),
        (23_400, 18_000, True),
        (29_999, 27_000, False),
        (30_000, 27_000, True),
    ],
)
def test_the_interval_is_halved_near_the_threshold(pending: int, behind: int, due: bool) -> None:
    """RULES 4.1 at T = 30 000, B = 6 000: the interval is 3 000 from 23 400 = T - 1.1 B on.

    The reference compares multiples of the interval in two counts of pending tokens and buffers nothing above T; we
    count the tokens behind the buffered position, on both sides of T, so no result can shift the next trigger. The last
    two rows differ for that reason: there, 30 000 is not evaluated.
    """
    state = MemoryState(pending=pending, coverable=pending - behind)
    assert (OBSERVE in decisions(state, Policy())) is due


@pytest.mark.parametrize(("pending", "tokens"), [(0, 20), (77, 20), (78, 10), (100, 10), (500, 10)])
def test_the_ramp_of_small_thresholds_is_not_rounded(pending: int, tokens: float) -> None:
    """RULES 4.1 at T = 100, B = 20: the ramp starts at 78."""
    assert interval(pending, ON.observation) == tokens


@pytest.mark.parametrize(
    ("policy", "pending", "wanted"),
    [
        (ON, 19, ()),
        (ON, 20, (OBSERVE,)),
        (ON, 99, (OBSERVE,)),
        (ON, 100, (OBSERVE,)),
        (ON, 101, (OBSERVE,)),
        (ON, 250, (OBSERVE,)),
        (OFF, 99, ()),
        (OFF, 100, (OBSERVE,)),
        (OFF, 101, (OBSERVE,)),
        (OFF, 250, (OBSERVE,)),
    ],
)
def test_a_first_turn_makes_exactly_one_observe_job_however_large_it_is(
    policy: Policy, pending: int, wanted: tuple[Decision, ...]
) -> None:
    """TC-2 (first turn): T - 1, T, T + 1 and one huge message, with buffering on (interval 20) and off."""
    state = MemoryState(pending=pending, coverable=pending)
    assert decisions(state, policy) == wanted


@pytest.mark.parametrize(
    ("pending", "wanted"),
    [
        (99, ()),
        (100, (Activate(4, ActivationReason.THRESHOLD),)),
        (101, (Activate(4, ActivationReason.THRESHOLD),)),
    ],
)
def test_a_later_turn_activates_from_the_threshold_on(pending: int, wanted: tuple[Decision, ...]) -> None:
    """TC-2 (later turn, buffering on): four buffered segments of 20; floor 20, so all 80 leave at T."""
    state = MemoryState(pending=pending, buffered=(20, 20, 20, 20), coverable=9)
    assert decisions(state) == wanted


@pytest.mark.parametrize(("pending", "wanted"), [(99, ()), (100, (OBSERVE,)), (101, (OBSERVE,))])
def test_a_later_turn_without_buffering_is_observed_from_the_threshold_on(
    pending: int, wanted: tuple[Decision, ...]
) -> None:
    """TC-2 (later turn, buffering off): something was observed and activated before."""
    state = MemoryState(pending=pending, coverable=pending, active=50)
    assert decisions(state, OFF) == wanted


@pytest.mark.parametrize(("coverable", "wanted"), [(9, ()), (10, (OBSERVE,))])
def test_a_sliver_at_the_threshold_waits_for_more_while_buffering_is_off(
    coverable: int, wanted: tuple[Decision, ...]
) -> None:
    """RULES 4.1: the rest stands in an unfinished step; 10 = 0.1 T."""
    assert decisions(MemoryState(pending=120, coverable=coverable), OFF) == wanted


def test_nothing_coverable_makes_no_job_whatever_is_pending() -> None:
    assert decisions(MemoryState(pending=10_000)) == ()
    assert decisions(MemoryState(pending=10_000), OFF) == ()


R = resolve_policy({"reflection": {"observationTokens": 1_000}})
R_OFF = resolve_policy({"observation": {"bufferTokens": False}, "reflection": {"observationTokens": 1_000}})
APPLY = ApplyReflection(ActivationReason.THRESHOLD)


@pytest.mark.parametrize(
    ("policy", "active", "candidate", "wanted"),
    [
        (R, 499, False, ()),
        (R, 500, False, (REFLECT,)),
        (R, 999, False, (REFLECT,)),
        (R, 999, True, ()),
        (R, 1_000, True, (APPLY,)),
        (R, 1_000, False, (REFLECT,)),
        (R, 1_199, False, (REFLECT,)),
        (R, 1_200, True, (APPLY,)),
        (R, 1_200, False, (REFLECT,)),
        (R_OFF, 999, False, ()),
        (R_OFF, 1_000, False, (REFLECT,)),
        (R_OFF, 1_000, True, (APPLY,)),
        (R_OFF, 0, False, ()),
    ],
)
def test_a_reflection_is_prepared_then_applied(
    policy: Policy, active: int, candidate: bool, wanted: tuple[Decision, ...]
) -> None:
    """The table of RULES 5.1, R = 1 000: prepared from 500, applied from 1 000, waited for from 1 200.

    On purpose unlike the reference: a reflection is always a job, also where the reference runs one inside the turn,
    and idle time or a change of provider reflects nothing, least of all a small log.
    """
    idle = Activity(last_at=NOW - timedelta(days=1), last_model="a/m", model="b/m")
    assert decisions(MemoryState(active=active, candidate=candidate, activity=idle), policy) == wanted


@pytest.mark.parametrize(("active", "wanted"), [(1_249, ()), (1_250, (REFLECT,))])
def test_after_a_reflection_the_log_must_grow_before_the_next(active: int, wanted: tuple[Decision, ...]) -> None:
    """LP-3 (the decision), RULES 5.5."""
    assert decisions(MemoryState(active=active, reflect_above=1_250), R) == wanted


def test_an_activation_is_decided_alone_and_before_everything_else() -> None:
    """RULES 4.2: what else is due is asked again on the state after it."""
    state = MemoryState(pending=200, buffered=(90,), coverable=110, active=100_000, candidate=True)
    assert decide(state, ON, NOW) == Plan((Activate(1, ActivationReason.THRESHOLD),))


def test_a_candidate_is_applied_before_jobs_are_made() -> None:
    state = MemoryState(pending=90, coverable=90, active=100_000, candidate=True)
    assert decide(state, ON, NOW) == Plan((APPLY,))


def test_both_lanes_get_their_job_at_once() -> None:
    assert decisions(MemoryState(pending=90, coverable=90, active=30_000)) == (OBSERVE, REFLECT)


def test_an_unfinished_job_keeps_its_lane() -> None:
    """RULES 6.2."""
    state = MemoryState(pending=90, coverable=90, active=30_000, lanes=BUSY)
    assert decide(state, ON, NOW) == Plan()


def test_a_held_lane_gets_no_job_until_its_time_which_is_the_next_to_plan_at() -> None:
    held = {Lane.OBSERVE: LaneView(hold_until=LATER)}
    state = MemoryState(pending=90, coverable=90, lanes=held)
    assert decide(state, ON, NOW) == Plan((), LATER)
    assert decide(state, ON, LATER) == Plan((OBSERVE,))


def test_the_next_time_to_plan_is_the_earliest_at_which_something_changes() -> None:
    """RULES 7.2."""
    policy = resolve_policy({"activateAfterIdle": "10m"})
    activity = Activity(last_at=NOW)
    idle_at, closes_at = NOW + timedelta(minutes=10), NOW + timedelta(minutes=15)
    waiting = MemoryState(pending=50, coverable_changes_at=closes_at, activity=activity)
    assert decide(waiting, policy, NOW).next_at == closes_at
    buffered = MemoryState(pending=50, buffered=(50,), coverable_changes_at=closes_at, activity=activity)
    assert decide(buffered, policy, NOW).next_at == idle_at
    assert decide(buffered, policy, idle_at) == Plan((Activate(1, ActivationReason.TTL),))
    assert decide(MemoryState(pending=50), policy, NOW).next_at is None


def test_idle_time_that_was_used_activates_no_second_time() -> None:
    policy = resolve_policy({"activateAfterIdle": 0})
    handled = Activity(last_at=NOW, idle_handled=True)
    assert decide(MemoryState(pending=50, buffered=(20, 20), activity=handled), policy, LATER) == Plan()


def test_from_block_after_on_the_guard_against_overshooting_falls() -> None:
    """RULES 4.4, rule 1. T = 100 000, share 0.7: floor 30 000; 1 400 raw tokens would stay, 28 600 below the floor."""
    options = {"messageTokens": 100_000, "bufferActivation": 0.7, "blockAfter": 1}
    forced = resolve_policy({"observation": options})
    unforced = resolve_policy({"observation": {**options, "blockAfter": 1.2}})
    state = MemoryState(pending=100_000, buffered=(50_000, 48_600))
    assert decisions(state, forced) == (Activate(2, ActivationReason.THRESHOLD),)
    assert decisions(state, unforced) == (Activate(1, ActivationReason.THRESHOLD),)
