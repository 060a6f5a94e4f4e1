"""Runs migrations over the connection that the caller opened."""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

from om_workers.adapters.sql import tables

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=tables.Memory.metadata, render_as_batch=True)
with context.begin_transaction():
    if connection.dialect.name == "postgresql":
        # Two processes may migrate at once; and one that waits for a lock makes every query behind it wait too.
        connection.execute(text("SELECT pg_advisory_xact_lock(7203946)"))
        connection.execute(text("SET LOCAL lock_timeout = '5s'"))
    context.run_migrations()
connection.commit()
