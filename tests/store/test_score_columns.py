"""Columns that are read without a record for each row are those that rows give."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from score_rows import row_of, score_of

from hengwen import Failure, Row, Run, Scale, Score, Store, open_store
from hengwen.results.score_table import Column, ScoreTable

UNIT = Scale(low=0, high=1, levels=(0, 0.5, 1))


def row(outcome: Score | Failure, sample: str | None = "p1", repeat: int | None = 1) -> Row:
    key = {"run_id": "r", "task": "t", "checkpoint": "c", "sample_id": sample, "repeat": repeat}
    return row_of(**key, cluster="song", outcome=outcome)


JUDGED = {"signature": "j|v:1", "kind": "judge", "scale": UNIT}
ROWS = [
    row(Score(name="len.value", value=3, signature="len|v:1", details={"model": "never read"})),
    row(Failure(name="len.value", status="missing", message="没有回答", signature="len|v:1"), "p2"),
    row(Failure(name="len.value", status="missing", message="另一个", signature="len|v:1"), "p3"),
    row(Score(name="j.level", value=0.5, details={"model": "gpt", "method": "logprobs"}, **JUDGED)),
    row(Score(name="j.level", value=1, details={"model": ["gpt", "glm"]}, **JUDGED), "p2"),
    row(Score(name="j.level", value=1, **JUDGED), "p3"),
    row(Score(name="k.level", value=0, details={"model": "rules", "clauses": {}}, **JUDGED)),
    row(
        Score(
            name="set.value",
            value=0.3,
            signature="set|v:1",
            details={"ci": [0.2, 0.4], "answers": 6, "prompts": 3},
        ),
        None,
        None,
    ),
    row(Score(name="human.j.level", value=1, signature="h|v:1", kind="human", scale=UNIT)),
]


def contents(column: Column) -> dict[str, object]:
    names = ("sample_ids", "repeats", "clusters", "values", "statuses", "first_messages", "signatures")
    facts = ("provenance", "judged_by_rules", "scale", "interval", "composed_of")
    return {name: getattr(column, name) for name in names + facts}


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store("sqlite://") as opened:
        ledger = opened.ledger()
        ledger.begin(Run(id="r", plan="p", plan_hash="", checkpoint="c"))
        ledger.record_rows(ROWS)
        ledger.commit()
        yield opened


def test_every_column_is_that_of_the_rows(store: Store) -> None:
    columns = {key: contents(column) for key, column in ScoreTable(ROWS).series.items()}
    read = store.table(store.runs())
    assert {key: contents(column) for key, column in read.series.items()} == columns
    assert list(read.series) == list(columns)


def test_only_the_named_scores_are_read(store: Store) -> None:
    table = store.table(store.runs(), [score_of("j.level"), score_of("len.value", "other")])
    assert [key.score.name for key in table.series] == ["j.level"]
    assert store.table(store.runs(), []).series == {}
