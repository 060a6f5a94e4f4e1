"""Which buffered segments become active, and why now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import accumulate

from om_workers.engine.policy import ObservationPolicy


class ActivationReason(StrEnum):
    """Why an activation happens, strongest first."""

    PROVIDER_CHANGE = "provider_change"
    TTL = "ttl"
    THRESHOLD = "threshold"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True)
class Activity:
    """What is known of the actor: when it last wrote, with which model, and with which model it asks now."""

    last_at: datetime | None = None
    last_model: str | None = None
    model: str | None = None
    idle_handled: bool = False
    """This idle time has led to an activation already."""


def choose_prefix(
    chunk_tokens: Sequence[int], *, pending: int, threshold: int, buffer_activation: float, force: bool
) -> int:
    """How many of the buffered chunks (message tokens each, oldest first) one activation takes (RULES 4.4).

    At least 1 when there is any. ``pending`` counts every raw token of this moment. Takes the prefix whose removal
    comes closest to the retention floor by five rules; ``force`` drops the guard against overshooting.
    """
    if not chunk_tokens:
        return 0
    floor = threshold * (1 - _ratio(buffer_activation, threshold))
    target = max(0.0, pending - floor)
    least = min(1_000.0, floor)
    sums = list(accumulate(chunk_tokens))
    over = next((k for k, total in enumerate(sums) if total >= target), None)
    under = max((k for k, total in enumerate(sums) if 0 < total < target), default=None)
    if over is not None and pending - sums[over] >= least and (force or sums[over] - target <= 0.95 * floor):
        return over + 1
    if under is not None and pending - sums[under] >= least:
        return under + 1
    return 1 if over is None else over + 1


def activation_reason(
    pending: int, activity: Activity, policy: ObservationPolicy, now: datetime
) -> ActivationReason | None:
    """Why buffered segments are due at ``now``, in priority provider change, idle time, threshold (RULES 4.2)."""
    if policy.activate_on_provider_change and provider_changed(activity.last_model, activity.model):
        return ActivationReason.PROVIDER_CHANGE
    idle_at = idle_deadline(activity, policy)
    if idle_at is not None and now >= idle_at:
        return ActivationReason.TTL
    return ActivationReason.THRESHOLD if pending >= policy.message_tokens else None


def idle_deadline(activity: Activity, policy: ObservationPolicy) -> datetime | None:
    """When the idle time runs out, unless there is none or this idle time was handled already."""
    if policy.activate_after_idle_ms is None or activity.last_at is None or activity.idle_handled:
        return None
    return activity.last_at + timedelta(milliseconds=policy.activate_after_idle_ms)


def provider_changed(before: str | None, now: str | None) -> bool:
    """Whether two actor models (``provider/model``) differ; unknown on either side is no change (RULES 4.2).

    Providers are compared up to their first dot, so ``openai.responses/m`` equals ``openai/m``.
    """
    if not before or not now:
        return False
    (first, model_before), (second, model_now) = _split(before), _split(now)
    if model_before != model_now:
        return True
    return bool(first and second) and first.split(".")[0] != second.split(".")[0]


def _split(model: str) -> tuple[str, str]:
    provider, slash, name = model.partition("/")
    return (provider, name) if slash else ("", model)


def _ratio(buffer_activation: float, threshold: int) -> float:
    ratio = 1 - buffer_activation / threshold if buffer_activation >= 1_000 else buffer_activation
    return min(1.0, max(0.0, ratio))
