"""What the summary says of a score: only what a paired test shows, or why there is no test."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from rows import each_row

from hengwen.cli.ui.tables import print_view
from hengwen.records import Row, Run, Scale, Score
from hengwen.reports import build_view, to_html, to_markdown
from hengwen.reports.view.comparison_note import comparison_note
from hengwen.reports.view.models import ReportData
from hengwen.results.score_table import ScoreTable

UNIT = Scale(low=0, high=1)


def finding(data: ReportData):
    (only,) = build_view(data).findings
    return only


def test_a_change_for_the_worse_is_named_with_p_and_the_smallest_detectable_difference(table_of) -> None:
    values = {"a": [0.9, 0.8] * 6, "b": [0.4, 0.5] * 6}
    result = finding(table_of(values, scale=UNIT))
    assert result.weight == "alarm"
    assert result.en == (
        "b 0.450 [0.340, 0.574] is worse than a 0.850 [0.662, 0.938]: difference -0.400 "
        "on 12 common prompts, p = .0005; smallest detectable difference 0.093; "
        "read the lowest answers of b below"
    )
    assert "b 0.450 [0.340, 0.574] 比 a 0.850 [0.662, 0.938] 差" in result.zh


def test_a_change_for_the_better_is_a_note(table_of) -> None:
    result = finding(table_of({"a": [0.4] * 12, "b": [0.9] * 12}, scale=UNIT))
    assert result.weight == "note"
    assert result.en.startswith("b 0.900 [")
    assert "] is better than a 0.400 [" in result.en


def test_where_lower_is_better_a_rise_is_worse(table_of) -> None:
    errors = Scale(low=0, high=10, higher_is_better=False)
    result = finding(table_of({"a": [2.0] * 12, "b": [8.0] * 12}, scale=errors))
    assert (result.weight, "is worse than" in result.en) == ("alarm", True)


def test_intervals_that_do_not_overlap_are_no_finding_without_a_test(table_of) -> None:
    result = finding(table_of({"a": [0.0] * 5, "b": [1.0] * 5}))
    assert (result.weight, result.en) == (
        "note",
        "too few common prompts (5) for 1 test: at least 6 independent ones are needed",
    )


def test_more_tests_in_a_report_need_more_prompts(table_of) -> None:
    result = finding(table_of({name: [float(name == "d")] * 6 for name in "abcd"}))
    assert result.en == "too few common prompts (6) for 4 tests: at least 8 independent ones are needed"


def test_no_difference_says_what_could_have_been_seen(table_of) -> None:
    result = finding(table_of({"a": [0.2, 0.8] * 10, "b": [0.8, 0.2] * 10}, scale=UNIT))
    assert result.weight == "note"
    assert result.en.startswith(
        "no significant difference (smallest p = 1.00); smallest detectable difference at most 0.407"
    )
    assert result.en.endswith("to see half of it (0.203), use about 80 prompts")


def test_a_fall_counts_before_a_rise_and_there_is_one_line(table_of) -> None:
    values = {"a": [0.5] * 20, "b": [1.0] * 20, "c": [0.7] * 20}
    view = build_view(table_of(values, scale=UNIT))
    assert [item.en.split(" [")[0] for item in view.findings] == ["c 0.700"]
    assert "; last against first: +0.200, p < .0001)" in view.findings[0].en
    assert "; of the other 2 comparisons these are significant: a → b, a → c " in view.findings[0].en
    assert view.tests == 3


def test_below_95_percent_of_the_prompts_nothing_is_compared(table_of) -> None:
    result = finding(table_of({"a": [1.0] * 40, "b": [0.0] * 20 + [None] * 20}, scale=UNIT))
    assert result.weight == "alarm"
    assert result.en.startswith("not compared: fewer than 95% of the prompts have a score (b 50%)")


def test_an_unknown_order_is_no_trend(table_of) -> None:
    data = replace(
        table_of({"a": [1.0] * 12, "b": [0.0] * 12}), order_problem="the order of a, b is not known"
    )
    result = finding(data)
    assert result.en == "not compared: the order of a, b is not known; give each checkpoint a step"
    (score,) = build_view(data).scores
    assert score.trajectory.reason.en == "the order of a, b is not known"
    assert score.drops == {}


def test_different_signatures_are_not_compared(table_of) -> None:
    before, after = table_of({"a": [1.0] * 12}), table_of({"b": [0.0] * 12}, signature="a|v:2")
    run = Run(id="later", plan="p", plan_hash="", checkpoint="b", order=1)
    table = ScoreTable()
    for data, run_id in ((before, "r0"), (after, "later")):
        for key, column in data.table.series.items():
            table.series[key._replace(run_id=run_id)] = column
    result = finding(ReportData(plan="p", runs=(before.runs[0], run), table=table))
    assert result.weight == "alarm"
    assert result.en.startswith("not compared: signatures differ: v:1 (a); v:2 (b)")


@pytest.mark.parametrize(
    ("values", "weight", "text"),
    [
        pytest.param(
            {"a": [None, None]}, "alarm", "no answer has a score; see the failures below", id="failed"
        ),
        pytest.param(
            {"a": [3.0, 3.0]}, "note", "a 3.00; to compare it, score a second checkpoint", id="one checkpoint"
        ),
        pytest.param(
            {"a": [3.0, 3.0], "b": [None, None]},
            "note",
            "a 3.00; to compare it, score a second checkpoint",
            id="one of two",
        ),
    ],
)
def test_little_is_said_where_little_is_known(table_of, values, weight: str, text: str) -> None:
    result = finding(table_of(values))
    assert (result.weight, result.en) == (weight, text)


def test_where_lower_is_better_a_fall_is_no_alarm(table_of) -> None:
    errors = Scale(low=0, high=10, higher_is_better=False)
    data = table_of({"a": [8.0] * 12, "b": [2.0] * 12}, scale=errors)
    assert finding(data).weight == "note"
    assert build_view(data).scores[0].drops == {}


def test_a_score_with_equal_values_is_said_to_tell_checkpoints_hardly_apart(table_of) -> None:
    result = finding(table_of({"a": [0.75] * 18 + [0.25, 0.5], "b": [0.75] * 20}, scale=UNIT))
    assert "95% of the values (one for each prompt and checkpoint) are 0.750" in result.en
    assert result.en.endswith("use a finer score or judge")
    assert "95% 的得分（每题每检查点一个）同为 0.750" in result.zh


@each_row(("language", "other"), [("zh", "Each checkpoint"), ("en", "每个检查点")])
@each_row("face", ["html", "md", "terminal"])
@each_row(
    ("values", "tests"),
    [({"a": [0.4] * 12, "b": [0.9] * 12}, 1), ({"a": [0.4] * 2, "b": [0.9] * 2}, 0)],
    ids=["a test", "too few prompts"],
)
def test_the_summary_begins_with_how_checkpoints_are_compared(
    table_of, face, values, tests, language, other
) -> None:
    view = build_view(replace(table_of(values, scale=UNIT), language=language))
    if face == "terminal":
        console = Console(width=400, record=True, file=io.StringIO())
        print_view(view, console)
        text = console.export_text()
    else:
        text = {"html": to_html, "md": to_markdown}[face](view)
    assert text.count("eight evaluations in ten" if language == "en" else "十次评测有八次") == tests
    assert text.count("(1 test, and" if language == "en" else "（共 1 次检验，") == tests
    assert "their order is that of the plan" in text or language == "zh" or not tests
    assert other not in text


def test_the_note_on_comparisons_counts_scores_and_tests(table_of) -> None:
    view = build_view(table_of({name: [0.4] * 12 for name in "abc"}, scale=UNIT))
    assert (
        "(3 tests of 1 score with a value for each prompt; each p is corrected for all, "
        in comparison_note(view).en
    )
    (task,) = view.tasks
    doubled = replace(view, tasks=(replace(task, scores=(*task.scores, *task.scores)),))
    assert "(3 comparisons × 2 scores with a value for each prompt = 6 tests; " in comparison_note(doubled).en


@pytest.mark.parametrize(
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
        Row(
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
    result = finding(ReportData(plan="p", runs=runs, table=table))
    assert result.en == (
        "one value for each checkpoint (lowest a 0.250, highest b 0.500) and none for each prompt, so it is "
        "not tested; "
        f"{advice}"
    )


def test_the_answers_below_are_named_only_for_the_score_that_ranks_them(table_of) -> None:
    values = {"a": [0.9] * 12, "b": [0.4] * 12}
    first, second = table_of(values, scale=UNIT), table_of(values, scale=UNIT)
    for key, column in second.table.series.items():
        first.table.series[key._replace(name="b.x")] = column
    findings = build_view(first).findings
    assert [item.en.rpartition("; ")[2] for item in findings] == [
        "read the lowest answers of b below",
        "read the answers of b",
    ]


def test_equal_differences_leave_the_smallest_detectable_difference_unknown(table_of) -> None:
    values = [0.1, 0.3, 0.5, 0.7, 0.9, 0.2, 0.4, 0.6, 0.8, 0.0]
    same = finding(table_of({"a": values, "b": values}, scale=UNIT))
    assert same.en.startswith("no significant difference (smallest p = 1.00); the differences are equal")
    assert same.en.endswith("check that the checkpoints do not share their answers")
    shifted = finding(table_of({"a": [0.4] * 12, "b": [0.9] * 12}, scale=UNIT))
    assert "smallest detectable difference –" in shifted.en
    assert "0.000" not in shifted.en


def test_the_last_checkpoint_is_compared_with_the_pinned_baseline(table_of) -> None:
    values = {name: [level] * 10 for name, level in zip("abcd", (0.9, 0.5, 0.5, 0.5), strict=True)}
    data = replace(table_of(values), baseline="r1")
    view = build_view(data)
    assert view.column_heads == ("a", "b (baseline)", "c", "d")
    assert "the last with the baseline b, in a paired test" in comparison_note(view).en
    assert "最后一个再与基线 b 比较" in comparison_note(view).zh
    assert "is tested by: hengwen drift." in comparison_note(view).en
    assert "由 hengwen drift 检验" in comparison_note(view).zh
    assert [(c.earlier, c.later) for c in view.scores[0].comparisons] == [(0, 1), (1, 2), (2, 3), (1, 3)]
    assert "last against baseline: 0.000, p = 1.00" in view.findings[0].en
    assert "末个与基线相差 0.000，p = 1.00" in view.findings[0].zh
    assert replace(view, language="zh").column_heads[1] == "b（基线）"


def test_without_a_pinned_run_the_first_checkpoint_is_the_baseline(table_of) -> None:
    view = build_view(table_of({name: [level] * 10 for name, level in (("a", 0.9), ("b", 0.5), ("c", 0.5))}))
    assert view.column_heads == ("a", "b", "c")
    assert "hengwen drift" not in comparison_note(view).en + comparison_note(view).zh
    assert [(c.earlier, c.later) for c in view.scores[0].comparisons] == [(0, 1), (1, 2), (0, 2)]
    assert "last against first: -0.400, p" in view.findings[0].en
