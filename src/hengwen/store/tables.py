"""Tables of the store. A change of a table needs another ``SCHEMA``; stores of others are refused."""

from __future__ import annotations

from typing import Any

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

SCHEMA = "0014"
"""Version of the tables."""

HAS_FAILURE = text("statuses <> ''")
"""SQL condition of the evaluations that have a failure; the index ``evaluation_failed`` has only these."""

metadata = MetaData()


def _required(**types: Any) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name, kind in types.items()]


run = Table(
    "run",
    metadata,
    Column("id", String, primary_key=True),
    *_required(plan=String, plan_hash=String, checkpoint=String, position=Integer),
    Column("step", Double),
    *_required(started=String, versions=Text, layout=Text),
    Column("reducers", Text, nullable=False, server_default="{}"),
    Column("facts", Text, nullable=False, server_default="{}"),
    *_required(seed=Integer, status=String),
    Column("rejudges", String, nullable=False, server_default=""),
    Index("run_series", "plan", "checkpoint", "started"),
)

sample = Table(
    "sample",
    metadata,
    Column("hash", String, primary_key=True),
    *_required(sample_id=String, input=Text, references=Text, metadata=Text),
)

response = Table(
    "response",
    metadata,
    *_required(run_id=String, task=String, sample_id=String, repeat=Integer, sample_hash=String, text=Text),
    *_required(metadata=Text),
    PrimaryKeyConstraint("run_id", "task", "sample_id", "repeat"),
)

attempt = Table(
    "attempt",
    metadata,
    *_required(call_key=String, cache_scope=String, attempt_no=Integer, status=String, run_id=String),
    *_required(role=String, request=Text, raw=Text, calls=Integer, input_tokens=Integer),
    *_required(output_tokens=Integer, latency=Float, model=String, finish=String, extras=Text),
    PrimaryKeyConstraint("call_key", "cache_scope", "attempt_no"),
    Index("attempt_run", "run_id", "role", "calls", "input_tokens", "output_tokens"),
)

prompt = Table(
    "prompt",
    metadata,
    Column("hash", String, primary_key=True),
    *_required(text=Text),
)
"""Table of the prompts to which stored calls refer, as theirs begin like them; see ``PromptEncoder``."""

evaluator = Table(
    "evaluator",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    *_required(task=String, name=String, role=String, kind=String, signature=String, scores=Text),
)
"""Table of scorers and judges in tasks, as in ``ScoreId``; ``scores`` is a JSON list of [part, scale].
``id`` is a hash of the other columns, so that all processes give the same id."""

evaluation = Table(
    "evaluation",
    metadata,
    Column("id", Integer, primary_key=True),
    *_required(run_id=String, series_id=BigInteger, sample_id=String, repeat=Integer),
    *_required(evaluator_id=BigInteger, cluster=String, item_hash=String, statuses=Text, numbers=Text),
    Column("notes_id", BigInteger),
    *_required(notes=Text),
    UniqueConstraint("run_id", "sample_id", "repeat", "series_id", name="evaluation_key"),
    # in a SQLite file, this index would take as much space as a tenth of the answers' texts
    Index("evaluation_evaluator", "run_id", "evaluator_id", "statuses").ddl_if(dialect="postgresql"),
    Index("evaluation_failed", "run_id", sqlite_where=HAS_FAILURE),
)
"""Table of evaluations: all scores and failures that one evaluator gave one answer, or one group of answers.

``numbers`` is a JSON list with the value of each score, in the order of the evaluator's scores; null stands
for a failure. ``statuses`` is a JSON list with the status of each score (``ok``, or the kind of failure); it
is empty if there is no failure. ``notes`` has the reasons, details and messages (see ``evaluation_codec``);
notes that repeat are in the table ``note`` under ``notes_id``. ``series_id`` is a hash of the task, name and
role of the evaluator and the alphabetically first part of its scores.

For a group of answers, ``sample_id`` is empty and ``repeat`` is 0. They are not NULL, because a unique index
treats two NULLs as different. If ``cluster`` is empty, the cluster is the id of the sample."""

note = Table(
    "note",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    *_required(text=Text),
)
"""Table of notes that several evaluations share; ``id`` is a hash of the text."""

baseline = Table(
    "baseline",
    metadata,
    Column("plan", String, primary_key=True),
    *_required(run_id=String, pinned=String),
)

look = Table(
    "look",
    metadata,
    *_required(series=String, run_id=String, number=Integer, looked=String),
    PrimaryKeyConstraint("series", "run_id"),
    UniqueConstraint("series", "number", name="look_number"),
)
"""Table that numbers, from 1, the runs that were tested against one baseline."""

admission = Table(
    "admission",
    metadata,
    *_required(judge=String, tested=String, result=Text),
    PrimaryKeyConstraint("judge", "tested"),
)
"""Table of admission tests; ``judge`` is the signature without what depends on a task, ``result`` JSON."""
