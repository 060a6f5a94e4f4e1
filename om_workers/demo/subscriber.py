"""What a plain Redis subscriber sees of the service."""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict, deque
from typing import Any

import redis

_READ_SECONDS = 0.2
_LATEST = 6


class Subscriber:
    """Reads every event channel in a thread of its own, and keeps what the checks and the view need."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(url, decode_responses=True)
        self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, name="om-demo-subscriber", daemon=True)
        self.numbers: dict[str, list[int]] = defaultdict(list)
        self.activations: Counter[str] = Counter()
        self._jobs: dict[str, tuple[str, str]] = {}
        self.latest: deque[str] = deque(maxlen=_LATEST)

    @property
    def jobs(self) -> dict[str, Counter[str]]:
        """Lane → state → how many jobs are in it."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for lane, state in list(self._jobs.values()):
            found[lane][state] += 1
        return found

    def start(self) -> None:
        """Subscribe, and read from now on."""
        self._pubsub.psubscribe("om:events:*")
        # The server's answer to the subscription is awaited, so that nothing published later is missed.
        self._pubsub.get_message(timeout=1.0)
        self._thread.start()

    def stop(self) -> None:
        """Read what has already come, and no more; to be called once or more."""
        self._stop.set()
        self._thread.join(timeout=5)
        self._pubsub.close()
        self._client.close()

    def _read(self) -> None:
        while True:
            message = self._pubsub.get_message(timeout=_READ_SECONDS)
            if message is not None:
                self.take(json.loads(message["data"]))
            elif self._stop.is_set():
                return

    def take(self, event: dict[str, Any]) -> None:
        """Note one event."""
        self.numbers[event["memory"]].append(event["n"])
        kind, data = event["type"], event["data"]
        if kind == "data-om-activation":
            self.activations[f"{event['thread']}/{data['operationType']}"] += 1
        if kind == "om-job":
            self._jobs[data["jobId"]] = (data["lane"], data["state"])
        if kind != "data-om-status":
            self.latest.append(f"{event['thread']} · {event['n']} · {_words(kind, data)}")


def _words(kind: str, data: dict[str, Any]) -> str:
    if kind == "om-job":
        outcome = f" ({data['outcome']})" if data["outcome"] else ""
        return f"{data['lane']} job {data['state']}{outcome}"
    if kind == "data-om-activation":
        return f"{data['operationType']} activated: {data['tokensActivated']} → {data['observationTokens']} tokens"
    return f"{kind.removeprefix('data-om-')} ({data.get('operationType', '')})"
