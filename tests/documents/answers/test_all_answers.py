"""The table of all answers: which are kept, in which order, and how much of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import each_row
from score_rows import by_score, score_of

from hengwen.documents.answers import all_answers
from hengwen.documents.answers.all_answers import TEXT_LIMIT, AnswerCollector
from hengwen.documents.answers.sources import AnswerList, AnswerRecord
from hengwen.documents.blocks import AnswerTable, Size, check_size
from hengwen.errors import ConfigError
from hengwen.records import Failure, Scale, Score
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.text.language import in_language


def record(i: int, value: float | None, run: str = "r", text: str = "第一行\n第二行") -> AnswerRecord:
    outcome = (
        Failure(name="a.x", status="timeout", message="late", signature="a")
        if value is None
        else Score(name="a.x", value=value, signature="a", reason="why", scale=Scale(low=0, high=10))
    )
    return AnswerRecord(
        run_id=run,
        task="t",
        checkpoint=run,
        sample_id=f"s{i}",
        repeat=1,
        input="题",
        text=text,
        outcomes=by_score(outcome),
    )


def table_of(records: list[AnswerRecord], size: Size | None = None, groups: int = 1) -> AnswerTable:
    score = ScoreSummaries(id=score_of("a.x"), kind="scorer", summaries=())
    source, collector = AnswerList(records), AnswerCollector([score], groups, size)
    for answer in source.stream():
        collector.add(answer)
    return collector.table(source, "all of it")


def names(table: AnswerTable) -> list[str]:
    return [row.sample_id for row in table.rows]


def test_failures_stand_first_then_the_lowest_values() -> None:
    table = table_of([record(i, value) for i, value in enumerate([5.0, None, 1.0, 1.0, 9.0])])
    assert names(table) == ["s1", "s2", "s3", "s0", "s4"]
    assert (table.rows[0].status, table.rows[0].values) == ("timeout", (None,))
    assert (table.omitted, table.command) == (0, "")


def test_scores_of_one_name_in_several_tasks_share_a_column() -> None:
    records = [replace(record(i, float(i)), task=task) for i, task in enumerate("tu")]
    of_tasks = [
        replace(item, outcomes={score._replace(task=item.task): out for score, out in item.outcomes.items()})
        for item in records
    ]
    scores = [
        ScoreSummaries(id=score_of("a.x")._replace(task=task), kind="scorer", summaries=()) for task in "tu"
    ]
    source, collector = AnswerList(of_tasks), AnswerCollector(scores, 2)
    for answer in source.stream():
        collector.add(answer)
    table = collector.table(source, "")
    assert [column.head for column in table.columns] == ["a.x"]
    assert [(row.task, row.values) for row in table.rows] == [("t", (0.0,)), ("u", (1.0,))]


def test_of_too_many_answers_each_run_keeps_its_lowest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_answers, "MAX_ROWS", 6)
    values = [float(i * 7 % 11) for i in range(11)]
    records = [record(i, value, run) for run in ("a", "b") for i, value in enumerate(values)]
    table = table_of(records, groups=2)
    lowest = [f"s{values.index(value)}" for value in (0.0, 1.0, 2.0)]
    assert sorted(names(table)) == sorted(lowest * 2)
    assert (table.omitted, table.command) == (16, "all of it")


@each_row(
    ("size", "excerpt", "text", "command"),
    [
        ("numbers", "", "", "all of it"),
        ("excerpts", "第一行 第二行", "", "all of it"),
        ("full", "第一行 第二行", "第一行\n第二行", ""),
    ],
)
def test_a_size_says_how_much_of_an_answer_is_there(
    size: Size, excerpt: str, text: str, command: str
) -> None:
    table = table_of([record(0, 1.0)], size)
    assert (table.rows[0].excerpt, table.rows[0].text, table.command) == (excerpt, text, command)
    assert [in_language(outcome.reason, "en") for outcome in table.rows[0].outcomes] == ["why"] * bool(text)


def test_few_answers_are_whole_and_many_are_excerpts_unless_a_size_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert table_of([record(0, 1.0)]).size == "full"
    monkeypatch.setattr(all_answers, "FULL_LIMIT", 6)
    assert table_of([record(0, 1.0)]).size == "excerpts"


def test_a_very_long_answer_is_cut_and_says_so() -> None:
    (row,) = table_of([record(0, 1.0, text="长" * (TEXT_LIMIT + 5))], "full").rows
    assert row.text == "长" * TEXT_LIMIT + "\n… (5 more characters)"
    assert row.length == TEXT_LIMIT + 5


def test_an_unknown_size_is_refused() -> None:
    assert (check_size(None), check_size("full")) == (None, "full")
    with pytest.raises(ConfigError, match="numbers, excerpts or full, got 'ful'"):
        check_size("ful")
