"""Agents that write over HTTP whatever dies, remember what was acknowledged, and check every context they read."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

Message = dict[str, Any]
_PATIENCE_SECONDS = 60.0
_WORDS = "harbour kettle ledger orchid pilot quarry ribbon saddle tunnel violet wicket yonder".split()


@dataclass
class Conversation:
    """One thread and what its writers know to be stored: message id → seq."""

    id: str
    acknowledged: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def known(self) -> dict[str, int]:
        """What is acknowledged at this moment."""
        with self.lock:
            return dict(self.acknowledged)


@dataclass
class Tally:
    """What all clients found: figures, and violations in words."""

    counts: dict[str, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    slowest_append: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, number: int = 1) -> None:
        """Count something."""
        with self.lock:
            self.counts[name] = self.counts.get(name, 0) + number

    def violation(self, words: str) -> None:
        """Note something that must never happen."""
        with self.lock:
            self.violations.append(words)

    def append_took(self, seconds: float) -> None:
        """Note how long an append took until it was acknowledged."""
        with self.lock:
            self.slowest_append = max(self.slowest_append, seconds)


class Writer(threading.Thread):
    """One agent: writes steps to its conversations in turn until ``stop`` is set, then finishes what it began."""

    def __init__(
        self,
        name: str,
        conversations: Sequence[Conversation],
        *,
        replicas: Sequence[str],
        chance: random.Random,
        tally: Tally,
        stop: threading.Event,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._conversations = conversations
        self._replicas = replicas
        self._chance = chance
        self._tally = tally
        self._stop_writing = stop
        self._number = 0
        self._http = httpx.Client(timeout=6.0)

    def run(self) -> None:
        """Write until told to stop; a violation is noted, never raised."""
        try:
            while not self._stop_writing.is_set():
                self._turn(self._chance.choice(self._conversations))
        except Exception as error:  # noqa: BLE001 - a dead writer would look like a quiet one
            self._tally.violation(f"writer {self.name} died: {error!r}")
        finally:
            self._http.close()

    def _turn(self, conversation: Conversation) -> None:
        for messages in self._steps(conversation):
            self._append(conversation, messages)
            if self._chance.random() < 0.3:
                self._read(conversation)
            self._stop_writing.wait(self._chance.uniform(0.02, 0.3))

    def _steps(self, conversation: Conversation) -> list[list[Message]]:
        user = self._text(conversation, "user", self._chance.randint(20, 80))
        answer = self._text(conversation, "assistant", self._chance.randint(40, 120))
        kind = self._chance.random()
        if kind < 0.5:
            return [[user, answer]]
        call_id = self._next_id()
        call = {"type": "tool-call", "toolCallId": call_id, "toolName": "search"}
        result = {"type": "tool-result", "toolCallId": call_id, "toolName": "search"}
        asked = self._message(conversation, "assistant", call, "args")
        told = self._message(conversation, "tool", result, "result")
        if kind < 0.65:
            return [[user, asked, told, answer]]
        if kind < 0.95:
            return [[user, asked], [told, answer]]
        return [[user, asked]]  # this agent died: its call stays open until the next user speaks

    def _text(self, conversation: Conversation, role: str, words: int) -> Message:
        text = " ".join(self._chance.choices(_WORDS, k=words))
        return self._message(conversation, role, {"type": "text", "text": text}, "text")

    def _message(self, conversation: Conversation, role: str, part: dict[str, Any], place: str) -> Message:
        """A message whose part carries a mark that names it, beside what the part says."""
        message_id = self._next_id()
        marked = f"mark:{conversation.id}/{message_id}"
        text = f"{marked} {part.get(place, '')}".strip()
        with conversation.lock:
            conversation.texts[message_id] = text
        content: Any = {"q": text} if place == "args" else text
        return {"id": message_id, "role": role, "parts": [{**part, place: content}]}

    def _next_id(self) -> str:
        self._number += 1
        return f"{self.name}-{self._number}"

    def _append(self, conversation: Conversation, messages: list[Message]) -> None:
        began = time.monotonic()
        path = f"/v1/threads/{conversation.id}/messages"
        while True:
            answer = self._ask("POST", path, json={"messages": messages})
            if answer is not None and answer.status_code == httpx.codes.ACCEPTED:
                break
            self._tally.add("append retries")
            if time.monotonic() - began > _PATIENCE_SECONDS:
                self._tally.violation(f"append to {conversation.id} never accepted: {_words(answer)}")
                return
            time.sleep(self._chance.uniform(0.05, 0.3))  # noqa: TID251 - a client between two tries
        self._tally.append_took(time.monotonic() - began)
        self._acknowledge(conversation, messages, answer.json()["stored"])
        if self._chance.random() < 0.1:
            self._append_again(conversation, messages)

    def _acknowledge(self, conversation: Conversation, messages: list[Message], stored: list[dict[str, Any]]) -> None:
        if [entry["id"] for entry in stored] != [message["id"] for message in messages]:
            self._tally.violation(f"{conversation.id}: an acknowledgement names other messages: {stored}")
        with conversation.lock:
            for entry in stored:
                before = conversation.acknowledged.setdefault(entry["id"], entry["seq"])
                if before != entry["seq"]:
                    self._tally.violation(f"{conversation.id}: {entry['id']} has seq {before} and {entry['seq']}")
        self._tally.add("messages", len(messages))

    def _append_again(self, conversation: Conversation, messages: list[Message]) -> None:
        """What a client does that never got the answer: the same once more, here or at another replica."""
        answer = self._ask("POST", f"/v1/threads/{conversation.id}/messages", json={"messages": messages})
        if answer is None or answer.status_code != httpx.codes.ACCEPTED:
            return
        self._tally.add("appends repeated")
        for entry in answer.json()["stored"]:
            if not entry["duplicate"] or conversation.known().get(entry["id"]) != entry["seq"]:
                self._tally.violation(f"{conversation.id}: a repeated append was stored again: {entry}")

    def _read(self, conversation: Conversation) -> None:
        before = conversation.known()
        how: tuple[str, dict[str, Any]] = ("GET", {})
        if self._chance.random() < 0.5:
            how = ("POST", {"json": {"wait": self._chance.choice([False, 0.5])}})
        answer = self._ask(how[0], f"/v1/threads/{conversation.id}/context", **how[1])
        if answer is not None and answer.status_code == httpx.codes.OK:
            self._tally.add("contexts read")
            for words in context_violations(conversation.id, before, answer.json()):
                self._tally.violation(words)

    def _ask(self, method: str, path: str, **arguments: Any) -> httpx.Response | None:
        """The answer of a replica chosen by chance, or ``None`` when it had none that counts."""
        try:
            answer = self._http.request(method, self._chance.choice(self._replicas) + path, **arguments)
        except httpx.HTTPError:
            self._tally.add("requests without an answer")
            return None
        if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            self._tally.add(f"answers {answer.status_code}")
            if answer.headers.get("content-type") != "application/problem+json":
                self._tally.violation(f"{method} {path}: {answer.status_code} without a problem: {answer.text[:200]}")
        elif answer.status_code >= httpx.codes.BAD_REQUEST:
            self._tally.violation(f"{method} {path}: {_words(answer)}")
        return answer


def context_violations(thread: str, acknowledged: dict[str, int], context: dict[str, Any]) -> list[str]:
    """What a context that was read after these acknowledgements breaks: nothing may be missing, no pair halved."""
    shown = {message["id"] for message in context["messages"]}
    covered = context["covered_seq"]
    missing = [id for id, seq in acknowledged.items() if seq > covered and id not in shown]
    found = [f"{thread}: acknowledged, not covered, not shown: {missing[:5]}"] if missing else []
    return found + [f"{thread}: half a pair: {call}" for call in _half_pairs(context["messages"])]


def _half_pairs(messages: Sequence[Message]) -> list[str]:
    calls: list[str] = []
    results: list[str] = []
    for message in messages:
        for part in message["parts"]:
            if part["type"] == "tool-call":
                calls.append(part["toolCallId"])
            elif part["type"] == "tool-result":
                results.append(part["toolCallId"])
    return sorted(set(calls) ^ set(results)) + [call for call in set(calls) if calls.count(call) > 1]


def _words(answer: httpx.Response | None) -> str:
    return "no answer" if answer is None else f"{answer.status_code} {answer.text[:300]}"
