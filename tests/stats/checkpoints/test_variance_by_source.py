"""Variance components: equal to the analysis of variance of statsmodels, and right on average."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row

from hengwen.stats.checkpoints import variance_by_source


def scores(seed: int, prompts: int = 40, checkpoints: int = 6, repeats: int = 3) -> np.ndarray:
    """Return scores with variances 4 (prompts), 1 (checkpoints), 0.25 (interaction) and 2.25 (repeats)."""
    rng = np.random.default_rng(seed)
    return (
        rng.normal(0, 2, (prompts, 1, 1))
        + rng.normal(0, 1, (1, checkpoints, 1))
        + rng.normal(0, 0.5, (prompts, checkpoints, 1))
        + rng.normal(0, 1.5, (prompts, checkpoints, repeats))
    )


def components(values: np.ndarray):
    cells = values.mean(axis=2)
    return variance_by_source(cells, np.full(cells.shape, values.shape[2]), values.var(axis=2, ddof=1).mean())


@pytest.mark.slow
def test_the_components_are_those_of_the_analysis_of_variance_of_statsmodels() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    values = scores(0, prompts=12, checkpoints=5, repeats=3)
    p, k, r = np.meshgrid(*map(range, values.shape), indexing="ij")
    frame = pd.DataFrame({"y": values.ravel(), "p": p.ravel(), "k": k.ravel(), "r": r.ravel()})
    squares = anova_lm(ols("y ~ C(p) * C(k)", frame).fit())["mean_sq"]
    result = components(values)
    assert result.repeat == pytest.approx(squares["Residual"])
    assert result.interaction == pytest.approx((squares["C(p):C(k)"] - squares["Residual"]) / 3)
    assert result.prompt == pytest.approx((squares["C(p)"] - squares["C(p):C(k)"]) / 15)
    assert result.checkpoint == pytest.approx((squares["C(k)"] - squares["C(p):C(k)"]) / 36)


def test_the_estimates_are_right_on_average() -> None:
    results = [components(scores(seed)) for seed in range(60)]
    for name, variance in (("prompt", 4), ("checkpoint", 1), ("interaction", 0.25), ("repeat", 2.25)):
        assert np.mean([getattr(item, name) for item in results]) == pytest.approx(variance, rel=0.2)


def test_prompts_with_a_missing_value_are_left_out() -> None:
    cells = scores(1).mean(axis=2)
    counts = np.full(cells.shape, 3)
    cells[0, 2] = np.nan
    assert variance_by_source(cells, counts, 2.0).prompts == 39
    assert variance_by_source(cells[1:], counts[1:], 2.0) == variance_by_source(cells, counts, 2.0)


def test_without_repeats_the_interaction_holds_them() -> None:
    cells = scores(2, repeats=1)[:, :, 0]
    result = variance_by_source(cells, np.ones(cells.shape))
    assert result.repeat is None
    assert result.interaction == pytest.approx(0.25 + 2.25, rel=0.3)


def test_constant_scores_have_no_variance() -> None:
    result = variance_by_source(np.full((5, 3), 0.5), np.ones((5, 3)), 0.0)
    assert (result.prompt, result.checkpoint, result.interaction) == (0, 0, 0)


@each_row("shape", [(1, 5), (5, 1)])
def test_one_prompt_or_one_checkpoint_has_no_components(shape: tuple[int, int]) -> None:
    assert variance_by_source(np.zeros(shape), np.ones(shape)) is None
