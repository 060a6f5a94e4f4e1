"""Wake-ups from Redis pub/sub for coroutines: one connection a process, one subscription a memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from om_workers.adapters.redis.bus import channel_of
from om_workers.ports.bundle import Log

_CONTROL = "om:control"
"""Keeps the connection subscribed while nobody listens; nothing is published on it."""
_READ_SECONDS = 0.2
_CONNECT_SECONDS = 2.0
_RETRY_SECONDS = 2.0
_CLOSE_SECONDS = 2.0


class RedisWakeUps:
    """One reader's flag."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Something was published, or may have been."""
        self._rung.set()

    async def wait(self, seconds: float) -> bool:
        """Return ``True`` once something was published since the last call, ``False`` after ``seconds``."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return False
        self._rung.clear()
        return True


class RedisEventListener:
    """Listens on the channels that somebody waits for; belongs to one event loop, and an absent Redis is no error."""

    def __init__(self, url: str, log: Log) -> None:
        self._url = url
        self._log = log
        self._readers: dict[str, set[RedisWakeUps]] = {}
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    @contextmanager
    def listen(self, memory_id: str) -> Iterator[RedisWakeUps]:
        """Wake-ups about a memory for as long as the block lasts."""
        channel, reader = channel_of(memory_id), RedisWakeUps()
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="om-listener")
        self._readers.setdefault(channel, set()).add(reader)
        try:
            yield reader
        finally:
            self._readers[channel].discard(reader)
            if not self._readers[channel]:
                del self._readers[channel]

    async def close(self) -> None:
        """Give the connection back."""
        if self._task is not None:
            # The client may swallow a cancellation while it reads; the flag ends the loop then.
            self._closed = True
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_CLOSE_SECONDS)

    async def _run(self) -> None:
        while not self._closed:
            try:
                await self._follow()
            except (RedisError, OSError) as error:
                self._log.warning("listener_lost", error=type(error).__name__)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _follow(self) -> None:
        client = Redis.from_url(self._url, decode_responses=True, socket_connect_timeout=_CONNECT_SECONDS)
        subscribed: set[str] = set()
        async with client, client.pubsub() as pubsub:
            await pubsub.subscribe(_CONTROL)
            while not self._closed:
                subscribed = await self._subscribe(pubsub, subscribed)
                message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=_READ_SECONDS)
                if message is not None:
                    self._ring([message["channel"]])

    async def _subscribe(self, pubsub: PubSub, subscribed: set[str]) -> set[str]:
        """Subscribe to what is listened to and to nothing else; new readers are told to look once more."""
        wanted = set(self._readers)
        if wanted - subscribed:
            await pubsub.subscribe(*(wanted - subscribed))
            self._ring(wanted - subscribed)
        if subscribed - wanted:
            await pubsub.unsubscribe(*(subscribed - wanted))
        return wanted

    def _ring(self, channels: Iterable[str]) -> None:
        for channel in channels:
            for reader in self._readers.get(channel, ()):
                reader.ring()
