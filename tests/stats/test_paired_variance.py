"""Variance of paired differences: parts by hand, what designs detect, and simulations of both."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from rows import each_row

from hengwen.stats.paired import sign_flip_test
from hengwen.stats.paired_variance import PairedVariance, paired_variance, variance_from_one_checkpoint
from hengwen.stats.power import detectable_difference, power_of_t


def variance(**changes: float | None) -> PairedVariance:
    fields = {"cluster": 0.0, "prompt": 1.0, "repeat": 2.0, "repeats": 2.0, "freedom": 29.0}
    return PairedVariance(**{**fields, "repeat_freedom": 60.0, **changes})


def names(sizes: list[int]) -> list[str]:
    return [f"g{index}" for index, size in enumerate(sizes) for _ in range(size)]


def test_repeats_reduce_their_own_variance_only() -> None:
    assert [variance().of_prompt(repeats) for repeats in (1, 4, inf)] == [5, 2, 1]
    assert variance(cluster=0.5, cluster_size=3.0).of_prompt(inf) == 2.5


def test_the_present_design_detects_what_the_comparison_says() -> None:
    rng = np.random.default_rng(3)
    before, after = rng.normal(size=(2, 40))
    result = paired_variance(after - before, names([1] * 40), [1] * 40, None)
    assert result.smallest_difference(40, 1) == pytest.approx(detectable_difference(after - before, None))


def test_the_prompts_for_a_difference_are_the_fewest_that_detect_it() -> None:
    for repeats in (1, 3, 10):
        prompts = variance().prompts_for(0.4, repeats, 0.01)
        assert prompts is not None
        error = [sqrt(variance().of_prompt(repeats) / n) for n in (prompts - 1, prompts)]
        assert (
            power_of_t(0.4, error[0], prompts - 2, 0.01) < 0.8 <= power_of_t(0.4, error[1], prompts - 1, 0.01)
        )
        assert variance().smallest_difference(prompts, repeats, 0.01) <= 0.4


def test_prompts_are_at_least_as_many_as_asked_and_at_most_a_million() -> None:
    assert variance().prompts_for(100.0, 1, least=7) == 7
    assert variance().prompts_for(1e-6, 1) is None
    assert variance(cluster=1.0, cluster_size=3.5).prompts_for(1e6, 1) == 7  # two clusters


def test_half_a_difference_needs_four_times_as_many_prompts() -> None:
    many, more = variance().prompts_for(0.1, 2), variance().prompts_for(0.05, 2)
    assert more / many == pytest.approx(4, rel=0.01)


def test_one_prompt_detects_nothing_and_equal_differences_hide_nothing() -> None:
    assert variance().smallest_difference(1, 1) is None
    assert variance(prompt=0.0, repeat=0.0).smallest_difference(10, 1) == 0.0
    assert variance(prompt=0.0, repeat=0.0).prompts_for(0.1, 1) == 2


def test_unknown_repeats_cannot_be_planned() -> None:
    assert variance(repeat=None).of_prompt(2.0) == 1.0
    with pytest.raises(ValueError, match="variance of the repeats is unknown"):
        variance(repeat=None).of_prompt(3)


def test_the_parts_by_hand() -> None:
    result = paired_variance([4.0, 0.0, 2.0, -2.0], names([1] * 4), [1, 2, 2, 4], 1.0)
    assert result.repeats == pytest.approx(1 / 0.5625)
    assert result.prompt == pytest.approx(20 / 3 - 2 * 0.5625)
    assert (result.freedom, result.repeat_freedom, result.cluster_size) == (3, 10, 1)
    assert paired_variance([0.0, 0.1], names([1, 1]), [1, 1], 1.0).prompt == 0


def test_one_checkpoint_stands_for_two_that_correlate() -> None:
    values, rest = [4.0, 0.0, 2.0, -2.0], (names([1] * 4), [2] * 4, 1.0)
    independent = variance_from_one_checkpoint(values, *rest)
    assert independent.prompt == pytest.approx(2 * (20 / 3 - 0.5))
    assert variance_from_one_checkpoint(values, *rest, 0.5).prompt == pytest.approx(20 / 3 - 0.5)
    assert independent.of_prompt(2) == pytest.approx(2 * 20 / 3)
    for wrong in (-0.1, 1.0):
        with pytest.raises(ValueError, match="a correlation must lie in"):
            variance_from_one_checkpoint(values, *rest, wrong)


def test_clusters_have_their_design_effect() -> None:
    differences = np.repeat([1.0, -1.0, 2.0, -2.0] * 4, 5) + np.tile([0.1, -0.1, 0, 0.2, -0.2], 16)
    result = paired_variance(differences, names([5] * 16), [1] * 80, None)
    alone = paired_variance(differences, names([1] * 80), [1] * 80, None)
    assert (result.cluster_size, result.freedom) == (5, 15)
    assert result.between / alone.between > 4
    detectable = detectable_difference(differences, names([5] * 16))
    assert result.smallest_difference(80, 1) == pytest.approx(detectable, rel=0.05)


def test_the_interval_of_the_variance_is_that_of_chi_square() -> None:
    factors, wider = variance().factors(2.0), variance().factors(20)
    assert factors == pytest.approx((29 / 45.722, 29 / 16.047), rel=1e-4)
    assert factors is not None
    assert wider is not None
    assert wider[0] < factors[0] < factors[1] < wider[1]
    assert variance(prompt=0.01, repeat_freedom=3.0).factors(100) is None


def simulated(
    rng: np.random.Generator, prompts: int, repeats: int, *, shift: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return two checkpoints, (prompts, repeats) each: 2 * 0.3 of true differences, 1 of repeats."""
    common = rng.normal(0, 1, (prompts, 1))
    first, second = rng.normal(0, sqrt(0.3), (2, prompts, 1)) + common
    noise = rng.normal(0, 1, (2, prompts, repeats))
    return first + noise[0], second + noise[1] + shift


@pytest.mark.slow
def test_the_interval_of_the_needed_prompts_covers_the_true_number() -> None:
    rng, hits, samples = np.random.default_rng(2), 0, 1500
    true = 0.6 + 2 / 3
    for _ in range(samples):
        first, second = simulated(rng, 30, 3)
        squares = (first.var(axis=1, ddof=1).mean() + second.var(axis=1, ddof=1).mean()) / 2
        result = paired_variance(second.mean(axis=1) - first.mean(axis=1), names([1] * 30), [3] * 30, squares)
        factors = result.factors(1)
        assert factors is not None
        low, high = (factor * result.of_prompt(1) for factor in factors)
        hits += low <= true + 2 * (1 - 1 / 3) <= high
    assert hits / samples >= 0.93


@pytest.mark.slow
@each_row("repeats", [1, 3])
def test_the_planned_number_of_prompts_has_the_planned_power(repeats: int) -> None:
    truth = variance(prompt=0.6, repeat=1.0)
    prompts = truth.prompts_for(1.0, repeats)
    assert prompts is not None
    rng, rejections, samples = np.random.default_rng(repeats), 0, 600
    for _ in range(samples):
        first, second = simulated(rng, prompts, repeats, shift=1.0)
        rejections += sign_flip_test(first.mean(axis=1), second.mean(axis=1)).p <= 0.05
    assert rejections / samples == pytest.approx(0.8, abs=0.04)
