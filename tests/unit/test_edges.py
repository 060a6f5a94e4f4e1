from __future__ import annotations

import pytest

from om_workers.engine.edges import Edge, Pair, RangeAim, choose_edge, coverable_limit, halve, safe_edges

FIVE = [(seq, 10) for seq in range(1, 6)]


def edges(*tokens: int) -> tuple[Edge, ...]:
    return tuple(Edge(seq, total) for seq, total in enumerate(tokens, 1))


def aim(interval: float | None = 25, keep: float = 0, pending: int = 1_000, most: int = 1_000) -> RangeAim:
    return RangeAim(interval=interval, keep=keep, pending=pending, most=most)


@pytest.mark.parametrize(
    ("pairs", "seqs"),
    [
        ([], [1, 2, 3, 4, 5]),
        ([Pair(2, 3)], [1, 3, 4, 5]),
        ([Pair(2, 5)], [1, 5]),
        ([Pair(1, 3), Pair(2, 4)], [4, 5]),
        ([Pair(2, 3), Pair(2, 5)], [1, 5]),
        ([Pair(2, 5), Pair(2, None)], [1, 5]),
        ([Pair(2, None)], [1, 2, 3, 4, 5]),
        ([Pair(3, 3)], [1, 2, 3, 4, 5]),
        ([Pair(4, 2)], [1, 2, 3, 4, 5]),
        ([Pair(2, 9)], [1]),
        ([Pair(9, 12)], [1, 2, 3, 4, 5]),
    ],
)
def test_no_edge_stands_between_a_call_and_its_result(pairs: list[Pair], seqs: list[int]) -> None:
    """RULES 4.6. An open call binds no edge: it stops coverage before it instead, until it counts as closed."""
    found = safe_edges(FIVE, pairs)
    assert [edge.seq for edge in found] == seqs
    assert all(edge.tokens == 10 * edge.seq for edge in found)


def test_edges_are_the_same_when_the_pairs_can_be_read_only_once() -> None:
    assert [edge.seq for edge in safe_edges(FIVE, (pair for pair in [Pair(2, 5)]))] == [1, 5]


def test_edges_count_the_messages_that_are_there() -> None:
    """A seq may be missing: what was deleted leaves a gap."""
    assert safe_edges([(3, 7), (8, 5)], []) == (Edge(3, 7), Edge(8, 12))
    assert safe_edges([], [Pair(1, 2)]) == ()


@pytest.mark.parametrize(
    ("limit", "pairs", "after", "found"),
    [
        (5, [], 0, 5),
        (5, [Pair(3, 7)], 0, 2),
        (5, [Pair(3, 7), Pair(1, 3)], 0, 0),
        (5, [Pair(3, 7), Pair(1, 2)], 0, 2),
        (5, [Pair(3, 7)], 3, 5),
        (5, [Pair(3, None)], 0, 5),
        (5, [Pair(3, 5)], 0, 5),
        (5, [Pair(6, 9)], 0, 5),
        (9, [Pair(1, 4), Pair(3, 7), Pair(6, 12)], 0, 0),
    ],
)
def test_coverage_ends_before_a_call_whose_result_lies_behind(
    limit: int, pairs: list[Pair], after: int, found: int
) -> None:
    """RULES 4.6. The last row is a chain: giving way to one pair cuts the next."""
    assert coverable_limit(limit, iter(pairs), after=after) == found


@pytest.mark.parametrize(
    ("found", "wanted", "seq"),
    [
        (edges(10, 20, 30, 40), aim(), 3),
        (edges(10, 25, 40), aim(), 2),
        (edges(10, 20), aim(), 2),
        (edges(10, 20, 30, 40), aim(interval=None), 4),
        (edges(10, 20, 30, 40), aim(most=20), 2),
        (edges(10, 20, 30, 40), aim(interval=None, keep=15, pending=40), 2),
        (edges(900), aim(most=500), 1),
        (edges(900, 910), aim(interval=None, keep=900, pending=910), 1),
        (edges(0, 0, 0), aim(), 3),
    ],
)
def test_a_range_ends_at_the_first_edge_that_serves_its_aim_or_else_goes_on_anyway(
    found: tuple[Edge, ...], wanted: RangeAim, seq: int
) -> None:
    """RULES 4.7, CL-3 (one oversize message is a range of its own, never the end of all coverage)."""
    edge = choose_edge(found, wanted)
    assert edge is not None
    assert edge.seq == seq


def test_a_range_without_any_edge_has_no_end() -> None:
    assert choose_edge((), aim()) is None


@pytest.mark.parametrize(
    ("found", "seq"),
    [
        (edges(10, 20, 30, 40), 2),
        (edges(10, 20), 1),
        (edges(30, 40), 1),
        (edges(1, 2, 3, 100), 3),
        (edges(0, 0), 1),
        (edges(90, 95, 100), 1),
    ],
)
def test_half_of_a_range_is_smaller_and_at_least_one_message(found: tuple[Edge, ...], seq: int) -> None:
    """RULES 6.7."""
    half = halve(found)
    assert half is not None
    assert half.seq == seq


@pytest.mark.parametrize("found", [(), edges(10), edges(0)])
def test_one_message_has_no_half(found: tuple[Edge, ...]) -> None:
    """RULES 6.7: from here the stand-in."""
    assert halve(found) is None
