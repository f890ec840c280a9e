"""The balance test: how often it rejects random samples, and samples that were chosen."""

from __future__ import annotations

import numpy as np
import pytest
from rows import each_row

from hengwen.judges.calibration.means import balance_test

DESIGNS = {
    # prompts, answers a prompt, labelled answers, whether whole prompts are drawn, icc
    "one answer a prompt": (200, 1, 50, False, 0.0),
    "five answers a prompt": (40, 5, 50, False, 0.3),
    "whole prompts": (40, 5, 50, True, 0.3),
    "few labels": (60, 1, 12, False, 0.0),
}


def drawn(rng, prompts, each, count, whole):
    """Return which answers are labelled."""
    if whole:
        return np.repeat(np.isin(np.arange(prompts), rng.permutation(prompts)[: count // each]), each)
    chosen = np.zeros(prompts * each, bool)
    chosen[rng.permutation(prompts * each)[:count]] = True
    return chosen


def result(values, chosen, each):
    names = np.repeat(np.arange(len(values) // each), each).astype(str)
    return balance_test(
        values[chosen],
        values[~chosen],
        clusters=names[chosen].tolist(),
        other_clusters=names[~chosen].tolist(),
        bounds=(0.0, 1.0),
    )


@pytest.mark.slow
@each_row("ceiling", [False, True])
@each_row("design", DESIGNS)
def test_a_random_sample_is_rarely_called_unbalanced(draw, design: str, ceiling: bool) -> None:
    prompts, each, count, whole, icc = DESIGNS[design]
    rng = np.random.default_rng(20261121)
    rejected = 0
    for _ in range(500):
        judge = draw(rng, prompts, each, rho=0.8, icc=icc, shift=1.5 if ceiling else 0.3)[1].ravel()
        rejected += not result(judge, drawn(rng, prompts, each, count, whole), each).holds
    assert rejected / 500 <= 0.07


def test_a_sample_chosen_by_what_people_think_is_found(draw) -> None:
    rng = np.random.default_rng(20261121)
    rejected = 0
    for _ in range(100):
        human, judge = (side.ravel() for side in draw(rng, 200, 1, rho=0.8))
        chosen = np.zeros(200, bool)
        weights = np.where(human >= 0.75, 6.0, 1.0)
        chosen[rng.choice(200, 50, replace=False, p=weights / weights.sum())] = True
        rejected += not result(judge, chosen, 1).holds
    assert rejected >= 80


def test_too_few_prompts_cannot_be_tested() -> None:
    names = {"clusters": ["a", "a"], "other_clusters": ["b", "c"]}
    assert balance_test([0, 1], [0, 1], **names) is None
    assert balance_test([1, 1], [1, 1], clusters=["a", "b"], other_clusters=["c", "d"]) is None


def test_a_few_equal_values_are_no_proof() -> None:
    names = [str(i) for i in range(46)]
    others = [1.0] * 36 + [0.5] * 4
    balance = balance_test([1.0] * 6, others, clusters=names[:6], other_clusters=names[6:], bounds=(0, 1))
    assert balance.difference == pytest.approx(0.05)
    assert balance.holds
