"""Whether the programs of the stack answer."""

from __future__ import annotations

import http.client
from collections.abc import Sequence
from http import HTTPStatus

import redis
from celery import Celery
from redis.backoff import NoBackoff
from redis.retry import Retry

_ANSWER_SECONDS = 1.0
_PING_SECONDS = 0.3


def reachable(host: str) -> str:
    """The address under which a server that listens on ``host`` is reached from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - nothing is bound here


def api_is_ready(host: str, port: int) -> bool:
    """Whether the API says that it can take a turn."""
    connection = http.client.HTTPConnection(reachable(host), port, timeout=_ANSWER_SECONDS)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def workers_are_ready(app: Celery, names: Sequence[str]) -> bool:
    """Whether every one of these workers answers a ping within a moment."""
    replies = app.control.broadcast(
        "ping", destination=list(names), reply=True, timeout=_PING_SECONDS, limit=len(names)
    )
    return {name for reply in replies or [] for name in reply} >= set(names)


def redis_answers(url: str) -> bool:
    """Whether a Redis server answers at this address, with the password in it."""
    try:
        with redis.Redis.from_url(url, socket_timeout=_ANSWER_SECONDS, retry=Retry(NoBackoff(), 0)) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
