"""What a run stores about its sample of answers, and what it does when the versions change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hengwen import RunOptions, run_plan
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite
from hengwen.records import Run
from hengwen.results.score_summaries import task_scores
from hengwen.runs import task_scores as run_facts
from hengwen.runs.resources import RunResources
from hengwen.store import open_store

PLAN = """\
name: p
tasks:
  - name: t
    samples: samples.jsonl
    scorers: [rouge, distinct_n]
    judges: [{rubric: lyric_craft}]
checkpoints:
  - {name: early, responses: early.jsonl}
  - {name: late, responses: late.jsonl}
"""


BACKEND = """\
backends:
  large:
    provider: openai
    model: big-1
    base_url: "http://127.0.0.1:9/v1"
    price: {input: 2, output: 8, currency: CNY}
"""


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def samples(reference: str = "海风吹过灯塔") -> list[dict[str, Any]]:
    return [{"id": name, "input": f"写{name}", "references": [reference]} for name in "abcd"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a plan with three stored answers to each of four prompts, at two checkpoints."""
    write_rows(tmp_path / "samples.jsonl", samples())
    for checkpoint in ("early", "late"):
        answers = [
            {"id": name, "repeat": repeat, "output": "海风吹过灯塔。"}
            for name in "abcd"
            for repeat in (1, 2, 3)
        ]
        write_rows(tmp_path / f"{checkpoint}.jsonl", answers)
    (tmp_path / "plan.yaml").write_text(PLAN, "utf-8")
    return tmp_path


def run(folder: Path, **options: Any) -> tuple[Run, ...]:
    return run_plan(folder / "plan.yaml", store=folder / "x.db", **options).runs


def key_of(folder: Path, run_: Run, score: str = "t/rouge_l.f") -> dict[str, str]:
    with open_store(folder / "x.db") as store:
        tasks = task_scores([run_], store.table([run_]))
    (summary,) = next(item for task in tasks for item in task.scores if item.address == score).summaries
    return dict(summary.comparability.parts)


@pytest.mark.slow
def test_a_run_stores_the_plans_sequence_and_its_position_in_it(folder: Path) -> None:
    early, late = run(folder)
    assert early.facts["sequence"] == late.facts["sequence"]
    assert [early.facts["position"], late.facts["position"]] == [0, 1]
    (folder / "plan.yaml").write_text(PLAN.replace("name: late", "name: later"), "utf-8")
    assert run(folder)[0].facts["sequence"] != early.facts["sequence"]


def test_stored_facts_are_read_back_with_the_run(folder: Path) -> None:
    early, _ = run(folder)
    with open_store(folder / "x.db") as store:
        assert store.find(early.id).facts == early.facts
    task = early.facts["tasks"]["t"]
    assert (task["samples_total"], task["samples_taken"], task["repeats"]) == (4, 4, "3")


@pytest.mark.slow
def test_edited_references_change_the_key_of_the_next_run(folder: Path) -> None:
    before = key_of(folder, run(folder)[0])
    write_rows(folder / "samples.jsonl", samples("别的答案"))
    after = key_of(folder, run(folder)[0])
    assert [part for part in before if before[part] != after[part]] == ["references"]


@pytest.mark.slow
def test_a_limit_takes_another_sample_set_until_the_run_is_complete(folder: Path) -> None:
    part = run(folder, options=RunOptions(limit=2))[0]
    assert part.facts["tasks"]["t"]["samples_taken"] == 2
    limited = key_of(folder, part)
    whole = run(folder)[0]
    assert whole.id == part.id
    complete = key_of(folder, whole)
    assert limited["samples"] != complete["samples"]
    again = run(folder, options=RunOptions(limit=2))[0]
    assert key_of(folder, again) == complete, "a run keeps the samples that it has"


def test_the_set_size_of_a_group_score_counts_prompts_and_repeats(folder: Path) -> None:
    key = key_of(folder, run(folder)[0], "t/distinct_2.checkpoint")
    assert key["set size"] == "4 prompts, repeats 3"


@pytest.mark.slow
def test_another_version_of_a_package_scores_again_in_a_new_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, _ = run(folder)
    assert run(folder)[0].id == before.id
    versions = {**run_facts.scoring_versions(), "jieba": "99"}
    monkeypatch.setattr(run_facts, "scoring_versions", lambda: versions)
    monkeypatch.setattr("hengwen.runs.checkpoint_run.scoring_versions", lambda: versions)
    with open_store(folder / "x.db") as store, store._engine.begin() as connection:
        of_scorers = "SELECT id FROM evaluator WHERE kind = 'scorer' AND scores NOT LIKE '%],[%'"
        connection.exec_driver_sql(
            f"UPDATE evaluation SET numbers = '[0.125]' WHERE evaluator_id IN ({of_scorers})"
        )
    after, _ = run(folder)
    assert after.id != before.id
    assert key_of(folder, after)["jieba"] == "99"
    with open_store(folder / "x.db") as store:
        values = {row.outcome.value for row in store.rows([after]) if row.outcome.kind == "scorer"}
    assert 0.125 not in values, "a score of the other version was copied"


def test_a_judge_is_stored_with_its_model_and_price(folder: Path) -> None:
    text = PLAN.replace("{rubric: lyric_craft}", "{rubric: lyric_craft, backend: large}")
    (folder / "plan.yaml").write_text(text + BACKEND, "utf-8")
    suite = load_suite(load_plan(folder / "plan.yaml"))
    with open_store("sqlite://") as store:
        facts = RunResources(suite, store, RunOptions(), dry=True).facts
    (judge,) = facts.judges(suite.tasks[0]).values()
    assert judge["models"] == ["big-1"]
    assert judge["prices"] == [{"input": 2.0, "output": 8.0, "currency": "CNY", "source": "plan"}]
