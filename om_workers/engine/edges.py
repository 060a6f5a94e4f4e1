"""Where a range of messages may end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A tool call and the message that answered it, by seq; ``result_seq`` is ``None`` while it is open."""

    call_seq: int
    result_seq: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """A message after which a range may end, and the tokens of the range up to and with it."""

    seq: int
    tokens: int


@dataclass(frozen=True, slots=True)
class RangeAim:
    """What a range should look like; all in tokens.

    ``interval``: the first edge that reaches it ends the range (``None``: the last allowed edge does).
    ``keep``: raw tokens that should stay behind it, of the ``pending`` ones. ``most``: the largest range.
    """

    interval: float | None
    keep: float
    pending: int
    most: int


def coverable_limit(limit: int, pairs: Iterable[Pair], *, after: int) -> int:
    """The last seq up to which coverage may go, at most ``limit``, so that no answered pair is cut (RULES 4.6).

    Only pairs whose call lies behind ``after`` (the buffered position) bind: what is covered is not covered again.
    """
    known = [(pair.call_seq, pair.result_seq) for pair in pairs if pair.result_seq is not None]
    while True:
        cut = [call for call, result in known if after < call <= limit < result]
        if not cut:
            return limit
        limit = min(cut) - 1


def safe_edges(messages: Sequence[tuple[int, int]], pairs: Iterable[Pair]) -> tuple[Edge, ...]:
    """The edges among ``messages`` (seq and tokens, in order) at which no answered pair is cut (RULES 4.6)."""
    spans: dict[int, int] = {}
    for pair in pairs:
        spans[pair.call_seq] = max(spans.get(pair.call_seq, 0), pair.result_seq or 0)
    edges: list[Edge] = []
    total, open_until = 0, 0
    for seq, tokens in messages:
        total += tokens
        open_until = max(open_until, spans.get(seq, 0))
        if open_until <= seq:
            edges.append(Edge(seq, total))
    return tuple(edges)


def choose_edge(edges: Sequence[Edge], aim: RangeAim) -> Edge | None:
    """Where a range ends that aims at ``aim``; ``None`` only when there is no edge at all (RULES 4.7).

    An aim that no edge meets falls back to the first edge, so that coverage always goes on: this is how one message
    larger than every threshold is observed.
    """
    if not edges:
        return None
    fitting = [edge for edge in edges if edge.tokens <= aim.most and aim.pending - edge.tokens >= aim.keep]
    if not fitting:
        return edges[0]
    if aim.interval is None:
        return fitting[-1]
    return next((edge for edge in fitting if edge.tokens >= aim.interval), fitting[-1])


def halve(edges: Sequence[Edge]) -> Edge | None:
    """The edge that leaves about half of a range, or ``None`` when it cannot be made smaller (RULES 6.7)."""
    if len(edges) < 2:
        return None
    half = edges[-1].tokens / 2
    return next((edge for edge in reversed(edges[:-1]) if edge.tokens <= half), edges[0])
