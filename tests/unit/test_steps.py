from __future__ import annotations

import pytest

from om_workers.engine.messages import Part
from om_workers.engine.steps import unfinished_after

TEXT: Part = {"type": "text", "text": "hello"}
THOUGHT: Part = {"type": "reasoning", "text": "hm"}
PROGRESS: Part = {"type": "data-progress", "data": 1}
IMAGE: Part = {"type": "image", "url": "https://example.org/a.png"}


def call(call_id: str = "a") -> Part:
    return {"type": "tool-call", "toolCallId": call_id, "toolName": "find", "args": {}}


def result(call_id: str = "a") -> Part:
    return {"type": "tool-result", "toolCallId": call_id, "toolName": "find", "result": "ok"}


Said = tuple[str, tuple[Part, ...]]


def unfinished(*messages: Said) -> int | None:
    found: int | None = None
    for seq, (role, parts) in enumerate(messages, 1):
        found = unfinished_after(found, seq=seq, role=role, parts=parts)
    return found


ASKED: Said = ("user", (TEXT,))
CALLED: Said = ("assistant", (TEXT, call()))
CAME: Said = ("tool", (result(),))
SAID: Said = ("assistant", (TEXT,))


@pytest.mark.parametrize(
    ("messages", "start"),
    [
        ([], None),
        ([ASKED], None),
        ([ASKED, SAID], None),
        ([ASKED, CALLED], 2),
        ([ASKED, CALLED, CAME], 2),
        ([ASKED, CALLED, CAME, SAID], None),
        ([ASKED, CALLED, CAME, ASKED], None),
        ([ASKED, CALLED, CAME, CALLED], 4),
        ([ASKED, CALLED, CAME, CALLED, CAME], 4),
        ([ASKED, ("assistant", (call("a"), call("b"))), CAME], 2),
        ([ASKED, ("assistant", (call(), result()))], 2),
        ([ASKED, ("assistant", (call(), result(), TEXT))], None),
        ([ASKED, ("assistant", (call("a"), call("b"), result("b"), TEXT))], 2),
        ([ASKED, ("assistant", (call(), result(), call()))], 2),
        ([CAME], 1),
        ([ASKED, SAID, CAME], 3),
    ],
)
def test_a_step_is_unfinished_until_the_actor_or_the_user_has_gone_on(messages: list[Said], start: int | None) -> None:
    """RULES 4.5."""
    assert unfinished(*messages) == start


@pytest.mark.parametrize(
    "between",
    [
        ("system", (TEXT,)),
        ("assistant", (PROGRESS,)),
        ("assistant", (THOUGHT,)),
        ("user", (PROGRESS,)),
        ("user", (result("b"),)),
        ("tool", (TEXT,)),
    ],
)
def test_what_says_nothing_for_the_actor_or_the_user_finishes_nothing(between: Said) -> None:
    """RULES 4.5. A reminder of the system, or results in the user's role, once let coverage take unread results."""
    assert unfinished(ASKED, CALLED, CAME, between) == 2


def test_progress_after_a_result_hides_no_waiting_step() -> None:
    assert unfinished(ASKED, ("assistant", (call(), result(), PROGRESS))) == 2
    assert unfinished(ASKED, ("assistant", (call(), result(), THOUGHT))) == 2


def test_a_user_who_sends_more_than_results_goes_on() -> None:
    assert unfinished(ASKED, CALLED, ("user", (result(), TEXT))) is None
    assert unfinished(ASKED, CALLED, ("user", (IMAGE,))) is None
