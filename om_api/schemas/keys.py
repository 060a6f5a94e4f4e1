"""API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import ConfigDict, Field

from om_api.schemas.common import Strict
from om_workers.ports.keys import KeyRecord
from om_workers.services.keys import SCOPES


class KeyBody(Strict):
    """A key to make for the caller's own tenant."""

    name: str = Field(min_length=1, max_length=256)
    scopes: list[str] = Field(default_factory=lambda: list(SCOPES), description=f"Among {', '.join(SCOPES)}.")
    expires_at: datetime | None = None

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "backend", "scopes": ["ingest", "read"]}]})


def key_json(key: KeyRecord) -> dict[str, Any]:
    """A key without its secret."""
    return {
        "id": key.id,
        "name": key.name,
        "scopes": list(key.scopes),
        "created_at": key.created_at.isoformat(),
        "expires_at": None if key.expires_at is None else key.expires_at.isoformat(),
        "revoked_at": None if key.revoked_at is None else key.revoked_at.isoformat(),
    }
