"""Two judges whose scores of the same answers are stored are compared without a call."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import pytest

from hengwen import import_scores, judge_drift, open_store
from hengwen.documents.judge_drift import judge_drift_document
from hengwen.documents.render.write import to_json
from hengwen.errors import ConfigError

PROMPTS = 40


def scored(judge: str, model: str, prompt: int) -> int:
    """Return a score: the new judge takes a point from every second answer; the later model is worse."""
    quality = 4 + prompt % 4 - (2 if model == "v2" else 0)
    return quality - (judge == "new" and prompt % 2)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [
        f"{model},{prompt},{judge},{scored(judge, model, prompt)}"
        for model in ("v1", "v2")
        for prompt in range(PROMPTS)
        for judge in ("old", "new")
    ]
    file = tmp_path / "both.csv"
    file.write_text("\n".join(["model,id,judge,score", *rows]) + "\n", "utf-8")
    return file


def test_on_one_checkpoint_only_the_judges_are_compared(table: Path, hengwen) -> None:
    with open_store("s.db") as store:
        import_scores(table, store, scale="1-10")
        report = judge_drift(store, "v1", "v1", judges=("old", "new"))
    (score,) = report.scores
    expected = fmean(scored("new", "v1", item) - scored("old", "v1", item) for item in range(PROMPTS))
    assert score.judge is not None
    assert (score.judge.difference, score.model, score.verdict) == (expected, None, "judge drifted")
    text = hengwen(
        "judge-drift", "s.db", "--old-judge", "old", "--judge", "new", "--before", "v1", "--after", "v1"
    )
    assert text.code == 0
    assert text.out.startswith("judge drift: v1 (old → new)\nJudge drifted: scores/new.level.")
    assert "the same answers of v1, new minus old" in text.out


def test_on_two_checkpoints_the_old_judge_measures_the_model(table: Path) -> None:
    with open_store("sqlite://") as store:
        import_scores(table, store, scale="1-10")
        report = judge_drift(store, judges=("old", "new"))
    (score,) = report.scores
    assert score.model is not None
    assert score.judge is not None
    assert score.interaction is not None
    assert (score.model.difference, score.judge.difference, score.interaction.difference) == (-2.0, -0.5, 0.0)
    assert score.verdict == "both"
    assert json.loads(to_json(judge_drift_document(report)))["compared"] == ["old", "new"]


def test_judges_may_be_columns_of_one_import_named_by_their_scores(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    rows = [f"m,{item},{scored('old', 'v1', item)},{scored('new', 'v1', item)}" for item in range(PROMPTS)]
    file.write_text("\n".join(["model,id,then,now", *rows]) + "\n", "utf-8")
    with open_store("sqlite://") as store:
        columns = [("score", "then"), ("score", "now")]
        import_scores(file, store, columns=columns, judge="jury", scale="1-10")
        (score,) = judge_drift(store, judges=("jury.then", "jury.now")).scores
    assert score.judge is not None
    assert score.judge.difference == -0.5


def test_equal_scores_are_not_called_stable_because_no_judge_repeated_itself(tmp_path: Path) -> None:
    file = tmp_path / "equal.csv"
    rows = [f"m,{item},{judge},{item % 5 + 1}" for item in range(400) for judge in ("old", "new")]
    file.write_text("\n".join(["model,id,judge,score", *rows]) + "\n", "utf-8")
    with open_store("sqlite://") as store:
        import_scores(file, store, scale="1-5")
        (score,) = judge_drift(store, judges=("old", "new")).scores
    assert (score.verdict, score.reason) == ("cannot tell", "judged once each")


def test_what_cannot_be_compared_is_named(table: Path, hengwen) -> None:
    with open_store("s.db") as store:
        import_scores(table, store, scale="1-10")
        with pytest.raises(
            ConfigError, match="no judge 'newer' in the runs of .*; did you mean 'new'.*--before"
        ):
            judge_drift(store, judges=("old", "newer"))
        with pytest.raises(ConfigError, match="old and old are not two judges"):
            judge_drift(store, judges=("old", "old"))
    assert "a store needs --old-judge and --judge" in hengwen("judge-drift", "s.db").err
    refused = hengwen("judge-drift", "s.db", "--judge", "new", "--old-judge", "old", "--fresh")
    assert (refused.code, "a store is read without a call" in refused.err) == (2, True)
