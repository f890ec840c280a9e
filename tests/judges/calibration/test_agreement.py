"""Agreement compared with hand tables, scipy, scikit-learn and krippendorff; undefined values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from scipy import stats

from hengwen.judges.calibration import krippendorff_alpha, measure_agreement
from hengwen.judges.calibration.statistics import (
    COEFFICIENTS,
    agreement_statistics,
    pair_cells,
    weighted_alpha,
)

FIVE = [0.0, 0.25, 0.5, 0.75, 1.0]
CHANCE_CORRECTED = ("quadratic_kappa", "kappa", "spearman")


def tables(count: int = 60) -> list:
    """Random pairs of series on five levels, of any agreement, with ties, some without all levels."""
    rng, pairs = np.random.default_rng(7), []
    for number in range(count):
        n = int(rng.integers(4, 80))
        kinds = int(rng.integers(2, 6))
        human = rng.integers(0, kinds, n)
        judge = np.where(rng.random(n) < rng.random(), human, rng.integers(0, kinds, n))
        if len(set(human)) > 1 and len(set(judge)) > 1:
            pairs.append(pytest.param(np.array(FIVE)[human], np.array(FIVE)[judge], id=f"table {number}"))
    return pairs


def measure(human, judge, **options):
    return measure_agreement(human, judge, **{"levels": FIVE, "resamples": 0, **options})


@pytest.mark.slow
@each_row(("human", "judge"), tables())
def test_kappa_equals_that_of_scikit_learn(human, judge) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    agreement = measure(human, judge)
    codes = [np.searchsorted(FIVE, side) for side in (human, judge)]
    for name, weights in (("quadratic_kappa", "quadratic"), ("kappa", None)):
        expected = metrics.cohen_kappa_score(*codes, labels=range(5), weights=weights)
        assert getattr(agreement, name).value == pytest.approx(expected, abs=1e-12), name
    table = metrics.confusion_matrix(*codes, labels=range(5))
    assert np.array_equal(agreement.confusion, table)


@each_row(("human", "judge"), tables())
def test_kappa_is_that_of_the_matrix_with_all_levels(human, judge) -> None:
    """The textbook: observed and expected matrices over the fixed level list."""
    table = np.zeros((5, 5))
    for human_level, judge_level in zip(human, judge, strict=True):
        table[FIVE.index(human_level), FIVE.index(judge_level)] += 1
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    apart = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    agreement = measure(human, judge)
    for name, weight in (("quadratic_kappa", apart**2), ("kappa", apart > 0)):
        kappa = 1 - (table * weight).sum() / (expected * weight).sum()
        assert getattr(agreement, name).value == pytest.approx(kappa, abs=1e-12), name


@pytest.mark.slow
@each_row(("human", "judge"), tables())
def test_the_rank_correlation_equals_that_of_scipy(human, judge) -> None:
    agreement = measure(human, judge)
    assert agreement.spearman.value == pytest.approx(stats.spearmanr(human, judge).statistic, abs=1e-12)


def test_alpha_with_missing_ratings_and_weights_is_that_of_units_repeated() -> None:
    import krippendorff

    rng = np.random.default_rng(3)
    for _ in range(50):
        ratings = rng.integers(0, 4, (12, 4)).astype(float)
        ratings[rng.random(ratings.shape) < 0.4] = np.nan
        weights = rng.integers(0, 4, (1, 12)).astype(float)
        repeated = np.repeat(ratings, weights[0].astype(int), axis=0)
        alpha = weighted_alpha(ratings, weights)[0]
        assert krippendorff_alpha(repeated) == pytest.approx(alpha, abs=1e-12)
        expected = krippendorff.alpha(repeated.T, level_of_measurement="ordinal")
        assert alpha == pytest.approx(expected, abs=1e-12)


def test_the_published_example_of_alpha() -> None:
    """Krippendorff, Computing Krippendorff's alpha-reliability, 2011, section C: ordinal .815."""
    nan = float("nan")
    raters = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    assert krippendorff_alpha(np.transpose(raters)) == pytest.approx(0.815, abs=5e-4)


@each_row("ratings", [[[1, 1], [1, 1]], [[1, np.nan], [np.nan, 2]], [[np.nan, np.nan]]])
def test_alpha_without_pairs_or_without_differences_is_undefined(ratings) -> None:
    assert krippendorff_alpha(ratings) is None
    assert np.isnan(weighted_alpha(np.array(ratings, dtype=float), np.ones((1, len(ratings))))).all()


