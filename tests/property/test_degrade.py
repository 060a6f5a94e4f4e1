from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from om_workers.engine.reflection import ServedSegment, degrade, smallest_valid
from tests.property.strategies import COUNTERS, CountTokens, counters, hostile_texts

lines = st.one_of(
    st.sampled_from(
        ["Date: Mar 1, 2026", "## Date: Mar 2, 2026", "* plain", "* 🔴 important", "* ✅ done", "  * nested", "", "   "]
    ),
    st.integers(1, 40).map(lambda size: "* 🔴 " + "word " * size),
    st.integers(1, 40).map(lambda size: "* " + "word " * size),
    hostile_texts.map(lambda text: text.replace("\n", " ")),
)
texts = st.lists(lines, max_size=8).map("\n".join)


def is_header(line: str) -> bool:
    return line.lstrip(" #*").lower().startswith("date:") and not line.strip().startswith("* ")


def rank(line: str) -> int:
    return 2 if "🔴" in line else 1 if "✅" in line else 0


def said(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(line in rest for line in part)


@given(texts=st.lists(texts, max_size=6), limit=st.integers(0, 120), count=counters)
def test_a_degraded_log_meets_its_limit_by_leaving_lines_out_and_nothing_else(
    texts: list[str], limit: int, count: CountTokens
) -> None:
    """RULES 5.6, with counters that are not additive: lines leave, none is added or moved, no date stands alone."""
    segments = [ServedSegment(f"s{number}", text, count(text)) for number, text in enumerate(texts)]
    shorter = {segment.id: segment for segment in degrade(segments, limit=limit, count=count)}
    served = [shorter.get(segment.id, segment) for segment in segments]
    assert sum(segment.tokens for segment in served) <= limit
    if sum(segment.tokens for segment in segments) <= limit:
        assert shorter == {}
    for segment in segments:
        if segment.id in shorter:
            left = said(shorter[segment.id].text)
            assert shorter[segment.id].tokens == count(shorter[segment.id].text)
            assert is_subsequence(left, said(segment.text))
            assert len(shorter[segment.id].text) < len(segment.text)
            assert not any(is_header(line) and (not below or is_header(below)) for line, below in pairwise([*left, ""]))


@given(texts=st.lists(texts, max_size=6), limit=st.integers(0, 120))
def test_no_line_leaves_before_all_less_important_ones_have(texts: list[str], limit: int) -> None:
    """RULES 5.6, in the whole log and not only within a segment."""
    count = COUNTERS["words"]
    segments = [ServedSegment(f"s{number}", text, count(text)) for number, text in enumerate(texts)]
    shorter = {segment.id: segment.text for segment in degrade(segments, limit=limit, count=count)}
    before = [line for segment in segments for line in said(segment.text) if not is_header(line)]
    after = [line for s in segments for line in said(shorter.get(s.id, s.text)) if not is_header(line)]
    highest = max((rank(line) for line in set(before) if before.count(line) > after.count(line)), default=0)
    assert all(rank(line) >= highest for line in after)


@given(
    candidates=st.lists(st.tuples(st.sampled_from(["", " ", "text"]), st.integers(0, 200)), max_size=6),
    replaced=st.integers(0, 200),
)
def test_a_reflection_is_never_empty_and_never_larger_than_what_it_replaces(
    candidates: list[tuple[str, int]], replaced: int
) -> None:
    """I4, LP-2."""
    best = smallest_valid(candidates, replaced_tokens=replaced)
    fitting = [size for text, size in candidates if text.strip() and size < replaced]
    assert (best is None) == (not fitting)
    assert best is None or best == ("text", min(fitting))
