from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_workers.engine.sources import drop_out_of_range, format_sources, sources_of, split_sources

_RUNS = st.lists(st.tuples(st.integers(1, 500), st.integers(0, 20)).map(lambda run: (run[0], run[0] + run[1])))


@pytest.mark.parametrize(
    ("line", "sources"),
    [
        ("* moved to Lyon [12]", ((12, 12),)),
        ("* moved to Lyon [12-14]", ((12, 14),)),
        ("* moved to Lyon [3, 7]", ((3, 3), (7, 7))),
        ("* moved to Lyon [ 3-5 , 9 ]  ", ((3, 5), (9, 9))),
        ("* moved to Lyon [3–5]", ((3, 5),)),
        ("* moved to Lyon [5-3]", ((3, 5),)),
        ("* moved to Lyon [3] [5]", ((3, 3), (5, 5))),
        ("* moved to Lyon [3][5].", ((3, 3), (5, 5))),
        ("* (meaning May 2, 2026)[3]", ((3, 3),)),
        ("* 搬到里昂[3]", ((3, 3),)),
        ("[3]", ((3, 3),)),
    ],
)
def test_numbers_in_brackets_at_the_end_of_a_line_are_sources(line: str, sources: tuple[tuple[int, int], ...]) -> None:
    assert sources_of(line) == sources


@pytest.mark.parametrize(
    "line",
    [
        "* see [3] for more",
        "* [link](url)",
        "* [3](https://example.org)",
        "* [TODO]",
        "* calls argv[1]",
        "* v[1]",
        "v[1]",
        "* on [2024-05-01]",
        "* [1:2]",
        "* []",
        "* [,]",
        "* [1234567890123]",
        "* text ]",
        "",
    ],
)
def test_other_brackets_are_the_lines_own_text(line: str) -> None:
    assert sources_of(line) == ()
    assert drop_out_of_range(line, 100, 200) == (line, 0)


@pytest.mark.parametrize(
    ("line", "kept", "dropped"),
    [
        ("* all of it [10-20]", "* all of it [10-20]", 0),
        ("* one too far [10-21]", "* one too far", 1),
        ("* outside [9]", "* outside", 1),
        ("* partly outside [9-10]", "* partly outside", 1),
        ("* both [10, 21, 12]", "* both [10, 12]", 1),
        ("* a year [2024]", "* a year", 1),
        ("* full stop [3].", "* full stop.", 1),
        ("* two groups [3] [11]", "* two groups [11]", 1),
    ],
)
def test_sources_outside_the_range_are_dropped_and_counted(line: str, kept: str, dropped: int) -> None:
    """LP-13: an observation may only stand on messages that were shown."""
    assert drop_out_of_range(line, 10, 20) == (kept, dropped)


def test_every_line_is_checked_and_the_others_stay_as_they_are() -> None:
    text = "Date: Jun 1, 2026\n* a  [1]\n\n* b [99]\n"

    assert drop_out_of_range(text, 1, 5) == ("Date: Jun 1, 2026\n* a  [1]\n\n* b\n", 1)


def test_sources_of_a_text_come_once_each_in_reading_order() -> None:
    assert sources_of("* a [4]\n* b [1-2]\n* c [4]") == ((4, 4), (1, 2))


def test_a_line_is_split_before_its_sources() -> None:
    assert split_sources("* a [4] [7-8]") == ("* a", ((4, 4), (7, 8)))


@given(_RUNS)
def test_what_is_formatted_is_read_back(runs: list[tuple[int, int]]) -> None:
    assert split_sources(f"* text {format_sources(runs)}".rstrip()) == ("* text", tuple(runs))


@given(st.text(alphabet="[]-, .0123456789ab\n"), st.integers(1, 50), st.integers(0, 50))
def test_no_source_outside_the_range_survives(text: str, first: int, length: int) -> None:
    kept, _ = drop_out_of_range(text, first, first + length)

    assert all(first <= start <= end <= first + length for start, end in sources_of(kept))
