from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from om_workers.engine.edges import Edge, Pair, RangeAim, choose_edge, coverable_limit, halve, safe_edges

sizes = st.lists(st.integers(0, 500), min_size=1, max_size=30)
pairs = st.lists(st.builds(Pair, st.integers(1, 30), st.none() | st.integers(1, 40)), max_size=12)


def cut(pair: Pair, seq: int) -> bool:
    return pair.result_seq is not None and pair.call_seq <= seq < pair.result_seq


@given(sizes=sizes, pairs=pairs)
def test_no_edge_cuts_an_answered_pair_and_no_other_is_left_out(sizes: list[int], pairs: list[Pair]) -> None:
    """I9, RULES 4.6."""
    edges = safe_edges(list(enumerate(sizes, 1)), pairs)
    allowed = [seq for seq in range(1, len(sizes) + 1) if not any(cut(pair, seq) for pair in pairs)]
    assert [edge.seq for edge in edges] == allowed
    assert all(edge.tokens == sum(sizes[: edge.seq]) for edge in edges)


@given(limit=st.integers(1, 30), pairs=pairs, after=st.integers(0, 30))
def test_a_coverable_limit_cuts_no_answered_pair_and_is_the_last_that_does_not(
    limit: int, pairs: list[Pair], after: int
) -> None:
    """I9, RULES 4.6."""
    binding = [pair for pair in pairs if pair.call_seq > after]
    allowed = [seq for seq in range(limit + 1) if not any(cut(pair, seq) for pair in binding)]
    assert coverable_limit(limit, pairs, after=after) == max(allowed)


@given(
    sizes=sizes,
    pairs=pairs,
    aim=st.builds(
        RangeAim,
        interval=st.none() | st.floats(0, 2_000),
        keep=st.floats(0, 2_000),
        pending=st.integers(0, 5_000),
        most=st.integers(0, 5_000),
    ),
)
def test_a_range_ends_at_an_edge_within_its_bounds_or_at_the_first_one(
    sizes: list[int], pairs: list[Pair], aim: RangeAim
) -> None:
    """RULES 4.7: progress is always made; a bound is broken by the first edge only."""
    edges = safe_edges(list(enumerate(sizes, 1)), pairs)
    chosen = choose_edge(edges, aim)
    assert (chosen is None) == (not edges)
    if chosen is None or chosen == edges[0]:
        return
    assert chosen in edges
    assert chosen.tokens <= aim.most
    assert aim.pending - chosen.tokens >= aim.keep
    before = [edge for edge in edges if edge.seq < chosen.seq and edge.tokens <= aim.most]
    assert aim.interval is None or all(edge.tokens < aim.interval for edge in before)


@given(sizes=sizes, pairs=pairs)
def test_halving_shrinks_at_every_step_down_to_one_edge(sizes: list[int], pairs: list[Pair]) -> None:
    """RULES 6.7: a poisoned range comes down to its first edge in as many steps as it has edges at most."""
    edges: tuple[Edge, ...] = safe_edges(list(enumerate(sizes, 1)), pairs)
    steps = 0
    while (half := halve(edges)) is not None:
        smaller = tuple(edge for edge in edges if edge.seq <= half.seq)
        assert 1 <= len(smaller) < len(edges)
        edges, steps = smaller, steps + 1
    assert len(edges) <= 1
    assert steps <= len(sizes)
