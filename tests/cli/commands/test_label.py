"""``hengwen label``: the browser gets the answers to label, and the labels go where the plan has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from label_plan import ANSWERS, LIVE, PLAN, TOPIC, jsonl, labels, with_labels

from hengwen.labels.desk import LabelDesk
from hengwen.labels.queue import draw_questions
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite


@pytest.fixture
def form(hengwen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write the plan; then give these levels in the pages that the command serves."""
    (tmp_path / "plan.yaml").write_text(PLAN, "utf-8")
    (tmp_path / "live.jsonl").write_text(jsonl(LIVE), "utf-8")
    (tmp_path / "topic.jsonl").write_text(jsonl(TOPIC), "utf-8")
    for name, rows in ANSWERS.items():
        (tmp_path / f"{name}.jsonl").write_text(jsonl(rows), "utf-8")
    monkeypatch.setenv("HENGWEN_LANG", "zh")
    levels: Iterator[str] = iter(())

    def serve(location: str, *, desk: LabelDesk, path: str, **_: object) -> None:
        assert path == "label"
        for question, level in zip(desk.open_questions("ann"), levels, strict=False):
            desk.give(question, level, "ann")

    monkeypatch.setattr("hengwen.view.app.serve", serve)

    def fill(entries: str, *arguments: object):
        nonlocal levels
        levels = iter(entries.split())
        return hengwen("label", "plan.yaml", *arguments)

    return fill


def test_seven_answers_are_labelled_and_the_plan_takes_the_labels(form, tmp_path: Path) -> None:
    done = form("A B C D E A A")
    assert done.code == 0
    written = labels(tmp_path / "labels.csv")
    assert [label.value for label in written] == [1, 0.75, 0.5, 0.25, 0, 1, 1]
    assert {label.score for label in written} == {"muice_live.level", "muice_new_topic.level"}
    assert all(label.drawn.startswith("random|seed:") for label in written)
    assert "labels.csv" in done.err
    with_labels(tmp_path)
    suite = load_suite(load_plan(tmp_path / "plan.yaml"))
    assert (len(suite.labels), suite.warnings) == (7, ())
    assert form("", "--seed", "0").err == ""


def test_a_rater_goes_on_where_labelling_stopped(form, tmp_path: Path) -> None:
    form("A A")
    form("B B B B B B B")
    assert [label.value for label in labels(tmp_path / "labels.csv")] == [1, 1, *[0.75] * 5]


def test_a_plan_cannot_have_a_file_outside_its_folder_written(form, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(PLAN + "labels: ../new.csv\n", "utf-8")
    (tmp_path.parent / "new.csv").write_text("task,checkpoint,id,repeat,score,value,rater\n", "utf-8")
    assert form("A").code == 2


def test_the_order_is_drawn_by_the_seed_and_a_larger_sample_holds_the_smaller(form, tmp_path: Path) -> None:
    suite = load_suite(load_plan(tmp_path / "plan.yaml"))

    def places(**options):
        return [
            (q.response.task, q.response.checkpoint, q.response.sample_id, q.response.repeat)
            for q in draw_questions(suite, **options)
        ]

    assert places() == places()
    assert sorted(places()) == sorted(places(seed=1))
    assert len({tuple(places(seed=seed)) for seed in range(9)}) > 4
    assert places(limit=3) == places()[:3]
    firsts = {places(seed=seed)[0] for seed in range(60)}
    assert firsts == set(places()), "every answer may come first"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "lve"], "计划里没有任务 'lve'；是不是 'live'？"),
        (["--score", "muice_live.vice"], "没有评审给出 'muice_live.vice'；是不是 'muice_live.voice'？"),
        (["--task", "topic", "--score", "muice_live.voice"], "没有评审给出 'muice_live.voice'"),
        (["--lang", "fr"], "--lang is zh or en"),
        (["-o", "labels.txt"], "看不出 'labels.txt' 的格式"),
    ],
)
def test_a_wrong_option_is_told_before_anything_is_served(form, arguments, message) -> None:
    done = form("A A", *arguments)
    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())


def test_answers_that_were_generated_come_from_the_store(form, tmp_path: Path) -> None:
    from hengwen.records import Response, Run, Sample
    from hengwen.store import open_store

    plan = PLAN.replace("{name: day-2, responses: day-2.jsonl}", "{name: live-2, backend: s}")
    plan += "backends: {s: {provider: replay, options: {answers: replay.jsonl}}}\n"
    (tmp_path / "plan.yaml").write_text(plan, "utf-8")
    done = form("")
    assert "检查点 'live-2' 在 hengwen.db 中还没有回答；请先运行：hengwen run" in done.err
    with open_store(tmp_path / "hengwen.db") as store:
        ledger = store.ledger()
        ledger.begin(Run(id="r", plan="p", plan_hash="", checkpoint="live-2", order=1))
        sample = Sample(id="a", input="今天好吗？", task="live")
        answer = Response(sample_id="a", text="店里的", task="live", checkpoint="live-2")
        ledger.record_response("r", sample, answer)
        ledger.commit()
    form("A A A A A")
    assert "live-2" in {label.checkpoint for label in labels(tmp_path / "labels.csv")}


def test_pairs_for_training_come_from_the_labels_and_nothing_is_labelled(form, tmp_path: Path) -> None:
    form("A B C D E A B")
    before = (tmp_path / "labels.csv").read_bytes()
    done = form("A", "--pairs", "pairs.jsonl")
    pairs = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text("utf-8").splitlines()]
    assert f"pairs.jsonl：{len(pairs)} 个偏好对" in done.err
    assert pairs
    assert all(pair["chosen"] != pair["rejected"] and pair["margin"] > 0 for pair in pairs)
    assert (tmp_path / "labels.csv").read_bytes() == before
    assert form("", "--pairs", "live.jsonl").code == 2, "data of the plan is not overwritten"
    assert form("", "--pairs", "labels.csv").code == 2, "nor are the labels"
