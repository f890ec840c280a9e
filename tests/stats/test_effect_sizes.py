"""Effect sizes and McNemar's test against scipy, and statsmodels where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.stats.mean_interval import effect_sizes, mcnemar_p
from hengwen.stats.paired import sign_flip_test


@each_row("n", [1, 7, 40])
def test_delta_and_p_greater_are_those_of_mann_and_whitney(n: int) -> None:
    rng = np.random.default_rng(n)
    earlier, later = rng.integers(0, 5, n) / 4, rng.integers(1, 5, n) / 4
    sizes = effect_sizes(earlier, later)
    expected = stats.mannwhitneyu(later, earlier, method="asymptotic").statistic / n**2 if n > 1 else None
    above = np.mean([b > a for a in earlier for b in later])
    below = np.mean([b < a for a in earlier for b in later])
    assert sizes.cliffs_delta == pytest.approx(above - below)
    assert sizes.p_greater == pytest.approx(above + (1 - above - below) / 2)
    assert expected is None or sizes.p_greater == pytest.approx(expected)


def test_wins_follow_the_direction_of_the_scale_and_delta_the_values() -> None:
    earlier, later = [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]
    up, down = effect_sizes(earlier, later), effect_sizes(earlier, later, higher_is_better=False)
    assert (up.wins, up.losses, up.ties) == (2, 1, 1)
    assert (down.wins, down.losses, down.ties) == (1, 2, 1)
    assert up.cliffs_delta == down.cliffs_delta == pytest.approx(0.25)


def test_equal_values_have_no_effect() -> None:
    sizes = effect_sizes([0.5] * 6, [0.5] * 6)
    assert (sizes.wins, sizes.losses, sizes.ties, sizes.cliffs_delta, sizes.p_greater) == (0, 0, 6, 0.0, 0.5)


@each_row(("gained", "lost"), [(0, 0), (1, 0), (3, 9), (12, 2)])
def test_mcnemar_is_a_binomial_test_and_the_sign_flip_test_of_passes(gained: int, lost: int) -> None:
    earlier, later = [0.0] * gained + [1.0] * (lost + 5), [1.0] * gained + [0.0] * lost + [1.0] * 5
    p = mcnemar_p(gained, lost)
    assert p == pytest.approx(sign_flip_test(earlier, later).p)
    if gained + lost:
        assert p == stats.binomtest(gained, gained + lost).pvalue


@pytest.mark.parametrize(("gained", "lost"), [(3, 9), (12, 2)])
def test_mcnemar_is_that_of_statsmodels(gained: int, lost: int) -> None:
    tables = pytest.importorskip(
        "statsmodels.stats.contingency_tables", reason="statsmodels is not installed"
    )
    assert mcnemar_p(gained, lost) == pytest.approx(tables.mcnemar([[5, lost], [gained, 5]]).pvalue)
