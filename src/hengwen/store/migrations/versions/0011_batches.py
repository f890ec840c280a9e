"""Add the tables of the files that are sent to batch endpoints, and of the calls in them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the tables; older versions sent no batches."""
    op.create_table(
        "batch",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("plan", sa.String, nullable=False),
        sa.Column("backend", sa.String, nullable=False),
        sa.Column("runs", sa.Text, nullable=False),
        sa.Column("shard", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("input_tokens", sa.Integer, nullable=False),
        sa.Column("cost", sa.Float, nullable=False),
        sa.Column("file_id", sa.String, nullable=False),
        sa.Column("remote_id", sa.String, nullable=False),
        sa.Column("created", sa.String, nullable=False),
    )
    op.create_index("batch_plan", "batch", ["plan", "state"])
    op.create_table(
        "batch_request",
        sa.Column("plan", sa.String, nullable=False),
        sa.Column("custom_id", sa.String, nullable=False),
        sa.Column("batch_id", sa.String, nullable=False),
        sa.Column("call_key", sa.String, nullable=False),
        sa.Column("cache_scope", sa.String, nullable=False),
        sa.Column("attempt_no", sa.Integer, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("state", sa.String, nullable=False),
        sa.Column("response_format", sa.String, nullable=False),
        sa.Column("logprobs", sa.Integer),
        sa.Column("message", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("plan", "custom_id"),
    )
    op.create_index("batch_request_batch", "batch_request", ["batch_id"])