def test_unused_levels_count() -> None:
    """Only 0 and 1 of 0, .5, 1: they are two levels apart, and the matrix stays 3 x 3."""
    human, judge = [0, 0, 1, 1], [0, 1, 1, 1]
    agreement = measure(human, judge, levels=[0, 0.5, 1])
    assert agreement.confusion == ((1, 0, 1), (0, 0, 0), (0, 0, 2))
    assert agreement.human_base == (0.5, 0, 0.5)
    assert agreement.judge_base == (0.25, 0, 0.75)
    assert agreement.within_one.value == 0.75
    shrunk = measure(human, judge, levels=[0, 1])
    assert shrunk.within_one.value == 1


def test_uneven_levels_are_as_far_apart_as_their_number() -> None:
    human, judge = [0, 0.1, 1, 1, 0.1], [0.1, 0.1, 1, 0.1, 0]
    even = measure(np.searchsorted([0, 0.1, 1], human), np.searchsorted([0, 0.1, 1], judge), levels=[0, 1, 2])
    uneven = measure(human, judge, levels=[0, 0.1, 1])
    for name in COEFFICIENTS:
        assert getattr(uneven, name).value == pytest.approx(getattr(even, name).value), name
    assert uneven.bias.value == pytest.approx(-0.18)


@each_row(
    ("human", "judge", "reason"),
    [
        ([0.5] * 6, [0, 0.25, 0.5, 0.5, 1, 1], "all human values are the same"),
        ([0, 0.25, 0.5, 0.5, 1, 1], [0.5] * 6, "all judge's values are the same"),
        ([0.5] * 6, [1] * 6, "all human and all judge's values are the same"),
    ],
)
def test_a_constant_side_is_undefined_and_never_zero(human, judge, reason: str) -> None:
    agreement = measure(human, judge, resamples=50)
    for name in CHANCE_CORRECTED:
        figure = getattr(agreement, name)
        assert (figure.value, figure.low, figure.high) == (None, None, None)
        assert reason in figure.reason
    assert agreement.exact.value is not None
    assert agreement.bias.value == pytest.approx(np.mean(judge) - np.mean(human))


def test_undefined_resamples_are_counted_and_not_in_the_interval() -> None:
    """One answer of 20 is off the one level: a third of the resamples lack it."""
    agreement = measure([1] * 19 + [0], [1] * 19 + [0], resamples=2000, seed=1)
    assert agreement.quadratic_kappa.value == 1
    assert agreement.quadratic_kappa.undefined / 2000 == pytest.approx((19 / 20) ** 20, abs=0.03)
    assert agreement.resamples == 2000


def test_resamples_draw_whole_prompts() -> None:
    rng = np.random.default_rng(5)
    human = np.repeat(rng.choice(FIVE, 12), 6)
    judge = np.repeat(rng.choice(FIVE, 12), 6)
    names = np.repeat(np.arange(12), 6).astype(str).tolist()
    together = measure(human, judge, clusters=names, resamples=2000).quadratic_kappa
    apart = measure(human, judge, resamples=2000).quadratic_kappa
    assert together.high - together.low > 1.8 * (apart.high - apart.low)
    assert measure(human, judge, clusters=names).prompts == 12


def test_the_bootstrap_is_that_of_repeated_rows() -> None:
    """The fast way, by cells and weights, against the slow one: draw prompts, write out the rows, measure."""
    rng = np.random.default_rng(11)
    human, judge = rng.choice(FIVE, 24), rng.choice(FIVE, 24)
    index = np.repeat(np.arange(8), 3)
    cells = pair_cells(human, judge, index, np.array(FIVE))
    for _ in range(20):
        drawn = rng.integers(0, 8, 8)
        rows = np.concatenate([np.nonzero(index == prompt)[0] for prompt in drawn])
        weights = np.bincount(drawn, minlength=8)[None].astype(float) @ cells.counts
        with np.errstate(all="ignore"):
            fast = agreement_statistics(cells, weights)
        slow = measure(human[rows], judge[rows])
        for name in (*COEFFICIENTS, "exact", "within_one", "bias"):
            assert fast[name][0] == pytest.approx(getattr(slow, name).value, abs=1e-12), name


def test_the_same_seed_gives_the_same_interval() -> None:
    human, judge = [0, 0.5, 1, 1, 0.25, 0.75], [0, 0.75, 1, 0.5, 0.25, 1]
    agreement = measure(human, judge, resamples=200, seed=3)
    assert agreement == measure(human, judge, resamples=200, seed=3)
    assert agreement.quadratic_kappa != measure(human, judge, resamples=200, seed=4).quadratic_kappa


@pytest.mark.slow
def test_the_interval_of_kappa_at_fifty_labels(draw) -> None:
    """A kappa of about .77: with 50 labels it is known to about 0.13 either way, and the interval says so."""
    widths, held = [], 0
    for seed in range(150):
        human, judge = draw(np.random.default_rng(seed), 50, 1, rho=0.85, shift=0.2)
        agreement = measure(human.ravel(), judge.ravel(), resamples=300).quadratic_kappa
        widths.append(agreement.high - agreement.low)
        held += agreement.low <= 0.769 <= agreement.high
    assert np.mean(widths) == pytest.approx(0.26, abs=0.03)
    assert held / 150 > 0.9


