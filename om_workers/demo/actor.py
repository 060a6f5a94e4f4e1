"""How one thread is played: append a step, read the context before the actor's next one, and measure it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from om_workers.demo.budget import Written, rendered_tokens
from om_workers.demo.conversation import Conversation, Step
from om_workers.engine.messages import CountTokens

_WAIT_SECONDS = 60.0
_TRIES = 5


@dataclass(frozen=True, slots=True)
class Thresholds:
    """T and R of the played threads, in tokens."""

    message_tokens: int
    observation_tokens: int

    @property
    def bound(self) -> float:
        """What a context stays within, beside its unfinished step and the pinned message."""
        return 1.2 * (self.message_tokens + self.observation_tokens)

    @property
    def options(self) -> dict[str, Any]:
        """The memory options that set them."""
        return {
            "observation": {"messageTokens": self.message_tokens},
            "reflection": {"observationTokens": self.observation_tokens},
        }


@dataclass(slots=True)
class Played:
    """What is known of a thread while and after it is played."""

    conversation: Conversation
    written: Written
    steps: int = 0
    contexts: int = 0
    worst: float = 0.0
    stale: int = 0
    status: Mapping[str, Any] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)


class Actor:
    """Plays one thread over HTTP."""

    def __init__(
        self, client: httpx.Client, conversation: Conversation, thresholds: Thresholds, count: CountTokens
    ) -> None:
        self._client = client
        self._thresholds = thresholds
        self._count = count
        self.played = Played(conversation, Written(count))

    def play(self, stopped: Callable[[], bool]) -> None:
        """Every step in order; raises ``httpx.HTTPError`` for an answer that is no success."""
        conversation = self.played.conversation
        body = {"id": conversation.thread, "resource_id": conversation.resource, "options": self._thresholds.options}
        self._post("/v1/threads", body)
        for step in conversation.steps:
            if stopped():
                return
            self._append(step)
            if step.messages[-1].role != "assistant":
                self.read_context()

    def read_context(self) -> None:
        """Read the context as the actor's next step would, and compare its size with what is allowed."""
        answer = self._post(self._path("context"), {"wait": True})
        played = self.played
        played.context = answer.json()
        played.status = played.context["status"]
        played.contexts += 1
        played.stale += bool(played.context["stale"])
        allowed = self._thresholds.bound + played.written.unfinished + played.written.pinned
        played.worst = max(played.worst, rendered_tokens(played.context, self._count) / allowed)

    def read_status(self) -> Mapping[str, Any]:
        """The thread's status of this moment."""
        answer = self._client.get(self._path("status"))
        answer.raise_for_status()
        self.played.status = answer.json()
        return self.played.status

    def stored_ids(self) -> list[str]:
        """Ids of all stored messages, page by page."""
        found: list[str] = []
        while True:
            answer = self._client.get(self._path("messages"), params={"after": len(found), "limit": 500})
            answer.raise_for_status()
            page = answer.json()["messages"]
            found += [message["id"] for message in page]
            if not page:
                return found

    def _append(self, step: Step) -> None:
        body = {"messages": list(step.bodies), "resource_id": self.played.conversation.resource}
        answer = self._post(self._path("messages"), body)
        self.played.status = answer.json()["status"]
        self.played.steps += 1
        new = {stored["id"] for stored in answer.json()["stored"] if not stored["duplicate"]}
        for message in step.messages:
            if message.id in new:
                self.played.written.add(message)

    def _post(self, path: str, body: Mapping[str, Any]) -> httpx.Response:
        """The answer; what was busy is asked again, since a step is stored once however often it is sent."""
        for _ in range(_TRIES - 1):
            answer = self._client.post(path, json=body, timeout=_WAIT_SECONDS)
            if answer.status_code != HTTPStatus.SERVICE_UNAVAILABLE:
                return answer.raise_for_status()
            threading.Event().wait(float(answer.headers.get("Retry-After", 1)))
        return self._client.post(path, json=body, timeout=_WAIT_SECONDS).raise_for_status()

    def _path(self, name: str) -> str:
        return f"/v1/threads/{quote(self.played.conversation.thread, safe='')}/{name}"
