"""How a demo runs: an embedded stack, one actor a thread, a subscriber, a view, and the checks at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import httpx

from om_workers.demo.actor import Actor, Thresholds
from om_workers.demo.conversation import Conversation
from om_workers.demo.report import Check, report, run_checks, stored_events
from om_workers.demo.screen import Screen
from om_workers.demo.subscriber import Subscriber
from om_workers.embedded.interrupts import Interrupts
from om_workers.embedded.stack import Stack
from om_workers.ports.bundle import Ports
from om_workers.services.keys import make_key

_AT_ONCE = 8
_REST_SECONDS = 60.0
_CATCH_UP_SECONDS = 5.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Result:
    """How the demo ended: its report and its checks, or ``None`` when somebody ended it."""

    report: str
    checks: Sequence[Check]


def play(
    stack: Stack,
    conversations: Sequence[Conversation],
    thresholds: Thresholds,
    interrupts: Interrupts,
    *,
    plain: bool,
) -> Result | None:
    """Play the conversations on a stack that answers. Raises what an actor met: ``httpx.HTTPError``."""
    ports = stack.wired.ports
    # A tenant of its own: a database that is used again holds the same threads of an earlier demo.
    tenant_id = f"demo-{ports.ids.new()[:8]}"
    secret = make_key(ports, tenant_id, name="demo").secret
    subscriber = Subscriber(stack.settings.redis_url.get_secret_value())
    subscriber.start()
    headers = {"Authorization": f"Bearer {secret}"}
    try:
        with httpx.Client(base_url=stack.url, headers=headers, timeout=30.0) as client:
            actors = [Actor(client, conversation, thresholds, ports.tokens.count) for conversation in conversations]
            stopped = threading.Event()
            with Screen([actor.played for actor in actors], subscriber, thresholds, plain=plain) as screen:
                _play_all(actors, stopped, lambda: _look(stack, screen, interrupts, stopped))
            if not _come_to_rest(actors, thresholds, interrupts):
                return None
            for actor in actors:
                actor.read_context()
            if not _come_to_rest(actors, thresholds, interrupts):
                return None
            _catch_up(ports, tenant_id, actors, subscriber, interrupts)
            checks = run_checks(ports, tenant_id, actors, subscriber, thresholds)
            return Result(report(ports, tenant_id, actors, checks), checks)
    finally:
        subscriber.stop()


def _play_all(actors: Sequence[Actor], stopped: threading.Event, look: Callable[[], None]) -> None:
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        futures: list[Future[None]] = [pool.submit(actor.play, stopped.is_set) for actor in actors]
        try:
            while not all(future.done() for future in futures):
                look()
                stopped.wait(_POLL_SECONDS)
                if any(future.done() and future.exception() for future in futures):
                    break
        finally:
            stopped.set()
    look()
    for future in futures:
        future.result()


def _look(stack: Stack, screen: Screen, interrupts: Interrupts, stopped: threading.Event) -> None:
    stack.look()
    screen.show()
    if interrupts.asked:
        stopped.set()


def _come_to_rest(actors: Sequence[Actor], thresholds: Thresholds, interrupts: Interrupts) -> bool:
    """Wait, not for ever, until no work is left; ``False`` when somebody asked to end."""
    interrupts.wait_until(lambda: all(_is_at_rest(actor, thresholds) for actor in actors), seconds=_REST_SECONDS)
    return not interrupts.asked


def _catch_up(
    ports: Ports, tenant_id: str, actors: Sequence[Actor], subscriber: Subscriber, interrupts: Interrupts
) -> None:
    """Give the last events a moment to arrive: they are published after the commit that the status shows already."""
    stored = stored_events(ports, tenant_id, [actor.played for actor in actors])
    interrupts.wait_until(
        lambda: all(len(subscriber.numbers[memory]) >= count for memory, count in stored.items()),
        seconds=_CATCH_UP_SECONDS,
    )
    subscriber.stop()


def _is_at_rest(actor: Actor, thresholds: Thresholds) -> bool:
    status = actor.read_status()
    return not status["jobs"] and status["pendingTokens"] < thresholds.message_tokens
