"""What happens to a job after an attempt, by outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from om_workers.engine.jobs import Lane

PROBE_SECONDS = 3_600
LOSSES_BEFORE_QUARANTINE = 2
"""A job lost this often runs apart from then on (RULES 6.9)."""

_LONGEST_SECONDS = 120.0


class Outcome(StrEnum):
    """How an attempt ended; each one is counted apart."""

    STORED = "stored"
    EMPTY = "empty"
    UNUSABLE = "unusable"
    REFUSED = "refused"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    TRANSPORT = "transport"
    AUTH = "auth"
    LOST = "lost"
    CANCELLED = "cancelled"
    HANDED_BACK = "handed_back"
    REMOVED = "removed"


class NextStep(StrEnum):
    """What becomes of the job."""

    RETRY = "retry"
    SHRINK = "shrink"
    STAND_IN = "stand_in"
    PARK = "park"


@dataclass(frozen=True, slots=True)
class Rule:
    """One outcome's policy: how often it is simply tried again, and what comes then.

    ``wait``: whether retries back off. ``then``: what follows ``tries`` failures of this kind at one size.
    """

    tries: int
    wait: bool
    then: NextStep


_SHARED: dict[Outcome, Rule] = {
    Outcome.RATE_LIMITED: Rule(tries=12, wait=True, then=NextStep.PARK),
    Outcome.TRANSPORT: Rule(tries=8, wait=True, then=NextStep.PARK),
    Outcome.AUTH: Rule(tries=0, wait=False, then=NextStep.PARK),
}
RULES: dict[Lane, dict[Outcome, Rule]] = {
    Lane.OBSERVE: {
        **_SHARED,
        Outcome.EMPTY: Rule(tries=1, wait=False, then=NextStep.STAND_IN),
        Outcome.UNUSABLE: Rule(tries=2, wait=True, then=NextStep.SHRINK),
        Outcome.REFUSED: Rule(tries=1, wait=True, then=NextStep.SHRINK),
        Outcome.TOO_LARGE: Rule(tries=0, wait=False, then=NextStep.SHRINK),
        Outcome.LOST: Rule(tries=2, wait=False, then=NextStep.SHRINK),
    },
    Lane.REFLECT: {
        **_SHARED,
        Outcome.EMPTY: Rule(tries=4, wait=True, then=NextStep.PARK),
        Outcome.UNUSABLE: Rule(tries=4, wait=True, then=NextStep.PARK),
        Outcome.REFUSED: Rule(tries=2, wait=True, then=NextStep.PARK),
        Outcome.TOO_LARGE: Rule(tries=0, wait=False, then=NextStep.PARK),
        Outcome.LOST: Rule(tries=4, wait=True, then=NextStep.PARK),
    },
}
"""The table of RULES 6.6. Outcomes that are not here (stored, cancelled, handed back, removed) need no decision."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision for one failed attempt: the next step, and the seconds before it."""

    step: NextStep
    delay_seconds: float = 0.0


def verdict(
    outcome: Outcome,
    failures: int,
    *,
    lane: Lane,
    quarantined: bool = False,
    jitter: float = 0.0,
    retry_after_seconds: float | None = None,
) -> Verdict:
    """What to do after the ``failures``-th failure of this kind at the job's present size, from 1 (RULES 6.4, 6.6).

    ``jitter`` in [-1, 1] spreads the delay by 20 %. ``retry_after_seconds``: what the provider asked for, a lower bound
    of the delay as far as a parked job would wait (RULES 6.5). A loss in quarantine is the job's own doing: it is not
    simply tried again (RULES 6.9).
    """
    rule = RULES[lane][outcome]
    if failures > rule.tries or (quarantined and outcome is Outcome.LOST):
        return Verdict(rule.then, PROBE_SECONDS if rule.then is NextStep.PARK else 0.0)
    delay = backoff_seconds(failures - 1, jitter=jitter) if rule.wait else 0.0
    return Verdict(NextStep.RETRY, max(delay, min(retry_after_seconds or 0.0, PROBE_SECONDS)))


def backoff_seconds(retry: int, *, jitter: float) -> float:
    """Seconds before retry ``retry`` (from 0): 1, 2, 4 … up to 120, spread by ``jitter`` x 20 % (RULES 6.5)."""
    base = min(2.0 ** min(retry, 16), _LONGEST_SECONDS)
    return max(0.0, base * (1 + 0.2 * jitter))
