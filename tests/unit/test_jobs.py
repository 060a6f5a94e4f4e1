from __future__ import annotations

from itertools import product

import pytest

from om_workers.engine.jobs import LEGAL, UNFINISHED, IllegalTransitionError, JobState, Lane, check_transition, job_id

Q, R, D, X, C = JobState.QUEUED, JobState.RUNNING, JobState.DONE, JobState.DEAD, JobState.CANCELLED
ALLOWED = {(Q, R), (Q, C), (R, Q), (R, D), (R, X), (R, C), (X, Q), (X, C)}


@pytest.mark.parametrize(("before", "after"), list(product(JobState, JobState)))
def test_exactly_the_changes_of_the_table_are_legal(before: JobState, after: JobState) -> None:
    """RULES 6.3."""
    if (before, after) in ALLOWED:
        check_transition(before, after)
        return
    with pytest.raises(IllegalTransitionError, match=f"a {before} job cannot become {after}"):
        check_transition(before, after)


def test_every_state_is_in_the_table_and_only_ended_ones_free_the_lane() -> None:
    """RULES 6.2: whatever can still change keeps the place, so a lane never has two jobs."""
    assert set(LEGAL) == set(JobState)
    assert {state for state in JobState if LEGAL[state]} == set(UNFINISHED)


def test_whoever_decides_a_job_gives_it_the_same_id() -> None:
    """RULES 6.1."""
    assert job_id("m", "l", Lane.OBSERVE, 1) == job_id("m", "l", Lane.OBSERVE, 1)
    assert len(job_id("m", "l", Lane.OBSERVE, 1)) == 32


def test_every_part_of_a_jobs_place_makes_its_id() -> None:
    """RULES 6.1. A number that slips from one part into the next makes another id."""
    places = [
        ("m", "l", Lane.OBSERVE, 1),
        ("n", "l", Lane.OBSERVE, 1),
        ("m", "k", Lane.OBSERVE, 1),
        ("m", "l", Lane.REFLECT, 1),
        ("m", "l", Lane.OBSERVE, 2),
        ("m", "l", Lane.OBSERVE, 11),
        ("m1", "l", Lane.OBSERVE, 1),
        ("ml", "", Lane.OBSERVE, 1),
    ]
    assert len({job_id(*place) for place in places}) == len(places)
