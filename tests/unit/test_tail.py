from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from om_workers.engine.messages import Message, Part
from om_workers.engine.pairs import Answered
from om_workers.engine.tail import newest_fitting, pin, show_messages

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NAMES = {"tool-call": "call", "tool-result": "result"}


def words(text: str) -> int:
    return len(text.split())


def text(value: str = "hello") -> Part:
    return {"type": "text", "text": value}


def call(call_id: str = "a", **args: Any) -> Part:
    return {"type": "tool-call", "toolCallId": call_id, "toolName": "find", "args": args}


def result(call_id: str = "a", value: Any = "ok") -> Part:
    return {"type": "tool-result", "toolCallId": call_id, "toolName": "find", "result": value}


def message(seq: int, role: str, *parts: Part, tokens: int = 0) -> Message:
    return Message(f"m{seq}", seq, role, parts, NOON, tokens)


def shown(
    messages: Sequence[Message],
    calls: Iterable[Answered] = (),
    earlier: Sequence[Message] = (),
    unfinished_from: int | None = None,
) -> list[str]:
    """Each shown part as ``seq role: what``."""
    found = show_messages(
        messages, calls, {message.seq: message for message in earlier}, unfinished_from=unfinished_from
    )
    return [f"{one.seq} {one.role}: {described(part)}" for one in found for part in one.parts]


def described(part: Part) -> str:
    name = NAMES.get(part["type"])
    return str(part.get("text", part["type"])) if name is None else f"{name} {part['toolCallId']}"


ASKED = message(1, "user", text("book it"))
CALLED = message(2, "assistant", call(day="Fri"))
CAME = message(3, "tool", result())
PAIR = Answered("a", 2, 3)


def test_a_pair_is_shown_as_it_is() -> None:
    """RULES 8.4."""
    assert shown([ASKED, CALLED, CAME], [PAIR]) == ["1 user: book it", "2 assistant: call a", "3 tool: result a"]


@pytest.mark.parametrize("calls", [[Answered("a", 2, None)], []])
def test_a_call_without_a_result_is_told(calls: list[Answered]) -> None:
    """CL-9 (rendering)."""
    assert shown([ASKED, CALLED], calls)[1:] == ['2 assistant: [called find {"day":"Fri"}; no result yet]']


def test_a_result_without_a_call_is_told() -> None:
    """CL-9 (rendering): an orphan, and one whose call is no longer to be had."""
    told = ["3 tool: [result of find: ok]"]
    assert shown([CAME]) == told
    assert shown([CAME], [PAIR]) == told
    assert shown([CAME], [PAIR], [message(2, "assistant", text())]) == told


def test_a_result_whose_call_was_covered_comes_with_it() -> None:
    """CL-9 (rendering): only the call of that message, without its words."""
    covered = message(2, "assistant", text("looking"), call("b"), call("a"))
    assert shown([CAME], [PAIR], [covered]) == ["2 assistant: call a", "3 tool: result a"]


def test_calls_of_one_covered_message_come_back_in_one_message() -> None:
    """Two messages of one call each, before a message with both results, is no order that providers accept."""
    covered = message(2, "assistant", call("a"), call("b"))
    came = message(5, "tool", result("b"), result("a"))
    found = show_messages([came], [Answered("a", 2, 5), Answered("b", 2, 5)], {2: covered}, unfinished_from=None)
    assert [[described(part) for part in one.parts] for one in found] == [
        ["call a", "call b"],
        ["result b", "result a"],
    ]


def test_every_shown_message_has_an_id_of_its_own() -> None:
    covered = message(2, "assistant", call("a"), call("b"))
    came = [message(5, "tool", result("b")), message(6, "tool", result("a"))]
    found = show_messages(came, [Answered("a", 2, 6), Answered("b", 2, 5)], {2: covered}, unfinished_from=None)
    assert len({one.id for one in found}) == len(found) == 4


