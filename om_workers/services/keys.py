"""API keys: made once and shown once, looked up by the hash of their secret."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from om_workers.ports.bundle import Ports
from om_workers.ports.errors import InvalidInputError, NotFoundError, UnauthenticatedError
from om_workers.ports.keys import KeyRecord

SCOPES = ("ingest", "read", "operate", "admin")


@dataclass(frozen=True, slots=True)
class MadeKey:
    """A new key and its secret, which is not stored and cannot be shown again."""

    key: KeyRecord
    secret: str


def make_key(
    ports: Ports, tenant_id: str, *, name: str, scopes: Sequence[str] = SCOPES, expires_at: datetime | None = None
) -> MadeKey:
    """A new key of the tenant, which is made too when it is new; raises ``InvalidInputError`` for an unknown scope."""
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        raise InvalidInputError(f"scopes must be among {', '.join(SCOPES)}", field="scopes", value=list(scopes))
    secret = ports.ids.secret()
    key = KeyRecord(ports.ids.new(), tenant_id, name, tuple(scopes), ports.clock.now(), expires_at, None)
    ports.store.keys.add(key, hash_secret(secret))
    return MadeKey(key, secret)


def authenticate(ports: Ports, secret: str) -> KeyRecord:
    """The living key with this secret; raises ``UnauthenticatedError``, the same for every kind of wrong key."""
    key = ports.store.keys.find(hash_secret(secret))
    now = ports.clock.now()
    if key is None or key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= now):
        raise UnauthenticatedError("a valid API key is needed")
    return key


def hash_secret(secret: str) -> str:
    """What is stored of a secret. It is random and long, so a plain digest cannot be searched."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def revoke_key(ports: Ports, tenant_id: str, key_id: str) -> None:
    """Revoke one of the tenant's keys; raises ``NotFoundError``, also for another tenant's key."""
    if all(key.id != key_id for key in ports.store.keys.list(tenant_id)):
        raise NotFoundError("there is no such key")
    ports.store.keys.revoke(key_id, ports.clock.now())
