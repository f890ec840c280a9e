"""Common prompts of two columns: equally many repeats, coverage, clusters."""

from __future__ import annotations

import pytest
from rows import each_row
from score_rows import row_of

from hengwen.records import Failure, Reducer, Scale, Score
from hengwen.results.paired_values import log_length_changes, pair_values
from hengwen.results.score_table import Column, ScoreTable

Values = dict[str, list[float | None]]


def column(
    values: Values, *, reducer: Reducer = "mean", status: str = "missing", **changes: object
) -> Column:
    """Return a column with a failure for each None; clusters are the first letters."""
    rows = [
        row_of(
            run_id="r",
            task="t",
            checkpoint="c",
            sample_id=sample,
            repeat=repeat,
            cluster=sample[0],
            outcome=Failure(name="s", status=status, message="", signature="s|v:1")
            if value is None
            else Score(name="s", value=value, signature="s|v:1", scale=changes.get("scale")),
        )
        for sample, repeats in values.items()
        for repeat, value in enumerate(repeats, start=1)
    ]
    (result,) = ScoreTable(rows).series.values()
    result.reducer = reducer
    return result


def test_of_unequal_repeats_the_first_are_taken_of_both() -> None:
    paired = pair_values(column({"a": [0.0, 1.0, 1.0], "b": [0.5]}), column({"a": [1.0, 0.5], "b": [0.5]}))
    assert paired.before == (0.5, 0.5)
    assert paired.after == (0.75, 0.5)
    assert paired.repeats == (((1, 2), (1, 2)), ((1,), (1,)))
    assert paired.subsampled == 1


def test_a_failed_repeat_is_not_a_value() -> None:
    paired = pair_values(column({"a": [None, 1.0, 0.0]}), column({"a": [0.5, 0.5, None]}))
    assert (paired.before, paired.after) == ((0.5,), (0.5,))
    assert paired.repeats == (((2, 3), (1, 2)),)
    assert paired.subsampled == 0


def test_a_prompt_without_a_score_lowers_coverage() -> None:
    paired = pair_values(column({"a": [1.0], "b": [None], "c": [1.0]}), column({"a": [1.0], "b": [1.0]}))
    assert paired.prompts == ("a",)
    assert paired.coverage == pytest.approx((2 / 3, 1.0))


def test_a_score_that_applies_to_no_prompt_covers_none() -> None:
    nothing = column({"a": [None]}, status="not_applicable")
    paired = pair_values(nothing, column({"a": [1.0]}))
    assert (paired.prompts, paired.coverage, paired.cluster_count) == ((), (0.0, 1.0), 0)


def test_prompts_that_differ_are_left_out_and_the_common_part_is_covered() -> None:
    before, after = column({"a": [1.0], "b": [None], "c": [1.0]}), column({"a": [1.0], "c": [0.0]})
    paired = pair_values(before, after, differing={"c"}, common_only=True)
    assert (paired.prompts, paired.coverage) == (("a",), (1.0, 1.0))


@each_row(("reducer", "expected"), [("worst", 1.0), ("best", 0.0), ("median", 0.5)])
def test_other_reducers_apply_to_the_taken_repeats(reducer: Reducer, expected: float) -> None:
    scale = Scale(low=0, high=1, higher_is_better=False)
    before = column({"a": [0.0, 1.0]}, reducer=reducer, scale=scale)
    paired = pair_values(before, column({"a": [1.0, 1.0]}, reducer=reducer, scale=scale))
    assert paired.before == (expected,)
    assert paired.repeat_variance is None


def test_the_variance_of_repeats_is_pooled_over_prompts_and_checkpoints() -> None:
    before, after = column({"a": [0.0, 1.0], "b": [0.5]}), column({"a": [0.5, 0.5], "b": [1.0]})
    assert pair_values(before, after).repeat_variance == pytest.approx(0.25)
    assert pair_values(column({"b": [0.5]}), column({"b": [1.0]})).repeat_variance is None


def test_clusters_are_counted() -> None:
    paired = pair_values(
        column({"a1": [1.0], "a2": [1.0], "b": [1.0]}), column({"a1": [0], "a2": [0], "b": [0]})
    )
    assert (paired.clusters, paired.cluster_count) == (("a", "a", "b"), 2)


def test_the_length_of_a_prompt_is_that_of_the_taken_repeats() -> None:
    paired = pair_values(column({"a": [0.0, 1.0]}), column({"a": [1.0]}))
    before, after = {("a", 1): 2.0, ("a", 2): 9.0}, {("a", 1): 2.5}
    assert log_length_changes(paired, before, after) == [0.5]
    assert log_length_changes(paired, {}, after) is None
