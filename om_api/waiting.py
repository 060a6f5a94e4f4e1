"""How a request waits for a blocking observation: as a coroutine, holding no thread, connection or transaction."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from fastapi.concurrency import run_in_threadpool

from om_workers.ports.bundle import Ports
from om_workers.ports.bus import EventListener
from om_workers.services.context import Context, plan_context, render_context
from om_workers.services.state import MemoryView
from om_workers.services.waiting import count_events, is_blocked, is_over

_POLL_SECONDS = 1.0
_MEMORIES_PER_SECOND = 100
"""Most memories looked at by those who wait for no wake-up: when there are more, each is looked at less often."""
_TENANT_SHARE = 4


class Looks:
    """Whether anything happened in the memories that are waited for: asked for all of them in one snapshot."""

    def __init__(self) -> None:
        self._wanted: Counter[str] = Counter()
        self._counts: dict[str, int] = {}
        self._looked_at = float("-inf")
        self._one_at_a_time = asyncio.Lock()

    @contextmanager
    def at(self, memory_id: str) -> Iterator[None]:
        """Look at this memory too for as long as the block lasts."""
        self._wanted[memory_id] += 1
        try:
            yield
        finally:
            self._wanted -= Counter([memory_id])

    async def count(self, ports: Ports, memory_id: str, *, now: bool) -> int | None:
        """The memory's events, as of this moment or of the last look at all; ``None`` when it is not there."""
        if now:
            return (await run_in_threadpool(count_events, ports, [memory_id])).get(memory_id)
        async with self._one_at_a_time:
            loop = asyncio.get_running_loop()
            if loop.time() - self._looked_at >= max(_POLL_SECONDS, len(self._wanted) / _MEMORIES_PER_SECOND):
                self._counts = await run_in_threadpool(count_events, ports, list(self._wanted))
                self._looked_at = loop.time()
        return self._counts.get(memory_id)


@dataclass
class Waiters:
    """Counts who waits: at most ``most`` in this process, a quarter of them for one tenant."""

    listener: EventListener
    most: int
    waiting: Counter[str] = field(default_factory=Counter)
    looks: Looks = field(default_factory=Looks)

    @contextmanager
    def seat(self, tenant_id: str) -> Iterator[bool]:
        """Whether there is room to wait."""
        free = self.waiting.total() < self.most and self.waiting[tenant_id] < max(1, self.most // _TENANT_SHARE)
        self.waiting[tenant_id] += free
        try:
            yield free
        finally:
            self.waiting[tenant_id] -= free


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller wants to read, and how long it agreed to wait (``None``: as long as the memory's options say)."""

    tenant_id: str
    thread: str
    wait: bool = False
    seconds: float | None = None
    max_tokens: int | None = None
    actor_model: str | None = None
    min_seq: int | None = None


async def read_context(ports: Ports, waiters: Waiters, wish: Wish) -> Context:
    """The context, after what was due; ``stale`` when the caller could not or would not wait long enough."""
    view = await _plan(ports, wish)
    if wish.wait and _waits(view, wish):
        view = await _wait(ports, waiters, wish, view, lambda view: not _waits(view, wish))
    context = await run_in_threadpool(render_context, ports, wish.tenant_id, wish.thread, max_tokens=wish.max_tokens)
    return replace(context, stale=is_over(view) or _behind(view, wish))


async def wait_for(ports: Ports, waiters: Waiters, wish: Wish, done: Callable[[MemoryView], bool]) -> MemoryView:
    """The memory's view once ``done`` says so, or when the time is over."""
    return await _wait(ports, waiters, wish, await _plan(ports, wish), done)


async def _wait(
    ports: Ports, waiters: Waiters, wish: Wish, view: MemoryView, done: Callable[[MemoryView], bool]
) -> MemoryView:
    memory_id = view.memory.id
    with (
        waiters.seat(wish.tenant_id) as free,
        waiters.looks.at(memory_id),
        waiters.listener.listen(memory_id) as wake_ups,
    ):
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _seconds(view, wish)
        while free and not done(view) and loop.time() < deadline:
            rung = await wake_ups.wait(min(_POLL_SECONDS, max(0.0, deadline - loop.time())))
            # Planning writes, and takes the memory's lock: only when something happened, and before giving up.
            events = await waiters.looks.count(ports, memory_id, now=rung)
            if events != view.memory.event_count or loop.time() >= deadline:
                view = await _plan(ports, wish)
    return view


async def _plan(ports: Ports, wish: Wish) -> MemoryView:
    return await run_in_threadpool(plan_context, ports, wish.tenant_id, wish.thread, actor_model=wish.actor_model)


def _waits(view: MemoryView, wish: Wish) -> bool:
    return is_blocked(view) or _behind(view, wish)


def _behind(view: MemoryView, wish: Wish) -> bool:
    return wish.min_seq is not None and view.position.buffered_seq < wish.min_seq


def _seconds(view: MemoryView, wish: Wish) -> float:
    most = view.policy.observation.block_timeout_ms / 1_000
    return most if wish.seconds is None else min(wish.seconds, most)
