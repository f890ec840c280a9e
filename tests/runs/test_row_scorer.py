"""One row of a scored file: which fields reach the scorer, and what becomes of an error."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import ConfigError, DataError
from hengwen.io.row_reader import DataRow
from hengwen.records import Failure, Outcome, Response, Sample, Score
from hengwen.runs import score_file
from hengwen.runs.score_file import RowScorer, build_scorer


class RecordingScorer:
    """Keeps what it is called with, and returns or raises what it is told to."""

    names = ("s.length",)
    signature = "s|v:1"

    def __init__(self) -> None:
        self.calls: list[tuple[Sample, Response]] = []
        self.outcomes: Sequence[Outcome] = (Score(name="s.length", value=3, signature="s|v:1"),)
        self.error: Exception | None = None

    def score(self, sample: Sample, response: Response) -> Sequence[Outcome]:
        self.calls.append((sample, response))
        if self.error is not None:
            raise self.error
        return self.outcomes


@pytest.fixture
def scorer(monkeypatch: pytest.MonkeyPatch) -> RecordingScorer:
    recording = RecordingScorer()
    monkeypatch.setattr(score_file, "build_scorer", lambda name, options: recording)
    return recording


def score(values: dict[str, Any]) -> dict[str, Any]:
    return RowScorer("s", {})(DataRow(Path("in.jsonl"), 7, values))


OK = {"status": "ok", "message": "", "signature": "s|v:1"}


def test_a_row_has_its_line_id_and_scores(scorer: RecordingScorer) -> None:
    columns = {"output": "abc"}
    assert score({"id": 12, "output": "abc"}) == {"line": 7, "id": "12", "s.length": 3, **OK, **columns}
    assert score({"output": "abc"}) == {"line": 7, "id": "", "s.length": 3, **OK, **columns}


def test_a_row_keeps_its_columns_under_the_names_of_the_file(scorer: RecordingScorer) -> None:
    values = {"key": "a", "answer": "abc", "model": ["m", 1], "metadata": {"k": 1}}
    row = RowScorer("s", {}, {"key": "id", "answer": "output"})(DataRow(Path("in.jsonl"), 7, values))
    assert row == {"line": 7, "id": "a", "s.length": 3, **OK, **values}


def test_a_column_with_the_name_of_an_output_field_is_kept_beside_it(scorer: RecordingScorer) -> None:
    row = score(
        {"id": "a", "output": "abc", "s.length": 9, "status": "old", "source.status": "older", "line": 2}
    )
    assert (row["s.length"], row["source.s.length"]) == (3, 9)
    assert (row["status"], row["source.status"], row["source.source.status"]) == ("ok", "old", "older")
    assert (row["line"], row["source.line"]) == (7, 2)


def test_a_row_without_a_mapped_column_says_so_and_keeps_its_columns(scorer: RecordingScorer) -> None:
    row = RowScorer("s", {}, {"answr": "output"})(DataRow(Path("in.jsonl"), 7, {"id": "a", "answer": "abc"}))
    assert (row["status"], row["id"], row["answer"]) == ("scorer_error", "a", "abc")
    assert row["message"] == "in.jsonl:7: columns: no column 'answr'; did you mean 'answer'?"


@pytest.mark.parametrize(
    ("values", "sample"),
    [
        ({"id": "a"}, Sample(id="a")),
        ({}, Sample(id="7")),
        ({"id": "a", "references": "x"}, Sample(id="a", references=("x",))),
        ({"id": "a", "references": ["x", "y"]}, Sample(id="a", references=("x", "y"))),
        ({"id": "a", "references": None}, Sample(id="a")),
        ({"id": "a", "input": "问", "template": "ccR"}, Sample(id="a", metadata={"template": "ccR"})),
        (
            {"id": "a", "template": "row", "k": 1, "metadata": {"template": "metadata"}},
            Sample(id="a", metadata={"template": "metadata", "k": 1}),
        ),
        ({"id": "a", "metadata": "no object"}, Sample(id="a")),
    ],
    ids=["id", "line", "reference", "references", "null", "other fields", "metadata", "text as metadata"],
)
def test_fields_of_a_row_become_a_sample(
    scorer: RecordingScorer, values: dict[str, Any], sample: Sample
) -> None:
    score({**values, "output": "答"})
    assert scorer.calls == [(sample, Response(sample_id=sample.id, text="答"))]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({}, "field 'output' is missing; the row has: id"),
        ({"output": 3}, "field 'output' must be text, got int"),
        (
            {"output": "x", "references": 3},
            "field 'references' must be a text or a list of texts, got int",
        ),
    ],
)
def test_an_answer_is_text(scorer: RecordingScorer, output: dict[str, Any], message: str) -> None:
    assert score({"id": "a", **output}) == {
        "line": 7,
        "id": "a",
        "status": "scorer_error",
        "message": f"in.jsonl:7: {message}",
        "signature": "s|v:1",
        **output,
    }
    assert scorer.calls == []


def test_an_error_of_the_scorer_names_file_line_and_error(scorer: RecordingScorer) -> None:
    scorer.error = KeyError("title")
    row = score({"id": "a", "output": "答"})
    assert (row["status"], row["message"]) == ("scorer_error", "in.jsonl:7: KeyError: 'title'")
    assert (row["line"], row["id"], "s.length" in row) == (7, "a", False)


def test_a_row_that_cannot_be_read_has_its_line_and_no_id(scorer: RecordingScorer) -> None:
    assert RowScorer("s", {})(DataError("in.jsonl:4: not valid JSON", line=4)) == {
        "line": 4,
        "id": "",
        "status": "scorer_error",
        "message": "in.jsonl:4: not valid JSON",
        "signature": "s|v:1",
    }


def test_failures_are_no_scores(scorer: RecordingScorer) -> None:
    scorer.outcomes = (Failure(name="s.length", status="not_applicable", message="why", signature="s"),)
    assert score({"id": "a", "output": "答"}) == {"line": 7, "id": "a", **OK, "output": "答"}


def test_a_scorer_is_built_once_in_each_process() -> None:
    row_scorer = RowScorer("lyric", {"rules": "muchin"})
    scorer = row_scorer.scorer
    assert row_scorer.scorer is scorer
    data = pickle.dumps(row_scorer)
    assert len(data) < 200, "the scorer itself is not sent"
    copy = pickle.loads(data)
    assert copy == row_scorer
    assert copy.scorer.signature == scorer.signature != RowScorer("lyric", {}).scorer.signature


def test_a_scorer_of_sets_is_refused_by_its_name() -> None:
    message = "^scorer 'distinct_n' scores sets of answers; use it in a plan, with hengwen run$"
    with pytest.raises(ConfigError, match=message):
        build_scorer("distinct_n", {})