def test_a_mean_of_raters_stands_between_levels() -> None:
    agreement = measure([0.5, 0.625, 1.0], [0.5, 0.75, 1.0])
    assert agreement.between == 1
    assert agreement.bias.value == pytest.approx(0.125 / 3)
    assert agreement.quadratic_kappa.value == pytest.approx(
        1 - 0.5**2 / 3 / np.mean([(x - y) ** 2 for x in (2, 2.5, 4) for y in (2, 3, 4)])
    )
    assert agreement.confusion[2] == (0, 0, 1, 1, 0)  # half-way counts as the lower one


@each_row(
    ("human", "judge", "options", "message"),
    [
        ([], [], {}, "there are no pairs"),
        ([1], [1, 1], {}, "1 human values but 2 of the judge"),
        ([1.5], [1], {}, "a human value is 1.5, outside the levels 0 to 1"),
        ([1], [-1], {}, "a judge's value is -1, outside the levels"),
        ([float("nan")], [1], {}, "a human value is nan"),
        ([1], [1], {"levels": [1, 0]}, r"ascending, got \[1, 0\]"),
        ([1], [1], {"levels": [1]}, "at least two"),
        ([1, 1], [1, 1], {"clusters": ["a"]}, "2 pairs but 1 clusters"),
    ],
)
def test_invalid_series_raise(human, judge, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure(human, judge, **options)


level_pairs = st.lists(st.tuples(st.sampled_from(FIVE), st.sampled_from(FIVE)), min_size=1, max_size=30)


@pytest.mark.slow
@given(level_pairs)
@settings(deadline=None, max_examples=80)
def test_every_figure_is_in_its_range_or_undefined_with_a_reason(pairs) -> None:
    human, judge = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = measure(human, judge, resamples=30)
    for name in (*COEFFICIENTS, "exact", "within_one"):
        figure = getattr(result, name)
        if figure.value is None:
            assert figure.reason
            continue
        assert -1 - 1e-9 <= figure.value <= 1 + 1e-9
        if figure.low is not None:
            assert figure.low <= figure.value + 1e-9
            assert figure.value <= figure.high + 1e-9
    assert np.sum(result.confusion) == len(pairs)


@pytest.mark.slow
@given(level_pairs)
@settings(deadline=None, max_examples=60)
def test_agreement_is_symmetric(pairs) -> None:
    human, judge = zip(*pairs, strict=True)
    agreement, swapped = measure(human, judge), measure(judge, human)
    for name in (*COEFFICIENTS, "exact", "within_one"):
        assert getattr(agreement, name).value == pytest.approx(getattr(swapped, name).value)
    assert agreement.bias.value == pytest.approx(-swapped.bias.value)


def test_a_judge_value_between_levels_keeps_its_position() -> None:
    """Expected scores and means of panels: hardly two values are the same."""
    rng = np.random.default_rng(9)
    human = rng.choice(FIVE, 60)
    judge = np.clip(human + rng.normal(0, 0.2, 60), 0, 1)
    agreement = measure(human, judge, resamples=20)
    assert agreement.spearman.value == pytest.approx(stats.spearmanr(human, judge).statistic)
    concordance = 2 * np.cov(human, judge, ddof=0)[0, 1]
    concordance /= human.var() + judge.var() + (human.mean() - judge.mean()) ** 2
    assert agreement.quadratic_kappa.value == pytest.approx(concordance)


def test_on_a_continuous_scale_quadratic_kappa_is_the_concordance_correlation() -> None:
    rng = np.random.default_rng(3)
    human = rng.uniform(1, 10, 80)
    judge = np.clip(human + rng.normal(0.5, 1, 80), 1, 10)
    agreement = measure(human, judge, levels=[1, 10], is_continuous=True, resamples=200)
    covariance = np.mean((human - human.mean()) * (judge - judge.mean()))
    distance = human.var() + judge.var() + (human.mean() - judge.mean()) ** 2
    assert agreement.quadratic_kappa.value == pytest.approx(2 * covariance / distance, abs=1e-12)
    assert agreement.spearman.value == pytest.approx(stats.spearmanr(human, judge).statistic, abs=1e-12)
    assert agreement.bias.value == pytest.approx((judge - human).mean(), abs=1e-12)
    assert (agreement.levels, agreement.confusion, agreement.human_base) == ((), (), ())
    assert {agreement.kappa.reason, agreement.exact.reason} == {"the scale has no levels"}
