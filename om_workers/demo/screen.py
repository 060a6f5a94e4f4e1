"""What is shown while the demo runs: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from om_workers.demo.actor import Played, Thresholds
from om_workers.demo.subscriber import Subscriber

_BAR = 24
_PLAIN_EVERY = 40


def bar(value: int, most: int) -> str:
    """A bar of ``value`` against ``most``, with both numbers."""
    filled = min(_BAR, round(_BAR * value / most)) if most else 0
    return f"{'█' * filled}{'·' * (_BAR - filled)} {value:>6,} / {most:,}"


class Screen:
    """Shows the threads; used as a context around the playing."""

    def __init__(
        self, played: Sequence[Played], subscriber: Subscriber, thresholds: Thresholds, *, plain: bool
    ) -> None:
        self._played = played
        self._subscriber = subscriber
        self._thresholds = thresholds
        self._console = Console()
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
            self._live.update(Group(self._table(), self._events()))

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
        for heading in ("thread", "step", "messages (tokens)", "observations (tokens)", "activations", "generation"):
            table.add_column(heading, no_wrap=True)
        for one in self._played:
            messages, observations = _windows(one)
            name = one.conversation.thread
            table.add_row(
                name,
                f"{one.steps}/{len(one.conversation.steps)}",
                bar(messages, self._thresholds.message_tokens),
                bar(observations, self._thresholds.observation_tokens),
                str(self._subscriber.activations[f"{name}/observation"]),
                str(one.status.get("generationCount", 0)),
            )
        return table

    def _events(self) -> Text:
        jobs = "  ".join(f"{name} {count}" for name, count in sorted(self._subscriber.jobs.items()))
        return Text("\n".join(["", f"jobs: {jobs}", *self._subscriber.latest]), style="dim", no_wrap=True)


def _windows(one: Played) -> tuple[int, int]:
    active: dict[str, Any] = one.status.get("windows", {}).get("active", {})
    return active.get("messages", {}).get("tokens", 0), active.get("observations", {}).get("tokens", 0)
