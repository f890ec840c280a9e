"""The tests of pairs of checkpoints, and the scores of sets of answers, by plain numpy: slow and obvious."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hengwen.objective.text import mixed_tokens
from hengwen.records import Response, Row, Score

Floats = NDArray[np.float64]
FLIPS = 20_000


@dataclass
class Values:
    """One score: a row for each prompt, a column for each checkpoint."""

    table: Floats
    clusters: list[str]
    span: float
    is_discrete: bool

    def differences(self, earlier: int, later: int) -> tuple[Floats, Floats]:
        """Return the sum of the differences in each cluster, and the number of prompts of each."""
        names, codes = np.unique(self.clusters, return_inverse=True)
        change = self.table[:, later] - self.table[:, earlier]
        sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
        return np.bincount(codes, change, len(names)).astype(np.float64), sizes


def values_by_address(rows: Iterable[Row], checkpoints: list[str]) -> dict[str, Values]:
    """Return the mean of each prompt over its repeats; all checkpoints have all prompts."""
    answers: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    clusters: dict[str, str] = {}
    scales = {}
    for row in rows:
        if isinstance(row.outcome, Score) and row.sample_id is not None and row.score.role == "answer":
            answers[row.score.address][row.sample_id, row.checkpoint].append(row.outcome.value)
            clusters[row.sample_id] = row.cluster
            scales[row.score.address] = row.outcome.scale
    values = {}
    for address, by_prompt in answers.items():
        prompts = sorted({prompt for prompt, _ in by_prompt})
        scale = scales[address]
        values[address] = Values(
            table=np.array([[np.mean(by_prompt[p, c]) for c in checkpoints] for p in prompts]),
            clusters=[clusters[prompt] for prompt in prompts],
            span=scale.high - scale.low,
            is_discrete=scale.discrete,
        )
    return values


def z_of(totals: Floats, squares: float, n: int) -> Floats:
    """Return the normal quantile of the t values of totals of n clusters."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.minimum(totals**2 / squares, n) if squares > 0 else np.zeros(np.shape(totals))
        t = np.sqrt(share * (n - 1) / (n - share))
    return np.asarray(stats.norm.isf(stats.t.sf(t, n - 1)))


@dataclass
class PairTest:
    """The test of one pair in one score."""

    difference: float
    error: float
    n: int
    prompts: int
    p: float
    p_adjusted: float
    critical: float
    interval: tuple[float, float]

    @property
    def is_change(self) -> bool:
        return self.p_adjusted <= 0.05 and (self.interval[0] > 0 or self.interval[1] < 0)

    @property
    def half(self) -> float:
        """Half of the width of the interval at the critical value of the family."""
        return float(stats.t.isf(stats.norm.sf(self.critical), self.n - 1)) * self.error

    def prompts_needed(self) -> int:
        level = 2 * stats.norm.sf(self.critical)
        deviation = self.error * self.n**0.5
        for n in range(12, 5000):
            limit, shift = stats.t.isf(level / 2, n - 1), abs(self.difference) / (deviation / n**0.5)
            if stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift) >= 0.8:
                return n
        raise AssertionError("too many prompts")


def interval_of(sums: Floats, sizes: Floats, reach: float, weight: float, span: float) -> tuple[float, float]:
    """Return the interval with pseudo-clusters of ``weight`` times the mean size at plus and minus reach."""
    size = weight * sizes.mean()
    sums, sizes = np.append(sums, [-reach * size, reach * size]), np.append(sizes, [size, size])
    mean, groups = sums.sum() / sizes.sum(), len(sums)
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    error = ((groups - 1) / groups * ((left_out - mean) ** 2).sum()) ** 0.5
    half = stats.t.isf(0.025, sizes.sum() ** 2 / (sizes**2).sum() - 1) * error
    return max(mean - half, -span), min(mean + half, span)


def pair_tests(values: dict[str, Values], checkpoints: int) -> dict[tuple[str, int, int], PairTest]:
    """Return the tests of all pairs of checkpoints in all scores, which are one family."""
    rng = np.random.default_rng(99)
    signs = {}
    names, observed, flipped = [], [], []
    for address, score in values.items():
        clusters = tuple(np.unique(score.clusters))
        task = address.partition("/")[0]
        if task not in signs:
            signs[task] = rng.choice([-1.0, 1.0], (FLIPS, len(clusters)))
        for pair in combinations(range(checkpoints), 2):
            sums, _ = score.differences(*pair)
            sums = np.where(abs(sums) < 1e-9, 0, sums)
            names.append((address, *pair))
            observed.append(float(z_of(sums.sum()[None], sums @ sums, len(sums))[0]))
            flipped.append(z_of(signs[task] @ sums, sums @ sums, len(sums)))
    is_small = [len(set(values[address].clusters)) < 6 for address, *_ in names]
    order = np.lexsort((-np.array(observed), is_small))[
        : is_small.count(False)
    ]  # with fewer than 6: no family
    least = np.array(observed)[order] * (1 - 1e-7)
    largest = np.maximum.accumulate(np.array(flipped)[order][::-1], axis=0)[::-1]
    adjusted = np.maximum.accumulate((largest >= least[:, None]).mean(axis=1))
    end = min(int((adjusted <= 0.05).sum()), len(order) - 1)
    tests = {}
    ranks = {int(index): rank for rank, index in enumerate(order)}
    for index, (address, earlier, later) in enumerate(names):
        rank = ranks.get(index)
        score = values[address]
        sums, sizes = score.differences(earlier, later)
        pairs = combinations(range(checkpoints), 2)
        reach = max(float(abs(score.table[:, b] - score.table[:, a]).max()) for a, b in pairs)
        weight = 1.0 if score.is_discrete else 2 / 3
        reach = score.span if score.is_discrete else reach
        tests[names[index]] = PairTest(
            difference=float(sums.sum() / sizes.sum()),
            error=float((len(sums) * sums.var(ddof=1)) ** 0.5 / sizes.sum()),
            n=len(sums),
            prompts=int(sizes.sum()),
            p=float((flipped[index] >= observed[index] * (1 - 1e-7)).mean()),
            p_adjusted=1.0 if rank is None else float(adjusted[rank]),
            critical=inf if rank is None else float(np.quantile(largest[min(rank, end)], 0.95)),
            interval=interval_of(sums, sizes, reach, weight, score.span),
        )
    return tests


def near(p: float) -> object:
    """Return what equals a p-value but for the errors of two samples of flips."""
    return pytest.approx(p, abs=0.001 + 4.5 * (p * (1 - p) * (1 / FLIPS + 1 / 9999)) ** 0.5)


def distinct_share(texts: dict[str, list[list[str]]]) -> float:
    """Return the share of distinct pairs of tokens."""
    grams = [gram for answers in texts.values() for tokens in answers for gram in pairwise(tokens)]
    return len(set(grams)) / len(grams)


def tokens_of(responses: Iterable[Response], task: str) -> dict[tuple[str, int], list[str]]:
    return {(r.sample_id, r.repeat): list(mixed_tokens(r.text)) for r in responses if r.task == task}


def at_equal_length(
    first: dict[tuple[str, int], list[str]], second: dict[tuple[str, int], list[str]]
) -> tuple[dict[str, list[list[str]]], dict[str, list[list[str]]]]:
    sides: tuple[dict[str, list[list[str]]], ...] = (defaultdict(list), defaultdict(list))
    for key in first.keys() & second.keys():
        size = min(len(first[key]), len(second[key]))
        sides[0][key[0]].append(first[key][:size])
        sides[1][key[0]].append(second[key][:size])
    return sides[0], sides[1]
