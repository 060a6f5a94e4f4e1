"""The model behind ``local/extractive``: observations picked from what was said, without any language model.

It only selects and shortens: no sentence of its output is invented, and the same input always gives the same bytes.
It is what runs when no key is configured, an honest fallback rather than a language model.
"""

from __future__ import annotations

from om_workers.engine.extractive.observe import observe
from om_workers.engine.extractive.reflect import reflect

__all__ = ["observe", "reflect"]
