"""A store of the first schema whose stores are migrated, with the tables as they were then."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from hengwen.store import schema, tables


def migrated_store(engine: sa.Engine) -> None:
    """Create a store of the first schema, and migrate it."""
    first_store(engine)
    schema.upgrade(engine)


def first_store(engine: sa.Engine) -> None:
    """Create a store of the first schema."""
    with engine.begin() as connection:
        create_tables(Operations(MigrationContext.configure(connection)))
        version = sa.Table(
            "alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
        )
        version.create(connection)
        connection.execute(version.insert().values(version_num=tables.FIRST))


def filled(name: str, kind: Any = sa.String) -> sa.Column[Any]:
    """Return a column that is never NULL."""
    return sa.Column(name, kind, nullable=False)


def create_tables(op: Operations) -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.String, primary_key=True),
        filled("plan"),
        filled("plan_hash"),
        filled("checkpoint"),
        filled("position", sa.Integer),
        sa.Column("step", sa.Integer),
        filled("started"),
        filled("versions", sa.Text),
        filled("layout", sa.Text),
        sa.Column("reducers", sa.Text, nullable=False, server_default="{}"),
        sa.Column("facts", sa.Text, nullable=False, server_default="{}"),
        filled("seed", sa.Integer),
        filled("status"),
        sa.Column("rejudges", sa.String, nullable=False, server_default=""),
    )
    op.create_index("run_series", "run", ["plan", "checkpoint", "started"])
    op.create_table(
        "sample",
        sa.Column("hash", sa.String, primary_key=True),
        filled("sample_id"),
        filled("input", sa.Text),
        filled("references", sa.Text),
        filled("metadata", sa.Text),
    )
    op.create_table(
        "response",
        filled("run_id"),
        filled("task"),
        filled("sample_id"),
        filled("repeat", sa.Integer),
        filled("sample_hash"),
        filled("text", sa.Text),
        filled("metadata", sa.Text),
        sa.PrimaryKeyConstraint("run_id", "task", "sample_id", "repeat"),
    )
    op.create_table(
        "attempt",
        filled("call_key"),
        filled("cache_scope"),
        filled("attempt_no", sa.Integer),
        filled("status"),
        filled("run_id"),
        filled("role"),
        filled("request", sa.Text),
        filled("raw", sa.Text),
        filled("calls", sa.Integer),
        filled("input_tokens", sa.Integer),
        filled("output_tokens", sa.Integer),
        filled("latency", sa.Float),
        filled("model"),
        filled("finish"),
        filled("extras", sa.Text),
        sa.PrimaryKeyConstraint("call_key", "cache_scope", "attempt_no"),
    )
    op.create_index("attempt_run", "attempt", ["run_id", "role", "calls", "input_tokens", "output_tokens"])
    op.create_table(
        "prompt",
        sa.Column("hash", sa.String, primary_key=True),
        filled("text", sa.Text),
    )
    op.create_table(
        "evaluator",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        filled("task"),
        filled("name"),
        filled("role"),
        filled("kind"),
        filled("signature"),
        filled("scores", sa.Text),
    )
    op.create_table(
        "evaluation",
        sa.Column("id", sa.Integer, primary_key=True),
        filled("run_id"),
        filled("series_id", sa.BigInteger),
        filled("sample_id"),
        filled("repeat", sa.Integer),
        filled("evaluator_id", sa.BigInteger),
        filled("cluster"),
        filled("item_hash"),
        filled("statuses", sa.Text),
        filled("numbers", sa.Text),
        sa.Column("notes_id", sa.BigInteger),
        filled("notes", sa.Text),
        sa.UniqueConstraint("run_id", "sample_id", "repeat", "series_id", name="evaluation_key"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_index("evaluation_evaluator", "evaluation", ["run_id", "evaluator_id", "statuses"])
    has_failure = sa.text("statuses <> ''")
    op.create_index(
        "evaluation_failed",
        "evaluation",
        ["run_id"],
        sqlite_where=has_failure,
        postgresql_where=has_failure,
    )
    op.create_table(
        "note",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        filled("text", sa.Text),
    )
    op.create_table(
        "completed_unit",
        sa.Column("unit", sa.String, primary_key=True),
        filled("run_id"),
    )
    op.create_table(
        "baseline",
        sa.Column("plan", sa.String, primary_key=True),
        filled("run_id"),
        filled("pinned"),
    )
    op.create_table(
        "look",
        filled("series"),
        filled("run_id"),
        filled("number", sa.Integer),
        filled("looked"),
        sa.PrimaryKeyConstraint("series", "run_id"),
        sa.UniqueConstraint("series", "number", name="look_number"),
    )
    op.create_table(
        "admission",
        filled("judge"),
        filled("tested"),
        filled("result", sa.Text),
        sa.PrimaryKeyConstraint("judge", "tested"),
    )
    op.create_table(
        "batch",
        sa.Column("id", sa.String, primary_key=True),
        filled("plan"),
        filled("backend"),
        filled("runs", sa.Text),
        filled("shard", sa.Integer),
        filled("state"),
        filled("requests", sa.Integer),
        filled("bytes", sa.Integer),
        filled("input_tokens", sa.Integer),
        filled("cost", sa.Float),
        filled("file_id"),
        filled("remote_id"),
        filled("created"),
    )
    op.create_index("batch_plan", "batch", ["plan", "state"])
    op.create_table(
        "batch_request",
        filled("plan"),
        filled("custom_id"),
        filled("batch_id"),
        filled("call_key"),
        filled("cache_scope"),
        filled("attempt_no", sa.Integer),
        filled("tries", sa.Integer),
        filled("state"),
        filled("response_format"),
        sa.Column("logprobs", sa.Integer),
        filled("message", sa.Text),
        sa.PrimaryKeyConstraint("plan", "custom_id"),
    )
    op.create_index("batch_request_batch", "batch_request", ["batch_id"])
