"""Null distributions: the values of a metric over all (or many random) orders of the same scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_sequence, check_choice
from hengwen.relevance_metrics.core.pattern_codes import window_count
from hengwen.relevance_metrics.inference.sequence_metrics import METRICS, Metric
from hengwen.relevance_metrics.order.inversions import tied_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

_MAX_CELLS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NullMoments:
    """Mean and standard deviation of a metric over random orders of the same scores."""

    metric: Metric
    mean: float
    """Mean of the metric over the orders of the scores: a number of inverted pairs for ``cin``, nats for
    ``pen``, a number of scores for ``lis`` and ``lnds``."""
    sd: float
    """Standard deviation of the metric over the orders of the scores, in the unit of ``mean``."""
    exact: bool
    """Whether mean and standard deviation are exact (by a formula or from all orders), not simulated."""
    orders: int
    """Number of orders of the scores that were evaluated; 0 if a formula was used."""
    n: int
    """Number of scores."""
    windows: int | None
    """Number of ordinal patterns for ``pen``; None for the other metrics."""
    tied_share: float
    """Share of tied pairs (two equal scores) among all pairs of scores in the sequence, from 0 to 1."""
    m: int
    """Number of scores in an ordinal pattern."""
    delay: int
    """Distance in positions between consecutive scores of an ordinal pattern (the order of m scores); 1 means
    adjacent scores."""
    seed: int


def null_moments(
    x: ArrayLike, metric: Metric = "cin", *, m: int = 3, delay: int = 1, draws: int = 2000, seed: int = 0
) -> NullMoments:
    """Return the mean and standard deviation of a metric over random orders of the same scores.

    Args:
        x: One sequence of scores; their order does not matter. ``pen`` needs (m - 1) * delay + 1 or more
            scores.
        metric: ``cin`` (inversions), ``pen`` (permutation entropy), ``lis`` (longest strictly increasing
            subsequence) or ``lnds`` (longest non-decreasing subsequence). For ``cin``, a formula that allows
            equal scores gives the result. The other metrics are evaluated for all orders if there are at most
            ``draws`` orders, otherwise for random orders.
        m: Number of scores in an ordinal pattern, at least 2.
        delay: Distance in positions between consecutive scores of a pattern; 1 means adjacent scores.
        draws: Number of simulated orders, at least 1.
        seed: Seed of the simulation.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, or the metric is unknown.

    Notes:
        The formula of the variance with ties is from Kendall, Rank Correlation Methods, chapter 4. Do not use
        the approximation 2 sqrt(n) for the mean of ``lis``: for n = 50, it is 25 % too high.

    Examples:
        >>> null_moments([1, 2, 3]).mean, null_moments([1, 2, 3]).sd.__round__(4)
        (1.5, 0.9574)
        >>> null_moments([1, 2, 3], "lis").mean
        2.0
    """
    check_choice("metric", metric, METRICS)
    row = as_sequence(x)
    whole_number("draws", draws)
    known = METRICS[metric]
    windows = window_count(len(row), m, delay) if known.has_patterns else None
    orders = 0
    exact = True
    if known.moments is not None:
        mean, sd = known.moments(row)
    else:
        exact = arrangements(row) <= draws
        rows = all_orders(row) if exact else shuffles(row, np.random.default_rng(seed), draws)
        values = known.evaluate(rows, m, delay)
        orders = len(values)
        mean, sd = float(values.mean()), float(values.std())
    return NullMoments(
        metric=metric,
        mean=mean,
        sd=sd,
        exact=exact,
        orders=orders,
        n=len(row),
        windows=windows,
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        seed=seed,
    )


def in_chunks(draws: int, n: int) -> Iterator[int]:
    """Split ``draws`` random orders of n scores into batches that fit in memory; yield the batch sizes."""
    size = max(1, _MAX_CELLS // max(n, 1))
    for start in range(0, draws, size):
        yield min(size, draws - start)


def shuffles(row: NDArray[Any], rng: np.random.Generator, draws: int) -> NDArray[Any]:
    """Return random orders of the scores in a row; each row of the result is one order."""
    return rng.permuted(np.tile(row, (draws, 1)), axis=1)


def arrangements(row: NDArray[Any]) -> int:
    """Return the number of different orders of the scores."""
    groups: list[int] = np.unique(row, return_counts=True)[1].tolist()
    total, count = 0, 1
    for size in groups:
        total += size
        count *= math.comb(total, size)
    return count


def all_orders(row: NDArray[Any]) -> NDArray[Any]:
    """Return all different orders of the scores."""
    levels, sizes = np.unique(row, return_counts=True)
    orders = _orders(sizes.tolist())
    return levels[np.array(orders, np.intp).reshape(len(orders), len(row))]


def _orders(sizes: list[int]) -> list[tuple[int, ...]]:
    """Return all orders of a multiset, given how often each of its values occurs."""
    if not any(sizes):
        return [()]
    orders = []
    for level, size in enumerate(sizes):
        if size:
            tails = _orders([*sizes[:level], size - 1, *sizes[level + 1 :]])
            orders += [(level, *tail) for tail in tails]
    return orders


def group_orders(row: NDArray[Any], groups: Sequence[NDArray[np.intp]]) -> NDArray[Any]:
    """Return all different orders in which scores change places only within groups of indices."""
    choices = [all_orders(row[indices]) for indices in groups]
    rows = np.tile(row, (math.prod(len(choice) for choice in choices), 1))
    for target, orders in zip(rows, product(*choices), strict=True):
        for indices, scores in zip(groups, orders, strict=True):
            target[indices] = scores
    return rows


def block_orders(row: NDArray[Any], blocks: Sequence[NDArray[np.intp]]) -> NDArray[Any]:
    """Return the row with its blocks in every possible order."""
    return np.array([row[np.concatenate(order)] for order in permutations(blocks)])
