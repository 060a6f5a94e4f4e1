"""Events on Redis pub/sub."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Sequence

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from om_workers.adapters.redis.breaker import Breaker
from om_workers.ports.bundle import Log
from om_workers.ports.records import EventRecord

_REMEMBER_SECONDS = 86_400


def connect(url: str, *, timeout_seconds: float = 1.0) -> redis.Redis:
    """A client whose calls end within ``timeout_seconds`` and are not tried again."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_timeout=timeout_seconds,
        socket_connect_timeout=timeout_seconds,
        health_check_interval=5,
        retry=Retry(NoBackoff(), 0),
    )


def channel_of(memory_id: str) -> str:
    """The channel that carries a memory's events, for any subscriber."""
    return f"om:events:{memory_id}"


def payload_of(event: EventRecord) -> str:
    """An event as subscribers read it: JSON of ``n, memory, thread, type, at, data``."""
    fields = {"n": event.n, "memory": event.memory_id, "thread": event.thread, "type": event.type}
    return json.dumps(fields | {"at": event.at.isoformat(), "data": event.data}, ensure_ascii=False)


class RedisEventBus:
    """Publishes in order of n; an absent Redis is no error."""

    def __init__(self, client: redis.Redis, log: Log) -> None:
        self._client = client
        self._log = log
        self._breaker = Breaker()
        source = importlib.resources.files(__package__) / "publish_in_order.lua"
        self._publish = client.register_script(source.read_text())

    def publish(self, events: Sequence[EventRecord]) -> int | None:
        """Publish events of one memory in order of n, skipping those already out."""
        if self._breaker.open:
            return None
        memory_id = events[0].memory_id
        pairs = [item for event in events for item in (event.n, payload_of(event))]
        try:
            reached = self._publish(
                keys=[f"om:events:last:{memory_id}"], args=[channel_of(memory_id), _REMEMBER_SECONDS, *pairs]
            )
        except redis.RedisError as error:
            self._breaker.trip()
            self._log.warning("publish_failed", memory=memory_id, error=type(error).__name__)
            return None
        return int(reached)
