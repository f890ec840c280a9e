"""The squared standard error of a checkpoint's mean: right on average, with and without missing scores."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row

from hengwen.results.score_series import adjusted_means
from hengwen.stats.checkpoints import mean_variance

SINGLE = [1] * 8
SIZES = {"single": SINGLE, "equal": [3] * 10, "unequal": [1] * 28 + [20] * 2}


def scores(seed: int, sizes: list[int], checkpoints: int, missing: float) -> tuple[np.ndarray, list[str]]:
    """Return scores without any change of the checkpoints, and the cluster of each prompt."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    shape = (len(codes), checkpoints)
    table = rng.normal(0, 1, (len(codes), 1)) + rng.normal(0, 0.3, shape)
    table += rng.normal(0, 0.3, (len(sizes), checkpoints))[codes]
    table[rng.random(shape) < missing] = np.nan
    return table, [f"cluster{code}" for code in codes]


@pytest.mark.slow
@each_row("missing", [0.0, 0.05])
@each_row("checkpoints", [4, 30])
@each_row("sizes", SIZES)
def test_the_estimate_is_the_variance_of_means_of_equal_checkpoints(
    sizes: str, checkpoints: int, missing: float
) -> None:
    samples = [scores(seed, SIZES[sizes], checkpoints, missing) for seed in range(200)]
    variance = np.mean([adjusted_means(table).var(ddof=1) for table, _ in samples])
    assert np.mean([mean_variance(*sample) for sample in samples]) == pytest.approx(variance, rel=0.2)


@pytest.mark.slow
def test_without_missing_scores_it_is_the_interaction_of_the_analysis_of_variance() -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    table, clusters = scores(0, SINGLE, 5, 0.0)
    frame = pd.DataFrame([(p, k, v) for (p, k), v in np.ndenumerate(table)], columns=["p", "k", "y"])
    residual = anova_lm(ols("y ~ C(p) + C(k)", frame).fit())["mean_sq"]["Residual"]
    assert mean_variance(table, clusters) == pytest.approx(residual / 8)


def test_prompts_without_any_score_do_not_matter() -> None:
    table, clusters = scores(0, SINGLE, 5, 0.1)
    longer = np.vstack([table, np.full((2, 5), np.nan)])
    assert mean_variance(longer, [*clusters, "x", "y"]) == mean_variance(table, clusters)


def test_equal_scores_have_no_error() -> None:
    assert mean_variance(np.full((4, 3), 0.5), list("abcd")) == 0


@each_row(
    ("values", "clusters"),
    [
        ([[0.1, 0.2, 0.3, 0.4]], "a"),
        ([[0.1, 0.2], [0.3, 0.5]], "aa"),
        ([[0.1], [0.3], [0.2]], "abc"),
        ([[0.1, np.nan], [0.3, np.nan], [np.nan, 0.2]], "abc"),
        ([[0.1, 0.2], [0.3, np.nan], [np.nan, 0.2]], "abc"),
    ],
)
def test_too_few_values_give_no_estimate(values: list[list[float]], clusters: str) -> None:
    assert mean_variance(values, list(clusters)) is None
