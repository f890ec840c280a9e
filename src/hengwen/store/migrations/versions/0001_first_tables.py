"""Create the first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _text(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _string(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String, nullable=False) for name in names]


def _whole(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer, nullable=False) for name in names]


def upgrade() -> None:
    """Create the tables and their indexes."""
    op.create_table(
        "run",
        sa.Column("id", sa.String, primary_key=True),
        *_string("plan", "plan_hash", "checkpoint"),
        *_whole("position"),
        sa.Column("step", sa.Integer),
        *_string("started"),
        *_text("versions", "layout"),
        *_whole("seed"),
        *_string("status"),
    )
    op.create_index("run_series", "run", ["plan", "checkpoint", "started"])
    op.create_table(
        "sample",
        sa.Column("hash", sa.String, primary_key=True),
        *_string("sample_id"),
        *_text("input", "references", "metadata"),
    )
    op.create_table(
        "response",
        *_string("run_id", "task", "sample_id"),
        *_whole("repeat"),
        *_string("sample_hash"),
        *_text("text", "metadata"),
        sa.PrimaryKeyConstraint("run_id", "task", "sample_id", "repeat"),
    )
    op.create_table(
        "attempt",
        *_string("call_key", "scope"),
        *_whole("number"),
        *_string("status", "run_id", "role"),
        *_text("request", "raw"),
        *_whole("calls", "input_tokens", "output_tokens"),
        sa.Column("latency", sa.Float, nullable=False),
        *_string("model", "finish"),
        *_text("extras"),
        sa.PrimaryKeyConstraint("call_key", "scope", "number"),
    )
    op.create_index("attempt_run", "attempt", ["run_id"])
    op.create_table(
        "row",
        sa.Column("id", sa.Integer, primary_key=True),
        *_string("run_id", "task", "sample_id"),
        *_whole("repeat"),
        *_string("name", "kind", "cluster", "status"),
        sa.Column("value", sa.Float),
        *_string("signature", "item_hash"),
        *_text("scale", "reason", "details"),
        sa.UniqueConstraint("run_id", "task", "sample_id", "repeat", "name", name="row_place"),
    )
    op.create_table(
        "label",
        *_string("plan", "task", "sample_id", "checkpoint"),
        *_whole("repeat"),
        *_string("score", "rater"),
        sa.Column("value", sa.Float, nullable=False),
        *_text("output"),
        sa.PrimaryKeyConstraint("plan", "task", "sample_id", "checkpoint", "repeat", "score", "rater"),
    )
    op.create_table(
        "baseline",
        sa.Column("plan", sa.String, primary_key=True),
        *_string("run_id", "pinned"),
    )
