"""Everything a service needs from outside, in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from om_workers.engine.policy import KEYLESS_MODEL
from om_workers.ports.bus import EventBus, TaskQueue
from om_workers.ports.clock import Clock, Ids
from om_workers.ports.model import Models
from om_workers.ports.store import Store
from om_workers.ports.tokens import Tokenizer


class Log(Protocol):
    """Structured logs: an action from a short list, and fields; never message text, never a secret."""

    def info(self, action: str, **fields: object) -> None:
        """Something that is expected to happen."""
        ...

    def warning(self, action: str, **fields: object) -> None:
        """Something an operator may want to look at."""
        ...


@dataclass(frozen=True, slots=True)
class Timing:
    """How long leases and attempts live, in seconds, and how many tasks may wait on the broker."""

    lease_seconds: float = 10.0
    heartbeat_seconds: float = 3.0
    attempt_seconds: float = 600.0
    resend_seconds: float = 5.0
    drain_seconds: float = 20.0
    window: int = 64


@dataclass(frozen=True, slots=True)
class Ports:
    """The outside of the services. ``default_model`` stands for memories whose options name none."""

    store: Store
    clock: Clock
    ids: Ids
    tokens: Tokenizer
    queue: TaskQueue
    bus: EventBus
    models: Models
    log: Log
    timing: Timing = Timing()
    default_model: str = KEYLESS_MODEL
