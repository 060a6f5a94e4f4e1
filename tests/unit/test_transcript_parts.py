from __future__ import annotations

import re

import pytest

from tests.support.transcripts import a_call, a_message, a_result, a_text, body_of, quarter, render


def test_a_call_and_its_outcome_stored_several_times_are_shown_once() -> None:
    """AU-3: the call where it came first with its latest arguments, the outcome where it came last."""
    transcript = render(
        a_message(1, a_call(args={}, state="partial-call"), role="assistant"),
        a_message(2, a_call(args={"name": "review"}), a_result(result="half"), role="assistant"),
        a_message(3, a_call(args={"name": "review"}), a_result(result="whole"), role="assistant"),
    )

    assert transcript.split("\n")[1:] == [
        "[1] assistant 19:00:",
        '  calls load_skill: {"name":"review"}',
        "[2] assistant 19:00: (nothing to show)",
        "[3] assistant 19:00:",
        "  result of load_skill: whole",
    ]


def test_an_id_used_again_is_another_call() -> None:
    pairs = [a_call(args={"n": 1}), a_result(result="one"), a_call(args={"n": 2}), a_result(result="two")]

    assert re.findall(r'"n":\d|one|two', body_of(*pairs)) == ['"n":1', "one", '"n":2', "two"]


@pytest.mark.parametrize("identity", [None, "", 7])
def test_calls_without_an_id_are_all_shown(identity: object) -> None:
    call = {"type": "tool-call", "toolCallId": identity, "toolName": "load_skill", "args": "a"}

    assert body_of(call, call).count("calls load_skill: a") == 2


def test_a_result_whose_call_came_before_the_range_has_its_name() -> None:
    """AU-3."""
    assert body_of(a_result("search", result="ok"), role="tool") == "result of search: ok"


def test_a_result_without_a_name_takes_it_from_its_call() -> None:
    assert "result of load_skill: ok" in body_of(a_call(args={}), a_result(None, result="ok"))
    assert "result of unnamed tool: ok" in body_of(a_result(None, result="ok"))


def test_long_arguments_lose_their_strings_before_their_keys() -> None:
    """TC-1, AU-3: what was written is cut, where to stays."""
    body = body_of(a_call("write", args={"content": "line of text\n" * 9_000, "path": "a.txt"}))

    assert '"path":"a.txt"' in body
    assert "characters trimmed]" in body
    assert quarter(body) < 2_020


def test_limits_are_those_asked_for() -> None:
    long = "word " * 1_000
    body = body_of(
        a_text(long), a_call(args=long), a_result(result=long), text_tokens=99, args_tokens=50, result_tokens=25
    )

    assert [round(quarter(line), -1) for line in body.split("\n")] == [100, 60, 30]
    assert body.count("trimmed") == 3


def test_images_and_files_are_numbered_apart_through_the_transcript() -> None:
    transcript = render(
        a_message(1, {"type": "image", "filename": "a"}, {"type": "file", "filename": "b"}),
        a_message(2, {"type": "image", "filename": "c"}),
    )

    assert re.findall(r"\[(?:Image|File) #\d: \w\]", transcript) == ["[Image #1: a]", "[File #1: b]", "[Image #2: c]"]


def test_text_that_only_looks_long_is_no_base64() -> None:
    assert body_of(a_result(result="x" * 3_000), role="tool") == f"result of load_skill: {'x' * 3_000}"


def test_deep_nesting_is_cut() -> None:
    value: object = "bottom"
    for _ in range(5_000):
        value = [value]

    assert "deeper levels trimmed" in body_of(a_result(result=value), role="tool")


def test_text_with_a_text_media_type_is_read() -> None:
    page = {"mimeType": "text/html", "data": "opening hours 9 to 5"}

    assert "opening hours 9 to 5" in body_of(a_result(result=page), role="tool")


@pytest.mark.parametrize("kind", ["image", "image-data", "media", "file", "file-data", "audio"])
def test_an_attachment_in_a_result_is_known_by_its_kind_alone(kind: str) -> None:
    """MM-1: also one that is too short to look like bytes."""
    body = body_of(a_result(result={"type": kind, "data": "iVBORw0KGgo="}))

    assert "iVBOR" not in body
    assert re.search(r"\[(Image|File) #1: (image|file)\]", body)


def test_data_of_another_kind_is_read() -> None:
    assert body_of(a_result(result={"type": "row", "data": "plain"})).endswith('{"type":"row","data":"plain"}')
