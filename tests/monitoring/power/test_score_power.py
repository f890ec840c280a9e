"""The search of run sizes: fewest prompts, lowest cost, present prompts, budget; its power by simulation."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from quick_tests import quick_tests

from hengwen.monitoring.power.answer_cost import AnswerCost
from hengwen.monitoring.power.score_power import PowerSearch
from hengwen.monitoring.run_comparison import ScorePair, compare_scores
from hengwen.results.comparisons import compare_checkpoints, family_level, independent_level
from hengwen.results.paired_values import PairedValues
from hengwen.results.score_series import ScoreSeries
from hengwen.stats.paired_variance import PairedVariance


def variance(**changes: float | None) -> PairedVariance:
    fields = {"cluster": 0.0, "prompt": 0.02, "repeat": 0.05, "repeats": 2.0, "freedom": 39.0}
    return PairedVariance(**{**fields, "repeat_freedom": 80.0, **changes})


PAID = AnswerCost(calls=2.0, input_tokens=500, output_tokens=100, cost=0.01)


def search(answer: AnswerCost | None = PAID, tests: int = 1, **changes: float | None) -> PowerSearch:
    return PowerSearch(variance=variance(**changes), answer=answer, level=independent_level(tests), power=0.8)


def test_a_size_has_its_calls_and_cost() -> None:
    size = search().size(40, 2.0)
    assert (size.answers, size.calls, size.cost) == (80, 160, pytest.approx(0.8))
    assert size.smallest_difference == pytest.approx(0.1195, abs=0.001)
    unknown = search(None).size(40, 1.5)
    assert (unknown.answers, unknown.calls, unknown.cost) == (60, None, None)


def test_power_is_not_estimated_from_fewer_than_twelve_clusters() -> None:
    assert search().size(11, 1).smallest_difference is None
    assert search().size(12, 1).smallest_difference is not None
    assert search(cluster_size=3.0).size(35, 1).smallest_difference is None
    assert search(cluster_size=3.0).size(36, 1).smallest_difference is not None


def test_no_difference_exceeds_the_scale() -> None:
    assert search(prompt=0.5).size(12, 1).smallest_difference > 0.5
    narrow = replace(search(prompt=0.5), span=0.5)
    assert narrow.size(12, 1).smallest_difference is None
    assert narrow.size(400, 1).smallest_difference < 0.5


def test_uneven_answers_are_counted_plainly() -> None:
    uneven = replace(search(repeat=None, repeats=1.5), answers_per_prompt=2.25)
    size = uneven.size(40, 1.5)
    assert (size.repeats, size.answers, size.calls) == (2.25, 90, 180)
    assert size.smallest_difference == search(repeat=None, repeats=1.5).size(40, 1.5).smallest_difference


def test_the_fewest_prompts_fall_with_repeats_and_the_cost_rises() -> None:
    requirement = search().requirement(0.1, 40, 2.0)
    assert [size.repeats for size in requirement.sizes] == [1, 2, 3, 5, 10]
    prompts = [size.prompts for size in requirement.sizes]
    assert prompts == sorted(prompts, reverse=True)
    assert all(size.smallest_difference <= 0.1 for size in requirement.sizes)
    assert requirement.cheapest == requirement.sizes[0]
    interval = requirement.sizes[1].prompts_interval
    assert interval is not None
    assert interval[0] < prompts[1] < interval[1]


def test_repeats_pay_only_where_the_floor_of_prompts_is_reached() -> None:
    requirement = search(prompt=1e-6).requirement(0.3, 40, 2.0)
    assert requirement.cheapest.prompts >= 12
    assert requirement.cheapest.answers == min(size.answers for size in requirement.sizes)


def test_without_a_price_calls_are_minimised_and_without_calls_answers() -> None:
    for answer in (
        AnswerCost(calls=2.0, input_tokens=5, output_tokens=1, cost=None, unpriced=("b",)),
        AnswerCost(calls=0.0, input_tokens=0, output_tokens=0, cost=0.0),
        None,
    ):
        assert search(answer).requirement(0.1, 40, 2.0).cheapest.repeats == 1


def test_present_prompts_need_the_fewest_repeats_that_are_enough() -> None:
    requirement = search().requirement(0.09, 40, 2.0)
    size = requirement.with_present_prompts
    assert size.prompts == 40
    fewer = search().size(40, size.repeats - 1).smallest_difference
    assert size.smallest_difference <= 0.09 < fewer


def test_no_number_of_repeats_replaces_prompts() -> None:
    assert search().requirement(0.05, 40, 2.0).with_present_prompts is None
    assert search().requirement(0.5, 5, 2.0).with_present_prompts is None


def test_without_a_variance_of_repeats_only_the_present_ones_are_planned() -> None:
    requirement = search(repeat=None, repeats=1.0).requirement(0.1, 40, 1.0)
    assert [size.repeats for size in requirement.sizes] == [1.0]
    assert (requirement.cheapest, requirement.with_present_prompts) == (requirement.sizes[0], None)


def test_a_difference_out_of_reach_has_no_size() -> None:
    requirement = search().requirement(1e-6, 40, 2.0)
    assert (requirement.sizes, requirement.cheapest) == ((), None)


def test_a_budget_is_spent_where_it_shows_the_smallest_difference() -> None:
    size = search().affordable(2.0, 2.0)
    assert (size.prompts, size.repeats, size.cost) == (200, 1, pytest.approx(2.0))
    for repeats in (2, 3, 5):
        assert size.smallest_difference < search().size(200 // repeats, repeats).smallest_difference
    assert search().affordable(0.05, 2.0) is None
    assert search(None).affordable(1.0, 2.0) is None


def levels(rng: np.random.Generator, prompts: int, repeats: int, shift: float) -> tuple[np.ndarray, ...]:
    """Return prompt means of two checkpoints with the variances of ``variance``, later plus a shift."""
    common = rng.normal(0.5, 0.2, prompts)
    sides = [common + rng.normal(0, sqrt(0.01), prompts) for _ in range(2)]
    noise = rng.normal(0, sqrt(0.05 / repeats), (2, prompts))
    return sides[0] + noise[0], sides[1] + noise[1] + shift


def detections(repeats: int, tests: int, samples: int, difference: float = 0.2) -> float:
    """Return the share of comparisons that find a difference, with the number of prompts planned for it."""
    requirement = search(tests=tests).requirement(difference, 40, 2.0)
    size = next(size for size in requirement.sizes if size.repeats == repeats)
    names = tuple(f"p{index}" for index in range(size.prompts))
    rng, detected = np.random.default_rng(repeats), 0
    for _ in range(samples):
        pairs = []
        for shift in [difference] + [0.0] * (tests - 1):
            before, after = levels(rng, size.prompts, repeats, shift)
            values = PairedValues(
                prompts=names,
                clusters=names,
                before=tuple(before),
                after=tuple(after),
                repeats=(((1,), (1,)),) * len(names),
                subsampled=0,
                coverage=(1.0, 1.0),
                answer_coverage=(1.0, 1.0),
                repeat_variance=None,
            )
            pairs.append(ScorePair(address="t/s", family="headline", values=values))
        with quick_tests():
            detected += compare_scores(pairs)[0].outcome == "better"
    return detected / samples


def correlated_pairs(
    rng: np.random.Generator, prompts: int, tests: int, correlation: float, fall: float = 0.0
) -> list[ScoreSeries]:
    """Return differences in several scores of a task that correlate; the first score falls by ``fall`` SD."""
    common = rng.normal(0, sqrt(correlation), prompts)
    values = common + rng.normal(0, sqrt(1 - correlation), (tests, prompts))
    values[0] -= fall
    names = [f"p{index}" for index in range(prompts)]
    return [
        ScoreSeries(
            address=f"t/s{number}",
            task="t",
            scale=None,
            clusters=names,
            values=np.column_stack((np.zeros(prompts), differences)),
            pairs=((0, 1),),
        )
        for number, differences in enumerate(values)
    ]


def family_detections(
    tests: int, correlation: float, samples: int, pilot: int = 40
) -> tuple[float, float, float]:
    """Plan the prompts for a fall of half a deviation from a pilot, and look for the fall in later pairs.

    Return the mean number of prompts by the critical value of the family, that by independent tests, and the
    share of later pairs of the first number in which the family finds the fall.
    """
    rng, sizes, detected = np.random.default_rng(tests), [], 0
    with quick_tests():
        for _ in range(samples):
            family = correlated_pairs(rng, pilot, tests, correlation)
            deviation = float(family[0].values[:, 1].std(ddof=1))
            known = variance(prompt=deviation**2, repeat=None, repeats=1.0, freedom=pilot - 1.0)
            levels_of = (family_level(family), independent_level(tests))
            sizes.append([known.prompts_for(0.5, 1.0, level, least=12) or 0 for level in levels_of])
            later = correlated_pairs(rng, sizes[-1][0], tests, correlation, 0.5)
            detected += compare_checkpoints(later)[0].p_adjusted <= 0.05
    by_family, independent = np.mean(sizes, axis=0).tolist()
    return by_family, independent, detected / samples


@pytest.mark.slow
def test_correlated_scores_need_fewer_prompts_for_the_same_power() -> None:
    """Five scores with correlations of .9; the bounds of the power are its Monte-Carlo error at 300 pairs."""
    by_family, independent, power = family_detections(5, 0.9, 300)
    assert by_family < 0.9 * independent
    assert 0.72 <= power <= 0.87


@pytest.mark.slow
def test_independent_scores_need_as_many_prompts_as_if_counted_apart() -> None:
    by_family, independent, _ = family_detections(5, 0.0, 60)
    assert by_family == pytest.approx(independent, rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("repeats", "tests"), [(1, 1), (3, 1), (5, 5)])
def test_compare_finds_the_difference_with_the_planned_power(repeats: int, tests: int) -> None:
    """A verdict also needs the interval to exclude 0, which costs some of the power."""
    assert 0.67 <= detections(repeats, tests, 500) <= 0.85
