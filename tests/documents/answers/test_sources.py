"""A report of stored runs: rows are read once, texts are streamed, outcomes are loaded for a few answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from score_rows import by_score, row_of
from sqlalchemy import event

from hengwen.documents.answers.sources import AnswerList, AnswerRecord, StoredAnswers
from hengwen.documents.blocks import AnswerTable, Details, Document
from hengwen.documents.run.document import report_document
from hengwen.records import Failure, Response, Run, Sample, Score
from hengwen.store import Store, open_store
from hengwen.text.language import in_language

PROMPTS = 20
RUNS = tuple(
    Run(id=f"r{i}", plan="p", plan_hash="", checkpoint=f"c{i}", order=i, score_order=("t/j.level",))
    for i in range(2)
)


def outcome_of(prompt: int) -> Score | Failure:
    if prompt == 7:
        return Failure(name="j.level", status="timeout", message="late", signature="j|v:1", kind="judge")
    value = prompt * 3 % PROMPTS / PROMPTS
    return Score(name="j.level", value=value, signature="j|v:1", kind="judge", reason=f"reason {prompt}")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "x.db") as opened:
        ledger = opened.ledger()
        for run in RUNS:
            ledger.begin(run)
            for i in range(PROMPTS):
                sample = Sample(id=f"s{i:02}", input=f"prompt {i}", task="t")
                text = f"text {i} {'字' * i}"
                ledger.record_response(
                    run.id,
                    sample,
                    Response(sample_id=sample.id, text=text, task="t", checkpoint=run.checkpoint),
                )
                ledger.record_rows(
                    [
                        row_of(
                            run_id=run.id,
                            task="t",
                            checkpoint=run.checkpoint,
                            sample_id=sample.id,
                            repeat=1,
                            cluster=sample.id,
                            outcome=outcome_of(i),
                        )
                    ]
                )
        ledger.commit()
        yield opened


def answers_of(document: Document) -> AnswerTable:
    (table,) = [
        item
        for block in document.blocks
        if isinstance(block, Details)
        for item in block.blocks
        if isinstance(item, AnswerTable)
    ]
    return table


def test_all_rows_are_read_once_and_outcomes_again_only_for_shown_answers(store: Store) -> None:
    statements: list[str] = []
    event.listen(
        store._engine,
        "before_cursor_execute",
        lambda _connection, _cursor, statement, *_: statements.append(" ".join(statement.split())),
    )
    answers = answers_of(report_document(store, RUNS, answers="excerpts"))
    of_scores = [statement for statement in statements if "evaluation.numbers" in statement]
    full = [statement for statement in of_scores if "sample_id IN" not in statement]
    assert len(full) == len(RUNS)
    assert answers.size == "excerpts"
    assert not any(row.text or row.outcomes for row in answers.rows)
    whole = answers_of(report_document(store, RUNS, answers="full"))
    assert [replace(row, text="", prompt="", outcomes=()) for row in whole.rows] == list(answers.rows)
    assert [in_language(row.outcomes[0].reason, "en") for row in whole.rows[:3]] == [
        "late",
        "late",
        "reason 0",
    ]


def test_stored_answers_are_streamed_as_answers_in_memory_would_be(store: Store) -> None:
    records = [
        AnswerRecord(
            run_id=run.id,
            task=answer.task,
            checkpoint=run.checkpoint,
            sample_id=answer.sample_id,
            repeat=answer.repeat,
            input=answer.input,
            text=answer.text,
            outcomes=answer.outcomes,
        )
        for run in RUNS
        for answer in store.answers(run)
    ]
    stored, listed = StoredAnswers(store, RUNS, store.table(RUNS)), AnswerList(records)
    assert list(stored.stream()) == list(listed.stream())
    keys = [record.key for record in records][::7]
    assert stored.load(keys) == listed.load(keys)
    assert stored.load([keys[0]._replace(sample_id="absent")]) == {}


def test_answers_can_be_read_by_key(store: Store) -> None:
    keys = [("t", "s03", 1), ("t", "s07", 1), ("t", "s03", 2), ("other", "s04", 1)]
    answers = list(store.answers(RUNS[0], keys))
    assert [(answer.sample_id, answer.outcomes) for answer in answers] == [
        ("s03", by_score(outcome_of(3))),
        ("s07", by_score(outcome_of(7))),
    ]


def test_the_pinned_run_is_the_baseline_of_the_report_or_is_named_in_a_warning(store: Store) -> None:
    store.pin(RUNS[0], "now")

    def record(*args: Any) -> Any:
        return report_document(store, args[0], warnings=args[1:]).record

    assert record(RUNS)["summary"]["baseline"] == "r0"
    (warning,) = record(RUNS[1:])["warnings"]
    assert warning.startswith("the pinned baseline c0 (r0) is not in this report, so the last checkpoint is")
    assert record(RUNS[1:], "first")["warnings"] == ["first", warning]
