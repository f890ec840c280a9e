"""Stored answers and scores as a table that other tools read."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from hengwen import open_store, rows
from hengwen.errors import ConfigError
from hengwen.records import Failure, Response, Row, Run, Sample, Score
from hengwen.runs.run_plan import RunResult
from hengwen.score_id import ScoreId

RUN = Run(
    id="r1", plan="p", plan_hash="h", checkpoint="<b>ckpt", step=10, started="2026-01-01", status="finished"
)


def judged(sample: str, outcome: Score | Failure) -> Row:
    return Row("r1", ScoreId("chat", "judge", "level"), RUN.checkpoint, sample, 1, "song", outcome)


@pytest.fixture
def location(tmp_path: Path) -> str:
    """Return the path of a store with a score, a failure and a score of a group of answers."""
    path = str(tmp_path / "s.db")
    with open_store(path) as store:
        ledger = store.ledger()
        ledger.begin(RUN)
        sample = Sample(id="1", input=(("system", "be brief"), ("user", "=1+1")))
        ledger.record_response("r1", sample, Response(sample_id="1", text="=2", task="chat"))
        good = Score(
            name="judge.level", value=0.5, signature="s", kind="judge", reason="fine", details={"label": "B"}
        )
        bad = Failure(
            name="judge.level", status="parse_error", message="no JSON", signature="s", kind="judge"
        )
        ledger.record_rows([judged("1", good), judged("2", bad)])
        group = Score(name="distinct", value=0.25, signature="d")
        ledger.record_rows(
            [Row("r1", ScoreId("chat", "distinct", ""), RUN.checkpoint, None, None, "chat", group)]
        )
        ledger.commit()
    return path


def test_a_row_has_the_answer_and_a_failure_has_no_value(location: str) -> None:
    scored, failed, group = rows(location)
    assert (scored["prompt"], scored["answer"], scored["cluster"]) == ("be brief\n=1+1", "=2", "song")
    assert (scored["score"], scored["value"], scored["level"], scored["reason"]) == (
        "judge.level",
        0.5,
        "B",
        "fine",
    )
    assert (failed["value"], failed["status"], failed["reason"]) == (None, "parse_error", "no JSON")
    assert failed["answer"] is None
    assert (group["sample"], group["repeat"], group["value"]) == (None, None, 0.25)
    assert {row["step"] for row in (scored, failed, group)} == {10}


def test_runs_are_named_by_id_or_record_or_checkpoint(location: str) -> None:
    with open_store(location) as store:
        for name in ("r1", RUN, RUN.checkpoint):
            assert len(rows(store, [name]).to_dict()["run"]) == 3
        with pytest.raises(ConfigError, match="no run or checkpoint 'x'"):
            list(rows(store, ["x"]))


def test_data_frames_take_the_rows(location: str) -> None:
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    table = pa.table(rows(location))
    assert table.column_names == list(rows(location).columns)
    assert table.to_pylist() == list(rows(location))
    assert str(table.schema.field("value").type) == "double"
    frame = pd.DataFrame.from_arrow(rows(location))
    assert frame["value"].isna().tolist() == [False, True, False]
    assert pd.DataFrame(rows(location).to_dict())["status"].tolist() == ["ok", "parse_error", "ok"]


def test_a_result_shows_one_line_and_a_table_and_gives_a_frame(location: str) -> None:
    pytest.importorskip("pandas")
    result = RunResult(plan="p", runs=(RUN,), store=location, failures={"parse_error": 1})
    assert repr(result) == f"RunResult(plan='p', runs=1, failures=1, store={location!r})"
    assert "<td>&lt;b&gt;ckpt</td><td>10</td>" in result._repr_html_()
    assert len(result.to_frame()) == 3
    with pytest.raises(ConfigError, match="pass the open store"):
        RunResult(plan="p", runs=(RUN,), store="sqlite://").to_frame()


def test_files_have_the_same_rows_and_run_no_formula(location: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    expected = list(rows(location))
    for ending in ("jsonl", "csv", "parquet"):
        assert rows(location).write(tmp_path / f"r.{ending}") == 3
    lines = (tmp_path / "r.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == expected
    assert parquet.read_table(tmp_path / "r.parquet").to_pylist() == expected
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    assert cells[0]["answer"] == "'=2"
    assert [row["value"] for row in cells] == ["0.5", "", "0.25"]


def test_the_store_is_not_overwritten_and_other_formats_are_refused(location: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="name it with one of .parquet, .csv, .jsonl"):
        rows(location).write(tmp_path / "r.xlsx")


def test_the_command_writes_the_rows_of_a_store(hengwen, location: str, tmp_path: Path) -> None:
    done = hengwen("export", "s.db", "-o", "r.jsonl")
    assert (done.code, done.out) == (0, "r.jsonl: 3 rows\n")
    assert hengwen("export", "none.db", "-o", "r.jsonl").code == 2
    assert hengwen("export", "s.db", "-o", "s.db").code == 2
