from __future__ import annotations

from collections.abc import Callable

import pytest

from om_workers.engine.reflection import (
    ServedSegment,
    compression_levels,
    compression_target,
    degrade,
    smallest_valid,
)

CountTokens = Callable[[str], int]

LOG = """\
Date: Mar 1, 2026
* 🔴 lives in Lyon
* likes tea
Date: Mar 2, 2026
* ✅ booked the train
* rain all day"""


def words(text: str) -> int:
    return len(text.split())


def served(*texts: str, count: CountTokens = words) -> list[ServedSegment]:
    return [ServedSegment(f"s{number}", text, count(text)) for number, text in enumerate(texts)]


def degraded(segments: list[ServedSegment], limit: int, count: CountTokens = words) -> dict[str, str]:
    return {segment.id: segment.text for segment in degrade(segments, limit=limit, count=count)}


@pytest.mark.parametrize(
    ("model", "manual", "levels"),
    [
        ("openai/gpt-5", False, (1, 2, 3, 4)),
        ("google/gemini-2.5-flash", False, (2, 3, 4)),
        ("google/gemini-2.5-flash-lite", False, (2, 3, 4)),
        ("openai/gpt-5", True, (0, 1, 2, 3)),
        ("google/gemini-2.5-flash", True, (0, 1, 2, 3)),
    ],
)
def test_compression_climbs_at_most_four_levels(model: str, manual: bool, levels: tuple[int, ...]) -> None:
    """RULES 5.4."""
    assert compression_levels(model, manual=manual) == levels


@pytest.mark.parametrize(("tokens", "target"), [(19_980, 14_985), (2, 2), (1, 1), (0, 0)])
def test_a_reflection_aims_at_three_quarters(tokens: int, target: int) -> None:
    """RULES 5.4; 0.75 x 2 = 1.5 is rounded upwards."""
    assert compression_target(tokens) == target


@pytest.mark.parametrize(
    ("candidates", "best"),
    [
        ([("a", 90), ("b", 70), ("c", 80)], ("b", 70)),
        ([("a", 70), ("b", 70)], ("a", 70)),
        ([("a", 100), ("b", 99)], ("b", 99)),
        ([("a", 100), ("b", 105)], None),
        ([("", 0), (" \n", 1)], None),
        ([], None),
    ],
)
def test_the_smallest_answer_wins_if_it_is_smaller_than_what_it_replaces(
    candidates: list[tuple[str, int]], best: tuple[str, int] | None
) -> None:
    """RULES 5.4, LP-2 (empty text is no candidate) and LP-3 (a growing one neither), for 100 replaced tokens."""
    assert smallest_valid(candidates, replaced_tokens=100) == best


def test_a_log_within_its_limit_stays_as_it_is() -> None:
    segments = served(LOG, LOG)
    assert degrade(segments, limit=sum(segment.tokens for segment in segments), count=words) == ()


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (25, LOG),
        (24, LOG.replace("* likes tea\n", "")),
        (21, LOG.replace("* likes tea\n", "").replace("\n* rain all day", "")),
        (17, "Date: Mar 1, 2026\n* 🔴 lives in Lyon"),
        (9, "Date: Mar 1, 2026\n* 🔴 lives in Lyon"),
        (8, ""),
        (0, ""),
    ],
)
def test_lines_leave_by_importance_then_by_age_and_dates_with_their_last_line(limit: int, left: str) -> None:
    """RULES 5.6. The log has 25 words; unmarked lines have 3 and 4, the ✅ line 5, its date 4, the 🔴 line 5."""
    segments = served(LOG)
    assert segments[0].tokens == 25
    assert degraded(segments, limit).get("s0", LOG) == left


def test_the_oldest_segment_gives_first_and_the_newest_may_stay_whole() -> None:
    segments = served("* a one\n* b two", "* c three\n* d four")
    assert degraded(segments, 9) == {"s0": "* b two"}
    assert degraded(segments, 5) == {"s0": "", "s1": "* d four"}


def test_what_is_done_outlives_the_unmarked_of_every_age() -> None:
    segments = served("* ✅ old", "* new and unmarked")
    assert degraded(segments, 3) == {"s1": ""}


def test_a_line_with_both_marks_counts_as_important() -> None:
    segments = served("* ✅ 🔴 both", "* ✅ done")
    assert degraded(segments, 4) == {"s1": ""}


@pytest.mark.parametrize("text", ["Date: a\nDate: b\nDate: c", "# Date: a", "**Date: a**", "  date: a\n\n\n", "x"])
@pytest.mark.parametrize("limit", [0, -1])
def test_no_text_withstands_a_limit_of_nothing(text: str, limit: int) -> None:
    """A log of bare date lines is no way around the bound."""
    assert degraded(served(text), limit) == {"s0": ""}


def test_blank_lines_leave_before_any_line_that_says_something() -> None:
    segments = served("* a\n\n\n* b", count=len)
    assert degraded(segments, 7, len) == {"s0": "* a\n* b"}
    assert degraded(segments, 6, len) == {"s0": "* b"}
    assert degraded(served("\n\n", count=len), 0, len) == {"s0": ""}


def test_a_single_line_larger_than_the_limit_leaves() -> None:
    huge = "* 🔴 " + "word " * 10_000
    assert degraded(served(huge, "* 🔴 small"), 20) == {"s0": ""}


def test_the_limit_holds_although_tokens_of_lines_do_not_add_up() -> None:
    """A line alone counts one more than it frees: estimated once, the log would stay above its limit."""

    def count(text: str) -> int:
        return len(text.split()) + 1 if text else 0

    lines = "\n".join(f"* line {number}" for number in range(20))
    segments = served(lines, count=count)
    found = degrade(segments, limit=30, count=count)
    assert found[0].tokens == count(found[0].text) <= 30
    assert found[0].text == "\n".join(f"* line {number}" for number in range(11, 20))


def test_segments_without_text_and_no_segments_at_all_are_no_trouble() -> None:
    assert degrade([], limit=0, count=words) == ()
    assert degraded(served("", "* a", ""), 0) == {"s1": ""}


def test_what_was_degraded_once_can_be_degraded_again() -> None:
    (once,) = degrade(served(LOG), limit=21, count=words)
    (twice,) = degrade([once], limit=9, count=words)
    assert twice.text == "Date: Mar 1, 2026\n* 🔴 lives in Lyon"
