"""Scores of another tool become runs, with failures that are never scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hengwen import compare_runs, drift_report, open_store, report_document
from hengwen.documents.render.markdown import to_markdown
from hengwen.errors import ConfigError, DataError
from hengwen.monitoring.drift.score_drift import ScoreDrift
from hengwen.peer_review.battle_files import stored_battles
from hengwen.records import Failure, Score
from hengwen.results.aggregate import aggregate
from hengwen.runs.imported.record import import_scores
from hengwen.score_id import ScoreId


def write(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def outcomes(store, result) -> dict:
    rows = store.rows(result.runs)
    return {(row.checkpoint, row.score.address, row.sample_id, row.repeat): row.outcome for row in rows}


@pytest.fixture
def store():
    with open_store("sqlite://") as opened:
        yield opened


def test_columns_are_recognized_by_their_names_and_said(store, tmp_path: Path) -> None:
    file = write(
        tmp_path / "judged.csv", "model,question_id,judge,judge_score,length\na,q1,gpt,7,3\nb,q1,gpt,8,4\n"
    )
    result = import_scores(file, store, scale="1-10")
    assert result.columns == ("score=judge_score", "id=question_id", "checkpoint=model", "judge=judge")
    assert result.unused == ("length",)
    assert {key: outcome.value for key, outcome in outcomes(store, result).items()} == {
        ("a", "scores/gpt.level", "q1", 1): 7,
        ("b", "scores/gpt.level", "q1", 1): 8,
    }


@pytest.mark.parametrize(
    ("cell", "error", "status"),
    [
        ("", "", "parse_error"),
        ("garbage", "", "parse_error"),
        ("nan", "", "parse_error"),
        ("inf", "", "parse_error"),
        ("-1", "", "off_scale"),
        ("11", "", "off_scale"),
        ("7", "rate_limited", "rate_limited"),
        ("7", "the judge crashed", "scorer_error"),
    ],
)
def test_what_is_no_score_is_a_failure(store, tmp_path: Path, cell: str, error: str, status: str) -> None:
    file = write(tmp_path / "j.csv", f"model,id,score,error\na,1,{cell},{error}\na,2,5,\n")
    result = import_scores(file, store, judge="gpt", scale="1-10")
    by_id = {key[2]: outcome for key, outcome in outcomes(store, result).items()}
    assert isinstance(by_id["1"], Failure)
    assert by_id["1"].status == status
    assert by_id["2"].value == 5
    assert (result.scores, dict(result.failures)) == (1, {status: 1})
    (summary,) = aggregate(store.table(result.runs)).values()
    assert (summary.mean, summary.coverage) == (5, 0.5)


def test_json_levels_with_names_and_truth_values_are_numbers(store, tmp_path: Path) -> None:
    lines = [{"model": "a", "id": str(i), "score": score} for i, score in enumerate(["A", "C", "Z", None])]
    file = write(tmp_path / "j.jsonl", "\n".join(map(json.dumps, lines)))
    result = import_scores(file, store, judge="gpt", scale="A=3,B=2,C=1")
    assert [getattr(item, "value", item.name) for item in outcomes(store, result).values()] == [
        3, 1, "gpt.level", "gpt.level",
    ]  # fmt: skip
    passes = write(tmp_path / "p.jsonl", '{"model": "a", "id": "1", "score": true}')
    assert [item.value for item in outcomes(store, import_scores(passes, store)).values()] == [1]


def test_a_missing_prompt_lowers_coverage(store, tmp_path: Path) -> None:
    file = write(tmp_path / "j.csv", "model,id,score\na,1,5\na,2,5\nb,1,6\n")
    result = import_scores(file, store)
    shares = [summary.prompt_coverage for summary in aggregate(store.table(result.runs)).values()]
    assert shares == [1.0, 0.5]


def test_repeats_are_numbered_and_stated_ones_must_differ(store, tmp_path: Path) -> None:
    file = write(tmp_path / "j.csv", "model,id,score\na,1,5\na,1,6\n")
    result = import_scores(file, store)
    assert [key[3] for key in outcomes(store, result)] == [1, 2]
    assert any("repeats" in note for note in result.notes)
    stated = write(tmp_path / "k.csv", "model,id,score,repeat\na,1,5,2\na,1,6,2\n")
    with pytest.raises(DataError, match=r"k\.csv:3: another row has the same prompt, repeat 2"):
        import_scores(stated, store)


def test_wrong_rows_record_nothing_and_each_is_said_with_its_line(store, tmp_path: Path) -> None:
    rows = ["a,1,5,10", "a,2,5,x", "a,3,5,10", "a,,5,10", ",5,5,10", "a,6,5", "a,7,5,10,1", "a,8,garbage,10"]
    file = write(tmp_path / "j.csv", "\n".join(["model,id,score,step", *rows]) + "\n")
    with pytest.raises(DataError, match=r"j\.csv:3: the step must be a number") as caught:
        import_scores(file, store)
    assert [note.removeprefix(f"{file}:")[:2] for note in caught.value.__notes__] == ["5:", "6:", "7:", "8:"]
    assert store.runs() == []
    write(file, "model,id,score,step\n" + "a,1,5,x\n" * 25)
    with pytest.raises(DataError) as caught:
        import_scores(file, store)
    assert (len(caught.value.__notes__), caught.value.__notes__[-1]) == (20, "further wrong rows: 5")


def test_each_failure_is_said_with_its_line_and_the_others_are_counted(store, tmp_path: Path) -> None:
    file = write(tmp_path / "j.csv", "model,id,score\na,1,5\na,2,\na,3,x\na,4,4\na,5,99\n")
    result = import_scores(file, store, judge="g", scale="1-5")
    assert [text.removeprefix(f"{file}:") for text in result.failed] == [
        "3: g.level: parse_error: the file has no number here",
        "4: g.level: parse_error: no number: 'x'",
        "6: g.level: off_scale: 99 is not on the scale",
    ]
    assert (result.scores, sum(result.failures.values()), result.unlisted) == (2, 3, 0)
    write(file, "model,id,score\n" + "".join(f"a,{number},x\n" for number in range(25)))
    result = import_scores(file, store)
    assert (len(result.failed), result.unlisted, dict(result.failures)) == (20, 5, {"parse_error": 25})


def test_a_report_of_an_import_does_not_advise_to_run_or_ask_again(store, tmp_path: Path) -> None:
    rows = "a,1,0.5\na,2,x\nb,1,0.7\nb,2,0.2\n"
    missing = import_scores(write(tmp_path / "m.csv", "model,id,score\n" + rows), store)
    text = to_markdown(report_document(store, missing.runs), "en")
    assert "the scores are imported: add what is missing to the file, and import it again" in text
    versions = "".join(f"{model},{i},{v},0.5\n" for v, model in enumerate("ab") for i in range(8))
    other = import_scores(write(tmp_path / "v.csv", "model,id,version,score\n" + versions), store)
    text = to_markdown(report_document(store, other.runs), "en")
    assert "; import scores of the same settings for all checkpoints" in text


def test_labels_of_raters_that_are_no_value_are_said(store, tmp_path: Path) -> None:
    file = write(tmp_path / "r.csv", "model,id,judge,rater,score\na,1,g,,5\na,1,,ann,x\na,1,,bo,4\n")
    result = import_scores(file, store)
    assert result.failed == (f"{file}:3: score: parse_error: no number: 'x'",)
    assert "labels of raters that are no value, and count nowhere: 1" in result.notes
    assert (result.scores, dict(result.failures)) == (1, {})


def test_the_same_import_is_recorded_once_and_another_version_is_not_comparable(
    store, tmp_path: Path
) -> None:
    rows = "".join(f"a,{i},{i % 5}\nb,{i},{(i + 1) % 5}\n" for i in range(20))
    file = write(tmp_path / "j.csv", "model,id,score\n" + rows)
    first = import_scores(file, store, judge="gpt")
    again = import_scores(file, store, judge="gpt")
    assert again.is_known
    assert [run.id for run in again.runs] == [run.id for run in first.runs]
    later = write(tmp_path / "k.csv", "model,id,score\n" + rows.replace("b,", "c,"))
    other = import_scores(later, store, judge="gpt", plan="j")
    with pytest.raises(ConfigError, match="not comparable: signatures differ: file:"):
        compare_runs(store, first.runs[0].id, other.runs[1].id)  # nothing says that one judge gave both
    known = [import_scores(path, store, judge="gpt", version="2", plan="v") for path in (file, later)]
    (score,) = compare_runs(store, known[0].runs[0].id, known[1].runs[1].id).scores
    assert score.problem == ""


def test_raters_are_people_whose_mean_stands_beside_each_judge(store, tmp_path: Path) -> None:
    text = "model,id,judge,rater,score\na,1,g,,4\na,1,h,,2\na,1,,ann,4\na,1,,bo,5\n"
    result = import_scores(write(tmp_path / "j.csv", text), store, scale="1,2,3,4,5")
    values = {key[1]: outcome.value for key, outcome in outcomes(store, result).items()}
    assert values == {
        "scores/g.level": 4,
        "scores/h.level": 2,
        "scores/human.g.level": 4.5,
        "scores/human.h.level": 4.5,
    }


def test_means_with_standard_errors_are_read_by_drift(store, tmp_path: Path) -> None:
    means = [0.50, 0.52, 0.51, 0.53, 0.52, 0.70]
    text = "step,task,acc,acc_stderr\n" + "".join(f"{i},arc,{m},0.02\n" for i, m in enumerate(means))
    result = import_scores(write(tmp_path / "curve.csv", text), store, columns={"score": "acc"})
    assert [run.checkpoint for run in result.runs][-1] == "step-5"
    table = store.table(result.runs[-1:])
    (summary,) = aggregate(table).values()
    assert summary.interval == pytest.approx((0.70 - 1.96 * 0.02, 0.70 + 1.96 * 0.02))
    (score,) = drift_report(store).scores
    assert isinstance(score, ScoreDrift)
    assert score.steps.mean_error == pytest.approx(0.02, rel=1e-3)
    assert score.drifts == "drift"


def test_equal_means_are_read_once_and_others_are_refused(store, tmp_path: Path) -> None:
    file = write(tmp_path / "c.csv", "step,task,acc\n1,arc,.5\n1,arc,.5\n")
    assert import_scores(file, store, columns={"score": "acc"}).scores == 1
    other = write(tmp_path / "d.csv", "step,task,acc\n1,arc,.5\n1,arc,.6\n")
    with pytest.raises(DataError, match="another row has a mean"):
        import_scores(other, store, columns={"score": "acc"})


def test_several_models_with_steps_are_several_courses(store, tmp_path: Path) -> None:
    text = "model,step,id,score\n" + "".join(f"{m},{s},1,{s}\n" for m in "ab" for s in (20, 10))
    result = import_scores(write(tmp_path / "c.csv", text), store)
    assert [(run.plan, run.checkpoint, run.step) for run in result.runs] == [
        ("c:a", "step-10", 10), ("c:a", "step-20", 20), ("c:b", "step-10", 10), ("c:b", "step-20", 20),
    ]  # fmt: skip


def test_an_epoch_may_have_a_fraction(store, tmp_path: Path) -> None:
    file = write(tmp_path / "c.csv", "epoch,id,score\n0.5,1,3\n1.0,1,4\n")
    result = import_scores(file, store, columns={"step": "epoch"})
    assert [(run.checkpoint, run.step) for run in result.runs] == [("step-0.5", 0.5), ("step-1", 1)]


def test_hostile_names_are_stored_as_plain_text(store, tmp_path: Path) -> None:
    rows = [{"model": "a\u001b[2J\u0000", "id": "\ud800", "score": 1, "answer": "x\u0000"}]
    file = write(tmp_path / "j.jsonl", json.dumps(rows[0]))
    result = import_scores(file, store)
    assert "\x1b" not in result.runs[0].checkpoint
    assert [row.outcome.value for row in store.rows(result.runs)] == [1]
    long = write(tmp_path / "k.jsonl", json.dumps({"model": "m" * 300, "id": "1", "score": 1}))
    with pytest.raises(DataError, match="longer than 200 characters"):
        import_scores(long, store)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"scoer": "s"}, "no field 'scoer'; did you mean 'score'"),
        ({"score": "x"}, "no column 'x'"),
        ({}, "no column of scores.* --columns score=A --columns score=B"),
    ],
)
def test_wrong_columns_are_named(store, tmp_path: Path, columns: dict, message: str) -> None:
    file = write(tmp_path / "j.csv", "model,id,s\na,1,5\n")
    with pytest.raises(ConfigError, match=message):
        import_scores(file, store, columns=columns)


def test_two_prompts_of_one_id_are_refused(store, tmp_path: Path) -> None:
    file = write(tmp_path / "j.csv", "model,id,prompt,score\na,1,x,5\nb,1,y,5\n")
    with pytest.raises(DataError, match="two prompts have the id '1'"):
        import_scores(file, store)


def test_texts_are_stored_with_their_answers(store, tmp_path: Path) -> None:
    file = write(tmp_path / "j.csv", "model,id,prompt,answer,score\na,1,Why?,So.,5\n")
    (run,) = import_scores(file, store).runs
    (answer,) = store.answers(run)
    assert (answer.input, answer.text, len(answer.outcomes)) == ("Why?", "So.", 1)


def test_parquet_is_read(store, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table({"model": ["a", "a"], "id": [1, 2], "score": [5.0, float("nan")]})
    pq.write_table(table, tmp_path / "j.parquet")
    result = import_scores(tmp_path / "j.parquet", store)
    assert (result.scores, dict(result.failures)) == (1, {"parse_error": 1})


def test_stored_scores_are_battles_in_which_the_better_score_wins(store, tmp_path: Path) -> None:
    text = "model,id,score\na,1,5\nb,1,3\na,2,2\nb,2,2\na,3,1\nb,3,x\n"
    import_scores(write(tmp_path / "j.csv", text), store, judge="g", scale="1-5")
    data = stored_battles(store)
    assert data.battles.outcome.tolist() == [1.0, 0.5]
    assert data.failures == 1
    assert data.battles.models == ("a", "b")
    lower = import_scores(tmp_path / "j.csv", store, judge="g", scale="1-5", lower_is_better=True, plan="low")
    assert stored_battles(store, lower.runs[0].plan).battles.outcome.tolist() == [0.0, 0.5]


def test_a_score_keeps_its_reason_and_its_part(store, tmp_path: Path) -> None:
    file = write(tmp_path / "j.csv", "model,id,judge,metric,score,reason\na,1,g,tone,5,warm\n")
    (row,) = store.rows(import_scores(file, store).runs)
    assert row.score == ScoreId("scores", "g", "tone")
    assert isinstance(row.outcome, Score)
    assert row.outcome.reason == "warm"
