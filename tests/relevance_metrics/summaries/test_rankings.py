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

# places of 15 models in human order, as PiCO's log has them for "peer review" (MT-Bench, seed 4)
PICO = [3, 2, 1, 4, 0, 7, 11, 5, 6, 8, 12, 10, 9, 13, 14]


def test_the_published_ranking_is_met() -> None:
    found = compare_rankings([-place for place in PICO], range(0, -15, -1))
    assert found.places == tuple(place + 1 for place in PICO)
    assert (found.cin, found.lis) == (17, 8)
    assert found.pen == pytest.approx(1.672, abs=5e-4)
    # all 455 triples; the published 1.137 was drawn with replacement
    assert found.pen_triples == pytest.approx(1.1374, abs=5e-5)
    assert (found.windows, found.triples) == (13, 455)
    assert found.tau_b == pytest.approx(1 - 2 * 17 / 105)


@given(st.lists(st.integers(1, 6), max_size=14))
@settings(deadline=None, max_examples=100)
def test_triples_are_counted_as_if_listed(x: list[int]) -> None:
    listed = Counter(
        tuple(np.argsort([x[i] for i in places], kind="stable").tolist())
        for places in combinations(range(len(x)), 3)
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
    found = compare_rankings(model, human)
    if len(set(model)) == 1 or len(set(human)) == 1:
        assert found.tau_b is found.spearman is found.weighted_tau is None
        return
    tau = kendalltau(model, human)
    assert (found.tau_b, found.tau_p) == pytest.approx((tau.statistic, tau.pvalue))
    assert found.spearman == pytest.approx(spearmanr(model, human).statistic)
    assert found.weighted_tau == pytest.approx(weightedtau(model, human).statistic)
    discordant = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(pairs, 2))
    assert found.cin == discordant


def test_names_scores_and_mappings_say_the_same() -> None:
    by_name = compare_rankings(["a", "c", "b", "d"], ["a", "b", "c", "d"])
    by_score = compare_rankings([9, 3, 5, 1], [4, 3, 2, 1])
    by_mapping = compare_rankings({"a": 9, "b": 3, "c": 5, "d": 1}, {"d": 1, "c": 2, "b": 3, "a": 4})
    assert by_name == by_score == by_mapping
    assert by_name.places == (1, 3, 2, 4)


def test_a_permutation_has_the_metrics_of_its_places() -> None:
    rng = np.random.default_rng(0)
    model, human = rng.permutation(12), rng.permutation(12)
    found = compare_rankings(model, human)
    assert found.cin == count_inversions(found.places)
    assert found.lis == longest_increasing_subsequence(found.places)
    assert found.pen == permutation_entropy(found.places)
    assert found.cin == compare_rankings(human, model).cin
    assert found.lis == compare_rankings(human, model).lis


def test_a_tie_is_no_disagreement() -> None:
    found = compare_rankings([3, 3, 2, 1], [4, 3, 2, 2])
    assert (found.cin, found.lis, found.places) == (0, 4, (1, 1, 2, 3))
    assert (found.tied_share_model, found.tied_share_human) == (1 / 6, 1 / 6)


def test_overlap_at_the_top_shares_ties_out() -> None:
    found = compare_rankings([4, 3, 2, 1], [4, 1, 2, 3], depths=(1, 2, 3, 9))
    assert found.top_overlap == pytest.approx({1: 1.0, 2: 0.5, 3: 2 / 3})
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
    found = compare_rankings(model, human, n_boot=99)
    assert found.prompts == 40
    assert set(found.intervals) == {"cin", "lis", "pen", "pen_triples", "tau_b", "rbo"}
    for name, (low, high) in found.intervals.items():
        assert low <= high, name
    assert found.intervals["tau_b"][0] <= found.tau_b <= found.intervals["tau_b"][1]
    assert found == compare_rankings(model, human, n_boot=99)
    assert found.tau_b == pytest.approx(
        compare_rankings(model.mean(axis=0), human.mean(axis=0)).tau_b, abs=1e-12
    )


def test_what_two_items_cannot_say_is_none() -> None:
    found = compare_rankings([1, 2], [2, 1])
    assert (found.pen, found.pen_triples, found.cin, found.tau_b) == (None, None, 1, -1.0)
    assert found.intervals == {}


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
        ([1, 2], [1, 2], {"level": 1}, "level must be"),
    ],
)
def test_errors_say_what_to_do(model: Any, human: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_rankings(model, human, **options)