def test_a_late_result_is_shown_beside_its_call_and_not_across_what_the_user_said() -> None:
    """CL-9 (rendering): the user went on, then the result came; providers accept nothing between the two."""
    late = message(5, "tool", result())
    messages = [ASKED, CALLED, message(3, "user", text("never mind")), message(4, "assistant", text("fine")), late]
    assert shown(messages, [Answered("a", 2, 5)]) == [
        "1 user: book it",
        "2 assistant: [called find; its result came later, see below]",
        "3 user: never mind",
        "4 assistant: fine",
        "2 assistant: call a",
        "5 tool: result a",
    ]


@pytest.mark.parametrize(
    "between",
    [
        message(3, "tool", result("b")),
        message(3, "user", result("b")),
        message(3, "assistant", text("still looking")),
    ],
)
def test_what_a_provider_accepts_between_a_call_and_its_result_leaves_them_in_place(between: Message) -> None:
    called = message(2, "assistant", call("a"), call("b"))
    came = message(4, "tool", result("a"))
    answers = [Answered("a", 2, 4), Answered("b", 2, 3 if between.parts[0]["type"] == "tool-result" else None)]
    found = shown([called, between, came], answers)
    assert found[0] == "2 assistant: call a"
    assert found[-1] == "4 tool: result a"


def test_a_result_that_stands_before_its_call_is_no_pair() -> None:
    told = ["2 tool: [result of find: ok]", "3 assistant: [called find {}; no result yet]"]
    assert shown([message(2, "tool", result()), message(3, "assistant", call())], [Answered("a", 3, 2)]) == told
    both = message(2, "assistant", result(), call())
    assert shown([both], [Answered("a", 2, 2)]) == [
        line.replace("3 ", "2 ").replace("tool", "assistant") for line in told
    ]


def test_a_call_and_its_result_may_share_a_message() -> None:
    both = message(2, "assistant", call(), result(), text("done"))
    assert shown([both], [Answered("a", 2, 2)]) == ["2 assistant: call a", "2 assistant: result a", "2 assistant: done"]


def test_of_doubled_halves_one_pair_is_left() -> None:
    """A call streamed twice keeps its last arguments; of two results the first counts."""
    called = message(2, "assistant", call(day="Fr"), call(day="Fri"))
    came = message(3, "tool", result(value="ok"), result(value="again"))
    assert shown([called, came], [PAIR]) == [
        '2 assistant: [called find {"day":"Fr"}; no result yet]',
        "2 assistant: call a",
        "3 tool: result a",
        "3 tool: [result of find: again]",
    ]


def test_an_id_that_is_used_again_makes_a_pair_of_its_own() -> None:
    messages = [CALLED, CAME, message(4, "assistant", call()), message(5, "tool", result())]
    assert shown(messages, [PAIR, Answered("a", 4, 5)]) == [
        "2 assistant: call a", "3 tool: result a", "4 assistant: call a", "5 tool: result a",
    ]  # fmt: skip


def test_pairs_of_one_id_that_overlap_are_shown_one_after_the_other() -> None:
    messages = [CALLED, message(3, "assistant", call()), message(4, "tool", result()), message(5, "tool", result())]
    assert shown(messages, [Answered("a", 2, 5), Answered("a", 3, 4)]) == [
        "2 assistant: [called find; its result came later, see below]",
        "3 assistant: call a",
        "4 tool: result a",
        "2 assistant: call a",
        "5 tool: result a",
    ]


def test_of_two_pairs_of_one_id_with_one_result_the_second_is_told() -> None:
    messages = [CALLED, message(3, "assistant", call(day="Sat")), message(4, "tool", result())]
    assert shown(messages, [Answered("a", 2, 4), Answered("a", 3, 4)]) == [
        "2 assistant: call a",
        '3 assistant: [called find {"day":"Sat"}; no result yet]',
        "4 tool: result a",
    ]


def test_a_result_that_is_told_stands_in_the_way_like_any_text() -> None:
    """As text in the user's role, the orphan at 3 would part the pair around it."""
    messages = [CALLED, message(3, "user", result("x")), message(4, "tool", result())]
    assert shown(messages, [Answered("a", 2, 4)]) == [
        "2 assistant: [called find; its result came later, see below]",
        "3 user: [result of find: ok]",
        "2 assistant: call a",
        "4 tool: result a",
    ]


