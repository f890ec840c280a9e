from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr, weightedtau

from hengwen.relevance_metrics import (
    compare_rankings,
    count_inversions,
    longest_increasing_subsequence,
    permutation_entropy,
    rank_biased_overlap,
    triple_counts,
    triple_entropy,
)

# ranks of 15 models in human order, as in PiCO's log, for "peer review" (MT-Bench, seed 4)
PICO = [3, 2, 1, 4, 0, 7, 11, 5, 6, 8, 12, 10, 9, 13, 14]


def test_the_published_ranking_is_met() -> None:
    comparison = compare_rankings([-rank for rank in PICO], range(0, -15, -1))
    assert comparison.ranks == tuple(rank + 1 for rank in PICO)
    assert (comparison.cin, comparison.lis) == (17, 8)
    assert comparison.pen == pytest.approx(1.672, abs=5e-4)
    # all 455 triples; the published 1.137 was drawn with replacement
    assert comparison.pen_triples == pytest.approx(1.1374, abs=5e-5)
    assert (comparison.windows, comparison.triples) == (13, 455)
    assert comparison.tau_b == pytest.approx(1 - 2 * 17 / 105)


@given(st.lists(st.integers(1, 6), max_size=14))
@settings(deadline=None, max_examples=100)
def test_triples_are_counted_as_if_listed(x: list[int]) -> None:
    listed = Counter(
        tuple(np.argsort([x[i] for i in triple], kind="stable").tolist())
        for triple in combinations(range(len(x)), 3)
    )
    counts = triple_counts(x)
    assert {pattern: count for pattern, count in counts.items() if count} == listed
    assert sum(counts.values()) == math.comb(len(x), 3)


def test_triples_do_not_tell_a_ranking_from_its_reverse() -> None:
    assert triple_entropy(PICO) == pytest.approx(triple_entropy(PICO[::-1]), abs=1e-12)
    assert triple_entropy(range(9)) == triple_entropy(range(9, 0, -1)) == 0
    with pytest.raises(ValueError, match="fewer than 3"):
        triple_entropy([1, 2])


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=20),
)
@settings(deadline=None, max_examples=100)
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    model, human = zip(*pairs, strict=True)
    comparison = compare_rankings(model, human)
    if len(set(model)) == 1 or len(set(human)) == 1:
        assert comparison.tau_b is comparison.spearman is comparison.weighted_tau is None
        return
    tau = kendalltau(model, human)
    assert (comparison.tau_b, comparison.tau_p) == pytest.approx((tau.statistic, tau.pvalue))
    assert comparison.spearman == pytest.approx(spearmanr(model, human).statistic)
    assert comparison.weighted_tau == pytest.approx(weightedtau(model, human).statistic)
    discordant = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(pairs, 2))
    assert comparison.cin == discordant


def test_names_scores_and_mappings_say_the_same() -> None:
    by_name = compare_rankings(["a", "c", "b", "d"], ["a", "b", "c", "d"])
    by_score = compare_rankings([9, 3, 5, 1], [4, 3, 2, 1])
    by_mapping = compare_rankings({"a": 9, "b": 3, "c": 5, "d": 1}, {"d": 1, "c": 2, "b": 3, "a": 4})
    assert by_name == by_score == by_mapping
    assert by_name.ranks == (1, 3, 2, 4)


def test_a_permutation_has_the_metrics_of_its_ranks() -> None:
    rng = np.random.default_rng(0)
    model, human = rng.permutation(12), rng.permutation(12)
    comparison = compare_rankings(model, human)
    assert comparison.cin == count_inversions(comparison.ranks)
    assert comparison.lis == longest_increasing_subsequence(comparison.ranks)
    assert comparison.pen == permutation_entropy(comparison.ranks)
    assert comparison.cin == compare_rankings(human, model).cin
    assert comparison.lis == compare_rankings(human, model).lis


