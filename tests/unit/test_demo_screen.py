"""What the demo shows fits the terminal it is shown on."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from om_workers.demo.actor import Played, Thresholds
from om_workers.demo.budget import Written
from om_workers.demo.conversation import Conversation
from om_workers.demo.screen import Screen, bar, bar_length
from om_workers.demo.subscriber import Subscriber

THRESHOLDS = Thresholds(30_000, 40_000)
NAMES = ["office-move", "a thread with a name that goes on and on", "u"]


def played(name: str) -> Played:
    windows = {"messages": {"tokens": 29_999}, "observations": {"tokens": 123_456}}
    one = Played(Conversation(name, None, ()), Written(len))
    one.status = {"windows": {"active": windows}, "generationCount": 12}
    return one


def event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"memory": "m", "thread": "t", "n": number, "type": kind, "data": data}


@pytest.fixture
def subscriber() -> Subscriber:
    """One that has seen two jobs of one lane and one of the other; it is not connected to anything."""
    found = Subscriber("redis://127.0.0.1:1/0")
    states = [("a", "observe", "queued"), ("a", "observe", "running"), ("a", "observe", "done")]
    states += [("b", "observe", "queued"), ("b", "observe", "running"), ("c", "reflect", "queued")]
    for number, (job, lane, state) in enumerate(states, 1):
        found.take(event(number, "om-job", jobId=job, lane=lane, state=state, outcome=None))
    return found


def drawn(subscriber: Subscriber, columns: int) -> list[str]:
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, color_system=None)
    screen = Screen([played(name) for name in NAMES], subscriber, THRESHOLDS, plain=False, console=console)
    with console.capture() as capture:
        console.print(screen.picture())
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capture.get()).splitlines()


@pytest.mark.parametrize(
    ("value", "filled"), [(0, 0), (1_000, 12), (2_000, 24), (9_999, 24)], ids=["empty", "half", "full", "beyond"]
)
def test_a_bar_is_as_long_as_its_value_and_never_longer_than_itself(value: int, filled: int) -> None:
    shown = bar(value, 2_000, 24)
    assert (shown.count("█"), shown.count("·")) == (filled, 24 - filled)
    assert shown.endswith(f"{value:,}/2,000")


@pytest.mark.parametrize(("columns", "length"), [(200, 24), (80, 9), (20, 4)])
def test_bars_shrink_with_the_terminal(columns: int, length: int) -> None:
    """80 columns less 12 of the name and 50 of the rest leave 18, two bars of 9."""
    assert bar_length(columns, 12) == length


@pytest.mark.parametrize("columns", [80, 132])
def test_every_number_is_shown_whole_on_a_terminal_of_usual_width(subscriber: Subscriber, columns: int) -> None:
    rows = drawn(subscriber, columns)[1:4]
    assert len(rows) == 3
    for row in rows:
        assert len(row) <= columns
        assert "29,999/30,000" in row
        assert "123,456/40,000" in row
        assert row.rstrip().endswith("12")


def test_a_long_name_is_cut_with_a_mark(subscriber: Subscriber) -> None:
    assert "…" in drawn(subscriber, 80)[2].split("█")[0]


def test_each_job_is_counted_in_the_state_it_is_in_now(subscriber: Subscriber) -> None:
    assert "jobs  observe: 1 running, 1 done  |  reflect: 1 queued" in drawn(subscriber, 80)


def test_the_newest_events_are_listed_but_not_every_status(subscriber: Subscriber) -> None:
    subscriber.take(event(7, "data-om-status"))
    assert drawn(subscriber, 80)[-1].strip() == "t · 6 · reflect job queued"
    assert subscriber.numbers["m"] == [1, 2, 3, 4, 5, 6, 7]
