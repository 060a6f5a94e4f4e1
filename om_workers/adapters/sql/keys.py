"""API keys in SQL."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from om_workers.adapters.sql.connection import DatabaseClock, reading, writing
from om_workers.adapters.sql.rows import KEY, TENANT, key_record
from om_workers.ports.keys import KeyRecord


class SqlKeys:
    """Keys, each call one short transaction."""

    def __init__(self, engine: Engine, clock: DatabaseClock) -> None:
        self._engine = engine
        self._clock = clock

    def add(self, key: KeyRecord, secret_hash: str) -> None:
        """Store a key (and its tenant, when it is new)."""
        with writing(self._engine) as connection:
            ensure_tenant(connection, key.tenant_id, self._clock.read(connection))
            values = asdict(key) | {"scopes": list(key.scopes), "secret_hash": secret_hash}
            connection.execute(insert(KEY).values(**values))

    def find(self, secret_hash: str) -> KeyRecord | None:
        """The key with this secret."""
        with reading(self._engine) as connection:
            row = connection.execute(select(KEY).where(KEY.c.secret_hash == secret_hash)).mappings().first()
        return None if row is None else key_record(row)

    def list(self, tenant_id: str | None) -> list[KeyRecord]:
        """Keys, oldest first."""
        query = select(KEY).order_by(KEY.c.created_at, KEY.c.id)
        if tenant_id is not None:
            query = query.where(KEY.c.tenant_id == tenant_id)
        with reading(self._engine) as connection:
            return [key_record(row) for row in connection.execute(query).mappings()]

    def revoke(self, key_id: str, at: datetime) -> bool:
        """Revoke a key; whether there was one."""
        with writing(self._engine) as connection:
            where = (KEY.c.id == key_id, KEY.c.revoked_at.is_(None))
            return connection.execute(update(KEY).where(*where).values(revoked_at=at)).rowcount == 1


def ensure_tenant(connection: Connection, tenant_id: str, at: datetime) -> None:
    """Make the tenant's row unless it exists."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    connection.execute(dialect.insert(TENANT).values(id=tenant_id, created_at=at).on_conflict_do_nothing())
