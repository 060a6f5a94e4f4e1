"""Whether a Redis server may throw away what is queued in it."""

from __future__ import annotations

import redis


def eviction_warning(client: redis.Redis) -> str | None:
    """What is wrong with the server's settings, ``None`` when it keeps all that it is given.

    Asks INFO, which is allowed where CONFIG is not.
    """
    try:
        memory = client.info("memory")
    except redis.RedisError as error:
        return f"Redis was not checked: {type(error).__name__}"
    most, policy = int(memory.get("maxmemory", 0)), str(memory.get("maxmemory_policy", "noeviction"))
    if most == 0 or policy == "noeviction":
        return None
    return (
        f"Redis may evict queued tasks: maxmemory is {most} bytes under maxmemory-policy {policy}; set it to noeviction"
        " (what it evicts is sent again, but late)"
    )
