"""The databases that migrations are tried on."""

from __future__ import annotations

from tests.contract.conftest import database_url

__all__ = ["database_url"]
