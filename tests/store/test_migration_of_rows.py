"""Scores of stores with the table ``row`` (schema 0007) are kept as evaluations."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine

from hengwen.records import Failure, Row, Run, Scale, Score
from hengwen.store import open_store, schema

RUN = Run(id="r1", plan="p", plan_hash="h", checkpoint="c", started="2026-01-01", status="finished")
UNIT = Scale(low=0.0, high=1.0, levels=(0.0, 0.5, 1.0))
SCALE = '{"low": 0.0, "high": 1.0, "levels": [0.0, 0.5, 1.0], "higher_is_better": true}'
COLUMNS = (
    "run_id, task, sample_id, repeat, name, kind, cluster, status, value, signature, item_hash, scale, "
    "reason, details"
)
OLD_ROWS = [
    ("t", "a", 1, "j.level", "judge", "song", "ok", 0.5, "j|v:1", "0" * 64, SCALE, "好", '{"model": "m"}'),
    ("t", "a", 1, "s.total", "scorer", "song", "ok", 3.25, "s|v:1", "0" * 64, "", "", ""),
    ("t", "a", 1, "j.voice", "judge", "song", "off_scale", None, "j|v:1", "0" * 64, "", "what?", "raw"),
    ("t", "b", 1, "s.total", "scorer", "b", "missing", None, "s|v:1", "", "", "no answer", ""),
    ("t", "", 0, "set", "scorer", "t", "ok", 0.1, "set|v:1", "1" * 64, "", "", '{"ci": [0, 1]}'),
    ("t", "a", 1, "human.j.level", "human", "song", "ok", 1.0, "human", "0" * 64, SCALE, "", ""),
    ("t", "a", 1, "human.j.voice", "human", "song", "ok", 0.0, "human", "0" * 64, SCALE, "", ""),
]


def new_row(sample: str | None, cluster: str, item_hash: str, outcome: Score | Failure) -> Row:
    return Row("r1", "t", "c", sample, None if sample is None else 1, cluster, outcome, item_hash)


J = {"signature": "j|v:1", "kind": "judge"}
HUMAN = {"signature": "human", "kind": "human", "scale": UNIT}
HALF = "0" * 32
ROWS = [
    new_row(
        "a",
        "song",
        HALF,
        Score(name="j.level", value=0.5, scale=UNIT, reason="好", details={"model": "m"}, **J),
    ),
    new_row("a", "song", HALF, Failure(name="j.voice", status="off_scale", message="what?", raw="raw", **J)),
    new_row("a", "song", HALF, Score(name="s.total", value=3.25, signature="s|v:1")),
    new_row("b", "b", "", Failure(name="s.total", status="missing", message="no answer", signature="s|v:1")),
    new_row(None, "t", "1" * 32, Score(name="set", value=0.1, signature="set|v:1", details={"ci": [0, 1]})),
    new_row("a", "song", HALF, Score(name="human.j.level", value=1.0, **HUMAN)),
    new_row("a", "song", HALF, Score(name="human.j.voice", value=0.0, **HUMAN)),
]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'x.db'}"
    return str(request.getfixturevalue("postgres"))


def test_every_row_of_an_older_store_is_kept(url: str) -> None:
    engine = create_engine(url)
    schema.upgrade(engine, "0007")
    with engine.begin() as connection:
        names = "id, plan, plan_hash, checkpoint, position, started, versions, layout, seed, status"
        values = "'r1', 'p', 'h', 'c', 0, '2026-01-01', '{}', '[]', 0, 'finished'"
        connection.exec_driver_sql(f"INSERT INTO run ({names}) VALUES ({values})")
        mark = "?" if engine.dialect.name == "sqlite" else "%s"
        marks = ", ".join([mark] * 14)
        for old in OLD_ROWS:
            connection.exec_driver_sql(f'INSERT INTO "row" ({COLUMNS}) VALUES ({marks})', ("r1", *old))
    engine.dispose()
    with open_store(url) as store:
        assert list(store.rows([RUN])) == ROWS
        assert store.statuses([RUN])["t/s.total"] == {"ok": 1, "missing": 1}
        completed = store.ledger().done(RUN)
        assert completed.get(("t", "a", 1, "s|v:1", HALF)) == "r1"
        assert completed.get(("t", "a", 1, "j|v:1", HALF)) is None
        ledger = store.ledger()  # a score of the same series replaces the migrated one
        ledger.record_rows([new_row("b", "b", "x", Score(name="s.total", value=1, signature="s|v:1"))])
        ledger.commit()
        assert store.statuses([RUN])["t/s.total"] == {"ok": 2}


def test_an_older_store_without_rows_is_migrated(url: str) -> None:
    engine = create_engine(url)
    schema.upgrade(engine, "0007")
    engine.dispose()
    with open_store(url) as store:
        assert store.runs() == []
