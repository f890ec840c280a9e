"""Permutation tests: does the order of the scores differ from random order?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core import SequenceResult, as_sequence, check_choice, window_count
from hengwen.relevance_metrics.inversions import tied_share
from hengwen.relevance_metrics.sequence_metrics import METRICS, Metric, SequenceMetric

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray


_MAX_CELLS = 2_000_000


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


Alternative = Literal["two-sided", "greater", "less"]
Null = Literal["shuffle", "block", "within-prompt"]
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest(SequenceResult):
    """Result of a permutation test of one metric."""

    __test__ = False

    metric: Metric
    statistic: float
    """Value of the metric: a number of inverted pairs for ``cin``, nats for ``pen``, a number of scores for
    ``lis`` and ``lnds``."""
    null_mean: float
    """Mean of the metric over the orders that the null hypothesis allows."""
    null_sd: float
    """Standard deviation of the metric over the orders that the null hypothesis allows; at least 0."""
    z: float | None
    """Distance from the null mean in standard deviations, (statistic - null_mean) / null_sd; None if all
    orders give the same value."""
    p: float
    """p-value, above 0 and at most 1."""
    p_floor: float
    """Smallest p-value that the test can reach."""
    exact: bool
    """Whether all orders that the null hypothesis allows were evaluated, not a random sample."""
    orders: int
    """Number of orders from which the p-value is computed, including the observed order."""
    alternative: Alternative
    null: Null
    windows: int | None
    """Number of ordinal patterns for ``pen``; None for the other metrics."""
    block: int | None
    """Length of a block, in scores; None unless blocks are exchanged."""
    groups: int | None
    """Number of prompts; None unless scores are exchanged within prompts."""
    n_perm: int
    """Number of random orders that the caller requested."""
    seed: int


@dataclass(frozen=True, slots=True)
class _OrderSampler:
    """The orders that a null hypothesis allows: functions that count, list or draw them."""

    size: int
    all: Callable[[], NDArray[Any]]
    some: Callable[[np.random.Generator, int], NDArray[Any]]


def significance(  # noqa: PLR0913 - keyword-only options
    x: ArrayLike,
    metric: Metric = "cin",
    *,
    n_perm: int = 9999,
    alternative: Alternative = "two-sided",
    seed: int = 0,
    null: Null = "shuffle",
    block: int | None = None,
    prompts: Sequence[object] | None = None,
    m: int = 3,
    delay: int = 1,
) -> PermutationTest:
    """Test whether a metric differs from its values over random orders of the same scores.

    ``cin`` tests whether the scores drift up or down, like the Mann-Kendall test: more inversions than in
    random order mean a fall, fewer inversions mean a rise. ``pen`` and ``lis`` do not detect a drift, and a
    low ``pen`` is no sign of stability.

    Args:
        x: One sequence of scores in order; ``pen`` needs at least (m - 1) * delay + 1 scores.
        metric: ``cin`` (inversions), ``pen`` (permutation entropy), ``lis`` (longest strictly increasing
            subsequence) or ``lnds`` (longest non-decreasing subsequence).
        n_perm: Number of random orders, at least 1; if the null hypothesis allows at most this many orders,
            all of these are evaluated instead.
        alternative: ``two-sided`` counts the orders whose value is at least as far from the null mean as the
            observed value; ``greater`` counts the orders whose value is at least the observed value, ``less``
            those whose value is at most the observed value.
        seed: Seed of the random orders.
        null: Which scores the test exchanges. ``shuffle`` exchanges all scores. ``block`` exchanges whole
            blocks of neighbouring scores, for scores that depend on previous scores. ``within-prompt``
            exchanges only scores of the same prompt, for prompts that differ in difficulty.
        block: Length of a block; the default is the cube root of n, rounded up, at least 2.
        prompts: Name of the prompt of each score, for ``within-prompt``.
        m: Number of scores in an ordinal pattern, at least 2.
        delay: Distance in positions between consecutive scores of a pattern; 1 means adjacent scores.

    Returns:
        A `PermutationTest`. If scores are equal or few, the test is valid, but only few different p-values
        are possible.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are no scores or too few for m and delay, a score is NaN, or the options do not fit
            together.

    Notes:
        The p-value from n random orders is (1 + k) / (1 + n), where k orders have a value at least as extreme
        as the observed value. It is never 0. Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9.

    Examples:
        >>> test = significance([1, 2, 3, 4])
        >>> test.statistic, test.null_mean, test.exact, test.orders
        (0.0, 3.0, True, 24)
        >>> test.p, test.p_floor
        (0.08333333333333333, 0.041666666666666664)
    """
    check_choice("metric", metric, METRICS)
    check_choice("alternative", alternative, ("two-sided", "greater", "less"))
    check_choice("null", null, ("shuffle", "block", "within-prompt"))
    whole_number("n_perm", n_perm)
    row = as_sequence(x)
    if not len(row):
        raise ValueError("there are no scores to test; pass at least one")
    known = METRICS[metric]
    windows = window_count(len(row), m, delay) if known.has_patterns else None
    length = _block_length(block, len(row), null)
    groups = _prompt_groups(prompts, len(row), null)
    sampler = _sampler(row, length, groups)
    statistic = float(known.evaluate(row[None], m, delay)[0])
    exact = sampler.size <= n_perm
    values = _null_values(row, sampler, exact, n_perm, seed, known, m, delay)
    moments = known.moments(row) if known.moments is not None and null == "shuffle" else None
    mean, sd = moments or (float(values.mean()), float(values.std()))
    pool = values if exact else np.append(values, statistic)
    center = mean if moments else float(pool.mean())
    extreme = int(np.count_nonzero(_as_extreme(pool, statistic, center, alternative)))
    return PermutationTest(
        metric=metric,
        statistic=statistic,
        null_mean=mean,
        null_sd=sd,
        z=(statistic - mean) / sd if sd > _TOLERANCE else None,
        p=extreme / len(pool),
        p_floor=1 / len(pool),
        exact=exact,
        orders=len(pool),
        alternative=alternative,
        null=null,
        n=len(row),
        windows=windows,
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        block=length,
        groups=len(groups) if groups else None,
        n_perm=n_perm,
        seed=seed,
    )


def _as_extreme(
    pool: NDArray[np.float64], statistic: float, center: float, alternative: Alternative
) -> NDArray[np.bool_]:
    """Return which values are at least as extreme as the statistic, up to rounding."""
    tolerance = _TOLERANCE * max(1.0, abs(statistic))
    if alternative == "greater":
        return pool >= statistic - tolerance
    if alternative == "less":
        return pool <= statistic + tolerance
    return np.abs(pool - center) >= abs(statistic - center) - tolerance


def _null_values(
    row: NDArray[Any],
    sampler: _OrderSampler,
    exact: bool,
    n_perm: int,
    seed: int,
    metric: SequenceMetric,
    m: int,
    delay: int,
) -> NDArray[np.float64]:
    if exact:
        return metric.evaluate(sampler.all(), m, delay)
    rng = np.random.default_rng(seed)
    parts = [metric.evaluate(sampler.some(rng, size), m, delay) for size in in_chunks(n_perm, len(row))]
    return np.concatenate(parts)


def _sampler(row: NDArray[Any], length: int | None, groups: list[NDArray[np.intp]] | None) -> _OrderSampler:
    if groups is not None:
        size = math.prod(arrangements(row[indices]) for indices in groups)
        return _OrderSampler(
            size,
            lambda: group_orders(row, groups),
            lambda rng, draws: _shuffle_groups(row, groups, rng, draws),
        )
    if length is not None:
        blocks = np.split(np.arange(len(row)), range(length, len(row), length))
        return _OrderSampler(
            math.factorial(len(blocks)),
            lambda: block_orders(row, blocks),
            lambda rng, draws: _shuffle_blocks(row, blocks, rng, draws),
        )
    return _OrderSampler(
        arrangements(row), lambda: all_orders(row), lambda rng, draws: shuffles(row, rng, draws)
    )


def _shuffle_groups(
    row: NDArray[Any], groups: list[NDArray[np.intp]], rng: np.random.Generator, draws: int
) -> NDArray[Any]:
    rows = np.tile(row, (draws, 1))
    for indices in groups:
        rows[:, indices] = rng.permuted(rows[:, indices], axis=1)
    return rows


def _shuffle_blocks(
    row: NDArray[Any], blocks: list[NDArray[np.intp]], rng: np.random.Generator, draws: int
) -> NDArray[Any]:
    orders = (rng.permutation(len(blocks)) for _ in range(draws))
    return np.array([row[np.concatenate([blocks[i] for i in order])] for order in orders])


def _block_length(block: int | None, n: int, null: Null) -> int | None:
    if null != "block":
        if block is not None:
            raise ValueError(f"block={block!r} requires null='block', got null={null!r}")
        return None
    length = max(2, math.ceil(round(math.cbrt(n), 9))) if block is None else whole_number("block", block)
    if length >= n:
        raise ValueError(f"a block of {length} leaves no blocks to exchange among {n} scores; lower block")
    return length


def _prompt_groups(prompts: Sequence[object] | None, n: int, null: Null) -> list[NDArray[np.intp]] | None:
    if null != "within-prompt":
        if prompts is not None:
            raise ValueError(f"prompts require null='within-prompt', got null={null!r}")
        return None
    if prompts is None or len(prompts) != n:
        raise ValueError(f"null='within-prompt' needs the prompt of each of the {n} scores; pass prompts=")
    groups: dict[object, list[int]] = {}
    for index, prompt in enumerate(prompts):
        groups.setdefault(prompt, []).append(index)
    return [np.array(indices) for indices in groups.values()]
