"""The published score of a task, by hand; and what is said where answers are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

import pytest
from rows import each_row
from score_rows import row_of, score_of

from hengwen.plans.plan import ScaleSpec
from hengwen.records import Failure, Outcome, Row, Run, Scale, Score
from hengwen.runs.task_scores import TaskScore, published_rows

RUN = Run(id="r", plan="p", plan_hash="h", checkpoint="c")
LEVELS = Scale(low=0, high=1, levels=(0, 0.25, 0.5, 0.75, 1))
Values = Mapping[str, Sequence[float | str]]


def row(name: str, repeat: int, value: float | str, scale: Scale | None = LEVELS) -> Row:
    fields = {"name": "x.final", "signature": "sig", "kind": "judge"}
    outcome: Outcome = (
        Failure(**fields, status=value, message="why")
        if isinstance(value, str)
        else Score(**fields, value=value, scale=scale)
    )
    return row_of(
        run_id="r", task="t", checkpoint="c", sample_id=name, repeat=repeat, cluster=name, outcome=outcome
    )


def publish(
    values: Values,
    scale: Mapping[str, float],
    *,
    prompts: int | None = None,
    repeats: int = 1,
    on: Scale = LEVELS,
) -> dict[str, Outcome]:
    names = list(values) + [f"more{i}" for i in range((prompts or len(values)) - len(values))]
    task_score = TaskScore(
        source=score_of("x.final"),
        signature="sig",
        scale=ScaleSpec(**scale),
        samples=names,
        repeats=repeats,
    )
    rows = [row(name, i, value, on) for name, answers in values.items() for i, value in enumerate(answers, 1)]
    published = published_rows(RUN, [task_score], [*rows, row("stranger", 1, 0.0)])
    assert {(r.sample_id, r.repeat, r.run_id, r.task) for r in published} == {(None, None, "r", "t")}
    return {r.outcome.name: r.outcome for r in published}


def test_the_mean_of_the_prompts_times_ten_with_an_interval_by_prompt() -> None:
    # prompts: (1 + 0 + 0.5) / 3 = 0.5, 1, 0.75; their mean 0.75, x 10
    outcomes = publish({"a": [1, 0, 0.5], "b": [1, 1, 1], "c": [0.75, 1, 0.5]}, {"mean_times": 10}, repeats=3)
    (score,) = outcomes.values()
    assert isinstance(score, Score)
    assert (score.name, score.value, score.kind) == ("x.published", 7.5, "judge")
    half = 2.776445 * sqrt(0.175 / 5) * 10  # with 0 and 1: mean 0.65, squares 0.7 / 4, t(4)
    assert score.details["ci"] == [pytest.approx(6.5 - half, abs=1e-5), pytest.approx(10, abs=1e-9)]
    assert score.details["method"] == "t"
    assert (score.details["prompts"], score.details["answers"]) == (3, 9)
    assert score.scale == Scale(low=0, high=10, discrete=True)
    assert score.signature == "x.published|mean_times:10|prompts:3|repeats:3|[sig]|v:1"


def test_prompts_weigh_equally_however_often_they_were_answered() -> None:
    (score,) = publish({"a": [1, 1, 1, 1], "b": [0]}, {"mean_times": 10}).values()
    assert score.value == 5


def test_the_sum_over_the_prompts_divided_by_ten_and_the_normalised_value_beside_it() -> None:
    # the sum 0.5 + 1 + 0.75 + 0.25 = 2.5 over 10; the mean 0.625 x 10
    outcomes = publish({"a": [0.5], "b": [1], "c": [0.75], "d": [0.25]}, {"sum_divided_by": 10})
    assert {name: score.value for name, score in outcomes.items()} == {
        "x.published": 0.25,
        "x.normalised": 6.25,
    }
    published, normalised = outcomes.values()
    assert isinstance(published, Score)
    assert isinstance(normalised, Score)
    assert published.scale == Scale(low=0, high=0.4, discrete=True)
    assert normalised.scale == Scale(low=0, high=10, discrete=True)
    middle = 3.5 / 6  # with a prompt at 0 and one at 1
    squares = sum((value - middle) ** 2 for value in (0.5, 1, 0.75, 0.25, 0, 1))
    half = 2.570582 * sqrt(squares / 5 / 6)
    assert published.details["ci"][0] == pytest.approx((middle - half) * 0.4, abs=1e-6)
    assert normalised.details["ci"][0] == pytest.approx((middle - half) * 10, abs=1e-5)


def test_the_normalised_value_is_the_share_of_another_scale() -> None:
    fives = Scale(low=1, high=5)
    outcomes = publish({"a": [3], "b": [4]}, {"sum_divided_by": 10}, on=fives)
    assert outcomes["x.published"].value == pytest.approx(0.7)
    assert outcomes["x.normalised"].value == pytest.approx(6.25)


def test_one_prompt_has_no_interval() -> None:
    (score,) = publish({"a": [1, 0.5]}, {"mean_times": 10}).values()
    assert isinstance(score, Score)
    assert (score.value, "ci" in score.details, score.details["method"]) == (7.5, False, "none")


@each_row(
    ("values", "more", "message"),
    [
        (
            {"a": [1, "parse_error", 0], "b": [1, 1, 1]},
            {"repeats": 3},
            "incomplete: 1 of 6 answers have no verdict (1 parse_error)",
        ),
        (
            {"a": [1, 1, 1], "b": [1, 1]},
            {"repeats": 3},
            "incomplete: 1 of 6 answers have no verdict (1 not in this run)",
        ),
        (
            {"a": [1]},
            {"prompts": 3, "repeats": 2},
            "incomplete: 5 of 6 answers have no verdict (5 not in this run)",
        ),
        (
            {"a": ["not_applicable"], "b": ["missing"], "c": [0]},
            {},
            "incomplete: 2 of 3 answers have no verdict (1 without an answer, 1 not_applicable)",
        ),
        ({}, {"prompts": 2}, "incomplete: 2 of 2 answers have no verdict (2 not in this run)"),
    ],
    ids=["no verdict", "a repeat too few", "other samples", "nothing to score", "nothing at all"],
)
@each_row("scale", [{"mean_times": 10}, {"sum_divided_by": 10}], ids=["mean", "sum"])
def test_below_full_coverage_there_is_no_number(values, more, message, scale) -> None:
    outcomes = publish(values, scale, **more)
    assert list(outcomes) == (["x.published"] if "mean_times" in scale else ["x.published", "x.normalised"])
    for failure in outcomes.values():
        assert isinstance(failure, Failure)
        assert (failure.status, failure.message) == ("missing", message)


def test_full_marks_are_on_the_scale_to_the_last_bit() -> None:
    third = Scale(low=0, high=0.3)
    for factor in ({"mean_times": 0.7}, {"sum_divided_by": 7}):
        for score in publish({f"{i}": [0.3] for i in range(11)}, factor, on=third).values():
            assert isinstance(score, Score)
            assert score.scale is not None
            assert score.value == score.scale.high
