"""Deleted threads and messages, observations to be made again, jobs that run apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_TO_PURGE = "deleted_at IS NOT NULL AND purged_at IS NULL"
_TO_REBUILD = "rebuild"


def upgrade() -> None:
    """Bring the schema up."""
    op.add_column("job", sa.Column("quarantined", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("segment", sa.Column("rebuild", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("lineage", sa.Column("rebuilds", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("thread", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("memory", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("memory", sa.Column("purged_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_segment_range_lineage", "segment_range", ["lineage_id", "thread_id", "first_seq"])
    _partial("ix_memory_purge", "memory", "deleted_at", where=_TO_PURGE)
    _partial("ix_segment_rebuild", "segment", "lineage_id", where=_TO_REBUILD)


def downgrade() -> None:
    """Take the schema back."""
    op.drop_index("ix_segment_range_lineage", table_name="segment_range")
    op.drop_index("ix_segment_rebuild", table_name="segment")
    op.drop_index("ix_memory_purge", table_name="memory")
    for table, column in (
        ("memory", "purged_at"),
        ("memory", "deleted_at"),
        ("thread", "deleted_at"),
        ("lineage", "rebuilds"),
        ("segment", "rebuild"),
        ("job", "quarantined"),
    ):
        op.drop_column(table, column)


def _partial(name: str, table: str, column: str, *, where: str) -> None:
    op.create_index(name, table, [column], sqlite_where=sa.text(where), postgresql_where=sa.text(where))
