from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from om_workers.engine.text import clean_json, clean_text, cut_characters, cut_tokens, escape, unescape

MARK = " …[{} characters trimmed]"


def letters(text: str) -> int:
    return len(text)


@pytest.mark.parametrize(
    ("text", "clean"),
    [("a\x00b", "a�b"), ("\ud83d", "�"), ("\udc00\ud83d", "��"), ("🎉é漢\r\n\t", "🎉é漢\r\n\t"), ("", "")],
)
def test_what_no_database_stores_is_replaced_and_nothing_else(text: str, clean: str) -> None:
    """LP-10(b, c), RULES 2.1."""
    assert clean_text(text) == clean
    clean_text(text).encode()


@pytest.mark.parametrize("value", [None, True, 5, 2.5, "a", [], {}, [{"a": [1, {"b": "c"}]}]])
def test_clean_values_stay_as_they_are(value: Any) -> None:
    assert clean_json(value) == value


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<a> </a> <!--> <?x", "&lt;a> &lt;/a> &lt;!--> &lt;?x"),
        ("1 < 2, a<1, <<b, <", "1 < 2, a<1, <&lt;b, <"),
        ("&lt;a>", "&amp;lt;a>"),
        ("&amp;lt;", "&amp;amp;lt;"),
        ("R&D &copy; &#60;", "R&D &copy; &#60;"),
    ],
)
def test_only_what_could_start_a_tag_is_escaped_and_can_be_read_back(text: str, escaped: str) -> None:
    """SE-1, RULES 8.2: comparisons and other entities stay readable."""
    assert escape(text) == escaped
    assert unescape(escaped) == text


@pytest.mark.parametrize(
    ("text", "limit", "kept"), [("abc", 3, "abc"), ("abcd", 3, "abc"), ("abc", 0, ""), ("", 0, "")]
)
def test_a_cut_by_characters_says_how_many_it_took(text: str, limit: int, kept: str) -> None:
    cut = len(text) - len(kept)
    assert cut_characters(text, limit) == kept + (MARK.format(cut) if cut else "")


def test_a_cut_falls_between_characters() -> None:
    """LP-10(a): 9 999 letters and an emoji, cut at 10 000 and one less."""
    text = "a" * 9_999 + "🎉!"
    assert cut_characters(text, 10_000).startswith("a" * 9_999 + "🎉 …")
    assert cut_characters(text, 9_999).startswith("a" * 9_999 + " …")
    for limit in (9_998, 9_999, 10_000, 10_001):
        cut_characters(text, limit).encode()
        cut_tokens(text, limit, letters).encode()


@pytest.mark.parametrize(("limit", "kept"), [(100, 100), (99, 74), (26, 1)])
def test_a_cut_by_tokens_fits_together_with_its_mark(limit: int, kept: int) -> None:
    """100 letters, a letter a token; the mark has 25 of them for a number of two digits: 74 + 25 = 99."""
    mark = "" if kept == 100 else MARK.format(100 - kept)
    assert cut_tokens("x" * 100, limit, letters) == "x" * kept + mark


@pytest.mark.parametrize("limit", [25, 1, 0, -5])
def test_where_nothing_fits_the_mark_alone_is_left(limit: int) -> None:
    """26 for a number of three digits."""
    assert cut_tokens("x" * 100, limit, letters) == MARK.format(100)


def test_the_empty_text_fits_everywhere() -> None:
    assert cut_tokens("", 0, letters) == ""


def test_a_short_text_of_costly_characters_is_cut_too() -> None:
    """A character may be several tokens: ten of them once passed for ten tokens uncounted."""

    def three_each(text: str) -> int:
        return 3 * len(text)

    assert cut_tokens("🎉" * 40, 100, three_each) != "🎉" * 40
    assert three_each(cut_tokens("🎉" * 40, 100, three_each)) <= 100


@pytest.mark.parametrize(
    "count",
    [
        lambda text: len(text) // 4,
        lambda text: len(text) + (37 if len(text) % 7 == 0 else 0),
        lambda text: len(text) if len(text) % 2 else 5 * len(text),
        lambda text: 1 if text else 0,
    ],
)
@pytest.mark.parametrize("limit", [1, 40, 100, 1_000])
def test_a_cut_text_fits_whatever_the_counter_is_like(count: Callable[[str], int], limit: int) -> None:
    text = "word " * 400
    found = cut_tokens(text, limit, count)
    assert count(found) <= limit or found == MARK.format(len(text))
    assert found == text or text.startswith(found.partition(" …[")[0])
