"""Tables of the store. Each change of a table needs a migration in ``migrations/versions``."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

HEAD = "0010"
"""Version of the newest migration."""

metadata = MetaData()

run = Table(
    "run",
    metadata,
    Column("id", String, primary_key=True),
    Column("plan", String, nullable=False),
    Column("plan_hash", String, nullable=False),
    Column("checkpoint", String, nullable=False),
    Column("position", Integer, nullable=False),
    Column("step", Integer),
    Column("started", String, nullable=False),
    Column("versions", Text, nullable=False),
    Column("layout", Text, nullable=False),
    Column("reducers", Text, nullable=False, server_default="{}"),
    Column("facts", Text, nullable=False, server_default="{}"),
    Column("seed", Integer, nullable=False),
    Column("status", String, nullable=False),
    Column("rejudges", String, nullable=False, server_default=""),
    Index("run_series", "plan", "checkpoint", "started"),
)

sample = Table(
    "sample",
    metadata,
    Column("hash", String, primary_key=True),
    Column("sample_id", String, nullable=False),
    Column("input", Text, nullable=False),
    Column("references", Text, nullable=False),
    Column("metadata", Text, nullable=False),
)

response = Table(
    "response",
    metadata,
    Column("run_id", String, nullable=False),
    Column("task", String, nullable=False),
    Column("sample_id", String, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("sample_hash", String, nullable=False),
    Column("text", Text, nullable=False),
    Column("metadata", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "task", "sample_id", "repeat"),
)

attempt = Table(
    "attempt",
    metadata,
    Column("call_key", String, nullable=False),
    Column("cache_scope", String, nullable=False),
    Column("attempt_no", Integer, nullable=False),
    Column("status", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("role", String, nullable=False),
    Column("request", Text, nullable=False),
    Column("raw", Text, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("output_tokens", Integer, nullable=False),
    Column("latency", Float, nullable=False),
    Column("model", String, nullable=False),
    Column("finish", String, nullable=False),
    Column("extras", Text, nullable=False),
    PrimaryKeyConstraint("call_key", "cache_scope", "attempt_no"),
    Index("attempt_run", "run_id"),
)

prompt = Table(
    "prompt",
    metadata,
    Column("hash", String, primary_key=True),
    Column("text", Text, nullable=False),
)
"""Table of long beginnings (prefixes) that prompts share; stored calls refer to them."""

row = Table(
    "row",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", String, nullable=False),
    Column("task", String, nullable=False),
    Column("sample_id", String, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("name", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("cluster", String, nullable=False),
    Column("status", String, nullable=False),
    Column("value", Float),
    Column("signature", String, nullable=False),
    Column("item_hash", String, nullable=False),
    Column("scale", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("details", Text, nullable=False),
    UniqueConstraint("run_id", "task", "sample_id", "repeat", "name", name="row_place"),
)
"""Table of scores and failures. ``sample_id`` '' and ``repeat`` 0 mean None, because a unique index treats
two NULLs as different."""

completed_unit = Table(
    "completed_unit",
    metadata,
    Column("unit", String, primary_key=True),
    Column("run_id", String, nullable=False),
)
"""Table of what is completed in runs on which several processes work at this time; ``unit`` is the hash of a
run and a sample. Rows are removed when no process works on the run any more."""

baseline = Table(
    "baseline",
    metadata,
    Column("plan", String, primary_key=True),
    Column("run_id", String, nullable=False),
    Column("pinned", String, nullable=False),
)

look = Table(
    "look",
    metadata,
    Column("series", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("looked", String, nullable=False),
    PrimaryKeyConstraint("series", "run_id"),
    UniqueConstraint("series", "number", name="look_number"),
)
"""Table that numbers, from 1, the runs that were tested against one baseline."""
