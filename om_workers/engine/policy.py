"""What the memory options resolve to: every threshold as a number."""

from __future__ import annotations

from dataclasses import dataclass

from om_workers.engine.numbers import round_half_up

KEYLESS_MODEL = "local/extractive"


@dataclass(frozen=True, slots=True)
class ObservationPolicy:
    """When and how messages become observations; all sizes in tokens, times in milliseconds (RULES 3)."""

    model: str = KEYLESS_MODEL
    instruction: str = ""
    message_tokens: int = 30_000
    buffer_tokens: int | None = 6_000
    buffer_activation: float = 0.8
    block_after: int | None = 36_000
    previous_observer_tokens: int | None = 2_000
    max_tokens_per_call: int = 30_000
    activate_after_idle_ms: int | None = None
    activate_on_provider_change: bool = False
    open_call_timeout_ms: int = 900_000
    max_pinned_tokens: int = 4_000
    block_timeout_ms: int = 30_000

    @property
    def retention_floor(self) -> float:
        """Tokens of raw messages an activation tries to leave (RULES 4.3)."""
        if self.buffer_activation >= 1_000:
            return self.buffer_activation
        return self.message_tokens * (1 - min(1.0, max(0.0, self.buffer_activation)))

    @property
    def minimum_tail(self) -> float:
        """Tokens of raw messages up to which a context shows covered ones beside the pending (RULES 8.5)."""
        return min(1_000.0, self.retention_floor)

    @property
    def blocks_at(self) -> int:
        """Pending tokens from which a caller that asked to wait waits for an observation (RULES 4.8)."""
        return self.message_tokens if self.block_after is None else self.block_after

    @property
    def minimum_batch(self) -> float:
        """Coverable tokens below which the threshold starts no observation, while buffering is off (RULES 4.1)."""
        return self.message_tokens * 0.1


@dataclass(frozen=True, slots=True)
class ReflectionPolicy:
    """When and how observations are condensed; all sizes in tokens (RULES 5)."""

    model: str = KEYLESS_MODEL
    instruction: str = ""
    observation_tokens: int = 40_000
    buffer_activation: float | None = 0.5
    block_after: int | None = 48_000

    @property
    def starts_at(self) -> float:
        """Tokens of active observations from which a reflection is prepared (RULES 5.1)."""
        return self.observation_tokens * (1.0 if self.buffer_activation is None else self.buffer_activation)

    @property
    def served_limit(self) -> int:
        """Most tokens the rendered log may take (RULES 5.6)."""
        return round_half_up(self.observation_tokens * 1.2) if self.block_after is None else self.block_after

    @property
    def growth(self) -> float:
        """Tokens the log grows by before the next reflection is tried (RULES 5.5)."""
        return self.observation_tokens * 0.2


@dataclass(frozen=True, slots=True)
class Policy:
    """The resolved options of one memory."""

    observation: ObservationPolicy = ObservationPolicy()
    reflection: ReflectionPolicy = ReflectionPolicy()
