"""``local/extractive``: observes and reflects by picking sentences and facts, with no language model at all."""

from __future__ import annotations

from om_workers.engine import extractive
from om_workers.engine.text import escape
from om_workers.ports.model import ModelReply, ModelRequest, ObserverInput
from om_workers.ports.tokens import Tokenizer


class LocalExtractiveModel:
    """Deterministic: the same messages give the same bytes."""

    def __init__(self, tokens: Tokenizer) -> None:
        self._tokens = tokens

    def generate(self, request: ModelRequest) -> ModelReply:
        """The observation log of the request's messages, or the condensed log of its segments."""
        material, count = request.material, self._tokens.count
        if isinstance(material, ObserverInput):
            text = extractive.observe(material.messages, count=count)
        else:
            text = extractive.reflect(material.texts, target_tokens=material.target_tokens - 1, count=count)
        # The log is read back as markup; what looks like markup in it is text.
        return ModelReply(f"<observations>\n{escape(text)}\n</observations>", output_tokens=count(text))

    def cancel(self, call_id: str) -> None:
        """Nothing: a call takes milliseconds."""
