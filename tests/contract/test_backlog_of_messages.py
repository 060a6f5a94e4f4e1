"""Thousands of messages that come due at once: worked off oldest first, in bounded pieces, and beside live threads."""

from __future__ import annotations

from om_workers.services.sweep import sweep
from om_workers.services.threads import configure_thread, ensure_thread
from tests.support.world import TENANT, World, message, words_of

MESSAGES = 5_000
BATCH = 500
WORDS = 10
PIECE = 2_000
NEVER = {"observation": {"messageTokens": 1_000_000, "bufferTokens": False}}
LIVE = {"messageTokens": 100, "bufferTokens": False}
NOW = {"observation": {"messageTokens": PIECE, "maxTokensPerCall": PIECE, "bufferTokens": False}}


def append_old(world: World, thread: str, count: int) -> None:
    """Messages of ten tokens each, taken in by the normal path while nothing is observed."""
    ref = ensure_thread(world.ports, TENANT, thread, None)
    configure_thread(world.ports, ref, NEVER)
    for first in range(0, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        world.append(thread, *(message(f"m{number}", words_of(WORDS)) for number in numbers))


def switch_on(world: World, *threads: str) -> None:
    """Give the threads the options by which their messages are due."""
    for thread in threads:
        configure_thread(world.ports, ensure_thread(world.ports, TENANT, thread, None), NOW)


def live_delays(world: World, rounds: int) -> list[int]:
    """How many tasks ran from the moment when an observation of the live thread was due until it was done.

    One task a round and slot; a turn of the live thread every two rounds.
    """
    delays: list[int] = []
    waited = 0
    for number in range(rounds):
        if number % 2 == 0 and not world.view("live").jobs:
            world.say("live", 1_000 * len(world.segments("live")) + number, 110)
            waited = 0
        waited += world.run_one() is not None
        if waited and not world.view("live").jobs:
            delays.append(waited)
            waited = 0
        world.clock.advance(2)
        sweep(world.ports)
    return delays


def ranges_of(world: World, thread: str) -> list[tuple[int, int]]:
    """What the thread's observations stand for, in order."""
    found = world.segments(thread, reflected=True)
    return [(segment.first_seq, segment.last_seq) for segment in found if segment.kind == "observation"]


def test_5000_messages_switched_on_at_once_drain_in_order_beside_a_live_thread(world: World) -> None:
    """With one slot a live job waits for the one job that the old thread may have at a time, and for no more."""
    append_old(world, "old", MESSAGES)
    world.thread("live", observation=LIVE)
    assert live_delays(world, 10) == [1] * 5
    assert ranges_of(world, "old") == []
    switch_on(world, "old")
    beside = live_delays(world, 40)
    assert len(beside) == 20
    assert max(beside) <= 2
    assert 10 <= len(ranges_of(world, "old")) < MESSAGES * WORDS // PIECE
    world.drain()
    ranges = ranges_of(world, "old")
    assert [seq for first, last in ranges for seq in range(first, last + 1)] == list(range(1, ranges[-1][1] + 1))
    assert max(last - first + 1 for first, last in ranges) * WORDS <= PIECE
    assert world.view("old").state.pending < PIECE
    assert world.violations() == []
