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
from scipy.stats import kendalltau, spearmanr

from hengwen.relevance_metrics import (
    compare_rankings,
    count_inversions,
    longest_increasing_subsequence,
    permutation_entropy,
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
    assert comparison.triples == 455
    assert comparison.tau_b == pytest.approx(1 - 2 * 17 / 105)


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=20),
)
@settings(deadline=None, max_examples=100)
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    model, human = zip(*pairs, strict=True)
    comparison = compare_rankings(model, human)
    if len(set(model)) == 1 or len(set(human)) == 1:
        assert comparison.tau_b is comparison.spearman is None
        return
    tau = kendalltau(model, human)
    assert (comparison.tau_b, comparison.tau_p) == pytest.approx((tau.statistic, tau.pvalue))
    assert comparison.spearman == pytest.approx(spearmanr(model, human).statistic)
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


def test_what_two_items_cannot_say_is_none() -> None:
    comparison = compare_rankings([1, 2], [2, 1])
    assert (comparison.pen, comparison.pen_triples, comparison.cin, comparison.tau_b) == (None, None, 1, -1.0)


@each_row(
    ("model", "human", "message"),
    [
        (["a", "b"], ["a", "c"], "'b' is in one ranking only"),
        (["a", "a"], ["a", "b"], "names 'a' more than once"),
        ({"a": 1, "b": 2}, [1, 2], "same form"),
        (["a", "b"], [1, 2], "same form"),
        ({"a": 1, "b": 2}, {"a": 1, "c": 2}, "in one ranking only"),
        ([1, 2, 3], [1, 2], "same shape"),
        ([1], [1], "at least 2 items"),
        ([1, math.nan], [1, 2], "NaN.*both rankings"),
    ],
)
def test_errors_say_what_to_do(model: Any, human: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_rankings(model, human)


@pytest.mark.slow
@given(st.permutations(range(9)), st.integers(3, 9))
@settings(deadline=None, max_examples=60)
def test_the_triples_are_counted_as_if_listed(order: list[int], n: int) -> None:
    human = [item for item in range(9) if item in order[:n]]
    ranks = [human.index(item) for item in order[:n]]
    listed = Counter(
        tuple(np.argsort([ranks[i] for i in triple]).tolist()) for triple in combinations(range(n), 3)
    )
    shares = [count / math.comb(n, 3) for count in listed.values()]
    comparison = compare_rankings([str(item) for item in order[:n]], [str(item) for item in human])
    assert comparison.pen_triples == pytest.approx(
        -sum(share * math.log(share) for share in shares), abs=1e-12
    )


def test_triples_do_not_tell_a_ranking_from_its_reverse() -> None:
    assert compare_rankings(range(9), range(9, 0, -1)).pen_triples == 0
    assert compare_rankings(range(9), range(9)).pen_triples == 0
