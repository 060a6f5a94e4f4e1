"""What the Observer and the Reflector are told: a system text, then user blocks of which the stable ones come first."""

from __future__ import annotations

from om_workers.engine.prompts.observer import OBSERVER_VERSION, observer_prompt
from om_workers.engine.prompts.prompt import Prompt
from om_workers.engine.prompts.reflector import REFLECTOR_VERSION, reflector_prompt

__all__ = ["OBSERVER_VERSION", "REFLECTOR_VERSION", "Prompt", "observer_prompt", "reflector_prompt"]
