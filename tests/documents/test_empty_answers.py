"""Checkpoints with empty answers are named in every result that reads answers; a rare empty answer is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rows import each_row

from hengwen import compare_runs, drift_report, open_store, report_document, run_plan
from hengwen.documents.blocks import AnswerFilter, Document
from hengwen.documents.compare.document import compare_document
from hengwen.documents.drift.document import drift_document
from hengwen.documents.gates.gate import gate_document
from hengwen.documents.missing import empty_verdicts
from hengwen.documents.render.markdown import to_markdown
from hengwen.monitoring.gates.evaluate_gates import evaluate_gates
from hengwen.results.coverage import EmptyAnswers
from hengwen.store import Store

EMPTY = [{"checkpoint": "step-2", "task": "t", "empty": 12, "answers": 60}]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Write a plan of two checkpoints; the second has 12 empty answers of 60, the first has one."""
    for name, empty in (("step-1", 1), ("step-2", 12)):
        rows = [{"id": f"p{i}", "output": "\u3000\n" if i < empty else "山水" * (i + 1)} for i in range(60)]
        write(tmp_path / f"{name}.jsonl", rows)
    write(tmp_path / "samples.jsonl", [{"id": f"p{i}", "input": "?"} for i in range(60)])
    document = {
        "name": "p",
        "tasks": [{"name": "t", "samples": "samples.jsonl", "scorers": ["length"], "repeats": 1}],
        "checkpoints": [{"name": name, "responses": f"{name}.jsonl"} for name in ("step-1", "step-2")],
        "gates": ["t/length.characters >= 1"],
    }
    (tmp_path / "plan.yaml").write_text(json.dumps(document), "utf-8")
    return tmp_path / "plan.yaml"


def write(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def documents(store: Store, plan: Path) -> dict[str, Document]:
    return {
        "compare": compare_document(compare_runs(store, "step-1", "step-2")),
        "drift": drift_document(drift_report(store)),
        "gate": gate_document(evaluate_gates(store, plan)),
        "run": report_document(store, store.latest()),
    }


def test_every_result_says_which_checkpoint_has_empty_answers(plan: Path) -> None:
    with open_store("sqlite://") as store:
        run_plan(plan, store=store)
        for kind, document in documents(store, plan).items():
            zh, en = (to_markdown(document, language) for language in ("zh", "en"))
            assert "12 of 60 answers of step-2 are empty; empty answers are scored" in en, kind
            assert "step-2 的 60 个回答中有 12 个是空的；它们照样计分" in zh, kind
            assert "of 60 answers of step-1" not in en, kind
            if kind != "run":
                assert document.record["empty_answers"] == EMPTY, kind
            else:
                (finding,) = (
                    item for item in document.record["summary"]["findings"] if "are empty" in item["en"]
                )
                assert finding["weight"] == "alarm"


@pytest.mark.slow
def test_the_number_of_empty_answers_leads_to_them(plan: Path) -> None:
    with open_store("sqlite://") as store:
        run_plan(plan, store=store)
        page = str(report_document(store, store.latest()).blocks)
    assert repr(AnswerFilter("step-2", "t", status="empty")) in page


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def test_empty_answers_are_those_that_python_strips_to_nothing(plan: Path, request, kind: str) -> None:
    blanks = [chr(code) for code in range(1, 0x3100) if not chr(code).strip()]
    texts = ["", *blanks, *(f"{blank} x" for blank in blanks)]
    write(plan.parent / "samples.jsonl", [{"id": f"p{i}", "input": "?"} for i in range(len(texts))])
    for name in ("step-1", "step-2"):
        rows = [{"id": f"p{i}", "output": text} for i, text in enumerate(texts)]
        write(plan.parent / f"{name}.jsonl", rows)
    with open_store(request.getfixturevalue("postgres") if kind == "postgresql" else "sqlite://") as store:
        run_plan(plan, store=store)
        runs = store.latest()
        expected = [EmptyAnswers(label, "t", len(blanks) + 1, len(texts)) for label in ("a", "b")]
        assert list(store.empty_answers(runs, ["a", "b"])) == expected


@each_row(("empty", "total"), [(0, 60), (1, 50), (2, 100)])
def test_a_rare_empty_answer_is_no_finding(empty: int, total: int) -> None:
    assert not EmptyAnswers("c", "t", empty, total).is_finding
    assert EmptyAnswers("c", "t", empty + 2, total).is_finding


def test_of_many_checkpoints_the_worst_are_named_and_the_others_counted() -> None:
    lines = empty_verdicts(EmptyAnswers(f"c{empty}", "t", empty, 60) for empty in range(2, 8))
    assert [str(line.sentence.en).partition(" empty")[0] for line in lines] == [
        *(f"{empty} of 60 answers of c{empty} are" for empty in (7, 6, 5)),
        "3 more with over 2%",
    ]
