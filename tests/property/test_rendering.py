from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from om_workers.engine.rendering import CLOSING, OPENING, Block, memory_blocks, served_text
from om_workers.engine.sources import format_sources
from om_workers.engine.text import cut_tokens, escape, unescape
from tests.property.strategies import CountTokens, counters, hostile_texts

TAG_START = re.compile(r"<[/!?A-Za-z]")
hints = st.none() | hostile_texts
words = st.lists(st.sampled_from(["moved", "to", "Lyon", "argv[1]", "🔴", "(09:00)"]), min_size=1, max_size=5)
runs = st.lists(st.tuples(st.integers(1, 900), st.integers(0, 9)), min_size=1, max_size=4)


@given(text=hostile_texts)
def test_escaped_text_starts_no_tag_and_is_read_back_as_it_was(text: str) -> None:
    """SE-1, RULES 8.2."""
    escaped = escape(text)
    assert TAG_START.search(escaped) is None
    assert unescape(escaped) == text


@given(segments=st.lists(hostile_texts, min_size=1, max_size=5), task=hints, response=hints)
def test_a_rendered_memory_has_one_wrapper_whatever_its_text(
    segments: list[str], task: str | None, response: str | None
) -> None:
    """SE-1, RULES 8.1: nothing stored can close the wrapper early or open another."""
    blocks = memory_blocks(list(map(served_text, segments)), current_task=task, suggested_response=response)
    rendered = "".join(block.text for block in blocks)
    assert (rendered.count(OPENING), rendered.count(CLOSING)) == (1, 1)
    inside = rendered[rendered.index(OPENING) + len(OPENING) : rendered.index(CLOSING)]
    assert TAG_START.search(inside) is None
    after = rendered[rendered.index(CLOSING) + len(CLOSING) :]
    ours = {"<current-task>", "</current-task>", "<suggested-response>", "</suggested-response>"}
    assert len(TAG_START.findall(after)) == sum(map(after.count, ours)) <= 4


@given(segments=st.lists(hostile_texts, min_size=1, max_size=5), new=hostile_texts, task=hints, response=hints)
def test_a_new_segment_never_changes_the_bytes_before_it(
    segments: list[str], new: str, task: str | None, response: str | None
) -> None:
    """CC-1, I10: with and without hints; what is stable depends on the segments alone."""
    served = list(map(served_text, segments))
    before = stable(memory_blocks(served, current_task=task, suggested_response=response))
    after = stable(memory_blocks([*served, served_text(new)], current_task=None, suggested_response=None))
    assert after.startswith(before)


@given(lines=st.lists(st.tuples(words, runs), min_size=1, max_size=6))
def test_every_reference_at_the_end_of_a_line_is_left_out_and_nothing_else(
    lines: list[tuple[list[str], list[tuple[int, int]]]],
) -> None:
    """RULES 8.3."""
    said = [" ".join(line) for line, _ in lines]
    sources = [format_sources((first, first + more) for first, more in run) for _, run in lines]
    text = "\n".join(f"* {line} {source}" for line, source in zip(said, sources, strict=True))
    assert served_text(text) == "\n".join(f"* {line}" for line in said)


@given(text=hostile_texts, limit=st.integers(0, 60), count=counters)
def test_a_cut_text_fits_with_its_mark_or_is_the_mark_alone(text: str, limit: int, count: CountTokens) -> None:
    """LP-10(a), TC-1: under counters that do not grow with the text, too."""
    found = cut_tokens(text, limit, count)
    if found == text:
        assert count(text) <= limit
        return
    kept, mark = found.rsplit(" …[", 1)
    assert text.startswith(kept)
    assert mark == f"{len(text) - len(kept)} characters trimmed]"
    assert count(found) <= limit or not kept


def stable(blocks: Sequence[Block]) -> str:
    return "".join(block.text for block in blocks if block.stable)
