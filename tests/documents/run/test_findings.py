"""What the summary says of a score: only what a paired test shows, or why there is no test."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import each_row
from score_rows import row_of

from hengwen.documents.blocks import Decision, Details, Sentence, Table
from hengwen.documents.run.courses import comparison_note
from hengwen.documents.run.document import run_document
from hengwen.documents.run.report import ReportData, build_report
from hengwen.records import Run, Scale, Score
from hengwen.results.score_table import ScoreTable
from hengwen.text.language import in_language

UNIT = Scale(low=0, high=1)


def finding(data: ReportData):
    (only,) = build_report(data).findings
    return only


def test_intervals_that_do_not_overlap_are_no_finding_without_a_test(table_of) -> None:
    result = finding(table_of({"a": [0.0] * 5, "b": [1.0] * 5}))
    assert (result.is_alarm, result.text.en) == (
        False,
        "too few common prompts (5) to test: at least 6 independent ones are needed",
    )


def test_where_no_difference_could_have_been_seen_there_are_too_few_prompts(table_of) -> None:
    values = {"a": [0.1 * i for i in range(10)], "b": [0.1 * i for i in range(8)] + [0.2, 0.3]}
    result = finding(table_of(values, scale=UNIT))
    assert result.text.en.startswith("too few prompts (10 in common, and fewer whose scores differ)")
    assert "10 个共同题目，其中得分不同的更少" in result.text.zh


def test_no_difference_says_what_could_have_been_seen(table_of) -> None:
    result = finding(table_of({"a": [0.2, 0.8] * 10, "b": [0.8, 0.2] * 10}, scale=UNIT))
    assert not result.is_alarm
    assert result.text.en.startswith(
        "no difference seen (smallest p = 1); smallest detectable difference at most 0.41"
    )
    assert result.text.en.endswith("to see half of it (0.20), use about 80 prompts")


def test_below_95_percent_of_the_prompts_nothing_is_compared(table_of) -> None:
    result = finding(table_of({"a": [1.0] * 40, "b": [0.0] * 20 + [None] * 20}, scale=UNIT))
    assert result.is_alarm
    assert result.text.en.startswith(
        "not compared: b has a score for 50% of the prompts, 50% of the answers (mean 0.00 to 0.50 if"
    )
    assert "; below 95%, so no verdict" in result.text.en


def test_a_checkpoint_that_lacks_answers_is_named_though_others_are_compared(table_of) -> None:
    values = [index / 20 for index in range(20)]
    data = table_of({"a": values, "b": [None, None, *values[2:]], "c": values[::-1]}, scale=UNIT)
    named = [item for item in build_report(data).findings if item.text.en.startswith("b has a score")]
    assert [item.is_alarm for item in named] == [True]
    assert named[0].text.en.startswith(
        "b has a score for 90% of the prompts, 90% of the answers (mean 0.47 to 0.57 if"
    )
    (screen,) = [item for item in run_document(data).blocks if isinstance(item, Decision)]
    assert named[0].text.en in " ".join(str(verdict.sentence.en) for verdict in screen.bullets)


def test_the_newest_is_shipped_only_because_none_is_shown_to_be_better(table_of) -> None:
    rising = {"a": [0.1 * (i % 3) for i in range(30)], "b": [0.7 + 0.1 * (i % 3) for i in range(30)]}
    (screen,) = [
        item for item in run_document(table_of(rising, scale=UNIT)).blocks if isinstance(item, Decision)
    ]
    assert screen.title.en == "Ship b, the newest: no checkpoint is shown to be better."
    assert screen.title.zh == "建议发布 b，即最新的检查点：没有哪个检查点显示比它更好。"


def test_an_unknown_order_is_no_trend(table_of) -> None:
    data = replace(
        table_of({"a": [1.0] * 12, "b": [0.0] * 12}), order_problem="the order of a, b is not known"
    )
    result = finding(data)
    assert result.text.en == "not compared: the order of a, b is not known; give each checkpoint a step"
    report = build_report(data)
    assert report.trajectories["t/a.x"].reason.en == "the order of a, b is not known"
    assert report.worse_runs(report.scores[0]) == set()


def test_different_signatures_are_not_compared(table_of) -> None:
    before, after = table_of({"a": [1.0] * 12}), table_of({"b": [0.0] * 12}, signature="a|v:2")
    run = Run(id="later", plan="p", plan_hash="", checkpoint="b", order=1)
    table = ScoreTable()
    for data, run_id in ((before, "r0"), (after, "later")):
        for key, column in data.table.series.items():
            table.series[key._replace(run_id=run_id)] = column
    result = finding(ReportData(plan="p", runs=(before.runs[0], run), table=table))
    assert result.is_alarm
    assert result.text.en.startswith("not compared: signatures differ: v:1 (a); v:2 (b)")


@pytest.mark.parametrize(
    ("values", "is_alarm", "text"),
    [
        pytest.param({"a": [None, None]}, True, "no answer has a score; see the failures below", id="failed"),
        pytest.param(
            {"a": [3.0, 3.0]}, False, "a 3.00; to compare it, score a second checkpoint", id="one checkpoint"
        ),
        pytest.param(
            {"a": [3.0, 3.0], "b": [None, None]},
            False,
            "a 3.00; to compare it, score a second checkpoint",
            id="one of two",
        ),
    ],
)
def test_little_is_said_where_little_is_known(table_of, values, is_alarm: bool, text: str) -> None:
    result = finding(table_of(values))
    assert (result.is_alarm, result.text.en) == (is_alarm, text)


def test_where_lower_is_better_a_fall_is_better_and_the_decision_says_it(table_of) -> None:
    errors = Scale(low=0, high=10, higher_is_better=False)
    report = build_report(table_of({"a": [8.0] * 12, "b": [2.0] * 12}, scale=errors))
    assert report.worse_runs(report.scores[0]) == set()
    assert (report.findings, report.decision.verdict, report.decision.checkpoint) == ((), "ship", "b")


def test_a_score_with_equal_values_is_said_to_tell_checkpoints_hardly_apart(table_of) -> None:
    result = finding(table_of({"a": [0.75] * 18 + [0.25, 0.5], "b": [0.75] * 20}, scale=UNIT))
    assert "95% of the values (one for each prompt and checkpoint) are 0.75" in result.text.en
    assert result.text.en.endswith("use a finer score or judge")
    assert "95% 的得分（每题每检查点一个）同为 0.75" in result.text.zh


@each_row(
    ("values", "tests"),
    [({"a": [0.4] * 12, "b": [0.9] * 12}, 1), ({"a": [0.4] * 2, "b": [0.9] * 2}, 0)],
    ids=["a test", "too few prompts"],
)
def test_the_summary_says_how_checkpoints_are_compared_if_they_are(table_of, values, tests) -> None:
    document = run_document(table_of(values, scale=UNIT))
    (decision,) = [block for block in document.blocks if isinstance(block, Decision)]
    notes = [block.text for block in decision.details if isinstance(block, Sentence) and block.is_note]
    assert len(notes) == tests
    for note in notes:
        assert "eight evaluations in ten" in note.en
        assert "(1 test)" in note.en
        assert "their order is that of the plan" in note.en
        assert "十次评测有八次" in note.zh
        assert "（共 1 次检验）" in note.zh


def test_the_note_on_comparisons_counts_scores_and_tests(table_of) -> None:
    report = build_report(table_of({name: [0.4] * 12 for name in "abc"}, scale=UNIT))
    assert (
        "(3 tests of 1 score with a value for each prompt; p corrected for all of them)"
        in comparison_note(report).en
    )
    (course,) = report.courses
    doubled = replace(report, courses=(course, replace(course, address="t/b.x")))
    assert "(6 tests of 2 scores with a value for each prompt; " in comparison_note(doubled).en


@each_row(
    ("name", "advice"),
    [
        (
            "x.checkpoint",
            "a related score can be tested: give its scorer scope: repeats in the plan (a value a prompt)",
        ),
        ("x", "add a score that gives each answer a value"),
    ],
)
def test_a_score_of_a_whole_group_says_how_to_test_it(name: str, advice: str) -> None:
    runs = tuple(
        Run(id=run_id, plan="p", plan_hash="", checkpoint=run_id, order=i) for i, run_id in enumerate("ab")
    )
    table = ScoreTable(
        row_of(
            run_id=run_id,
            task="t",
            checkpoint=run_id,
            sample_id=None,
            repeat=None,
            cluster="",
            outcome=Score(name=name, value=value, signature="s|v:1"),
        )
        for run_id, value in (("a", 0.25), ("b", 0.5))
    )
    data = ReportData(plan="p", runs=runs, table=table)
    result = finding(data)
    assert result.text.en == (
        "one value for each checkpoint (lowest a 0.25, highest b 0.50) and none for each prompt, so it is "
        "not tested; "
        f"{advice}"
    )
    first = next(block for block in run_document(data).blocks if isinstance(block, Decision))
    assert in_language(first.title, "en") == "Nothing can be decided: no score can be tested."
    (reason,) = first.bullets
    assert in_language(reason.subject, "en") == "Not tested"
    assert result.text.en in in_language(reason.sentence, "en")


def test_equal_differences_leave_the_smallest_detectable_difference_unknown(table_of) -> None:
    values = [0.1, 0.3, 0.5, 0.7, 0.9, 0.2, 0.4, 0.6, 0.8, 0.0]
    same = finding(table_of({"a": values, "b": values}, scale=UNIT))
    assert same.text.en.startswith("no difference seen (smallest p = 1); the differences are equal")
    assert same.text.en.endswith("check that the checkpoints do not share their answers")


def first_column(data: ReportData, language):
    (task,) = [
        block
        for part in run_document(data).blocks
        if isinstance(part, Details)
        for block in part.blocks
        if getattr(block, "title", "") and "task" in in_language(block.title, "en")
    ]
    table = next(block for block in task.blocks if isinstance(block, Table))
    return [in_language(row[0].text, language) for row in table.rows]


def test_the_pinned_baseline_is_named(table_of) -> None:
    values = {name: [level] * 10 for name, level in zip("abcd", (0.9, 0.5, 0.5, 0.5), strict=True)}
    data = replace(table_of(values), baseline="r1")
    report = build_report(data)
    note = comparison_note(report)
    assert first_column(data, "en") == ["a", "b (baseline)", "c", "d"]
    assert first_column(data, "zh")[1] == "b（基线）"
    assert "Every pair of checkpoints is compared" in note.en
    assert "所有检查点两两比较" in note.zh
    assert "is tested by: hengwen drift." in note.en
    assert "由 hengwen drift 检验" in note.zh


def test_without_a_pinned_run_no_checkpoint_is_the_baseline(table_of) -> None:
    data = table_of({name: [level] * 10 for name, level in (("a", 0.9), ("b", 0.5), ("c", 0.5))})
    report = build_report(data)
    note = comparison_note(report)
    assert first_column(data, "en") == ["a", "b", "c"]
    assert "hengwen drift" not in note.en + note.zh
