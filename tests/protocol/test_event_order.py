"""Subscribers hear a memory's events in the order of their numbers, each once, whichever process publishes first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
import redis

from om_workers.adapters.redis.bus import RedisEventBus, channel_of, connect
from tests.support.doubles import FakeBus
from tests.support.world import World


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)
def test_events_of_a_slower_process_are_published_before_those_behind_them(world: World, redis_url: str) -> None:
    """RULES 9.3: one process has committed and not published yet; another commits and publishes."""
    client = connect(redis_url)
    slow, quick = FakeBus(), RedisEventBus(client, world.log)
    world.thread("t", observation={"messageTokens": 100, "bufferTokens": False})
    memory_id = world.view("t").memory.id
    with client.pubsub() as subscriber:  # type: ignore[no-untyped-call]
        subscriber.subscribe(channel_of(memory_id))
        world.ports = replace(world.ports, bus=slow)
        world.say("t", 1, 50)
        world.ports = replace(world.ports, bus=quick)
        world.say("t", 2, 120)
        assert slow.events != []
        quick.publish(slow.events)
        world.say("t", 3, 10)
        stored = world.view("t").memory.event_count
        assert list(numbers_heard(subscriber)) == list(range(1, stored + 1))


def numbers_heard(subscriber: redis.client.PubSub) -> Iterator[int]:
    """The numbers of all events that have arrived."""
    while (said := subscriber.get_message(timeout=0.5)) is not None:
        if said["type"] == "message":
            yield json.loads(said["data"])["n"]
