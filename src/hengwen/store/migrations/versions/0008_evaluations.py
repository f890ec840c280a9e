"""Store all scores that a scorer or judge gave one answer in one table row, an evaluation.

What evaluations have in common (names, scales and signatures, and notes that repeat) is stored once.
"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

BATCH = 10_000

ROW = sa.table(
    "row",
    *(
        sa.column(name)
        for name in ("id", "run_id", "task", "sample_id", "repeat", "name", "kind", "cluster", "status")
    ),
    *(sa.column(name) for name in ("value", "signature", "item_hash", "scale", "reason", "details")),
)


def upgrade() -> None:
    """Create the tables ``evaluator``, ``note`` and ``evaluation``, and replace the table ``row``."""
    evaluator = op.create_table(
        "evaluator",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        *(sa.Column(name, sa.String, nullable=False) for name in ("task", "kind", "signature")),
        sa.Column("scores", sa.Text, nullable=False),
    )
    op.create_table(
        "note",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False),
    )
    evaluation = op.create_table(
        "evaluation",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run_id", sa.String, nullable=False),
        sa.Column("series_id", sa.BigInteger, nullable=False),
        sa.Column("sample_id", sa.String, nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("evaluator_id", sa.BigInteger, nullable=False),
        *(sa.Column(name, sa.String, nullable=False) for name in ("cluster", "item_hash")),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("statuses", "numbers")),
        sa.Column("notes_id", sa.BigInteger),
        sa.Column("notes", sa.Text, nullable=False),
        sa.UniqueConstraint("run_id", "sample_id", "repeat", "series_id", name="evaluation_key"),
    )
    connection = op.get_bind()
    run_ids = connection.execute(sa.select(ROW.c.run_id).distinct().order_by(ROW.c.run_id)).scalars().all()
    evaluators: set[int] = set()
    for run_id in run_ids:
        evaluations = []
        for first_id, new_evaluator, columns in _evaluations(connection, run_id):
            if new_evaluator["id"] not in evaluators:
                evaluators.add(new_evaluator["id"])
                connection.execute(evaluator.insert(), [new_evaluator])
            evaluations.append((first_id, columns))
        evaluations.sort(key=lambda pair: pair[0])  # in the order in which the rows were written
        for start in range(0, len(evaluations), BATCH):
            batch = [columns for _, columns in evaluations[start : start + BATCH]]
            connection.execute(evaluation.insert(), batch)
    op.drop_table("row")


def _evaluations(
    connection: sa.Connection, run_id: str
) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Yield, for each evaluation of a run: the id of its first old row, its evaluator, and its new row."""
    query = (
        sa.select(ROW)
        .where(ROW.c.run_id == run_id)
        .order_by(ROW.c.task, ROW.c.sample_id, ROW.c.repeat, ROW.c.kind, ROW.c.signature, ROW.c.id)
    )
    rows = connection.execute(query).mappings()
    for _, group in groupby(rows, _group_key):
        outcomes = list(group)
        first = outcomes[0]
        pairs = [
            [outcome["name"], json.loads(outcome["scale"]) if outcome["scale"] else None]
            for outcome in outcomes
        ]
        scores = _json(pairs)
        key = (first["task"], first["kind"], first["signature"])
        evaluator_id = _hash(*key, scores)
        statuses = [outcome["status"] for outcome in outcomes]
        evaluator = {
            "id": evaluator_id,
            "task": key[0],
            "kind": key[1],
            "signature": key[2],
            "scores": scores,
        }
        evaluation = {
            "run_id": run_id,
            "series_id": _hash(first["task"], min(outcome["name"] for outcome in outcomes)),
            "sample_id": first["sample_id"],
            "repeat": first["repeat"],
            "evaluator_id": evaluator_id,
            "cluster": "" if first["cluster"] == first["sample_id"] else first["cluster"],
            "item_hash": first["item_hash"][:32],
            "statuses": "" if set(statuses) == {"ok"} else _json(statuses),
            "numbers": _json([outcome["value"] for outcome in outcomes]),
            "notes_id": None,
            "notes": _notes(outcomes),
        }
        yield first["id"], evaluator, evaluation


def _group_key(row: Any) -> tuple[object, ...]:
    """Return the key of a row's evaluation; each human label is an evaluation of its own."""
    name = row["name"] if row["kind"] == "human" else ""
    return row["task"], row["sample_id"], row["repeat"], row["kind"], row["signature"], name


def _notes(outcomes: list[Any]) -> str:
    notes: list[Any] = []
    for outcome in outcomes:
        more: Any = outcome["details"] or 0
        if outcome["details"] and outcome["status"] == "ok":
            more = json.loads(outcome["details"])
        notes.append([outcome["reason"], more] if outcome["reason"] or more else 0)
    while notes and not notes[-1]:
        notes.pop()
    return _json(notes) if notes else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _hash(*parts: str) -> int:
    text = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 4
