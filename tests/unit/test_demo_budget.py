"""How large the demo lets a context be."""

from __future__ import annotations

from typing import Any

import pytest

from om_workers.demo.actor import Thresholds
from om_workers.demo.budget import Written, rendered_tokens
from om_workers.engine.acceptance import AcceptedMessage, accept


def words(text: str) -> int:
    return len(text.split())


def message(role: str, *parts: dict[str, Any]) -> AcceptedMessage:
    return accept("m", message_id="m", role=role, parts=parts, at=None)


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool-call", "toolCallId": name, "toolName": "look", "args": "here"}


def result(name: str) -> dict[str, Any]:
    return {"type": "tool-result", "toolCallId": name, "toolName": "look", "result": "a b c"}


def written(*messages: AcceptedMessage) -> Written:
    found = Written(words)
    for one in messages:
        found.add(one)
    return found


USER = message("user", said("one two three"))
"""7 tokens: three words and the four of any message. A call is 6 (its name, its argument), a result 8."""


def test_the_newest_user_message_is_pinned() -> None:
    assert written(USER, message("assistant", said("ok"))).pinned == 7


def test_nothing_is_unfinished_once_the_actor_has_written_on() -> None:
    found = written(
        USER, message("assistant", call("c")), message("tool", result("c")), message("assistant", said("ok"))
    )
    assert found.unfinished == 0


def test_a_call_and_its_result_are_unfinished_until_then() -> None:
    found = written(USER, message("assistant", call("c")), message("tool", result("c")))
    assert found.unfinished == 6 + 8


def test_parallel_calls_are_unfinished_until_the_last_result_is_read() -> None:
    """Two calls in one message: 4 + 2 × 2 = 8; then one result, 8."""
    found = written(USER, message("assistant", call("c"), call("d")), message("tool", result("d")))
    assert found.unfinished == 8 + 8


def test_a_newer_user_message_ends_what_was_open() -> None:
    assert written(USER, message("assistant", call("c")), USER).unfinished == 0


def test_a_rendered_context_is_counted_in_all_its_texts() -> None:
    context = {
        "system": [{"text": "what follows is memory"}, {"text": "done"}],
        "messages": [{"parts": [said("one two"), call("c")]}, {"parts": [result("c")]}],
    }
    assert rendered_tokens(context, words) == 5 + 2 + 2 + 4


def test_the_bound_is_a_fifth_above_both_thresholds() -> None:
    assert Thresholds(2_000, 1_200).bound == pytest.approx(3_840)
