from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from om_workers.engine.degenerate import collapse_repeats, degenerate_reason

_WORDS = (
    "amber birch cedar delta ember fjord grove heron islet jetty knoll larch maple north ocean pearl quartz".split()
)


def _words(start: int, count: int) -> str:
    """Words that do not come round: each carries its place."""
    return " ".join(f"{_WORDS[place % len(_WORDS)]}{place}" for place in range(start, start + count))


def _block(lines: int, words: int = 6) -> list[str]:
    return [f"* 🟡 (10:{line:02}) {_words(line * words, words)} [{line + 1}]" for line in range(lines)]


_LOOPS = {
    "eight lines, 140 times": "\n".join(_block(8) * 140),
    "eight short lines, 140 times": "\n".join([f"* line {line}" for line in range(8)] * 140),
    "21 lines, 62 times": "\n".join(_block(21) * 62),
    "21 lines, three times": "\n".join(_block(21) * 3),
    "a loop after an honest start": "\n".join([*_block(20), *_block(5, words=8) * 20]),
    "one long line, 60 times": "\n".join(["* 🟡 (10:00) the same sentence once more [3]"] * 60),
    "a paragraph, ten times": "\n".join([_words(0, 300)] * 10),
    "one character": "a" * 2_000,
    "a phrase on one line": "I will do it. " * 300,
    "a long phrase on one line": f"{_words(0, 30)} " * 15,
    "a looping line among honest ones": f"{_words(0, 500)}\n{'ha ' * 1_000}\n{_words(500, 500)}",
    "a giant looping line": "word and word again, " * 3_000,
}

_HONEST = {
    "200 short equal lines": "\n".join(["* run → ok"] * 200),
    "200 short equal lines with times and sources": "\n".join(
        f"* 🟢 (10:{turn % 60:02}) run → ok [{turn}]" for turn in range(200)
    ),
    "200 pairs of short lines": "\n".join(["* run", "* → ok"] * 200),
    "a long log that differs in time": "\n".join(
        f"* 🟢 ({turn // 60 + 8:02}:{turn % 60:02}) Agent ran the test suite, all passed" for turn in range(300)
    ),
    "a long log that differs in a number": "\n".join(
        f"* 🟢 (10:00) Agent ran the test suite, {turn} tests passed" for turn in range(300)
    ),
    "equal details under different headings": "\n".join(
        f"* 🟡 (10:00) worked on file {turn}\n  * ran the whole test suite, all passed\n  * committed it with a message"
        for turn in range(80)
    ),
    "a giant line without repetition": _words(0, 9_000),
    "a block once": "\n".join(_block(40)),
    "a short loop": "a" * 1_999,
    "blank lines": "\n" * 5_000,
    "nothing": "",
}


@pytest.mark.parametrize("name", _LOOPS)
def test_loops_are_recognised(name: str) -> None:
    """LP-1 (a)."""
    assert degenerate_reason(_LOOPS[name]) is not None


@pytest.mark.parametrize("name", _HONEST)
def test_honest_texts_are_spared(name: str) -> None:
    """LP-1 (b) and (c)."""
    assert degenerate_reason(_HONEST[name]) is None


@pytest.mark.parametrize(("length", "is_loop"), [(23, False), (24, True)])
def test_equal_lines_are_evidence_from_24_characters_on(length: int, *, is_loop: bool) -> None:
    """LP-1: bullet, priority, time and sources are not counted."""
    line = f"* 🟡 (10:00) {_words(0, 9)[:length]} [3]"

    assert (degenerate_reason("\n".join([line] * 100)) is not None) == is_loop


def test_the_giant_line_of_the_case_is_longer_than_60_000_characters() -> None:
    """LP-1 (c)."""
    assert len(_HONEST["a giant line without repetition"]) > 60_000


@pytest.mark.parametrize(
    ("text", "collapsed"),
    [
        ("* run → ok\n" * 4 + "* end", "* run → ok (×4)\n* end"),
        ("* run → ok\n" * 3 + "* end", "* run → ok\n* run → ok\n* run → ok\n* end"),
        (
            "\n".join(f"* 🟢 (10:0{turn}) run → ok [{turn + 5}]" for turn in range(6)),
            "* 🟢 (10:00) run → ok (×6, until 10:05) [5-10]",
        ),
        ("\n".join(f"* ok [{turn}, 9]" for turn in range(1, 5)), "* ok (×4) [1-9]"),
        ("* train at (14:00)\n* train at (15:00)\n" * 4, "* train at (14:00)\n* train at (15:00)\n" * 4),
        ("* a\n\n\n\n\n\n* b", "* a\n\n\n\n\n\n* b"),
        ("Date: Jun 1, 2026\n" * 4, "Date: Jun 1, 2026\n" * 4),
        ("* ok\n" * 4 + "  * ok\n" * 4 + "* ok", "* ok (×4)\n  * ok (×4)\n* ok"),
    ],
)
def test_four_lines_that_say_the_same_become_one_with_a_count(text: str, collapsed: str) -> None:
    """LP-1 (b): honest repetition is kept, in fewer words."""
    assert collapse_repeats(text) == collapsed


@given(st.lists(st.sampled_from(["* ok", "* ok [3]", "  * run (10:00)", "", "Date: Jun 1, 2026", "(×4)"]), max_size=40))
def test_collapsing_loses_no_saying_and_adds_no_line(lines: list[str]) -> None:
    collapsed = collapse_repeats("\n".join(lines)).split("\n")

    assert len(collapsed) <= max(1, len(lines))
    assert all(any(kept.startswith(line.partition(" [")[0]) for kept in collapsed) for line in lines)


@given(st.text(), st.integers(1, 4_000))
def test_any_text_is_judged_and_collapsed(text: str, times: int) -> None:
    reason = degenerate_reason(text * times)

    assert reason is None or len(text * times) >= 2_000
    assert isinstance(collapse_repeats(text), str)
