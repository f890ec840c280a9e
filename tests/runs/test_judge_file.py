"""One file of answers judged into another: the rows of the target, and the run that they come from."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from hengwen.errors import ConfigError
from hengwen.plans.plan import Plan
from hengwen.records import Score
from hengwen.runs.options import RunOptions
from hengwen.runs.run_plan import RunResult, run_resolved
from hengwen.runs.score_file import judge_file
from hengwen.store.store import Store, open_store

TEXTS = {"a": "海风吹过灯塔。", "b": "天上的云，水里的星。"}


def judge(source: Path, target: Path, **options: Any) -> RunResult:
    with open_store(source.parent / "x.db") as store:
        return judge_file(source, target, rubric="lyric_craft", store=store, **options)[1]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in.jsonl", [{"id": name, "output": text} for name, text in TEXTS.items()])


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_each_answer_has_a_row_with_its_stored_scores(source: Path) -> None:
    target = source.with_name("out.jsonl")
    result = judge(source, target)
    with open_store(source.parent / "x.db") as store:
        answers = list(store.answers(result.runs[0]))
    rows = read(target)
    assert [(row["id"], row["repeat"], row["status"]) for row in rows] == [("a", 1, "ok"), ("b", 1, "ok")]
    for row, answer in zip(rows, answers, strict=True):
        scores = {id_.name: item for id_, item in answer.outcomes.items() if isinstance(item, Score)}
        level = scores["lyric_craft.level"]
        assert {name: row[name] for name in scores} == {name: item.value for name, item in scores.items()}
        assert (row["reason"], row["signature"]) == (level.reason, level.signature)
        assert set(row) == {"id", "repeat", "status", "reason", "signature", *scores}


def test_columns_of_csv_are_in_order(source: Path) -> None:
    target = source.with_name("out.csv")
    result = judge(source, target)
    addresses = [address.removeprefix("answers/") for address in result.runs[0].score_order]
    scores = [name for name in addresses if not name.startswith(("human.", "anchor."))]
    assert "lyric_craft.level" in scores
    header, *rows = csv.reader(target.read_text("utf-8-sig").splitlines())
    assert header == ["id", "repeat", *scores, "status", "reason", "signature"]
    assert [row[:2] for row in rows] == [["a", "1"], ["b", "1"]]
    assert all(row[-1] for row in rows)


@pytest.mark.parametrize(
    ("stem", "plan"),
    [
        ("answers_2.v1-b", "judge-answers_2.v1-b"),
        ("答案 (1)", "judge-答案--1-"),
        ("x" * 150, "judge-" + "x" * 94),
    ],
    ids=["plain", "other characters", "long"],
)
def test_the_run_is_called_after_the_file(tmp_path: Path, stem: str, plan: str) -> None:
    source = write(tmp_path / f"{stem}.jsonl", [{"id": "a", "output": TEXTS["a"]}])
    result = judge(source, tmp_path / "out.jsonl")
    assert result.plan == plan
    assert [(run.plan, run.checkpoint) for run in result.runs] == [(plan, "file")]


def test_columns_rename_the_fields_of_prompts_and_answers(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", [{"name": "a", "lyric": TEXTS["a"]}])
    judge(source, tmp_path / "out.jsonl", columns={"name": "id", "lyric": "output"})
    assert [(row["id"], row["status"]) for row in read(tmp_path / "out.jsonl")] == [("a", "ok")]


def test_a_target_of_another_format_is_refused_before_anything_is_judged(source: Path) -> None:
    with pytest.raises(ConfigError, match="cannot tell the format of"):
        judge(source, source.with_name("out.txt"))
    with open_store(source.parent / "x.db") as store:
        assert store.runs() == []


@pytest.mark.slow
def test_verdicts_of_an_earlier_call_are_used_again(source: Path) -> None:
    first, second = source.with_name("1.jsonl"), source.with_name("2.jsonl")
    runs = [judge(source, target).runs[0].id for target in (first, second)]
    assert runs[0] == runs[1]
    assert read(first) == read(second)


def test_arguments_reach_the_plan_and_the_run(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Plan, RunOptions]] = []

    def recorded(plan: Plan, store: Store, options: RunOptions) -> RunResult:
        calls.append((plan, options))
        return run_resolved(plan, store, options)

    monkeypatch.setattr("hengwen.runs.score_file.run_resolved", recorded)
    options = RunOptions(limit=1, concurrency=3)
    judge(source, source.with_name("1.jsonl"), language="en", options=options, columns={"output": "output"})
    judge(source, source.with_name("2.jsonl"))
    (named, named_options), (default, default_options) = calls
    assert (named_options, default_options) == (options, RunOptions())
    for plan, language, columns in ((named, "en", {"output": "output"}), (default, "zh", {})):
        (task,), (checkpoint,) = plan.tasks, plan.checkpoints
        assert [(item.rubric, item.language) for item in task.judges] == [("lyric_craft", language)]
        assert (task.name, dict(task.columns), dict(checkpoint.columns)) == ("answers", columns, columns)
        assert [str(task.samples), str(checkpoint.responses)] == [str(source.resolve())] * 2


def test_a_model_in_place_of_the_rules_judge_is_named_by_provider_and_url(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class RefusedError(Exception):
        pass

    def refuse(plan: Plan, store: Store, options: RunOptions) -> RunResult:
        (backend,) = plan.backends.values()
        raise RefusedError(f"{backend.provider}/{backend.model} at {backend.base_url}")

    monkeypatch.setattr("hengwen.runs.score_file.run_resolved", refuse)
    with pytest.raises(RefusedError, match="^openai/tiny at http://127.0.0.1:9/v1$"):
        judge(source, source.with_name("out.jsonl"), judge="openai/tiny", base_url="http://127.0.0.1:9/v1")
