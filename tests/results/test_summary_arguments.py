"""Arguments of a summary, and summaries of few or no values."""

from __future__ import annotations

import numpy as np
import pytest

from hengwen.records import Failure, Row, Scale, Score
from hengwen.results.aggregate import Summary, aggregate, summarize_column
from hengwen.results.score_table import Column, ScoreTable
from hengwen.stats.mean_interval import mean_interval

VALUES = np.random.default_rng(3).gamma(2.0, size=12).round(2).tolist()
SCALE = Scale(low=0, high=99)


def table(values: list[float | str], sample_ids: list[str | None] | None = None) -> ScoreTable:
    """A table of one series; a text in the place of a value is the status of a failure."""
    common = {"name": "s.total", "signature": "s|v:1"}
    return ScoreTable(
        Row(
            run_id="r",
            task="t",
            checkpoint="c",
            sample_id=sample_ids[number] if sample_ids else f"q{number}",
            repeat=1,
            cluster=f"q{number}",
            outcome=Failure(**common, status=value, message="")  # type: ignore[arg-type]
            if isinstance(value, str)
            else Score(**common, value=value, scale=SCALE),
        )
        for number, value in enumerate(values)
    )


def summary(values: list[float | str], **options: float) -> Summary:
    (only,) = aggregate(table(values), **options).values()  # type: ignore[arg-type]
    return only


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
def test_the_interval_has_the_requested_confidence(confidence: float) -> None:
    result = summary(VALUES, confidence=confidence)
    expected = mean_interval(VALUES, scale=(SCALE.low, SCALE.high), confidence=confidence).bounds
    assert (result.confidence, result.interval, result.method) == (confidence, expected, "t")
    assert result.interval != summary(VALUES).interval


def test_by_default_the_confidence_is_95_per_cent() -> None:
    column = next(iter(table(VALUES).series.values()))
    intervals = {
        mean_interval(VALUES, scale=(SCALE.low, SCALE.high), confidence=0.95).bounds,
        summarize_column(column).interval,
        summary(VALUES).interval,
    }
    assert len(intervals) == 1
    assert (summarize_column(column).confidence, summary(VALUES).confidence) == (0.95, 0.95)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.1, 1.1])
def test_a_confidence_of_zero_or_one_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=rf"^confidence must lie in \(0, 1\), got {confidence}$"):
        summary(VALUES, confidence=confidence)


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
    assert (result.n, result.prompts, result.clusters, result.mean) == (0, 0, 0, None)
    assert (result.interval, result.method, result.coverage) == (None, "none", None)


def test_a_failure_of_a_whole_set_is_counted_and_has_no_mean() -> None:
    (result,) = aggregate(table(["scorer_error"], [None])).values()
    assert (result.n, result.mean, result.interval, result.coverage, result.method) == (
        0,
        None,
        None,
        0.0,
        "none",
    )
