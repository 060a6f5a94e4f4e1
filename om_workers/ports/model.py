"""How a service talks to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from om_workers.engine.messages import Message
from om_workers.engine.prompts import Prompt
from om_workers.engine.retry import Outcome


@dataclass(frozen=True, slots=True)
class ObserverInput:
    """The messages of one observation, for models that read messages instead of a prompt."""

    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class ReflectorInput:
    """The segment texts of one reflection, oldest first, and the tokens to stay below."""

    texts: Sequence[str]
    target_tokens: int


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call: the prompt, what it was made from, and its limits.

    ``call_id`` is the ledger row's id; ``timeout_seconds`` ends the call whatever the model does.
    """

    model: str
    kind: str
    prompt: Prompt
    material: ObserverInput | ReflectorInput
    call_id: str
    job_id: str
    attempt: int
    timeout_seconds: float
    temperature: float
    max_output_tokens: int = 100_000


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What the model answered; ``finish`` is ``stop``, ``length``, ``refusal`` or ``other``."""

    text: str
    finish: str = "stop"
    input_tokens: int | None = None
    output_tokens: int | None = None


class ModelError(Exception):
    """A call that gave no answer. ``outcome`` is its class; ``retry_after_seconds`` what the provider asked for."""

    def __init__(self, outcome: Outcome, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.retry_after_seconds = retry_after_seconds


class Model(Protocol):
    """A model behind its provider."""

    def generate(self, request: ModelRequest) -> ModelReply:
        """The model's answer; raises ``ModelError`` when there is none."""
        ...

    def cancel(self, call_id: str) -> None:
        """End the call of this id from another thread, if it still runs; it then raises ``ModelError``."""
        ...


class Models(Protocol):
    """Finds the model of a ``provider/model`` id."""

    def get(self, model: str) -> Model:
        """The model; raises ``ModelError`` (class auth) for a provider that is unknown or not configured."""
        ...
