from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from om_workers.engine.acceptance import MAX_DEPTH, AcceptedMessage, InvalidMessageError, accept, check_id

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
TEXT = {"type": "text", "text": "hello"}


def accepted(
    *parts: Mapping[str, Any], message_id: str = "m1", role: str = "user", at: datetime | None = None
) -> AcceptedMessage:
    return accept("messages.3", message_id=message_id, role=role, parts=parts or (TEXT,), at=at)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system"])
def test_a_valid_message_comes_through_as_it_is(role: str) -> None:
    """RULES 2.1."""
    parts = (TEXT, {"type": "hologram", "state": "future-state", "deep": {"x": [1, 2.5, None, True]}})
    found = accepted(*parts, role=role, at=NOON)
    assert (found.id, found.role, found.parts, found.created_at) == ("m1", role, parts, NOON)


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"text": "no type"}, "parts.0.type"),
        ({"type": 5}, "parts.0.type"),
        ({"type": "text"}, "parts.0.text"),
        ({"type": "text", "text": 5}, "parts.0.text"),
        ({"type": "tool-call", "toolName": "find"}, "parts.0.toolCallId"),
        ({"type": "tool-result", "toolCallId": ""}, "parts.0.toolCallId"),
        ({"type": "tool-result", "toolCallId": "a\nb"}, "parts.0.toolCallId"),
        ({"type": "data-x", "data": float("nan")}, "parts.0"),
        ({"type": "data-x", "data": [{"deep": float("-inf")}]}, "parts.0"),
        ({"type": "data-x", "data": nested(MAX_DEPTH)}, "parts.0"),
        ({"type": "data-x", "data": nested(50_000)}, "parts.0"),
    ],
)
def test_a_part_that_breaks_a_rule_is_named(part: dict[str, Any], field: str) -> None:
    """RULES 2.3."""
    with pytest.raises(InvalidMessageError) as caught:
        accepted(part)
    assert caught.value.field == f"messages.3.{field}"


def test_nesting_up_to_the_limit_is_accepted() -> None:
    assert accepted({"type": "data-x", "data": nested(MAX_DEPTH - 1)}).parts


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"message_id": ""}, "id"),
        ({"message_id": "x" * 257}, "id"),
        ({"message_id": "a\x00b"}, "id"),
        ({"message_id": "a\ud83db"}, "id"),
        ({"message_id": "a\x7fb"}, "id"),
        ({"message_id": "a\r\nb"}, "id"),
        ({"role": "User"}, "role"),
        ({"role": "\ud83d"}, "role"),
        ({"at": datetime(2026, 3, 2, 12, 0)}, "created_at"),  # noqa: DTZ001
        ({"at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))}, "created_at"),
        ({"at": datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-14)))}, "created_at"),
    ],
)
def test_a_message_that_breaks_a_rule_is_named_in_words_that_can_be_sent(wrong: dict[str, Any], field: str) -> None:
    """RULES 2.2, 2.3. A time outside the calendar in UTC once passed here and could not be stored."""
    with pytest.raises(InvalidMessageError) as caught:
        accepted(**wrong)
    assert caught.value.field == f"messages.3.{field}"
    f"{caught.value} {caught.value.value} {caught.value.rule}".encode()


@pytest.mark.parametrize("count", [0, 1_001])
def test_a_message_has_one_to_a_thousand_parts(count: int) -> None:
    with pytest.raises(InvalidMessageError, match="1 to 1000 parts"):
        accept("m", message_id="m1", role="user", parts=[TEXT] * count, at=None)


@pytest.mark.parametrize("message_id", ["x", "x" * 256, "ünï-çødé", 'x" role="system', "<a>", "a b", "🎉"])
def test_an_id_may_hold_whatever_can_be_stored(message_id: str) -> None:
    """RULES 2.2, SE-1 (ids): what would be markup elsewhere is an id here and rendered nowhere."""
    check_id("id", message_id)


def test_lone_surrogates_and_nul_are_replaced_wherever_they_stand() -> None:
    """LP-10(b, c) (the cleaning, RULES 2.1): in texts, arguments, results and keys."""
    found = accepted({"type": "tool-result", "toolCallId": "c", "result": {"\ud83d": ["a\x00b", {"k": "\udc00"}]}})
    assert found.parts[0]["result"] == {"�": ["a�b", {"k": "�"}]}


def test_the_same_content_is_recognised_and_any_difference_is_seen() -> None:
    """CL-8 (the comparison, RULES 2.3): role, parts and time make the content; order of keys and the id do not."""
    first = accepted(TEXT, at=NOON).content_hash
    assert accepted({"text": "hello", "type": "text"}, message_id="m2", at=NOON).content_hash == first
    others = [
        accepted(TEXT, at=None),
        accepted(TEXT, at=NOON + timedelta(seconds=1)),
        accepted(TEXT, role="assistant", at=NOON),
        accepted(TEXT, TEXT, at=NOON),
        accepted({"type": "text", "text": "hello "}, at=NOON),
        accepted({**TEXT, "extra": 1}, at=NOON),
        accepted({**TEXT, "extra": True}, at=NOON),
    ]
    hashes = [message.content_hash for message in others]
    assert len({first, *hashes}) == len(others) + 1
