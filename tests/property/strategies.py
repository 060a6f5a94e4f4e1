"""Policies, texts and token counters as hypothesis draws them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from om_workers.engine.options import resolve_policy
from om_workers.engine.policy import Policy

CountTokens = Callable[[str], int]

COUNTERS: dict[str, CountTokens] = {
    "words": lambda text: len(text.split()),
    "letters": len,
    "quarters": lambda text: -(-len(text) // 4),
    "one more a text": lambda text: len(text.split()) + 1 if text else 0,
    "dear line breaks": lambda text: len(text.split()) + 5 * text.count("\n"),
    "jumpy": lambda text: len(text) + (17 if len(text) % 5 == 3 else 0),
}
"""Counters as real ones are: rounded, not additive, not even growing with the text; 0 for the empty text."""

counters = st.sampled_from(sorted(COUNTERS)).map(COUNTERS.__getitem__)

hostile_texts = st.lists(
    st.sampled_from(
        ["<", "</", ">", "&", "&lt;", "&amp;", "observations", "current-task", "!", "?", "/", " ", "\n", "🟡", "🔴",
         "[1]", "[3-5]", "* ", "Date: Mar 1, 2026", "a", "É", "\ufe0f"]
    )
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=3),
    max_size=12,
).map("".join)  # fmt: skip


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Any valid policy of small thresholds, buffering on or off."""
    threshold = draw(st.integers(10, 5_000))
    observation: dict[str, Any] = {"messageTokens": threshold}
    share = draw(st.one_of(st.just(value=False), st.integers(1, threshold - 1), st.floats(0.1, 0.94)))
    observation["bufferTokens"] = share
    kept = [st.floats(0.01, 1)]
    if threshold > 1_000:
        kept.append(st.integers(1_000, threshold - 1).map(float))
    observation["bufferActivation"] = draw(st.one_of(kept))
    observation["blockAfter"] = draw(st.floats(1, 3))
    observation["maxTokensPerCall"] = draw(st.integers(1, 2 * threshold))
    reflection = {
        "observationTokens": draw(st.integers(10, 2_000)),
        "bufferActivation": draw(st.floats(0.05, 1)),
        "blockAfter": draw(st.floats(1, 3)),
    }
    idle = draw(st.one_of(st.just(value=False), st.integers(0, 600_000)))
    change = draw(st.booleans())
    return resolve_policy(
        {
            "observation": observation,
            "reflection": reflection,
            "activateAfterIdle": idle,
            "activateOnProviderChange": change,
        }
    )