def test_a_tie_is_no_disagreement() -> None:
    comparison = compare_rankings([3, 3, 2, 1], [4, 3, 2, 2])
    assert (comparison.cin, comparison.lis, comparison.ranks) == (0, 4, (1, 1, 2, 3))
    assert (comparison.tied_share_model, comparison.tied_share_human) == (1 / 6, 1 / 6)


def test_overlap_at_the_top_shares_ties_out() -> None:
    comparison = compare_rankings([4, 3, 2, 1], [4, 1, 2, 3], depths=(1, 2, 3, 9))
    assert comparison.top_overlap == pytest.approx({1: 1.0, 2: 0.5, 3: 2 / 3})
    tied = compare_rankings([2, 2, 1, 1], [4, 3, 2, 1], depths=(1, 2))
    assert tied.top_overlap == pytest.approx({1: 0.5, 2: 1.0})


@pytest.mark.parametrize(
    ("a", "b", "p", "expected"),
    [
        pytest.param([3, 2, 1], [3, 2, 1], 0.9, 1.0, id="equal"),
        pytest.param([2, 1], [1, 2], 0.5, 0.5, id="two swapped"),
        # agreement 1, 1/2, 1: (1-p)(1 + p/2 + p^2) + p^3 at p = .8
        pytest.param([3, 2, 1, 0], [3, 1, 2, 0], 0.8, 0.2 * (1 + 0.4 + 0.64 + 0.512) + 0.4096, id="middle"),
        pytest.param([1, 1], [2, 1], 0.5, 0.75, id="tied"),
    ],
)
def test_rank_biased_overlap_by_hand(a: Any, b: Any, p: float, expected: float) -> None:
    assert rank_biased_overlap(np.array(a), np.array(b), p) == pytest.approx(expected)


def test_prompts_give_intervals() -> None:
    rng = np.random.default_rng(1)
    truth = np.arange(8) * 0.5
    model, human = (truth + rng.normal(size=(40, 8)) for _ in range(2))
    comparison = compare_rankings(model, human, n_boot=99)
    assert comparison.prompts == 40
    assert set(comparison.intervals) == {"cin", "lis", "pen", "pen_triples", "tau_b", "rbo"}
    for name, (low, high) in comparison.intervals.items():
        assert low <= high, name
    assert comparison.intervals["tau_b"][0] <= comparison.tau_b <= comparison.intervals["tau_b"][1]
    assert comparison == compare_rankings(model, human, n_boot=99)
    assert comparison.tau_b == pytest.approx(
        compare_rankings(model.mean(axis=0), human.mean(axis=0)).tau_b, abs=1e-12
    )


def test_what_two_items_cannot_say_is_none() -> None:
    comparison = compare_rankings([1, 2], [2, 1])
    assert (comparison.pen, comparison.pen_triples, comparison.cin, comparison.tau_b) == (None, None, 1, -1.0)
    assert comparison.intervals == {}


@pytest.mark.parametrize(
    ("model", "human", "options", "message"),
    [
        (["a", "b"], ["a", "c"], {}, "'b' is in one ranking only"),
        (["a", "a"], ["a", "b"], {}, "names 'a' more than once"),
        ({"a": 1, "b": 2}, [1, 2], {}, "same form"),
        (["a", "b"], [1, 2], {}, "same form"),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, {}, "in one ranking only"),
        ([1, 2, 3], [1, 2], {}, "same shape"),
        ([1], [1], {}, "at least 2 items"),
        ([1, math.nan], [1, 2], {}, "NaN.*both rankings"),
        ([1, 2], [1, 2], {"persistence": 1.0}, "persistence must be"),
        ([1, 2], [1, 2], {"depths": (0,)}, "depth must be"),
        ([1, 2], [1, 2], {"confidence": 1}, "confidence must be"),
    ],
)
def test_errors_say_what_to_do(model: Any, human: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_rankings(model, human, **options)
