"""What the summary says of a score: only what a paired test shows, or why there is no test."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from hengwen.cli.ui.tables import print_view
from hengwen.records import Run, Scale
from hengwen.reports import build_view, to_html, to_markdown
from hengwen.reports.view.models import ReportData
from hengwen.results.score_table import ScoreTable

UNIT = Scale(low=0, high=1)


def finding(data: ReportData):
    (only,) = build_view(data).findings
    return only


def test_a_change_for_the_worse_is_named_with_p_and_the_smallest_visible_difference(table_of) -> None:
    values = {"a": [0.9, 0.8] * 6, "b": [0.4, 0.5] * 6}
    result = finding(table_of(values, scale=UNIT))
    assert result.weight == "alarm"
    assert result.en == (
        "worse at b 0.450 [0.340, 0.574] than at a 0.850 [0.662, 0.938]: difference -0.400 "
        "on 12 common prompts, p = .0005; smallest visible difference 0.093; "
        "read the lowest answers of b below"
    )
    assert "b 0.450 [0.340, 0.574] 比 a 0.850 [0.662, 0.938] 差" in result.zh


def test_a_change_for_the_better_is_a_note(table_of) -> None:
    result = finding(table_of({"a": [0.4] * 12, "b": [0.9] * 12}, scale=UNIT))
    assert result.weight == "note"
    assert result.en.startswith("better at b 0.900")


def test_where_lower_is_better_a_rise_is_worse(table_of) -> None:
    errors = Scale(low=0, high=10, higher_is_better=False)
    result = finding(table_of({"a": [2.0] * 12, "b": [8.0] * 12}, scale=errors))
    assert (result.weight, result.en.split(" at ")[0]) == ("alarm", "worse")


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
    assert result.en.startswith("no significant difference (smallest p = 1.00); a difference below 0.4")
    assert result.en.endswith("may have been missed; to see one of 0.203, use about 80 prompts")


def test_a_fall_counts_before_a_rise_and_there_is_one_line(table_of) -> None:
    values = {"a": [0.5] * 20, "b": [1.0] * 20, "c": [0.7] * 20}
    view = build_view(table_of(values, scale=UNIT))
    assert [item.en.split(" [")[0] for item in view.findings] == ["worse at c 0.700"]
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
    assert score.trajectory.reason == "the order of a, b is not known"
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


@pytest.mark.parametrize("face", ["html", "md", "terminal"])
@pytest.mark.parametrize(
    ("values", "tests"),
    [({"a": [0.4] * 12, "b": [0.9] * 12}, "1 test)"), ({"a": [0.4] * 2, "b": [0.9] * 2}, "")],
    ids=["a test", "too few prompts"],
)
def test_the_summary_begins_with_how_checkpoints_are_compared(table_of, face, values, tests) -> None:
    view = build_view(table_of(values, scale=UNIT))
    if face == "terminal":
        console = Console(width=400, record=True, file=io.StringIO())
        print_view(view, console)
        text = console.export_text()
    else:
        text = {"html": to_html, "md": to_markdown}[face](view)
    assert ("eight evaluations in ten show it" in text) == bool(tests)
    assert text.count("Each checkpoint is compared") == text.count("每个检查点与前一个比较") == bool(tests)
    assert tests in text
