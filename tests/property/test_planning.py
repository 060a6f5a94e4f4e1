from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from om_workers.engine.activation import Activity, choose_prefix
from om_workers.engine.jobs import Lane
from om_workers.engine.plan import LaneView, MakeJob, MemoryState, decide
from om_workers.engine.policy import Policy
from tests.property.memory import Memory
from tests.property.strategies import policies

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

times = st.integers(-90 * 60, 90 * 60).map(lambda seconds: NOW + timedelta(seconds=seconds))
activities = st.builds(
    Activity,
    last_at=st.none() | st.floats(0, 48).map(lambda hours: NOW - timedelta(hours=hours)),
    last_model=st.sampled_from([None, "a/m", "a/n", "b/m"]),
    model=st.sampled_from([None, "a/m", "b/m"]),
    idle_handled=st.booleans(),
)
tokens = st.one_of(st.integers(0, 60), st.integers(0, 15_000))


@given(
    chunks=st.lists(tokens, min_size=1, max_size=30),
    raw=tokens,
    threshold=st.integers(1, 20_000),
    activation=st.one_of(st.floats(0.01, 1), st.floats(1_000, 20_000)),
    force=st.booleans(),
)
def test_an_activation_takes_at_least_one_chunk_and_no_more_than_reach_the_target(
    chunks: list[int], raw: int, threshold: int, activation: float, force: bool
) -> None:
    """RULES 4.4, for any numbers: nothing is taken behind the first chunk that reaches the target."""
    pending = sum(chunks) + raw
    count = choose_prefix(chunks, pending=pending, threshold=threshold, buffer_activation=activation, force=force)
    share = 1 - activation / threshold if activation >= 1_000 else activation
    floor = threshold * (1 - min(1.0, max(0.0, share)))
    assert 1 <= count <= len(chunks)
    assert count == 1 or sum(chunks[: count - 1]) < pending - floor


@given(
    memory=st.builds(
        Memory,
        policies(),
        st.just(NOW),
        st.lists(tokens.map(lambda size: size + 1), max_size=25),
        buffered=st.lists(tokens.map(lambda size: size + 1), max_size=12),
        active=tokens,
        candidate=st.none() | st.just(1),
        activity=activities,
        note=st.sampled_from([0.0, 0.2, 1.5]),
        shrink=st.sampled_from([0.0, 0.3, 0.99, 1.0]),
    )
)
def test_from_any_state_planning_comes_to_rest_below_the_threshold(memory: Memory) -> None:
    """I7, RULES 7.3: with observers that say much or little and reflectors that do not shrink."""
    before = memory.pending
    memory.run(most=20 * (len(memory.raw) + len(memory.buffered) + 5))
    assert memory.pending < memory.policy.observation.message_tokens
    assert memory.pending <= before
    assert memory.candidate is None or memory.active < memory.policy.reflection.observation_tokens


@given(policy=policies(), raw=st.lists(st.integers(1, 400), min_size=1, max_size=25))
def test_a_threshold_leaves_the_floor_raw_as_far_as_messages_allow(policy: Policy, raw: list[int]) -> None:
    """RULES 4.4, 8.5: what an activation takes beyond the floor is one chunk's overshoot at most."""
    memory = Memory(policy, NOW, list(raw))
    largest = 0
    for _ in range(200):
        plan = decide(memory.state(), policy, NOW)
        if not plan.decisions:
            break
        for decision in plan.decisions:
            memory.apply(decision)
        largest = max([largest, *memory.buffered])
    started = sum(raw) >= policy.observation.message_tokens
    floor = policy.observation.retention_floor if started else sum(raw)
    assert memory.pending >= floor - largest - 1


@given(
    state=st.builds(
        MemoryState,
        pending=tokens,
        buffered=st.lists(tokens, max_size=4).map(tuple),
        coverable=tokens,
        coverable_changes_at=st.none() | times,
        active=tokens,
        candidate=st.booleans(),
        reflect_above=tokens,
        lanes=st.dictionaries(
            st.sampled_from(list(Lane)),
            st.builds(LaneView, unfinished=st.booleans(), hold_until=st.none() | times),
        ),
        activity=activities,
    ),
    policy=policies(),
    share=st.floats(0, 1, exclude_max=True),
    later=st.integers(0, 10**7),
)
def test_planning_earlier_than_the_next_time_changes_nothing(
    state: MemoryState, policy: Policy, share: float, later: int
) -> None:
    """RULES 7.2: at any time before ``next_at``, or at any time at all without one, the same is decided.

    What takes effect at once (an activation, an applied reflection) is followed by another plan, which tells the time.
    """
    plan = decide(state, policy, NOW)
    assume(all(isinstance(decision, MakeJob) for decision in plan.decisions))
    if plan.next_at is not None:
        assert plan.next_at > NOW
        between = min(NOW + (plan.next_at - NOW) * share, plan.next_at - timedelta(microseconds=1))
    else:
        between = NOW + timedelta(seconds=later)
    assert decide(state, policy, between) == plan
