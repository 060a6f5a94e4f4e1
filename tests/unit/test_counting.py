from __future__ import annotations

import base64
from typing import Any

import pytest

from om_workers.engine.counting import IMAGE_TOKENS, MESSAGE_OVERHEAD, compact_json, count_message, count_part
from om_workers.engine.messages import Part


def letters(text: str) -> int:
    """A token is a character, so that counts can be worked out."""
    return len(text)


def size(**part: Any) -> int:
    return count_part(part, letters)


def encoded(size: int) -> str:
    return base64.b64encode(b"\x89" * size).decode()


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"type": "text", "text": "hello"}, 5),
        ({"type": "text", "text": ""}, 0),
        ({"type": "text"}, 0),
        ({"type": "text", "text": None}, 0),
        ({"type": "tool-call", "toolCallId": "c", "toolName": "find", "args": {"q": "é"}}, 4 + len('{"q":"é"}')),
        ({"type": "tool-call", "toolCallId": "c", "toolName": "find", "args": "raw"}, 4 + 3),
        ({"type": "tool-call", "toolCallId": "c", "toolName": "find"}, 4),
        ({"type": "tool-result", "toolCallId": "c", "toolName": "find", "result": [1, 2]}, 4 + len("[1,2]")),
        ({"type": "tool-result", "toolCallId": "c", "result": "ok", "isError": True}, 2),
        ({"type": "tool-result", "toolCallId": "c", "result": None}, 0),
        ({"type": "data-progress", "data": {"percent": 5}}, 0),
    ],
)
def test_a_part_counts_what_the_model_reads_of_it(part: Part, tokens: int) -> None:
    """RULES 2.4."""
    assert count_part(part, letters) == tokens


def test_a_tool_result_counts_whole() -> None:
    """TC-1 (count side): 60 000 tokens of rows count as 60 000, however little of them an observer is shown."""
    rows = "x" * 60_000
    assert size(type="tool-result", toolCallId="c", toolName="", result=rows) == 60_000


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool-invocation", "state": "future-state", "toolCallId": "c"},
        {"type": "hologram", "payload": {"deep": [1, {"x": None}]}},
        {"no-type": 1},
        {"type": 7},
        {"type": ""},
    ],
)
def test_a_kind_that_is_not_known_counts_as_its_json_and_stops_nothing(part: Part) -> None:
    """TC-5: more rather than less, never an error (RULES 2.6)."""
    assert count_part(part, letters) == len(compact_json(dict(part))) > 0


def test_reasoning_counts_nothing() -> None:
    """TC-9 (the rule for reasoning, RULES 2.4): 3 000 tokens of it leave a threshold of 1 000 far away."""
    reasoning = size(type="reasoning", text="x" * 3_000)
    assert count_message([reasoning, size(type="text", text="x" * 20)]) == 20 + MESSAGE_OVERHEAD


@pytest.mark.parametrize("size_in_bytes", [1, 3, 4, 400_000])
def test_a_file_counts_by_its_decoded_size(size_in_bytes: int) -> None:
    """TC-3 (count side, RULES 2.5): a quarter of its bytes."""
    tokens = max(1, size_in_bytes // 4)
    data = encoded(size_in_bytes)
    assert size(type="file", mimeType="text/plain", data=data) == tokens
    assert size(type="file", mimeType="text/plain", data=f"data:text/plain;base64,{data}") == tokens
    assert size(type="file", url=f"data:text/plain;base64,{data}") == tokens


@pytest.mark.parametrize(("data", "tokens"), [("not base64!!", 3), ("data:,plain%20text", 3), ("é!" * 4, 3)])
def test_a_file_that_is_no_base64_counts_by_its_text(data: str, tokens: int) -> None:
    """12 bytes each: of a data URI what follows the comma, of ``é`` both its bytes."""
    assert size(type="file", data=data) == tokens


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "data": encoded(300_000)},
        {"type": "image", "url": "https://example.org/a.png"},
        {"type": "file", "mimeType": "image/png", "data": encoded(300_000)},
        {"type": "file", "mimeType": "IMAGE/PNG", "data": encoded(300_000)},
        {"type": "file", "mediaType": "image/webp", "data": encoded(300_000)},
        {"type": "file", "data": f"data:image/png;base64,{encoded(300_000)}"},
        {"type": "file", "url": f"DATA:image/png;base64,{encoded(300_000)}"},
    ],
)
def test_an_image_counts_the_same_whatever_its_bytes(part: Part) -> None:
    """TC-4 (RULES 2.5): 300 kB of it are far below a threshold of 2 000."""
    assert count_part(part, letters) == IMAGE_TOKENS == 765


def test_a_file_that_is_only_an_address_counts_a_small_fixed_number_and_its_name() -> None:
    """TC-3 (RULES 2.5)."""
    assert size(type="file", url="https://example.org/long/report.pdf", filename="report.pdf") == 20 + 10
    assert size(type="file", mimeType=5, data=7) == 20


def test_a_message_counts_its_parts_and_its_frame() -> None:
    """RULES 2.4."""
    assert count_message([5, 7]) == 12 + MESSAGE_OVERHEAD
    assert count_message([]) == MESSAGE_OVERHEAD == 4
