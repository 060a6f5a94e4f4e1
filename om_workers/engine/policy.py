"""What the memory options resolve to: every threshold as a number, or an error that names field, value and rule."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from om_workers.engine.numbers import round_half_up

KEYLESS_MODEL = "local/extractive"
MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_DURATION = re.compile(
    r"(\d+(?:\.\d+)?) *(?:(ms|msecs?|milliseconds?)|(s|secs?|seconds?)|(m|mins?|minutes?)|(h|hrs?|hours?))",
    re.IGNORECASE | re.ASCII,
)


class InvalidOptionError(ValueError):
    """A memory option breaks its rule; ``field``, ``value`` and ``rule`` say which and why."""

    def __init__(self, field: str, value: object, rule: str) -> None:
        super().__init__(f"{field} = {value!r}: {rule}")
        self.field = field
        self.value = value
        self.rule = rule


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
        """Tokens of raw messages a context never falls below, as long as there are that many (RULES 8.5)."""
        return min(1_000.0, self.retention_floor)

    @property
    def blocks_at(self) -> int:
        """Pending tokens from which a caller that asked to wait waits for an observation."""
        return self.message_tokens if self.block_after is None else self.block_after

    @property
    def minimum_batch(self) -> float:
        """Tokens below which an observation is not worth a call."""
        return (self.message_tokens * 0.2 if self.buffer_tokens is None else self.buffer_tokens) / 2


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
        """Tokens of active observations from which a reflection is prepared."""
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


_TOP = {"model", "observation", "reflection", "activateAfterIdle", "activateOnProviderChange", "scope", "enabled"}
_OBSERVATION = {
    "model", "instruction", "messageTokens", "bufferTokens", "bufferActivation", "blockAfter", "previousObserverTokens",
    "maxTokensPerCall", "activateAfterIdle", "activateOnProviderChange", "openCallTimeout", "maxPinnedTokens",
    "blockTimeout",
}  # fmt: skip
_REFLECTION = {"model", "instruction", "observationTokens", "bufferActivation", "blockAfter"}


def merge_options(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Later layers over earlier ones, section by section; a model at one level of a layer clears the other level's."""
    merged: dict[str, Any] = {}
    for layer in layers:
        sections = {name: {**merged.get(name, {}), **layer.get(name, {})} for name in ("observation", "reflection")}
        if "model" in layer:
            for name in sections:
                if "model" not in layer.get(name, {}):
                    sections[name].pop("model", None)
        base = {key: value for key, value in merged.items() if key not in sections}
        if any("model" in layer.get(name, {}) for name in sections):
            base.pop("model", None)
        merged = {**base, **{key: value for key, value in layer.items() if key not in sections}, **sections}
    return merged


def resolve_policy(options: Mapping[str, Any], *, default_model: str = KEYLESS_MODEL) -> Policy:
    """The policy that ``options`` (reference names, camelCase) stand for.

    Raises ``InvalidOptionError`` for the first option that is unknown, not supported yet, or breaks its rule
    (RULES 3.1-3.9).
    """
    _known("", options, _TOP)
    _only("scope", options.get("scope", "thread"), "thread")
    _only("enabled", options.get("enabled", True), True)
    observation = _section(options, "observation", _OBSERVATION)
    reflection = _section(options, "reflection", _REFLECTION)
    models = _models(options, observation, reflection, default_model)
    return Policy(
        observation=_observation(options, observation, models[0]),
        reflection=_reflection(reflection, models[1], async_on=observation.get("bufferTokens") is not False),
    )


def parse_duration(field: str, value: object) -> int:
    """Milliseconds of a number of milliseconds or a text such as ``"5m"`` or ``"1.5 hr"`` (RULES 3.7)."""
    rule = 'must be milliseconds ≥ 0 or a duration such as "5m", "90s", "1.5hr"'
    if isinstance(value, str):
        match = _DURATION.fullmatch(value.strip())
        if match is None:
            raise InvalidOptionError(field, value, rule)
        unit = next(name for name, text in zip(MILLISECONDS, match.groups()[1:], strict=True) if text)
        return round_half_up(float(match.group(1)) * MILLISECONDS[unit])
    number = _number(field, value, rule)
    if number < 0:
        raise InvalidOptionError(field, value, rule)
    return round_half_up(number)


def _observation(options: Mapping[str, Any], section: Mapping[str, Any], model: str) -> ObservationPolicy:
    threshold = _tokens("observation.messageTokens", section.get("messageTokens", 30_000))
    buffer = _buffer_tokens(section.get("bufferTokens", 0.2), threshold)
    idle = section.get("activateAfterIdle", options.get("activateAfterIdle", False))
    previous = section.get("previousObserverTokens", 2_000)
    return ObservationPolicy(
        model=model,
        instruction=_text("observation.instruction", section.get("instruction", "")),
        message_tokens=threshold,
        buffer_tokens=buffer,
        buffer_activation=_buffer_activation(section.get("bufferActivation", 0.8), threshold),
        block_after=None if buffer is None else _block_after("observation", section.get("blockAfter", 1.2), threshold),
        previous_observer_tokens=None if previous is False else _count("observation.previousObserverTokens", previous),
        max_tokens_per_call=_tokens("observation.maxTokensPerCall", section.get("maxTokensPerCall", threshold)),
        activate_after_idle_ms=None if idle is False else parse_duration("activateAfterIdle", idle),
        activate_on_provider_change=_flag(
            "activateOnProviderChange",
            section.get("activateOnProviderChange", options.get("activateOnProviderChange", False)),
        ),
        open_call_timeout_ms=parse_duration("observation.openCallTimeout", section.get("openCallTimeout", "15m")),
        max_pinned_tokens=_tokens("observation.maxPinnedTokens", section.get("maxPinnedTokens", 4_000)),
        block_timeout_ms=parse_duration("observation.blockTimeout", section.get("blockTimeout", "30s")),
    )


