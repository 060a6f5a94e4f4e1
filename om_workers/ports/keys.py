"""API keys: what a key is, and where keys are kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """An API key without its secret."""

    id: str
    tenant_id: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class Keys(Protocol):
    """API keys."""

    def add(self, key: KeyRecord, secret_hash: str) -> None:
        """Store a key (and its tenant, when it is new)."""
        ...

    def find(self, secret_hash: str) -> KeyRecord | None:
        """The key with this secret."""
        ...

    def list(self, tenant_id: str | None) -> list[KeyRecord]:
        """Keys, oldest first."""
        ...

    def revoke(self, key_id: str, at: datetime) -> bool:
        """Revoke a key; whether there was one."""
        ...
