"""The corrected mean: its arithmetic, and how often its interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row
from scipy import stats

from hengwen.judges.calibration import ppi_mean
from hengwen.stats.mean_interval import mean_interval

SIMULATIONS = 4000
LABELS = 50
DESIGNS = {
    # prompts and labels a prompt, prompts and other answers a prompt, icc, whether the prompts are the same
    "independent": (50, 1, 150, 1, 0.0, False),
    "independent, few others": (50, 1, 50, 1, 0.0, False),
    "three a prompt": (17, 3, 50, 3, 0.3, False),
    "three a prompt, much alike": (17, 3, 50, 3, 0.6, False),
    "three of five repeats": (17, 3, 17, 2, 0.3, True),
}


def simulate(draw, design: str, rho: float, true: float, simulations: int = SIMULATIONS):
    """Return coverage, mean width, mean width by labels alone, and correlation of human and judge."""
    prompts, each, other_prompts, other_each, icc, shared = DESIGNS[design]
    rng = np.random.default_rng(20261121)
    names = np.repeat(np.arange(prompts), each).astype(str).tolist()[:LABELS]
    others_start = 0 if shared else 1000
    other_names = np.repeat(others_start + np.arange(other_prompts), other_each).astype(str).tolist()
    held, widths, alone, pairs = 0, [], [], []
    for _ in range(simulations):
        if shared:
            human, judge = draw(rng, prompts, each + other_each, rho=rho, icc=icc)
            human, judge, others = human[:, :each], judge[:, :each], judge[:, each:]
        else:
            human, judge = draw(rng, prompts, each, rho=rho, icc=icc)
            _, others = draw(rng, other_prompts, other_each, rho=rho, icc=icc)
        mean = ppi_mean(
            human.ravel()[:LABELS],
            judge.ravel()[:LABELS],
            others.ravel(),
            clusters=names,
            other_clusters=other_names,
        )
        held += mean.low <= true <= mean.high
        widths.append(mean.high - mean.low)
        alone.append(mean.labels_high - mean.labels_low)
        pairs.append((human.ravel(), judge.ravel()))
    human, judge = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return held / simulations, np.mean(widths), np.mean(alone), np.corrcoef(human, judge)[0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
def test_the_interval_holds_the_truth_as_often_as_it_says_and_is_shorter_than_by_labels_alone(
    draw, true_mean: float, design: str
) -> None:
    """About .30 and .75 of correlation; with 50 labels, nominal .95, 4,000 simulations."""
    for rho in (0.36, 0.85):
        coverage, width, alone, correlation = simulate(draw, design, rho, true_mean)
        assert correlation >= 0.3
        assert 0.93 <= coverage <= 0.97, (rho, coverage)
        assert width < alone, (rho, width / alone)


@pytest.mark.slow
def test_an_unrelated_judge_costs_little_and_keeps_the_coverage(draw, true_mean: float) -> None:
    for design in ("independent", "three a prompt"):
        coverage, width, alone, correlation = simulate(draw, design, 0.0, true_mean, 2000)
        assert abs(correlation) < 0.02
        assert 0.93 <= coverage <= 0.97
        assert width < 1.02 * alone


def test_the_judge_alone_would_be_wrong_where_the_corrected_mean_is_right(draw, true_mean: float) -> None:
    human, judge = draw(np.random.default_rng(1), 2000, 1, rho=0.8)
    mean = ppi_mean(human[:60, 0], judge[:60, 0], judge[60:, 0])
    assert mean.judge_mean - true_mean > 0.04
    assert mean.low <= true_mean <= mean.high
    assert mean.narrowing < 0.9


def test_by_hand() -> None:
    human = np.tile([0.0, 0.5, 1.0, 1.0], 6)
    judge = np.tile([0.5, 0.5, 1.0, 0.5], 6)
    others = [0.5, 1.0] * 24
    mean = ppi_mean(human, judge, others)
    lam = 48 / (48 + 24)  # the slope is 1: in four rows 3/16 of products, 3/16 of squares
    assert mean.lam == pytest.approx(lam)
    assert mean.mean == pytest.approx(0.625 - lam * (0.625 - 0.75))
    residual = human - lam * judge
    variance = np.sum((residual - residual.mean()) ** 2) / 24 / 22 + lam**2 * np.var(others, ddof=1) / 48
    half = stats.t.ppf(0.975, 22) * np.sqrt(variance)
    assert (mean.low, mean.high) == pytest.approx((mean.mean - half, mean.mean + half))
    assert (mean.n, mean.others, mean.prompts, mean.df, mean.method) == (24, 48, 24, 22, "ppi")


def test_labels_alone_are_the_textbook_interval() -> None:
    human = [0.0, 0.25, 1.0, 0.5, 0.75]
    mean = ppi_mean(human, [0.5] * 5, [])
    low, high = stats.t.interval(0.95, 4, np.mean(human), stats.sem(human))
    assert (mean.labels_low, mean.labels_high) == pytest.approx((low, high))
    assert (mean.low, mean.high, mean.method, mean.lam) == (
        mean.labels_low,
        mean.labels_high,
        "labels",
        0,
    )


@pytest.mark.parametrize(
    ("n", "judge", "others"),
    [(19, None, 50), (40, 0.5, 50), (40, None, 0), (40, None, 1)],
    ids=["few labels", "constant judge", "no others", "one other"],
)
def test_without_data_to_tune_on_only_the_labels_count(draw, n: int, judge, others: int) -> None:
    rng = np.random.default_rng(0)
    human, values = draw(rng, n, 1, rho=0.9)
    rest = draw(rng, others, 1, rho=0.9)[1].ravel() if others else []
    mean = ppi_mean(human.ravel(), values.ravel() if judge is None else [judge] * n, rest)
    assert (mean.method, mean.lam, mean.mean) == ("labels", 0.0, pytest.approx(human.mean()))


def test_a_perfect_judge_makes_all_answers_count() -> None:
    human = [0.0, 0.5, 1.0, 1.0] * 10
    rest = [0.0, 0.5, 1.0, 1.0] * 90
    mean = ppi_mean(human, human, rest)
    assert mean.lam == pytest.approx(360 / 400)
    assert mean.narrowing == pytest.approx(np.sqrt(0.1), abs=0.02)


def test_intervals_end_where_the_scale_ends() -> None:
    mean = ppi_mean([0.75, 1, 1, 1], [1, 1, 1, 1], [1, 1], bounds=(0, 1))
    assert (mean.high, mean.labels_high) == (1, 1)


def test_answers_of_a_prompt_are_not_independent() -> None:
    human = [0.0] * 5 + [1.0] * 5 + [0.0] * 5 + [1.0] * 5
    names = [name for name in "abcd" for _ in range(5)]
    together, apart = ppi_mean(human, human, [], clusters=names), ppi_mean(human, human, [])
    assert together.high - together.low > 2 * (apart.high - apart.low)
    assert (together.prompts, together.df) == (4, 3)


@each_row(
    ("arguments", "options", "message"),
    [
        (([1, 2], [1, 2], [1]), {}, "at least 3 labels of 2 prompts, got 2 of 2"),
        (([1, 2, 3], [1, 2, 3], []), {"clusters": ["a"] * 3}, "got 3 of 1"),
        (([1, 2, 3], [1, 2], []), {}, "3 labels, 2 judge's values"),
        (([1, 2, 3], [1, 2, 3], [1]), {"other_clusters": []}, "1 other answers but 0 clusters"),
        (([1, 2, float("nan")], [1, 2, 3], [1]), {}, "a mean needs finite values"),
        (([1, 2, 3], [1, 2, 3], [1]), {"confidence": 95}, r"confidence must lie in \(0, 1\), got 95"),
    ],
)
def test_invalid_input_raises(arguments, options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ppi_mean(*arguments, **options)


def test_contributions_of_a_prompt_are_summed_before_squaring(draw) -> None:
    """Written out prompt by prompt, labelled and other answers together."""
    human, judge = draw(np.random.default_rng(3), 8, 7, rho=0.7, icc=0.4)
    names = [str(i) for i in range(8)]
    labelled, rest = np.repeat(names, 4).tolist(), np.repeat(names, 3).tolist()
    mean = ppi_mean(
        human[:, :4].ravel(),
        judge[:, :4].ravel(),
        judge[:, 4:].ravel(),
        clusters=labelled,
        other_clusters=rest,
    )
    lam = np.polyfit(judge[:, :4].ravel(), human[:, :4].ravel(), 1)[0] * 24 / (24 + 32)
    off = human[:, :4] - lam * judge[:, :4]
    variance = 0.0
    for prompt in range(8):
        labelled_part = sum(off[prompt] - off.mean()) / 32 * np.sqrt(8 / 7 * 31 / 30)
        other_part = lam * sum(judge[prompt, 4:] - judge[:, 4:].mean()) / 24 * np.sqrt(8 / 7)
        variance += (labelled_part + other_part) ** 2
    assert mean.lam == pytest.approx(lam)
    assert mean.df == 7
    assert mean.high - mean.mean == pytest.approx(stats.t.ppf(0.975, 7) * np.sqrt(variance))


def test_equal_labels_are_never_an_interval_without_width() -> None:
    mean = ppi_mean([1.0] * 12, [1.0] * 12, [1.0] * 40, bounds=(0, 1))
    assert (mean.mean, mean.high, mean.labels_high) == (1, 1, 1)
    assert mean.low == mean.labels_low < 0.9
    with pytest.raises(ValueError, match="no interval of the mean label: all values are equal"):
        ppi_mean([1.0] * 12, [1.0] * 12, [1.0] * 40)


def test_with_bounds_labels_alone_have_the_interval_of_a_mean() -> None:
    human = [0.0, 0.25, 1.0, 0.5, 0.75, 0.75]
    names = ["a", "a", "b", "c", "d", "e"]
    mean = ppi_mean(human, [0.5] * 6, [], clusters=names, bounds=(0, 1))
    assert (mean.labels_low, mean.labels_high) == mean_interval(human, names, scale=(0, 1)).bounds


@pytest.mark.slow
@each_row("labels", [25, 50])
def test_at_the_end_of_the_scale_the_interval_still_covers(labels: int) -> None:
    """90 % of the answers have the best level; the judge agrees on most."""
    rng = np.random.default_rng(20261121)
    levels, shares = np.array([0.0, 0.25, 0.5, 0.75, 1.0]), [0.02, 0.02, 0.02, 0.04, 0.9]
    covered = 0
    for _ in range(1000):
        human = rng.choice(levels, 4 * labels, p=shares)
        judge = np.where(rng.random(4 * labels) < 0.8, human, rng.choice(levels, 4 * labels, p=shares))
        mean = ppi_mean(human[:labels], judge[:labels], judge[labels:], bounds=(0, 1))
        covered += bool(mean.low <= levels @ shares <= mean.high)
    assert covered / 1000 >= 0.93
