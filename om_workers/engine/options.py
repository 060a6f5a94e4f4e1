"""How memory options are layered, and how they resolve to a policy or to an error that names field, value and rule."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from om_workers.engine.durations import parse_duration
from om_workers.engine.numbers import round_half_up
from om_workers.engine.option_values import (
    InvalidOptionError,
    read_count,
    read_flag,
    read_number,
    read_text,
    read_tokens,
)
from om_workers.engine.policy import KEYLESS_MODEL, ObservationPolicy, Policy, ReflectionPolicy

SECTIONS = ("observation", "reflection")
_TOP = {*SECTIONS, "model", "activateAfterIdle", "activateOnProviderChange", "scope", "enabled"}
_OBSERVATION = {
    "model", "instruction", "messageTokens", "bufferTokens", "bufferActivation", "blockAfter", "previousObserverTokens",
    "maxTokensPerCall", "activateAfterIdle", "activateOnProviderChange", "openCallTimeout", "maxPinnedTokens",
    "blockTimeout",
}  # fmt: skip
_REFLECTION = {"model", "instruction", "observationTokens", "bufferActivation", "blockAfter"}


def merge_options(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """Later layers over earlier ones, option by option (RULES 3.6).

    A model at one level of a layer clears the other level's. Raises ``InvalidOptionError`` for a section that is none.
    """
    merged: dict[str, Any] = {}
    for layer in layers:
        merged = _over(merged, layer)
    return merged


def resolve_policy(options: Mapping[str, Any], *, default_model: str = KEYLESS_MODEL) -> Policy:
    """The policy that ``options`` (reference names, camelCase) stand for.

    Raises ``InvalidOptionError`` for the first option that is unknown, not supported yet, or breaks its rule
    (RULES 3.1-3.9).
    """
    _known("", options, _TOP)
    _only("scope", options.get("scope", "thread"), "thread")
    _only("enabled", options.get("enabled", True), supported=True)
    observation, reflection = (_section(options, name) for name in SECTIONS)
    _known("observation.", observation, _OBSERVATION)
    _known("reflection.", reflection, _REFLECTION)
    models = _models(options, observation, reflection, default_model)
    return Policy(
        observation=_observation(options, observation, models[0]),
        reflection=_reflection(reflection, models[1], async_on=observation.get("bufferTokens") is not False),
    )


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    sections = {name: _section(above, name) for name in SECTIONS}
    merged = {**below, **above}
    if "model" not in above and any("model" in section for section in sections.values()):
        merged.pop("model", None)
    for name, section in sections.items():
        kept = {key: value for key, value in below.get(name, {}).items() if key != "model" or "model" not in above}
        merged[name] = {**kept, **section}
    return merged


def _observation(options: Mapping[str, Any], section: Mapping[str, Any], model: str) -> ObservationPolicy:
    threshold = read_tokens("observation.messageTokens", section.get("messageTokens", 30_000))
    buffer = _buffer_tokens(section.get("bufferTokens", 0.2), threshold)
    block_after = _block_after("observation", section.get("blockAfter", 1.2), threshold)
    previous = section.get("previousObserverTokens", 2_000)
    return ObservationPolicy(
        model=model,
        instruction=read_text("observation.instruction", section.get("instruction", "")),
        message_tokens=threshold,
        buffer_tokens=buffer,
        buffer_activation=_buffer_activation(section.get("bufferActivation", 0.8), threshold),
        block_after=None if buffer is None else block_after,
        previous_observer_tokens=(
            None if previous is False else read_count("observation.previousObserverTokens", previous)
        ),
        max_tokens_per_call=read_tokens("observation.maxTokensPerCall", section.get("maxTokensPerCall", threshold)),
        activate_after_idle_ms=_idle(*_inherited(options, section, "activateAfterIdle")),
        activate_on_provider_change=read_flag(*_inherited(options, section, "activateOnProviderChange")),
        open_call_timeout_ms=parse_duration("observation.openCallTimeout", section.get("openCallTimeout", "15m")),
        max_pinned_tokens=read_tokens("observation.maxPinnedTokens", section.get("maxPinnedTokens", 4_000)),
        block_timeout_ms=parse_duration("observation.blockTimeout", section.get("blockTimeout", "30s")),
    )


def _reflection(section: Mapping[str, Any], model: str, *, async_on: bool) -> ReflectionPolicy:
    threshold = read_tokens("reflection.observationTokens", section.get("observationTokens", 40_000))
    block_after = _block_after("reflection", section.get("blockAfter", 1.2), threshold)
    rule = "must be a share above 0 and at most 1"
    activation = read_number("reflection.bufferActivation", section.get("bufferActivation", 0.5), rule)
    if not 0 < activation <= 1:
        raise InvalidOptionError("reflection.bufferActivation", activation, rule)
    return ReflectionPolicy(
        model=model,
        instruction=read_text("reflection.instruction", section.get("instruction", "")),
        observation_tokens=threshold,
        buffer_activation=activation if async_on else None,
        block_after=block_after if async_on else None,
    )


def _inherited(options: Mapping[str, Any], section: Mapping[str, Any], name: str) -> tuple[str, object]:
    """Where an option of the observation stands that the top level may give as well, and its value."""
    return (f"observation.{name}", section[name]) if name in section else (name, options.get(name, False))


def _idle(field: str, value: object) -> int | None:
    if value == "auto":
        raise InvalidOptionError(field, value, "is not supported by this version; give a duration")
    return None if value is False else parse_duration(field, value)


def _models(
    options: Mapping[str, Any], observation: Mapping[str, Any], reflection: Mapping[str, Any], default: str
) -> tuple[str, str]:
    for name, section in zip(SECTIONS, (observation, reflection), strict=True):
        if "model" in options and "model" in section:
            raise InvalidOptionError(f"{name}.model", section["model"], "cannot be set together with model")
    given = {
        field: _model(field, holder["model"])
        for field, holder in (("model", options), ("observation.model", observation), ("reflection.model", reflection))
        if "model" in holder
    }
    own = given.get("observation.model"), given.get("reflection.model")
    shared = given.get("model") or own[0] or own[1] or _model("model", default)
    return own[0] or shared, own[1] or shared


def _model(field: str, value: object) -> str:
    text = read_text(field, value)
    provider, _, name = text.partition("/")
    if not provider or not name:
        raise InvalidOptionError(field, value, "must be provider/model, such as local/extractive")
    return text


def _buffer_tokens(value: object, threshold: int) -> int | None:
    field = "observation.bufferTokens"
    if value is False:
        return None
    number = read_number(field, value, "must be a share below 1, a number of tokens, or false")
    tokens = round_half_up(threshold * number) if 0 < number < 1 else round_half_up(number)
    if tokens <= 0:
        raise InvalidOptionError(field, value, "must be more than 0 tokens, or false")
    if tokens >= threshold:
        raise InvalidOptionError(field, value, f"must be below observation.messageTokens ({threshold})")
    return tokens


def _buffer_activation(value: object, threshold: int) -> float:
    field = "observation.bufferActivation"
    number = read_number(field, value, "must be a share up to 1, or at least 1000 tokens to keep")
    if number <= 0 or 1 < number < 1_000:
        raise InvalidOptionError(field, value, "must be a share above 0 and up to 1, or at least 1000 tokens to keep")
    if number >= 1_000 and number >= threshold:
        raise InvalidOptionError(field, value, f"must be below observation.messageTokens ({threshold})")
    return number


def _block_after(section: str, value: object, threshold: int) -> int:
    field = f"{section}.blockAfter"
    number = read_number(field, value, "must be a multiplier from 1 to below 100, or a number of tokens")
    tokens = round_half_up(threshold * number) if 1 <= number < 100 else round_half_up(number)
    if tokens < threshold:
        raise InvalidOptionError(field, value, f"resolves to {tokens} tokens, below the threshold of {threshold}")
    return tokens


def _section(options: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = options.get(name, {})
    if not isinstance(section, Mapping):
        raise InvalidOptionError(name, section, "must be an object")
    return section


def _known(prefix: str, options: Mapping[str, Any], known: set[str]) -> None:
    for key in options:
        if key not in known:
            raise InvalidOptionError(prefix + key, options[key], "is not an option of this version")


def _only(field: str, value: object, supported: object) -> None:
    if value != supported or type(value) is not type(supported):
        raise InvalidOptionError(field, value, f"only {json.dumps(supported)} is supported by this version")
