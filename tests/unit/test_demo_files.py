"""Which conversations the demo plays, and what it says of a file that holds none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from om_workers.demo.conversation import SHIPPED, ConversationError, read_conversations

TEXT = [{"type": "text", "text": "x"}]


def line(**fields: Any) -> str:
    return json.dumps({"thread_id": "t", "id": "a", "role": "user", "parts": TEXT} | fields)


def written(folder: Path, *lines: str) -> Path:
    path = folder / "talk.ndjson"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def ids(path: Path) -> list[list[list[str]]]:
    """Thread by thread, step by step, the ids."""
    return [[[m.id for m in step.messages] for step in talk.steps] for talk in read_conversations(path)]


def test_the_shipped_conversation_is_read_whole() -> None:
    (found,) = read_conversations(SHIPPED)
    assert (found.thread, found.resource) == ("office-move", "harbourlight")
    assert sum(len(step.messages) for step in found.steps) == len(SHIPPED.read_text(encoding="utf-8").splitlines())


def test_neighbouring_lines_of_one_step_are_appended_together(tmp_path: Path) -> None:
    path = written(tmp_path, line(id="a", step="1"), line(id="b", step="2"), line(id="c", step="2"))
    assert ids(path) == [[["a"], ["b", "c"]]]


def test_without_a_step_each_line_is_one(tmp_path: Path) -> None:
    assert ids(written(tmp_path, line(id="a"), "", line(id="b"))) == [[["a"], ["b"]]]


def test_an_assistant_with_its_results_in_one_line_is_one_message_of_one_step(tmp_path: Path) -> None:
    parts = [
        {"type": "tool-call", "toolCallId": "c", "toolName": "look", "args": {}},
        {"type": "tool-result", "toolCallId": "c", "toolName": "look", "result": 1},
    ]
    assert ids(written(tmp_path, line(id="a", role="assistant", parts=parts))) == [[["a"]]]


def test_threads_may_be_mixed_in_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, line(id="a", step="1"), line(thread_id="u", id="a", step="1"), line(id="b", step="1"))
    assert ids(path) == [[["a", "b"]], [["a"]]]


def test_a_text_may_stand_for_its_part(tmp_path: Path) -> None:
    entry = json.dumps({"thread_id": "t", "id": "a", "role": "user", "content": "hello"})
    (found,) = read_conversations(written(tmp_path, entry))
    assert found.steps[0].messages[0].parts == ({"type": "text", "text": "hello"},)


def test_what_is_posted_is_what_was_read_without_the_fields_of_the_file(tmp_path: Path) -> None:
    at = "2026-03-02T09:30:00+01:00"
    (found,) = read_conversations(written(tmp_path, line(step="1", resource_id="r", created_at=at)))
    assert found.resource == "r"
    assert found.steps[0].bodies == ({"id": "a", "role": "user", "parts": TEXT, "created_at": at},)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: needs the texts thread_id, id, role"),
        (line(thread_id=7), "line 2: needs the texts thread_id, id, role"),
        (line(parts="hello"), "line 2: parts must be a list of objects"),
        (line(parts=[7]), "line 2: parts must be a list of objects"),
        (line(parts=[]), r"line 2: line 2\.parts|line 2.*must hold 1 to"),
        (line(role="king"), "line 2.*must be one of user, assistant, tool, system"),
        (line(created_at="yesterday"), "line 2.*yesterday"),
        (line(created_at="2026-03-02T09:30:00"), "line 2.*must carry an offset or Z"),
        (line(created_at=7), "line 2"),
        (line(parts=[{"type": "tool-call", "toolName": "x"}]), "line 2.*must have a toolCallId"),
    ],
)
def test_a_line_that_is_no_message_is_named_with_what_it_lacks(tmp_path: Path, broken: str, words: str) -> None:
    with pytest.raises(ConversationError, match=words):
        read_conversations(written(tmp_path, line(), broken))


def test_an_empty_file_holds_no_conversation(tmp_path: Path) -> None:
    with pytest.raises(ConversationError, match="holds no message"):
        read_conversations(written(tmp_path, "", ""))
