"""Prompts x checkpoints: values, repeats, coverage, and means without the missing prompts."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest
from rows import each_row

from hengwen.records import Scale
from hengwen.results.aggregate import value_by_prompt
from hengwen.results.coverage import Coverage
from hengwen.results.score_series import ScoreMatrix, adjusted_means
from hengwen.results.score_table import Column


def column(answers: dict[str, list[float | None]], **fields: object) -> Column:
    """Return the outcomes of a checkpoint: the repeats of each prompt, None if one failed."""
    filled = Column(**fields)
    for name, values in answers.items():
        for repeat, value in enumerate(values, start=1):
            filled.append(name, repeat, name[0], "missing" if value is None else "ok", value, "s|v:1")
    return filled


def matrix(*columns: Column) -> ScoreMatrix:
    result = ScoreMatrix()
    for item in columns:
        result.add(item)
    return result


def prompt_shares(coverages: list[Coverage]) -> list[float]:
    return [coverage.prompts for coverage in coverages]


FIRST = column({"a1": [0.0, 1.0, 1.0], "a2": [0.5, None, 1.0], "b1": [0.0, 0.0, 0.5]})
SECOND = column({"b1": [1.0], "a1": [0.5], "c1": [None]})


def test_prompts_keep_their_order_and_missing_ones_are_nan() -> None:
    scores = matrix(FIRST, SECOND)
    assert scores.prompts == ("a1", "a2", "b1", "c1")
    assert scores.clusters == ("a", "a", "b", "c")
    assert scores.counts().tolist() == [[3, 1], [2, 0], [3, 1], [0, 0]]
    np.testing.assert_allclose(scores.means(), [[2 / 3, 0.5], [0.75, nan], [1 / 6, 1.0], [nan, nan]])
    assert prompt_shares(scores.coverages()) == [1.0, pytest.approx(2 / 3)]
    assert prompt_shares(scores.coverages([0, 1])) == [pytest.approx(3 / 4), pytest.approx(2 / 4)]
    assert prompt_shares(scores.coverages([0])) == [1.0, pytest.approx(2 / 4)]
    np.testing.assert_allclose(scores.means(checkpoints=[1])[:, 0], [0.5, nan, 1.0, nan])


def test_of_unequal_repeats_the_first_ones_are_used() -> None:
    scores = matrix(FIRST, SECOND)
    limits = np.array([1, 1, 2, 0])
    np.testing.assert_allclose(scores.means(limits), [[0.0, 0.5], [0.5, nan], [0.0, 1.0], [nan, nan]])


@each_row("reducer", ["mean", "median", "mode", "worst", "best"])
@each_row("higher", [True, False])
def test_values_are_reduced_as_everywhere_else(reducer: str, higher: bool) -> None:
    scale = Scale(low=0, high=1, higher_is_better=higher)
    item = column({"a1": [0.0, 1.0, 1.0], "a2": [0.5, None, 1.0]}, reducer=reducer, scale=scale)
    expected = value_by_prompt(item)
    scores = matrix(item)
    assert scores.means()[:, 0].tolist() == pytest.approx([expected["a1"], expected["a2"]])
    assert (scores.repeat_variance() is None) == (reducer != "mean")


def test_the_variance_of_repeats_is_pooled() -> None:
    scores = matrix(FIRST, SECOND)
    expected = [np.var(values, ddof=1) for values in ([0, 1, 1], [0.5, 1], [0, 0, 0.5])]
    assert scores.repeat_variance() == pytest.approx(np.average(expected, weights=[2, 1, 2]))
    assert scores.repeat_variance([1]) is None


def test_what_does_not_apply_is_no_prompt_and_a_group_score_is_one() -> None:
    item = column({"a1": [1.0]})
    item.append("a2", 1, "a", "not_applicable", None, "s|v:1")
    assert matrix(item).prompts == ("a1",)
    assert prompt_shares(matrix(item).coverages()) == [1.0]
    assert prompt_shares(matrix(item, column({"a1": [1.0], "a2": [1.0]})).coverages([0, 1])) == [1.0, 1.0]
    group = Column()
    group.append(None, None, "t", "ok", 0.3, "s|v:1")
    assert (matrix(group).is_group_score, matrix(group).means().tolist()) == (True, [[0.3]])
    assert prompt_shares(matrix(column({"a1": [1.0]}), Column()).coverages([0, 1])) == [1.0, 0.0]


def test_a_checkpoint_without_the_score_keeps_reducer_and_direction() -> None:
    scale = Scale(low=0, high=1, higher_is_better=False)
    scores = matrix(column({"a1": [0.0, 1.0]}, reducer="worst", scale=scale), Column())
    assert (scores.reducer, scores.higher_is_better) == ("worst", False)


@pytest.mark.slow
def test_adjusted_means_are_those_of_a_fit_of_prompts_and_checkpoints() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols

    rng = np.random.default_rng(0)
    table = rng.normal(0, 1, (30, 1)) + rng.normal(0, 0.2, (1, 5)) + rng.normal(0, 0.1, (30, 5))
    table[rng.random(table.shape) < 0.1] = nan
    frame = pd.DataFrame(
        [(p, k, v) for (p, k), v in np.ndenumerate(table) if not np.isnan(v)], columns=["p", "k", "v"]
    )
    fit = ols("v ~ C(k) + C(p)", frame).fit()
    effects = np.array([0.0, *(fit.params[f"C(k)[T.{k}]"] for k in range(1, 5))])
    means = adjusted_means(table)
    assert means - means[0] == pytest.approx(effects, abs=1e-9)
    assert adjusted_means(np.nan_to_num(table)).tolist() == np.nan_to_num(table).mean(axis=0).tolist()