@pytest.mark.parametrize(("caller", "answerer"), [("user", "tool"), ("tool", "tool"), ("assistant", "system")])
def test_a_call_is_the_assistants_and_a_result_never_the_systems(caller: str, answerer: str) -> None:
    messages = [message(2, caller, call()), message(3, answerer, result())]
    assert shown(messages, [PAIR]) == [
        f"2 {caller}: [called find {{}}; no result yet]",
        f"3 {answerer}: [result of find: ok]",
    ]


@pytest.mark.parametrize(("unfinished_from", "thinks"), [(None, False), (3, False), (2, True), (1, True)])
def test_reasoning_is_shown_in_the_unfinished_step_only(unfinished_from: int | None, thinks: bool) -> None:
    """TC-9 (rendering), RULES 8.4."""
    thought = message(2, "assistant", {"type": "reasoning", "text": "hm"}, text("well"))
    assert ("2 assistant: hm" in shown([thought], unfinished_from=unfinished_from)) is thinks


def test_what_only_the_host_reads_is_not_shown_and_unknown_kinds_are() -> None:
    """TC-5 (rendering)."""
    mixed = message(2, "assistant", {"type": "data-progress", "data": 1}, {"type": "hologram", "x": 1})
    assert shown([message(1, "assistant", {"type": "data-x"}), mixed]) == ["2 assistant: hologram"]


def test_of_many_calls_each_is_found_quickly() -> None:
    """Looking through all calls for every part once took time with the square of a long tail."""
    messages: list[Message] = []
    for seq in range(1, 20_001, 2):
        messages += [message(seq, "assistant", call(f"c{seq}")), message(seq + 1, "tool", result(f"c{seq}"))]
    calls = [Answered(f"c{seq}", seq, seq + 1) for seq in range(1, 20_001, 2)]
    found = show_messages(messages, calls, {}, unfinished_from=None)
    assert [one.parts for one in found] == [one.parts for one in messages]


@pytest.mark.parametrize(("limit", "seqs"), [(30, [2, 3]), (29, [3]), (9, []), (0, []), (-5, []), (1e9, [1, 2, 3])])
def test_the_newest_messages_that_fit_are_kept_without_a_gap(limit: float, seqs: list[int]) -> None:
    """RULES 8.7."""
    messages = [message(1, "user", text(), tokens=5), message(2, "user", tokens=20), message(3, "user", tokens=10)]
    assert [one.seq for one in newest_fitting(messages, limit)] == seqs


IMAGE: Part = {"type": "image", "url": "https://example.org/a.png"}


def pinned(limit: int, *parts: Part) -> tuple[Part, ...]:
    return pin(message(1, "user", *parts), limit=limit, count=words).parts


def test_a_pinned_message_within_its_limit_is_whole() -> None:
    """RULES 8.6."""
    parts = (text("what is this?"), IMAGE, text("and that?"))
    assert pinned(3 + 765 + 2, *parts) == parts


def test_a_pinned_text_is_cut_with_a_mark_and_ends_the_message() -> None:
    """The mark counts four words; two of six fit beside it."""
    (part,) = pinned(6, text("one two three four five six seven"), text("never"), IMAGE)
    assert part["text"].startswith("one two")
    assert part["text"].endswith("characters trimmed]")
    assert words(part["text"]) <= 6


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_pinned_message_of_many_texts_has_one_mark_at_most(limit: int) -> None:
    """A thousand parts, each cut to its own mark, were once four thousand words beyond the limit."""
    parts = pinned(limit, *[text("one two three four five six")] * 1_000)
    assert [part["text"] for part in parts] == [" …[27 characters trimmed]"]


def test_a_pinned_text_after_a_full_one_leaves_its_mark() -> None:
    assert pinned(2, text("one two"), text("three")) == (text("one two"), text(" …[5 characters trimmed]"))


def test_a_pinned_part_that_does_not_fit_is_left_out_whole() -> None:
    assert pinned(10, IMAGE, text("what is this?")) == (text("what is this?"),)


def test_a_pinned_message_knows_its_size() -> None:
    found = pin(message(1, "user", text("one two three"), tokens=500), limit=100, count=words)
    assert found.tokens == 3 + 4
