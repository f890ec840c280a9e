from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
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

# Human ranks of 15 models in the order of each method, best first, and their PEN, CIN and LIS, as PiCO
# publishes them in its logs (MT-Bench, seed 4; for each fraction peer review, uniform, order, reversed).
PICO_LOGS = [
    ("3 0 4 2 1 7 12 8 6 11 5 9 10 13 14", 1.6715952780212544, 20, 8),
    ("3 2 0 4 11 1 7 6 8 10 12 13 5 9 14", 1.6260206924207543, 23, 8),
    ("3 4 0 2 6 12 7 1 11 8 9 13 10 5 14", 1.7379834485870498, 27, 8),
    ("3 2 11 0 1 7 10 8 6 4 13 5 12 9 14", 1.7379834485870498, 31, 6),
    ("3 1 2 4 7 0 11 6 5 12 8 9 13 10 14", 1.6977335913743923, 19, 8),
    ("3 2 4 1 0 11 7 6 8 12 5 13 10 9 14", 1.4791328074296435, 24, 7),
    ("3 2 4 0 1 7 6 11 12 8 5 13 9 10 14", 1.7379834485870498, 21, 7),
    ("3 11 2 1 4 0 7 8 6 10 13 5 12 9 14", 1.6052071074554588, 28, 7),
    ("3 1 2 4 0 7 5 11 6 8 12 9 10 13 14", 1.5247073930301434, 14, 10),
    ("3 2 4 1 0 11 7 6 8 5 12 13 10 9 14", 1.4388829502169862, 23, 7),
    ("3 2 4 0 1 7 11 6 12 8 5 13 10 9 14", 1.711845135233912, 23, 7),
    ("3 2 1 11 4 0 7 6 8 10 13 5 12 9 14", 1.6715952780212544, 25, 7),
    ("3 2 1 4 0 7 11 5 6 8 12 10 9 13 14", 1.6715952780212544, 17, 8),
    ("3 2 4 1 0 11 7 6 8 5 12 10 13 9 14", 1.2711814802605796, 22, 7),
    ("3 2 4 0 1 11 7 6 8 12 5 10 13 9 14", 1.6977335913743925, 22, 7),
    ("3 2 1 4 11 0 7 8 6 10 13 5 12 9 14", 1.6977335913743923, 25, 7),
]
PICO = [int(rank) for rank in PICO_LOGS[12][0].split()]


@each_row(("ranks", "pen", "cin", "lis"), PICO_LOGS)
def test_every_published_ranking_has_its_published_metrics(
    ranks: str, pen: float, cin: int, lis: int
) -> None:
    model = ranks.split()
    comparison = compare_rankings(model, [str(rank) for rank in range(15)])
    assert comparison.ranks == tuple(int(name) + 1 for name in model)
    assert comparison.pen == pytest.approx(pen, abs=1e-12)
    assert (comparison.cin, comparison.lis) == (cin, lis)


def test_the_published_ranking_has_exact_triples_and_correlations() -> None:
    comparison = compare_rankings([str(rank) for rank in PICO], [str(rank) for rank in range(15)])
    # all 455 triples; the published 1.137 was drawn with replacement
    assert comparison.pen_triples == pytest.approx(1.1374, abs=5e-5)
    assert (comparison.windows, comparison.triples) == (13, 455)
    assert comparison.tau_b == pytest.approx(1 - 2 * 17 / 105)


@pytest.mark.slow
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


@pytest.mark.slow
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
    by_name = compare_rankings(["c", "a", "b", "d"], ["a", "b", "c", "d"])
    by_score = compare_rankings([5, 3, 9, 1], [4, 3, 2, 1])
    by_mapping = compare_rankings({"a": 5, "b": 3, "c": 9, "d": 1}, {"d": 1, "c": 2, "b": 3, "a": 4})
    assert by_name == by_score == by_mapping
    assert by_name.ranks == (3, 1, 2, 4)


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
    assert (comparison.cin, comparison.lis, comparison.ranks) == (0, 4, (1, 2, 3, 3))
    assert (comparison.tied_share_model, comparison.tied_share_human) == (1 / 6, 1 / 6)


def test_overlap_at_the_top_shares_ties_out() -> None:
    comparison = compare_rankings([4, 3, 2, 1], [4, 1, 2, 3], depths=(1, 2, 3, 9))
    assert comparison.top_overlap == pytest.approx({1: 1.0, 2: 0.5, 3: 2 / 3})
    tied = compare_rankings([2, 2, 1, 1], [4, 3, 2, 1], depths=(1, 2))
    assert tied.top_overlap == pytest.approx({1: 0.5, 2: 1.0})


@each_row(
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
    assert rank_biased_overlap(a, tuple(b), p) == pytest.approx(expected)


def test_rank_biased_overlap_of_names_and_mappings_is_that_of_their_ranks() -> None:
    expected = rank_biased_overlap([3, 2, 1], [1, 3, 2])
    assert rank_biased_overlap(["a", "b", "c"], ["b", "c", "a"]) == expected
    assert rank_biased_overlap({"a": 3, "b": 2, "c": 1}, {"c": 2, "b": 3, "a": 1}) == expected


@each_row(
    ("a", "b", "p", "message"),
    [
        ([1, 2], [1, 2, 3], 0.9, "same shape"),
        ([1, math.nan], [1, 2], 0.9, "NaN"),
        ([[1, 2]], [[1, 2]], 0.9, "one sequence"),
        ([], [], 0.9, "no items"),
        (["a"], ["b"], 0.9, "in one ranking only"),
        ([1, 2], [1, 2], 1, "persistence must be"),
    ],
)
def test_rank_biased_overlap_refuses_other_rankings(a: Any, b: Any, p: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rank_biased_overlap(a, b, p)


@pytest.mark.slow
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


@each_row(
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