def _reflection(section: Mapping[str, Any], model: str, *, async_on: bool) -> ReflectionPolicy:
    threshold = _tokens("reflection.observationTokens", section.get("observationTokens", 40_000))
    activation = _number("reflection.bufferActivation", section.get("bufferActivation", 0.5), "must be a number")
    if not 0 < activation <= 1:
        raise InvalidOptionError("reflection.bufferActivation", activation, "must be above 0 and at most 1")
    return ReflectionPolicy(
        model=model,
        instruction=_text("reflection.instruction", section.get("instruction", "")),
        observation_tokens=threshold,
        buffer_activation=activation if async_on else None,
        block_after=_block_after("reflection", section.get("blockAfter", 1.2), threshold) if async_on else None,
    )


def _models(
    options: Mapping[str, Any], observation: Mapping[str, Any], reflection: Mapping[str, Any], default: str
) -> tuple[str, str]:
    top = options.get("model")
    for name, section in (("observation", observation), ("reflection", reflection)):
        if top is not None and section.get("model") is not None:
            raise InvalidOptionError(f"{name}.model", section["model"], "cannot be set together with model")
    first, second = observation.get("model"), reflection.get("model")
    return (
        _model("observation.model", top or first or second or default),
        _model("reflection.model", top or second or first or default),
    )


def _model(field: str, value: object) -> str:
    text = _text(field, value)
    provider, _, name = text.partition("/")
    if not provider or not name:
        raise InvalidOptionError(field, value, "must be provider/model, such as local/extractive")
    return text


def _buffer_tokens(value: object, threshold: int) -> int | None:
    field = "observation.bufferTokens"
    if value is False:
        return None
    number = _number(field, value, "must be a share below 1, a number of tokens, or false")
    tokens = round_half_up(threshold * number) if 0 < number < 1 else round_half_up(number)
    if tokens <= 0:
        raise InvalidOptionError(field, value, "must be more than 0 tokens, or false")
    if tokens >= threshold:
        raise InvalidOptionError(field, value, f"must be below observation.messageTokens ({threshold})")
    return tokens


def _buffer_activation(value: object, threshold: int) -> float:
    field = "observation.bufferActivation"
    number = _number(field, value, "must be a share up to 1, or at least 1000 tokens to keep")
    if number <= 0 or 1 < number < 1_000:
        raise InvalidOptionError(field, value, "must be a share above 0 and up to 1, or at least 1000 tokens to keep")
    if number >= 1_000 and number >= threshold:
        raise InvalidOptionError(field, value, f"must be below observation.messageTokens ({threshold})")
    return number


def _block_after(section: str, value: object, threshold: int) -> int:
    field = f"{section}.blockAfter"
    number = _number(field, value, "must be a multiplier from 1 to below 100, or a number of tokens")
    tokens = round_half_up(threshold * number) if 1 <= number < 100 else round_half_up(number)
    if tokens < threshold:
        raise InvalidOptionError(field, value, f"resolves to {tokens} tokens, below the threshold of {threshold}")
    return tokens


def _section(options: Mapping[str, Any], name: str, known: set[str]) -> Mapping[str, Any]:
    section = options.get(name, {})
    if not isinstance(section, Mapping):
        raise InvalidOptionError(name, section, "must be an object")
    _known(f"{name}.", section, known)
    return section


def _known(prefix: str, options: Mapping[str, Any], known: set[str]) -> None:
    for key in options:
        if key not in known:
            raise InvalidOptionError(prefix + key, options[key], "is not an option of this version")


def _only(field: str, value: object, supported: object) -> None:
    if value != supported:
        raise InvalidOptionError(field, value, f"only {supported!r} is supported by this version")


def _tokens(field: str, value: object) -> int:
    number = _count(field, value)
    if number <= 0:
        raise InvalidOptionError(field, value, "must be more than 0 tokens")
    return number


def _count(field: str, value: object) -> int:
    number = _number(field, value, "must be a number of tokens")
    if number < 0 or number != int(number):
        raise InvalidOptionError(field, value, "must be a whole number of tokens, 0 or more")
    return int(number)


def _number(field: str, value: object, rule: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidOptionError(field, value, rule)
    return value


def _flag(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidOptionError(field, value, "must be true or false")
    return value


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidOptionError(field, value, "must be a text")
    return value
