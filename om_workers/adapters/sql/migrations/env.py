"""Runs migrations in the transaction that the caller opened, and leaves its end to the caller."""

from __future__ import annotations

from alembic import context

from om_workers.adapters.sql import tables

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=tables.Memory.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
