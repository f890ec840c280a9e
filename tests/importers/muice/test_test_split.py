"""A test split beside the document: the comprehensive task, and what of it stands in the training data."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hengwen.importers.muice.importer import MuiceImportResult, import_muice
from hengwen.plans.plan import load_plan
from hengwen.plans.suite import load_suite

TEST = [
    {"prompt": "天上有几颗星", "label": "数到一百就睡着了。"},
    {"prompt": "在吗在吗", "label": "在的，刚醒。"},
    {"prompt": "要不要喝茶", "label": "要呀，我要最烫的那一杯。"},
]


def write_rows(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def talk(prompt: str, answer: str) -> dict:
    return {"conversations": [{"from": "human", "value": prompt}, {"from": "gpt", "value": answer}]}


TRAIN = [talk("天上有几颗星？", "数到一百就睡着了"), talk("渴了", "要，我要最烫的那一杯")]


def codes(result: MuiceImportResult) -> list[str]:
    return [note.code for note in result.notes if note.kind == "warning"]


def test_a_test_split_makes_the_comprehensive_task_runnable(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    split = write_rows(tmp_path / "test.jsonl", TEST)
    result = import_muice(document(), tmp_path / "out", test_split=split)
    plan = load_plan(result.plan)
    load_suite(plan)
    task = plan.tasks[-1]
    rows = (tmp_path / "out" / "comprehensive.jsonl").read_text("utf-8").splitlines()
    assert (task.name, task.repeats, len(rows)) == ("comprehensive", 1, 3)
    assert task.scale is not None
    assert task.scale.sum_divided_by == 10
    assert "near_duplicate" not in [rule.name for rule in task.rules]
    assert "风格" in task.judges[0].task_instruction.zh
    warnings = {note.code: note.message for note in result.notes if note.kind == "warning"}
    assert "has 3 rows: the published score, sum / 10, is 0..10 only with 100" in warnings["not_100_rows"]
    assert warnings["example_in_test"].endswith("which judges see: lines 2")
    assert "left_out" not in warnings


def test_a_corpus_adds_the_rule_and_the_test_split_is_searched_in_it(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    split = write_rows(tmp_path / "test.jsonl", TEST)
    corpus = write_rows(tmp_path / "train.jsonl", TRAIN)
    result = import_muice(document(), tmp_path / "deep" / "out", test_split=split, corpus=corpus)
    for task in load_plan(result.plan).tasks:
        (rule,) = [rule for rule in task.rules if rule.name == "leakage"]
        assert Path(rule.options["corpus"]).resolve() == corpus.resolve()
    assert "leakage: {corpus: ../../train.jsonl}" in result.plan.read_text("utf-8")
    leaks = {
        note.code: note.message.rpartition(": ")[2] for note in result.notes if "contamination" in note.code
    }
    assert leaks == {
        "contamination_exact": "lines 1",
        "contamination_particle_only": "lines 3",
        "contamination_prompt": "lines 1",
        "contamination_pair": "lines 1",
    }


def test_a_corpus_of_answers_alone_is_compared_by_labels_and_says_so(
    document: Callable[..., Path], tmp_path: Path
) -> None:
    split = write_rows(tmp_path / "test.jsonl", TEST)
    corpus = tmp_path / "train.txt"
    corpus.write_text("数到一百就睡着了。\n", "utf-8")
    result = import_muice(document(), tmp_path / "out", test_split=split, corpus=corpus)
    assert [note for note in codes(result) if "contamination" in note] == ["contamination_exact"]
    assert "no_training_prompts" in [note.code for note in result.notes if note.kind == "note"]


def test_a_clean_test_split_gets_no_warning(document: Callable[..., Path], tmp_path: Path) -> None:
    split = write_rows(tmp_path / "test.jsonl", [TEST[0]])
    corpus = write_rows(tmp_path / "train.jsonl", [{"prompt": "讲个笑话", "label": "从前有座灯塔。"}])
    result = import_muice(document(), tmp_path / "out", test_split=split, corpus=corpus)
    assert not [note for note in codes(result) if "contamination" in note]


def test_rows_that_repeat_an_earlier_one_are_a_warning(document: Callable[..., Path], tmp_path: Path) -> None:
    split = write_rows(tmp_path / "test.jsonl", [*TEST, TEST[2], {**TEST[2]}])
    result = import_muice(document(), tmp_path / "out", test_split=split)
    (message,) = [note.message for note in result.notes if note.code == "duplicate_in_test"]
    assert message == "test.jsonl: 2 test rows repeat an earlier row and count twice: lines 4, 5"
