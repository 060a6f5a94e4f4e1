"""The extractive reflector condenses any logs to any size, and lets go of what matters least first."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_workers.engine.extractive import reflect
from om_workers.engine.messages import CountTokens

FIRST = """\
Date: Mar 1, 2024
* 🔴 (09:00) User: My name is Ana Petrova. [1]
* 🟡 (09:01) FindBus: Fresno → 3 found [2-3]
* 🟢 (09:02) User: thanks [4]
* ✅ (09:03) BuyBusTicket: Fresno, seats 2 → order AX-12 [5-6]"""
SECOND = """\
Date: Mar 1, 2024
* 🟡 (09:05) FindBus: Fresno → 3 found [8-9]
Date: Mar 4, 2024
* 🔴 (10:00) User: Cancel the trip to Fresno. [12]"""


def count(text: str) -> int:
    return (len(text) + 3) // 4


def test_all_is_kept_once_when_it_fits() -> None:
    assert reflect([FIRST, SECOND], target_tokens=500, count=count) == (
        "Date: Mar 1, 2024\n"
        "* 🔴 (09:00) User: My name is Ana Petrova. [1]\n"
        "* 🟢 (09:02) User: thanks [4]\n"
        "* ✅ (09:03) BuyBusTicket: Fresno, seats 2 → order AX-12 [5-6]\n"
        "* 🟡 (09:05) FindBus: Fresno → 3 found [8-9]\n"
        "Date: Mar 4, 2024\n"
        "* 🔴 (10:00) User: Cancel the trip to Fresno. [12]"
    )


def test_low_lines_leave_before_medium_ones_and_these_before_high_and_done() -> None:
    # With all three levels it is 67 tokens, without the low line 60, without the medium one 49.
    smaller = [reflect([FIRST, SECOND], target_tokens=target, count=count) for target in (72, 62, 54)]
    assert ["🟢" in log for log in smaller] == [True, False, False]
    assert ["🟡" in log for log in smaller] == [True, True, False]
    assert all("Ana Petrova" in log and "AX-12" in log and "Cancel" in log for log in smaller)


def test_of_lines_that_say_the_same_the_last_stays_at_the_highest_level() -> None:
    log = reflect(
        ["* 🔴 (08:00) User: I moved to Oslo! [1]", "* 🟢 (09:00) User: I moved to Oslo [7]"],
        target_tokens=99,
        count=count,
    )
    assert log == "* 🔴 (09:00) User: I moved to Oslo [7]"


def test_the_oldest_of_equal_lines_leave_first() -> None:
    lines = [
        f"Date: Mar {day}, 2024\n* 🔴 (09:00) User: I saw {name}. [{day}]" for day, name in enumerate(NAMES, start=1)
    ]
    log = reflect(lines, target_tokens=40, count=count)
    assert "Zoe" in log
    assert "Ben" not in log


NAMES = ["Ben", "Cai", "Dov", "Eva", "Flo", "Gus", "Zoe"]


def test_a_target_too_small_for_a_line_gets_the_beginning_of_the_best_one() -> None:
    log = reflect([FIRST.replace("Petrova", "Petrova " + "of Quito " * 20)], target_tokens=20, count=count)
    assert re.fullmatch(r"Date: Mar 1, 2024\n\* [🔴✅] \(09:0\d\) .+ \[\d(-\d)?\]", log)
    assert count(log) <= 20


@pytest.mark.parametrize("target", [-3, 0, 1, 3])
def test_a_target_too_small_for_anything_gives_nothing(target: int) -> None:
    assert reflect([FIRST], target_tokens=target, count=count) == ""


@pytest.mark.parametrize("texts", [[], [""], ["\n\n", "---"], ["Date: Mar 1, 2024"]])
def test_nothing_to_keep_gives_nothing(texts: list[str]) -> None:
    assert reflect(texts, target_tokens=100, count=count) == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- User prefers tea", "* 🟡 User prefers tea"),
        ("  * → uses port 5432 [3-4]", "* 🟡 → uses port 5432 [3-4]"),
        ("1. 🔴 9:05 User: hi Bo [3]", "* 🔴 (09:05) User: hi Bo [3]"),
        ("* (09:05) ✅ Deployed v2", "* ✅ (09:05) Deployed v2"),
        ("plain prose about Rome", "* 🟡 plain prose about Rome"),
        ("**Date: March 4, 2025** (today)\n- x1", "Date: Mar 4, 2025\n* 🟡 x1"),
        ("Date: 2025-03-04\n- x1", "Date: Mar 4, 2025\n* 🟡 x1"),
        ("Date: Feb 31, 2025", "* 🟡 Date: Feb 31, 2025"),
        ("<observations>\n* 🔴 (09:05) a1\n</observations>", "* 🔴 (09:05) a1"),
    ],
)
def test_lines_of_other_formats_are_brought_into_this_one(line: str, expected: str) -> None:
    assert reflect([line], target_tokens=100, count=count) == expected


def test_sections_of_threads_stay_apart() -> None:
    first = '<thread id="a">\nDate: Mar 1, 2024\n* 🔴 (09:00) User: I live in Rome. [1]\n</thread>'
    other = '<thread id="b">\nDate: Mar 1, 2024\n* 🔴 (09:00) User: I live in Rome. [1]\n</thread>'
    more = '<thread id="a">\nDate: Mar 1, 2024\n* ✅ (09:30) Sent to Ana. [4]\n</thread>'
    merged = first.replace("\n</thread>", "\n* ✅ (09:30) Sent to Ana. [4]\n</thread>")
    assert reflect([first, other, more], target_tokens=200, count=count) == f"{merged}\n{other}"


def test_reflecting_again_at_the_same_size_changes_nothing() -> None:
    once = reflect([FIRST, SECOND], target_tokens=60, count=count)
    assert reflect([once], target_tokens=60, count=count) == once


def test_a_huge_line_and_many_lines_are_read_in_part() -> None:
    texts = ["* 🔴 (09:00) " + "Abc " * 15_000, "- a\n" * 200_000, "\n".join(f"- Item {n} seen" for n in range(30_000))]
    log = reflect(texts, target_tokens=400, count=count)
    assert "Abc" in log
    assert count(log) <= 400


LINES = st.one_of(
    st.text(max_size=80),
    st.builds(
        "* {} ({:02}:{:02}) {} [{}]".format,
        st.sampled_from("🔴🟡🟢✅"),
        st.integers(0, 30),
        st.integers(0, 70),
        st.text(max_size=60),
        st.integers(0, 10**6),
    ),
    st.builds(
        "Date: {} {}, {}".format,
        st.sampled_from(["Jan", "Foo", "dec", "March"]),
        st.integers(0, 40),
        st.integers(0, 9999),
    ),
    st.sampled_from(['<thread id="a">', "</thread>", '<thread id="', "<observations>", "* 🔴", "[3]", "Date:"]),
)
COUNTERS: st.SearchStrategy[CountTokens] = st.sampled_from(
    [count, len, lambda text: len(text.encode()), lambda text: len(text.split())]
)


@given(
    texts=st.lists(st.lists(LINES, max_size=8).map("\n".join), max_size=5),
    target=st.integers(0, 200),
    counter=COUNTERS,
)
def test_no_texts_make_a_log_larger_than_the_target(texts: list[str], target: int, counter: CountTokens) -> None:
    log = reflect(texts, target_tokens=target, count=counter)
    assert counter(log) <= target
    assert log == reflect(texts, target_tokens=target, count=counter)
