"""What a run is made of: how many of whom, what they do, and how often what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.simulation.scripts import Op, write_script

MODEL = ("slow", "late", "beyond", "never", "empty", "loop", "cut", "garbage", "refusal", "limited", "transport",
         "auth", "too_large", "long")  # fmt: skip
"""What a model may do instead of answering well and quickly."""


@dataclass(frozen=True, slots=True)
class Faults:
    """Probabilities: of a crash and a freeze at one step (commits count more), of the rest at each occasion."""

    crash: float = 0.0
    freeze: float = 0.0
    busy: float = 0.0
    lost: float = 0.0
    doubled: float = 0.0
    delayed: float = 0.0
    shuffled: float = 0.0
    flush: float = 0.0
    away: float = 0.0
    skew: float = 0.0
    sigterm: float = 0.0
    model: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run: ``threads`` holds the options of each thread, ``scripts`` what each client does."""

    name: str
    restless: float
    replicas: int
    workers: int
    slots: int
    sweepers: int
    threads: tuple[Mapping[str, Any], ...]
    scripts: tuple[tuple[Op, ...], ...]
    faults: Faults


def _random_faults(random: Random) -> Faults:
    def rate(most: float) -> float:
        return random.choice((0.0, 0.0, most / 4, most))

    model = {name: rate(0.3) for name in MODEL if random.random() < 0.35}
    return Faults(
        crash=rate(0.0012), freeze=rate(0.0008), busy=rate(0.03), lost=rate(0.3), doubled=rate(0.4), delayed=rate(0.3),
        shuffled=rate(0.3), flush=rate(0.1), away=rate(0.1), skew=rate(0.1), sigterm=rate(0.06), model=model,
    )  # fmt: skip


EMPHASES: dict[str, Faults | None] = {
    "mixed": None,
    "calm": Faults(),
    "crashes": Faults(crash=0.0015, lost=0.05),
    "zombies": Faults(freeze=0.0012, model={"slow": 0.2, "late": 0.4}),
    "broker": Faults(lost=0.2, doubled=0.3, delayed=0.3, shuffled=0.4, flush=0.15, away=0.2),
    "models": Faults(model=dict.fromkeys(MODEL, 0.04)),
    "shutdowns": Faults(sigterm=0.2, crash=0.0005, doubled=0.2, skew=0.2, model={"slow": 0.4}),
    "busy": Faults(busy=0.05, freeze=0.0005, doubled=0.2),
}
"""By name; ``mixed`` draws every rate anew."""
_TURN_OF = ("mixed", "crashes", "mixed", "zombies", "mixed", "broker", "mixed", "models", "shutdowns", "busy", "calm")


def draw_scenario(seed: int, name: str | None = None) -> Scenario:
    """The scenario of a seed, or one of this emphasis."""
    random = Random(f"scenario {seed}")
    name = name or _TURN_OF[seed % len(_TURN_OF)]
    faults = EMPHASES[name] or _random_faults(random)
    threads = tuple(_options(random) for _ in range(random.choice((1, 1, 1, 2, 3))))
    clients = random.choice((2, 3, 4))
    steps = 13 // clients
    scripts = tuple(
        write_script(random, f"c{number}", thread=random.randrange(len(threads)), steps=steps)
        for number in range(clients)
    )
    return Scenario(
        name=name,
        restless=random.choice((0.02, 0.1, 0.3)),
        replicas=2,
        workers=random.choice((2, 2, 3)),
        slots=random.choice((1, 1, 2)),
        sweepers=random.choice((1, 2)),
        threads=threads,
        scripts=scripts,
        faults=faults,
    )


def without_faults(scenario: Scenario) -> Scenario:
    """The same actors doing the same, and nothing goes wrong."""
    return replace(scenario, faults=Faults())


def _options(random: Random) -> dict[str, Any]:
    observation: dict[str, Any] = {
        "messageTokens": random.choice((60, 80, 100)),
        "bufferTokens": random.choice((20, 25, 35, False)),
        "bufferActivation": random.choice((0.8, 0.5, 1.0)),
        "blockAfter": random.choice((1.2, 1.0, 2.0)),
        "maxPinnedTokens": random.choice((4_000, 20)),
    }
    if random.random() < 0.3:
        observation["activateAfterIdle"] = random.choice((2_000, 20_000))
    if random.random() < 0.3:
        observation["activateOnProviderChange"] = True
    if random.random() < 0.3:
        observation["openCallTimeout"] = "10s"
    reflection = {
        "observationTokens": random.choice((20, 25, 35)),
        "bufferActivation": random.choice((0.5, 1.0)),
        "blockAfter": random.choice((1.2, 3.0)),
    }
    return {"observation": observation, "reflection": reflection}
