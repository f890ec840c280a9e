"""Tables of the store. Each change of a table needs a migration in ``migrations/versions``."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Float,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

FIRST = "0013"
"""Version of the first migration; stores of earlier versions are refused."""
HEAD = "0014"
"""Version of the newest migration."""

HAS_FAILURE = text("statuses <> ''")
"""SQL condition of the evaluations that have a failure. The index ``evaluation_failed`` has only these
evaluations, which are few."""

metadata = MetaData()

run = Table(
    "run",
    metadata,
    Column("id", String, primary_key=True),
    Column("plan", String, nullable=False),
    Column("plan_hash", String, nullable=False),
    Column("checkpoint", String, nullable=False),
    Column("position", Integer, nullable=False),
    Column("step", Double),
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
    Index("attempt_run", "run_id", "role", "calls", "input_tokens", "output_tokens"),
)

prompt = Table(
    "prompt",
    metadata,
    Column("hash", String, primary_key=True),
    Column("text", Text, nullable=False),
)
"""Table of long beginnings (prefixes) that prompts share; stored calls refer to them."""

evaluator = Table(
    "evaluator",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("task", String, nullable=False),
    Column("name", String, nullable=False),
    Column("role", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("signature", String, nullable=False),
    Column("scores", Text, nullable=False),
)
"""Table of scorers and judges, as they were applied in a task; ``task``, ``name`` and ``role`` are the fields
``task``, ``evaluator`` and ``role`` of ``ScoreId``. ``scores`` is a JSON list with the part and the scale of
each score. ``id`` is a hash of the other columns, so that all processes give the same id."""

evaluation = Table(
    "evaluation",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", String, nullable=False),
    Column("series_id", BigInteger, nullable=False),
    Column("sample_id", String, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("evaluator_id", BigInteger, nullable=False),
    Column("cluster", String, nullable=False),
    Column("item_hash", String, nullable=False),
    Column("statuses", Text, nullable=False),
    Column("numbers", Text, nullable=False),
    Column("notes_id", BigInteger),
    Column("notes", Text, nullable=False),
    UniqueConstraint("run_id", "sample_id", "repeat", "series_id", name="evaluation_key"),
    # in a SQLite file, this index would take as much space as a tenth of the answers' texts
    Index("evaluation_evaluator", "run_id", "evaluator_id", "statuses").ddl_if(dialect="postgresql"),
    Index("evaluation_failed", "run_id", sqlite_where=HAS_FAILURE),
)
"""Table of evaluations: all scores and failures that one evaluator gave one answer, or one group of answers.

``numbers`` is a JSON list with the value of each score, in the order of the evaluator's scores; null stands
for a failure. ``statuses`` is a JSON list with the status of each score (``ok``, or the kind of failure); it
is empty if there is no failure. ``notes`` has the reasons, details and messages (see ``codecs.evaluations``);
notes that repeat are in the table ``note`` under ``notes_id``. ``series_id`` is a hash of the task, name and
role of the evaluator and the alphabetically first part of its scores.

For a group of answers, ``sample_id`` is empty and ``repeat`` is 0. They are not NULL, because a unique index
treats two NULLs as different. If ``cluster`` is empty, the cluster is the id of the sample."""

note = Table(
    "note",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("text", Text, nullable=False),
)
"""Table of notes that several evaluations share; ``id`` is a hash of the text."""

completed_unit = Table(
    "completed_unit",
    metadata,
    Column("unit", String, primary_key=True),
    Column("run_id", String, nullable=False),
)
"""Table of completed samples of the runs that several processes are working on; ``unit`` is the hash of a run
and a sample. Rows are removed when no process works on the run any more."""

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

admission = Table(
    "admission",
    metadata,
    Column("judge", String, nullable=False),
    Column("tested", String, nullable=False),
    Column("result", Text, nullable=False),
    PrimaryKeyConstraint("judge", "tested"),
)
"""Table of the admission tests of judges; ``judge`` is the signature without what depends on a task, and
``result`` a JSON object."""

batch = Table(
    "batch",
    metadata,
    Column("id", String, primary_key=True),
    Column("plan", String, nullable=False),
    Column("backend", String, nullable=False),
    Column("runs", Text, nullable=False),
    Column("shard", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("bytes", Integer, nullable=False),
    Column("input_tokens", Integer, nullable=False),
    Column("cost", Float, nullable=False),
    Column("file_id", String, nullable=False),
    Column("remote_id", String, nullable=False),
    Column("created", String, nullable=False),
    Index("batch_plan", "plan", "state"),
)
"""Table of the files of requests that a run sends to a batch endpoint. A row is committed before its file is
uploaded."""

batch_request = Table(
    "batch_request",
    metadata,
    Column("plan", String, nullable=False),
    Column("custom_id", String, nullable=False),
    Column("batch_id", String, nullable=False),
    Column("call_key", String, nullable=False),
    Column("cache_scope", String, nullable=False),
    Column("attempt_no", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("response_format", String, nullable=False),
    Column("logprobs", Integer),
    Column("message", Text, nullable=False),
    PrimaryKeyConstraint("plan", "custom_id"),
    Index("batch_request_batch", "batch_id"),
)
"""Table of the calls in the files of ``batch``; the prompts and replies are in ``attempt``."""
