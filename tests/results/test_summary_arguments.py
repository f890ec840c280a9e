"""Arguments of a summary, and summaries of few or no values."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from score_rows import row_of

from hengwen.records import Failure, Scale, Score
from hengwen.results.aggregate import Summary, aggregate, summarize_column
from hengwen.results.score_table import Column, ScoreTable
from hengwen.stats.mean_interval import mean_interval

VALUES = np.random.default_rng(3).gamma(2.0, size=40).round(2).tolist()
SHORT = VALUES[:12]


def table(values: list[float | str], sample_ids: list[str | None] | None = None) -> ScoreTable:
    """A table of one series; a text in the place of a value is the status of a failure."""
    common = {"name": "s.total", "signature": "s|v:1"}
    return ScoreTable(
        row_of(
            run_id="r",
            task="t",
            checkpoint="c",
            sample_id=sample_ids[number] if sample_ids else f"q{number}",
            repeat=1,
            cluster=f"q{number}",
            outcome=Failure(**common, status=value, message="")
            if isinstance(value, str)
            else Score(**common, value=value, scale=Scale(low=0, high=99)),
        )
        for number, value in enumerate(values)
    )


def summary(values: list[float | str], **options: float) -> Summary:
    (only,) = aggregate(table(values), **options).values()
    return only


@each_row("values", [SHORT, VALUES], ids=["12 prompts", "40 prompts"])
@each_row("confidence", [0.5, 0.8, 0.99])
def test_the_level_that_is_asked_for_is_that_of_the_interval(values: list[float], confidence: float) -> None:
    result = summary(values, confidence=confidence)
    assert result.confidence == confidence
    assert (
        result.interval == mean_interval(values, scale=(0, 99), continuous=True, confidence=confidence).bounds
    )
    assert result.interval != summary(values).interval


def test_by_default_the_level_is_95_per_cent() -> None:
    column = next(iter(table(VALUES).series.values()))
    intervals = {
        mean_interval(VALUES, scale=(0, 99), continuous=True, confidence=0.95).bounds,
        summarize_column(column).interval,
        summarize_column(column, confidence=0.95).interval,
        summary(VALUES).interval,
    }
    assert len(intervals) == 1


@each_row("confidence", [0.0, 1.0, -0.1, 1.1])
def test_a_level_of_all_or_nothing_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=rf"^confidence must lie in \(0, 1\), got {confidence}$"):
        summary([1.0, 2.0], confidence=confidence)


def test_without_failures_none_is_counted() -> None:
    result = summary([1.0, 2.0])
    assert (result.n, result.prompts, result.clusters, result.not_applicable) == (2, 2, 2, 0)
    assert (result.coverage, dict(result.failures), result.signatures) == (1.0, {}, ("s|v:1",))


def test_what_does_not_apply_is_counted_apart() -> None:
    result = summary([1.0, "not_applicable", "timeout", "not_applicable", "refused", "refused"])
    assert (result.n, result.not_applicable, result.coverage) == (1, 2, 0.25)
    assert list(result.failures.items()) == [("refused", 2), ("timeout", 1)]


def test_an_empty_series_is_not_the_value_of_a_whole_set() -> None:
    result = summarize_column(Column(composed_of=(7, 3), interval=(0.0, 1.0)))
    assert result == Summary(
        n=0,
        prompts=0,
        clusters=0,
        mean=None,
        interval=None,
        method="none",
        confidence=0.95,
        coverage=None,
        prompts_expected=0,
        prompts_attempted=0,
    )


def test_a_failure_of_a_whole_set_is_counted_and_has_no_mean() -> None:
    (result,) = aggregate(table(["scorer_error"], [None])).values()
    assert (result.n, result.mean, result.interval, result.coverage, result.method) == (
        0,
        None,
        None,
        0.0,
        "none",
    )


def test_nearly_equal_values_are_not_taken_for_equal_ones() -> None:
    values = [*[1.0] * 39, 1.001]
    low, high = summary(values).interval or (0, 0)
    assert low < 1.000025 < high
