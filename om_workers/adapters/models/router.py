"""Which model a ``provider/model`` id stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from om_workers.adapters.models.compatible import CompatibleModel
from om_workers.adapters.models.local import LocalExtractiveModel
from om_workers.adapters.models.scripted import ScriptedModel
from om_workers.engine.policy import KEYLESS_MODEL
from om_workers.engine.retry import Outcome
from om_workers.ports.model import Model, ModelError
from om_workers.ports.tokens import Tokenizer


@dataclass(frozen=True, slots=True)
class CompatibleServer:
    """An OpenAI-compatible server: its base URL, and its key where it needs one."""

    base_url: str
    api_key: str = "none"


class ModelRouter:
    """The configured models; each is made once."""

    def __init__(
        self, tokens: Tokenizer, *, compatible: Mapping[str, CompatibleServer], scripted_folder: Path | None = None
    ) -> None:
        self._models: dict[str, Model] = {KEYLESS_MODEL: LocalExtractiveModel(tokens)}
        for name, server in compatible.items():
            self._models[f"compatible:{name}"] = CompatibleModel(server.base_url, server.api_key)
        if scripted_folder is not None:
            self._models["scripted"] = ScriptedModel(scripted_folder)

    def get(self, model: str) -> Model:
        """The model; raises ``ModelError`` (class auth) for a provider that is unknown or not configured."""
        found = self._models.get(model) or self._models.get(model.partition("/")[0])
        if found is None:
            raise ModelError(Outcome.AUTH, f"no provider is configured for the model {model!r}")
        return found
