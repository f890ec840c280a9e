"""The sign-flip test: hand values, an enumeration as oracle, clusters, Holm, and its size by simulation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from scipy import stats

from hengwen.stats import paired
from hengwen.stats.paired import benjamini_hochberg, enough_clusters, holm, sign_flip_test, too_few

LEVELS = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


def enumerated_p(differences: list[float]) -> float:
    """Count all sign patterns one by one."""
    observed = abs(sum(differences))
    patterns = list(product((1, -1), repeat=len(differences)))
    extreme = [
        pattern
        for pattern in patterns
        if abs(sum(s * d for s, d in zip(pattern, differences, strict=True))) >= observed - 1e-9
    ]
    return len(extreme) / len(patterns)


@pytest.mark.slow
@given(st.lists(st.tuples(LEVELS, LEVELS), min_size=1, max_size=8))
@settings(max_examples=60)
def test_p_is_the_share_of_all_sign_patterns(
    pairs: list[tuple[float, float]],
) -> None:
    result = sign_flip_test([a for a, _ in pairs], [b for _, b in pairs])
    assert result.p == pytest.approx(enumerated_p([b - a for a, b in pairs]))


@pytest.mark.parametrize("prompts", [9, 14, 20, 31, 32])
def test_the_exact_count_agrees_with_random_patterns(prompts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(prompts)
    earlier, later = rng.choice([0, 0.25, 0.5, 0.75, 1], (2, prompts))
    exact = sign_flip_test(earlier, later).p
    monkeypatch.setattr(paired, "EXACT_UP_TO", 0)
    assert sign_flip_test(earlier, later).p == pytest.approx(exact, abs=0.015)


@each_row(("prompts", "p"), [(5, 1 / 16), (6, 1 / 32), (10, 1 / 512)])
def test_the_smallest_p_is_two_of_all_patterns(prompts: int, p: float) -> None:
    assert sign_flip_test([0.0] * prompts, [1.0] * prompts).p == pytest.approx(p)


def test_equal_answers_differ_in_nothing() -> None:
    result = sign_flip_test([0.5, 0.75], [0.5, 0.75])
    assert (result.difference, result.p) == (0.0, 1.0)  # nothing varies


def test_signs_of_clusters_are_flipped_not_of_prompts() -> None:
    clusters = ["a"] * 10 + ["b"] * 10
    result = sign_flip_test([0.0] * 20, [1.0] * 20, clusters)
    assert (result.p, result.clusters, result.prompts) == (0.5, 2, 20)


def test_the_direction_is_later_minus_earlier_and_p_has_none() -> None:
    rng = np.random.default_rng(3)
    earlier, later = rng.random(40), rng.random(40) + 0.2
    rise, fall = sign_flip_test(earlier, later), sign_flip_test(later, earlier)
    assert rise.difference == -fall.difference
    assert rise.p == fall.p


def test_random_flips_are_reproducible_and_close_to_the_t_test() -> None:
    rng = np.random.default_rng(4)
    earlier, later = rng.normal(size=60), rng.normal(size=60) + 0.3
    result = sign_flip_test(earlier, later)
    assert result == sign_flip_test(earlier, later)
    assert result.p == pytest.approx(stats.ttest_rel(later, earlier).pvalue, abs=0.02)


def test_beyond_two_thousand_clusters_the_normal_distribution_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    earlier, later = rng.random(300), rng.random(300) + 0.05
    flipped = sign_flip_test(earlier, later).p
    monkeypatch.setattr(paired, "NORMAL_FROM", 200)
    assert sign_flip_test(earlier, later).p == pytest.approx(flipped, abs=0.01)


@each_row("later", [[1.0], []])
def test_sequences_of_different_lengths_are_refused(later: list[float]) -> None:
    with pytest.raises(ValueError, match="two equally long sequences"):
        sign_flip_test([1.0, 2.0], later)


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    adjusted = holm({"a": 0.04, "b": 0.01, "c": 0.03, "d": 0.9})
    assert adjusted == pytest.approx({"a": 0.09, "b": 0.04, "c": 0.09, "d": 0.9})


@each_row(("family", "least"), [(1, 6), (2, 7), (5, 8), (10, 9), (20, 10)])
def test_a_family_needs_so_many_prompts_that_any_p_can_be_significant(family: int, least: int) -> None:
    assert too_few(least - 1, family)
    assert not too_few(least, family)


@pytest.mark.slow
@each_row("prompts", [6, 10, 30])
def test_checkpoints_that_do_not_differ_are_told_apart_in_at_most_six_of_a_hundred(prompts: int) -> None:
    rng = np.random.default_rng(prompts)
    levels, shares = np.array([0, 0.25, 0.5, 0.75, 1]), [0.05, 0.1, 0.2, 0.35, 0.3]
    rejected = 0
    for _ in range(400):
        earlier, later = rng.choice(levels, (2, prompts, 3), p=shares).mean(axis=2)
        rejected += sign_flip_test(earlier, later).p <= 0.05
    assert rejected / 400 <= 0.06


@each_row(("before", "after"), [([], []), ([1.0], [1.0, 2.0]), ([[1.0]], [[2.0]]), (1.0, 2.0)])
def test_pairs_are_two_equally_long_sequences(before: object, after: object) -> None:
    with pytest.raises(ValueError, match="two equally long sequences are needed, got shapes"):
        sign_flip_test(before, after)


def test_two_clusters_have_a_standard_error() -> None:
    result = sign_flip_test([0.0, 0.0], [0.0, 1.0])
    assert (result.difference, result.error, result.clusters) == (0.5, 0.5, 2)
    assert sign_flip_test([0.0], [1.0]).error == 0.0


def test_the_standard_error_is_over_clusters_of_unequal_size() -> None:
    result = sign_flip_test([0.0] * 4, [1.0, 2.0, 3.0, 6.0], ["a", "a", "b", "c"])
    residuals = np.array([3 - 2 * 3, 3 - 3, 6 - 3])
    assert result.error == pytest.approx(np.sqrt(3 / 2 * np.square(residuals).sum()) / 4)


def test_prompts_without_a_difference_do_not_change_p() -> None:
    changed = sign_flip_test([0.0] * 6, [1.0] * 6).p
    assert sign_flip_test([0.0] * 40, [1.0] * 6 + [0.0] * 34).p == changed
    assert sign_flip_test([0.0] * 40, [1.0] + [0.0] * 39).p == 1.0


def test_another_seed_draws_other_sign_patterns() -> None:
    rng = np.random.default_rng(8)
    earlier, later = rng.normal(size=40), rng.normal(size=40) + 0.3
    draws = [sign_flip_test(earlier, later, seed=seed).p for seed in range(4)]
    assert len(set(draws)) > 1
    assert draws[0] == sign_flip_test(earlier, later).p
    assert draws == pytest.approx([draws[0]] * 4, abs=0.02)


def test_p_is_never_zero_beyond_two_thousand_clusters() -> None:
    assert sign_flip_test([0.0] * 2001, [1.0] * 2001).p == 5e-324
    assert sign_flip_test([0.0] * 2002, [1.0, -1.0] * 1001).p == 1.0


def test_holm_of_no_tests_is_empty_and_no_p_exceeds_one() -> None:
    assert holm({}) == {}
    assert list(holm({"a": 0.9, "b": 0.8}).items()) == [("a", 1.0), ("b", 1.0)]


def test_the_level_of_a_family_may_be_another() -> None:
    assert [too_few(clusters, 1, 0.01) for clusters in (7, 8)] == [True, False]
    assert not too_few(5, 1, 1 / 16)  # p is as small as the level


def test_the_method_of_benjamini_and_hochberg_is_that_of_scipy() -> None:
    p_values = dict(zip("abcde", (0.01, 0.2, 0.03, 1.0, 0.04), strict=True))
    expected = stats.false_discovery_control(list(p_values.values()))
    assert benjamini_hochberg(p_values) == pytest.approx(dict(zip("abcde", expected, strict=True)))
    assert benjamini_hochberg({}) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["holm", "fdr_bh"])
def test_adjusted_values_are_those_of_statsmodels(name: str) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest", reason="statsmodels is not installed")
    values = {"a": 0.01, "b": 0.2, "c": 0.03, "d": 0.04}
    adjusted = (holm if name == "holm" else benjamini_hochberg)(values)
    assert list(adjusted.values()) == pytest.approx(
        multitest.multipletests(list(values.values()), method=name)[1]
    )


@each_row(
    ("counts", "expected"),
    [
        ([], []),
        ([5], [False]),
        ([6], [True]),
        ([6, 6], [False, False]),
        ([6, 7], [False, True]),
        ([5] * 30 + [6], [False] * 30 + [True]),
    ],
)
def test_a_test_with_too_few_clusters_leaves_the_family(counts: list[int], expected: list[bool]) -> None:
    assert enough_clusters(counts) == expected


def test_p_of_many_prompts_may_be_smaller_than_random_patterns_can_show() -> None:
    """Only an upper bound of the exact value is known then: 2 of 2^40 patterns are as extreme."""
    assert 2 * 0.5**40 < sign_flip_test([0.0] * 40, [1.0] * 40).p < 1e-8


@each_row("prompts", [20, 26, 32])
def test_the_bound_of_small_p_values_is_above_the_exact_count(prompts: int) -> None:
    rng = np.random.default_rng(prompts)
    for _ in range(20):
        sums = rng.normal(0.8, 1, prompts)
        assert paired._exact_p(sums) <= paired.MAX_TAIL_RATIO * paired._normal_p(sums)
