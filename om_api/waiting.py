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
from om_workers.services.waiting import is_blocked, is_over

_POLL_SECONDS = 1.0
_TENANT_SHARE = 4


@dataclass
class Waiters:
    """Counts who waits: at most ``most`` in this process, a quarter of them for one tenant."""

    listener: EventListener
    most: int
    waiting: Counter[str] = field(default_factory=Counter)

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
        view = await _wait(ports, waiters, wish, view)
    context = await run_in_threadpool(render_context, ports, wish.tenant_id, wish.thread, max_tokens=wish.max_tokens)
    return replace(context, stale=is_over(view) or _behind(view, wish))


async def wait_for(ports: Ports, waiters: Waiters, wish: Wish, done: Callable[[MemoryView], bool]) -> MemoryView:
    """The memory's view once ``done`` says so, or when the time is over."""
    view = await _plan(ports, wish)
    with waiters.seat(wish.tenant_id) as free, waiters.listener.listen(view.memory.id) as wake_ups:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _seconds(view, wish)
        while free and not done(view) and loop.time() < deadline:
            await wake_ups.wait(min(_POLL_SECONDS, max(0.0, deadline - loop.time())))
            view = await _plan(ports, wish)
    return view


async def _wait(ports: Ports, waiters: Waiters, wish: Wish, _view: MemoryView) -> MemoryView:
    return await wait_for(ports, waiters, wish, lambda view: not _waits(view, wish))


async def _plan(ports: Ports, wish: Wish) -> MemoryView:
    return await run_in_threadpool(plan_context, ports, wish.tenant_id, wish.thread, actor_model=wish.actor_model)


def _waits(view: MemoryView, wish: Wish) -> bool:
    return is_blocked(view) or _behind(view, wish)


def _behind(view: MemoryView, wish: Wish) -> bool:
    return wish.min_seq is not None and view.position.buffered_seq < wish.min_seq


def _seconds(view: MemoryView, wish: Wish) -> float:
    most = view.policy.observation.block_timeout_ms / 1_000
    return most if wish.seconds is None else min(wish.seconds, most)
