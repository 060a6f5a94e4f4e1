"""What is shown while the demo runs: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from om_workers.demo.actor import Played, Thresholds
from om_workers.demo.subscriber import Subscriber

_PLAIN_EVERY = 40
_NAME = 20
_SHORTEST_BAR, _LONGEST_BAR = 4, 24
_BESIDE_BARS = 50
"""Columns that a row takes beside its thread's name and its two bars."""
_STATES = ("queued", "running", "done", "dead", "cancelled")


def bar(value: int, most: int, length: int) -> str:
    """A bar of ``value`` against ``most``, ``length`` characters long, with both numbers."""
    filled = min(length, round(length * value / most)) if most else 0
    return f"{'█' * filled}{'·' * (length - filled)} {value:>6,}/{most:,}"


def bar_length(columns: int, name: int) -> int:
    """How long a bar may be on a terminal of so many columns, beside names of this length."""
    return max(_SHORTEST_BAR, min(_LONGEST_BAR, (columns - name - _BESIDE_BARS) // 2))


class Screen:
    """Shows the threads; used as a context around the playing."""

    def __init__(
        self,
        played: Sequence[Played],
        subscriber: Subscriber,
        thresholds: Thresholds,
        *,
        plain: bool,
        console: Console | None = None,
    ) -> None:
        self._played = played
        self._subscriber = subscriber
        self._thresholds = thresholds
        self._console = console or Console()
        self._plain = plain or not self._console.is_terminal
        self._live = Live(console=self._console, refresh_per_second=5, transient=True)
        self._told = 0

    def __enter__(self) -> Self:
        if not self._plain:
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if not self._plain:
            self._live.stop()

    def show(self) -> None:
        """Show the state of this moment."""
        if self._plain:
            self._tell()
        else:
            self._live.update(self.picture())

    def picture(self) -> Group:
        """The whole view of this moment."""
        return Group(self._table(), self._events())

    def _tell(self) -> None:
        done = sum(one.steps for one in self._played)
        if done - self._told < _PLAIN_EVERY and done < self._all_steps():
            return
        if done == self._told:
            return
        self._told = done
        busiest = max(self._played, key=lambda one: one.steps)
        messages, observations = _windows(busiest)
        print(  # noqa: T201 - this is the output
            f"step {done}/{self._all_steps()} · {busiest.conversation.thread}: messages {messages} of "
            f"{self._thresholds.message_tokens}, observations {observations} of {self._thresholds.observation_tokens}, "
            f"generation {busiest.status.get('generationCount', 0)}",
            flush=True,
        )

    def _all_steps(self) -> int:
        return sum(len(one.conversation.steps) for one in self._played)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for heading in ("thread", "step", "messages", "observations", "act.", "gen."):
            table.add_column(heading, no_wrap=True)
        names = [_shortened(one.conversation.thread) for one in self._played]
        length = bar_length(self._console.width, max(map(len, names)))
        for name, one in zip(names, self._played, strict=True):
            messages, observations = _windows(one)
            table.add_row(
                Text(name),  # a caller's id is no markup
                f"{one.steps}/{len(one.conversation.steps)}",
                bar(messages, self._thresholds.message_tokens, length),
                bar(observations, self._thresholds.observation_tokens, length),
                str(self._subscriber.activations[f"{one.conversation.thread}/observation"]),
                str(one.status.get("generationCount", 0)),
            )
        return table

    def _events(self) -> Text:
        jobs = [_lane_words(lane, states) for lane, states in sorted(self._subscriber.jobs.items())]
        lines = ["", f"jobs  {'  |  '.join(jobs)}", "", *self._subscriber.latest]
        return Text("\n".join(lines), style="dim", no_wrap=True, overflow="ellipsis")


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _lane_words(lane: str, states: Mapping[str, int]) -> str:
    return f"{lane}: {', '.join(f'{states[state]} {state}' for state in _STATES if states.get(state))}"


def _windows(one: Played) -> tuple[int, int]:
    active: dict[str, Any] = one.status.get("windows", {}).get("active", {})
    return active.get("messages", {}).get("tokens", 0), active.get("observations", {}).get("tokens", 0)
