"""Numbers for whole sets of answers: the jackknife over prompts, and the exchange of whole prompts."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from rows import each_row
from scipy import sparse, stats

from hengwen.objective.diversity.metrics import distinct_n, ngram_entropy
from hengwen.stats.exchange import distinct_share, jackknife_interval, normalised_entropy, set_exchange_test

from .set_exchange_simulations import coverage, rejections


def matrices(seed: int, prompts: int, items: int = 40):
    rng = np.random.default_rng(seed)
    tables = [rng.poisson(0.6, (prompts, items)).astype(np.float32) for _ in range(2)]
    for table in tables:
        table[:, 0] += 1
    return tables


def enumerated_p(first, second, statistic):
    """Exchange the rows in every way, one way after another."""
    apart = []
    for flips in product([False, True], repeat=len(first)):
        swap = np.array(flips)[:, None]
        one, other = np.where(swap, second, first), np.where(swap, first, second)
        apart.append(abs(statistic(other.sum(axis=0)[None])[0] - statistic(one.sum(axis=0)[None])[0]))
    return np.mean(np.array(apart) >= apart[0] - 1e-9)


@each_row("statistic", [distinct_share, normalised_entropy])
@each_row("seed", range(3))
def test_few_prompts_are_exchanged_in_every_way(statistic, seed) -> None:
    first, second = matrices(seed, 7)
    test = set_exchange_test(sparse.csr_array(first), sparse.csr_array(second), statistic)
    assert test.p == pytest.approx(enumerated_p(first, second, statistic))
    assert test.first == pytest.approx(statistic(first.sum(axis=0)[None])[0])
    assert test.difference == test.second - test.first


def test_equal_sets_do_not_differ_and_few_prompts_are_not_tested() -> None:
    first, second = map(sparse.csr_array, matrices(1, 20))
    assert set_exchange_test(first, first, distinct_share).p == 1
    assert set_exchange_test(first[:5], second[:5], distinct_share) is None
    assert jackknife_interval(0.5, [0.4] * 5) is None


def test_sets_of_a_single_item_are_not_tested() -> None:
    """Their entropy is 0 of 0; compared with a number that is none, no exchange counts, and p would be 0."""
    first, second = np.zeros((2, 8, 2), np.float32)
    first[0, 0] = second[0, 1] = 1
    test = set_exchange_test(sparse.csr_array(first), sparse.csr_array(second), normalised_entropy)
    assert test is None


def test_statistics_of_counts_are_those_of_texts() -> None:
    texts = ["风 吹 过 山 岗", "风 吹 来 了 风 吹 走"]
    tokens = [text.split() for text in texts]
    grams = [pair for words in tokens for pair in pairwise(words)]
    counts = np.array([[grams.count(gram) for gram in dict.fromkeys(grams)]], dtype=np.float32)
    assert distinct_share(counts)[0] == pytest.approx(distinct_n(texts, 2))
    assert normalised_entropy(counts)[0] == pytest.approx(ngram_entropy(texts, 2, normalize=True), abs=1e-6)


def test_the_jackknife_of_a_mean_is_the_t_interval() -> None:
    values = np.random.default_rng(1).normal(size=12)
    without = [np.delete(values, i).mean() for i in range(12)]
    expected = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert jackknife_interval(values.mean(), without) == pytest.approx(expected)


@pytest.mark.slow
def test_exchange_keeps_its_level_and_sees_a_collapse() -> None:
    assert rejections(8, 150) <= 0.1
    assert rejections(8, 150, longer=1.3) <= 0.1, "answers are cut to equal numbers of tokens"
    assert rejections(12, 40, longer=1.3, cut=False) >= 0.4, "longer answers alone shift the share"
    assert rejections(12, 40, collapse=0.15) >= 0.85


@pytest.mark.slow
def test_jackknife_intervals_cover() -> None:
    assert 0.91 <= coverage(12, 300) <= 0.995
