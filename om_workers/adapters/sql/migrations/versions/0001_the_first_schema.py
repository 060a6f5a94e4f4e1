"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the schema up."""
    op.create_table(
        "config",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=True),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_config"),
    )
    op.create_index("ix_config_memory", "config", ["memory_id", "id"], unique=False)

    op.create_table(
        "model_call",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("thread_id", sa.String(), nullable=True),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("finish_reason", sa.String(), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_model_call"),
    )
    op.create_index("ix_model_call_attempt", "model_call", ["job_id", "attempt"], unique=False)
    op.create_index("ix_model_call_memory", "model_call", ["memory_id", "started_at"], unique=False)

    op.create_table(
        "tenant",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tenant"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("secret_hash", sa.String(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name="fk_api_key_tenant"),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
        sa.UniqueConstraint("secret_hash", name="uq_api_key_secret_hash"),
    )
    op.create_table(
        "memory",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("scope_key", sa.String(), nullable=False),
        sa.Column("head_lineage_id", sa.String(), nullable=False),
        sa.Column("event_count", sa.BigInteger(), nullable=False),
        sa.Column("plan_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_activity_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_model", sa.String(), nullable=True),
        sa.Column("idle_handled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name="fk_memory_tenant"),
        sa.PrimaryKeyConstraint("id", name="pk_memory"),
        sa.UniqueConstraint("tenant_id", "scope", "scope_key", name="uq_memory_scope_key"),
    )
    op.create_index("ix_memory_plan_at", "memory", ["plan_at"], unique=False)

    op.create_table(
        "event",
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("thread_id", sa.String(), nullable=True),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["memory.id"], name="fk_event_memory"),
        sa.PrimaryKeyConstraint("memory_id", "n", name="pk_event"),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("lineage_id", sa.String(), nullable=False),
        sa.Column("thread_id", sa.String(), nullable=True),
        sa.Column("lane", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("trigger", sa.String(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), nullable=True),
        sa.Column("last_seq", sa.BigInteger(), nullable=True),
        sa.Column("basis", sa.JSON(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("failures", sa.JSON(), nullable=False),
        sa.Column("last_outcome", sa.String(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sends", sa.Integer(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["memory_id"], ["memory.id"], name="fk_job_memory"),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
    )
    op.create_index(
        "ix_job_dead",
        "job",
        ["not_before"],
        unique=False,
        sqlite_where=sa.text("state = 'dead'"),
        postgresql_where=sa.text("state = 'dead'"),
    )
    op.create_index(
        "ix_job_due",
        "job",
        ["not_before"],
        unique=False,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.create_index("ix_job_memory", "job", ["memory_id", "created_at"], unique=False)
    op.create_index(
        "ix_job_sent",
        "job",
        ["sent_at"],
        unique=False,
        sqlite_where=sa.text("state = 'queued' AND sends > 0"),
        postgresql_where=sa.text("state = 'queued' AND sends > 0"),
    )
    op.create_index(
        "uq_job_unfinished",
        "job",
        ["lineage_id", "lane"],
        unique=True,
        sqlite_where=sa.text("state IN ('queued', 'running', 'dead')"),
        postgresql_where=sa.text("state IN ('queued', 'running', 'dead')"),
    )

    op.create_table(
        "lineage",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("frozen", sa.Boolean(), nullable=False),
        sa.Column("next_ordinal", sa.Integer(), nullable=False),
        sa.Column("active_tokens", sa.BigInteger(), nullable=False),
        sa.Column("whole_tokens", sa.BigInteger(), nullable=False),
        sa.Column("buffered_tokens", sa.BigInteger(), nullable=False),
        sa.Column("reflect_above", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["memory.id"], name="fk_lineage_memory"),
        sa.PrimaryKeyConstraint("id", name="pk_lineage"),
    )
    op.create_table(
        "thread",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("tenant_id", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("resource_id", sa.String(), nullable=True),
        sa.Column("title", sa.String(), nullable=True),
        sa.Column("meta", sa.JSON(), nullable=False),
        sa.Column("next_seq", sa.BigInteger(), nullable=False),
        sa.Column("message_tokens", sa.BigInteger(), nullable=False),
        sa.Column("unfinished_from", sa.BigInteger(), nullable=True),
        sa.Column("newest_user_seq", sa.BigInteger(), nullable=True),
        sa.Column("step_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["memory_id"], ["memory.id"], name="fk_thread_memory"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenant.id"], name="fk_thread_tenant"),
        sa.PrimaryKeyConstraint("id", name="pk_thread"),
        sa.UniqueConstraint("tenant_id", "external_id", name="uq_thread_external_id"),
    )
    op.create_index("ix_thread_memory", "thread", ["memory_id"], unique=False)
    op.create_index("ix_thread_resource", "thread", ["tenant_id", "resource_id", "external_id"], unique=False)

    op.create_table(
        "attempt",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("revision", sa.JSON(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_attempt_job"),
        sa.PrimaryKeyConstraint("job_id", "n", name="pk_attempt"),
    )
    op.create_table(
        "lease",
        sa.Column("lineage_id", sa.String(), nullable=False),
        sa.Column("lane", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("hold_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["lineage_id"], ["lineage.id"], name="fk_lease_lineage"),
        sa.PrimaryKeyConstraint("lineage_id", "lane", name="pk_lease"),
    )
    op.create_index(
        "ix_lease_expiry",
        "lease",
        ["expires_at"],
        unique=False,
        sqlite_where=sa.text("owner IS NOT NULL"),
        postgresql_where=sa.text("owner IS NOT NULL"),
    )
    op.create_index("ix_lease_owner", "lease", ["owner"], unique=False)

    op.create_table(
        "message",
        sa.Column("thread_id", sa.String(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.Column("part_tokens", sa.JSON(), nullable=False),
        sa.Column("counter_version", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("offset_tokens", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("utc_offset_minutes", sa.Integer(), nullable=False),
        sa.Column("time_given", sa.Boolean(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_model", sa.String(), nullable=True),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["thread_id"], ["thread.id"], name="fk_message_thread"),
        sa.PrimaryKeyConstraint("thread_id", "seq", name="pk_message"),
        sa.UniqueConstraint("thread_id", "external_id", name="uq_message_external_id"),
    )
    op.create_table(
        "position",
        sa.Column("lineage_id", sa.String(), nullable=False),
        sa.Column("thread_id", sa.String(), nullable=False),
        sa.Column("active_seq", sa.BigInteger(), nullable=False),
        sa.Column("buffered_seq", sa.BigInteger(), nullable=False),
        sa.Column("pending_tokens", sa.BigInteger(), nullable=False),
        sa.Column("buffered_tokens", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["lineage_id"], ["lineage.id"], name="fk_position_lineage"),
        sa.ForeignKeyConstraint(["thread_id"], ["thread.id"], name="fk_position_thread"),
        sa.PrimaryKeyConstraint("lineage_id", "thread_id", name="pk_position"),
    )
    op.create_table(
        "segment",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("lineage_id", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_tokens", sa.Integer(), nullable=False),
        sa.Column("served", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("message_tokens", sa.BigInteger(), nullable=False),
        sa.Column("message_count", sa.Integer(), nullable=False),
        sa.Column("current_task", sa.Text(), nullable=True),
        sa.Column("suggested_response", sa.Text(), nullable=True),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("revision", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("activated_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["lineage_id"], ["lineage.id"], name="fk_segment_lineage"),
        sa.PrimaryKeyConstraint("id", name="pk_segment"),
    )
    op.create_index("ix_segment_job", "segment", ["job_id"], unique=False)
    op.create_index("ix_segment_order", "segment", ["lineage_id", "state", "ordinal", "generation"], unique=False)
    op.create_index(
        "uq_segment_candidate",
        "segment",
        ["lineage_id"],
        unique=True,
        sqlite_where=sa.text("state = 'candidate'"),
        postgresql_where=sa.text("state = 'candidate'"),
    )

    op.create_table(
        "tool_call",
        sa.Column("thread_id", sa.String(), nullable=False),
        sa.Column("call_seq", sa.BigInteger(), nullable=False),
        sa.Column("call_id", sa.String(), nullable=False),
        sa.Column("result_seq", sa.BigInteger(), nullable=True),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["thread_id"], ["thread.id"], name="fk_tool_call_thread"),
        sa.PrimaryKeyConstraint("thread_id", "call_seq", "call_id", name="pk_tool_call"),
    )
    op.create_index("ix_tool_call_id", "tool_call", ["thread_id", "call_id"], unique=False)
    op.create_index(
        "ix_tool_call_open",
        "tool_call",
        ["thread_id", "call_seq"],
        unique=False,
        sqlite_where=sa.text("result_seq IS NULL AND NOT closed"),
        postgresql_where=sa.text("result_seq IS NULL AND NOT closed"),
    )
    op.create_index("ix_tool_call_result", "tool_call", ["thread_id", "result_seq"], unique=False)

    op.create_table(
        "segment_range",
        sa.Column("segment_id", sa.String(), nullable=False),
        sa.Column("thread_id", sa.String(), nullable=False),
        sa.Column("lineage_id", sa.String(), nullable=False),
        sa.Column("first_seq", sa.BigInteger(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["segment_id"], ["segment.id"], name="fk_range_segment"),
        sa.ForeignKeyConstraint(["thread_id"], ["thread.id"], name="fk_range_thread"),
        sa.PrimaryKeyConstraint("segment_id", "thread_id", name="pk_segment_range"),
    )
    op.create_index(
        "uq_segment_range_live",
        "segment_range",
        ["lineage_id", "thread_id", "first_seq"],
        unique=True,
        sqlite_where=sa.text("live"),
        postgresql_where=sa.text("live"),
    )

    op.create_table(
        "segment_source",
        sa.Column("segment_id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["segment_id"], ["segment.id"], name="fk_source_segment"),
        sa.ForeignKeyConstraint(["source_id"], ["segment.id"], name="fk_source_source"),
        sa.PrimaryKeyConstraint("segment_id", "source_id", name="pk_segment_source"),
    )


def downgrade() -> None:
    """Take the schema back."""
    op.drop_table("segment_source")
    op.drop_index("uq_segment_range_live", table_name="segment_range")

    op.drop_table("segment_range")
    op.drop_index("ix_tool_call_result", table_name="tool_call")
    op.drop_index("ix_tool_call_open", table_name="tool_call")
    op.drop_index("ix_tool_call_id", table_name="tool_call")

    op.drop_table("tool_call")
    op.drop_index("uq_segment_candidate", table_name="segment")
    op.drop_index("ix_segment_order", table_name="segment")
    op.drop_index("ix_segment_job", table_name="segment")

    op.drop_table("segment")
    op.drop_table("position")
    op.drop_table("message")
    op.drop_index("ix_lease_owner", table_name="lease")
    op.drop_index("ix_lease_expiry", table_name="lease")

    op.drop_table("lease")
    op.drop_table("attempt")
    op.drop_index("ix_thread_resource", table_name="thread")
    op.drop_index("ix_thread_memory", table_name="thread")

    op.drop_table("thread")
    op.drop_table("lineage")
    op.drop_index("uq_job_unfinished", table_name="job")
    op.drop_index("ix_job_sent", table_name="job")
    op.drop_index("ix_job_memory", table_name="job")
    op.drop_index("ix_job_due", table_name="job")
    op.drop_index("ix_job_dead", table_name="job")

    op.drop_table("job")
    op.drop_table("event")
    op.drop_index("ix_memory_plan_at", table_name="memory")

    op.drop_table("memory")
    op.drop_table("api_key")
    op.drop_table("tenant")
    op.drop_index("ix_model_call_memory", table_name="model_call")
    op.drop_index("ix_model_call_attempt", table_name="model_call")

    op.drop_table("model_call")
    op.drop_index("ix_config_memory", table_name="config")

    op.drop_table("config")
