"""The sequence metrics: their registry, tests against random order, and their values in rolling windows.

Reports, drift tests, summaries and their words take what stands in the registry. To add a metric, write its
function of a batch of sequences and add an entry to ``METRICS`` and its name to ``Metric``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from hengwen._internal.plugins import whole_number
from hengwen.relevance_metrics.core import (
    Base,
    as_sequence,
    batch_entropies,
    check_choice,
    code_entropies,
    few_levels,
    log_of_base,
    pattern_codes,
    term_table,
    window_count,
)
from hengwen.relevance_metrics.inversions import (
    batch_inversions,
    batch_lengths,
    column_lengths,
    inversion_moments,
    row_length,
)
from hengwen.text.language import Bilingual

Rows = NDArray[Any]
Values = NDArray[np.float64]
Metric = Literal["pen", "cin", "lis", "lnds"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceMetric:
    """A metric of the order of a sequence of scores, and what its values mean."""

    name: Metric
    title: Bilingual
    """Name in words, without the abbreviation."""
    evaluate: Callable[[Rows, int, int], Values]
    """Function from sequences (the rows), m and delay to the value of each sequence."""
    is_main: bool = True
    """Whether reports and drift tests show the metric."""
    has_patterns: bool = False
    """Whether the metric counts ordinal patterns: it needs at least one, and is too low for few."""
    maximum: Callable[[int], int] | None = None
    """Function from the number of scores to the largest possible value, if the value is shown with it."""
    decimals: int = 0
    moments: Callable[[Rows], tuple[float, float]] | None = None
    """Function from a sequence to the exact mean and standard deviation over random orders, if there is a
    formula; the metric then also has a normal approximation."""
    statement: Bilingual | None = None
    """Sentence of an explanation; None if the metric has no sentence of its own."""
    verdicts: Mapping[str, Bilingual] | None = None
    """For a value that is significantly ``low`` or ``high``, or the ``same`` as in random order: a
    sentence."""

    @property
    def symbol(self) -> str:
        """Abbreviation of the metric in tables."""
        return self.name.upper()

    @property
    def full_title(self) -> Bilingual:
        """Name in words, with the abbreviation."""
        return Bilingual(f"{self.title.zh} {self.symbol}", f"{self.title.en} {self.symbol}")

    def windows(self, n: int, m: int, delay: int) -> int | None:
        """Return the number of ordinal patterns of n scores; None if the metric counts none."""
        return max(n - (m - 1) * delay, 0) if self.has_patterns else None


def _pairs(n: int) -> int:
    return n * (n - 1) // 2


METRICS: dict[str, SequenceMetric] = {
    metric.name: metric
    for metric in (
        SequenceMetric(
            name="pen",
            title=Bilingual("排列熵", "permutation entropy"),
            evaluate=lambda rows, m, delay: batch_entropies(rows, m, delay) + 0.0,
            has_patterns=True,
            decimals=3,
            statement=Bilingual(
                "排列熵（m={m}，延迟 {delay}）：{value} 奈特，为 log {m}! 的 {part}。{null}{verdict}",
                "Permutation entropy (m={m}, delay={delay}): {value} nats, {part} of log {m}!.{null} "
                "{verdict}",
            ),
            verdicts={
                "low": Bilingual(
                    "短期起伏比随机排列更规律。", "The short-term ups and downs are more regular than chance."
                ),
                "high": Bilingual(
                    "短期起伏比随机排列更多样。", "The short-term ups and downs are more varied than chance."
                ),
                "same": Bilingual(
                    "短期起伏与随机排列没有显著差异。",
                    "The short-term ups and downs are no different from random order.",
                ),
            },
        ),
        SequenceMetric(
            name="cin",
            title=Bilingual("逆序数", "inversions"),
            evaluate=lambda rows, _m, _delay: batch_inversions(rows).astype(np.float64),
            maximum=_pairs,
            moments=inversion_moments,
            statement=Bilingual(
                "逆序数：{pairs} 对分数中有 {value} 对后者低于前者。{null}{verdict}",
                "Inversions: {value} of {pairs} pairs fall.{null} {verdict}",
            ),
            verdicts={
                "low": Bilingual(
                    "后面的分数往往更高，上升趋势显著。",
                    "Later scores tend to be higher: a rise beyond chance.",
                ),
                "high": Bilingual(
                    "后面的分数往往更低，下降趋势显著。",
                    "Later scores tend to be lower: a fall beyond chance.",
                ),
                "same": Bilingual(
                    "没有显著的上升或下降趋势；较小的趋势可能检测不出。",
                    "There is no rise or fall beyond chance; a small one may be missed.",
                ),
            },
        ),
        SequenceMetric(
            name="lis",
            title=Bilingual("最长上升子序列", "longest increasing subsequence"),
            evaluate=lambda rows, _m, _delay: batch_lengths(rows, strict=True).astype(np.float64),
            maximum=int,
            statement=Bilingual(
                "最长上升子序列：长度 {value}，允许相等时为 {weak}。{null}{verdict}",
                "Longest increasing subsequence: {value}, or {weak} if equal scores may "
                "follow.{null} {verdict}",
            ),
            verdicts={
                "low": Bilingual(
                    "最长上升子序列比随机排列时更短。", "The longest rise is shorter than chance gives."
                ),
                "high": Bilingual(
                    "最长上升子序列比随机排列时更长。", "The longest rise is longer than chance gives."
                ),
                "same": Bilingual(
                    "最长上升子序列与随机排列没有显著差异。",
                    "The longest rise is no different from random order.",
                ),
            },
        ),
        SequenceMetric(
            name="lnds",
            title=Bilingual("最长不降子序列", "longest non-decreasing subsequence"),
            evaluate=lambda rows, _m, _delay: batch_lengths(rows, strict=False).astype(np.float64),
            is_main=False,
            maximum=int,
        ),
    )
}
MAIN_METRICS = tuple(metric for metric in METRICS.values() if metric.is_main)


def enough_windows(m: int) -> int:
    """Return the number of ordinal patterns below which a metric that counts them is too low."""
    return 5 * math.factorial(m)


_MAX_CELLS = 2_000_000


def _in_chunks(draws: int, n: int) -> Iterator[int]:
    """Split ``draws`` random orders of n scores into batches that fit in memory; yield the batch sizes."""
    size = max(1, _MAX_CELLS // max(n, 1))
    for start in range(0, draws, size):
        yield min(size, draws - start)


def _arrangements(row: NDArray[Any]) -> int:
    """Return the number of different orders of the scores."""
    groups: list[int] = np.unique(row, return_counts=True)[1].tolist()
    total, count = 0, 1
    for size in groups:
        total += size
        count *= math.comb(total, size)
    return count


def _all_orders(row: NDArray[Any]) -> NDArray[Any]:
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


Alternative = Literal["two-sided", "greater", "less"]
Null = Literal["shuffle", "block"]
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationTest:
    """Result of a permutation test of one metric."""

    __test__ = False

    metric: Metric
    statistic: float
    """Value of the metric: a number of inverted pairs for ``cin``, nats for ``pen``, a number of scores for
    ``lis`` and ``lnds``."""
    n: int
    """Number of scores."""
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
    block: int | None
    """Length of a block, in scores; None unless blocks are exchanged."""
    seed: int


def significance(  # noqa: PLR0913 - keyword-only options
    x: ArrayLike,
    metric: Metric = "cin",
    *,
    n_perm: int = 9999,
    alternative: Alternative = "two-sided",
    seed: int = 0,
    null: Null = "shuffle",
    block: int | None = None,
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
            blocks of neighbouring scores, for scores that depend on previous scores.
        block: Length of a block; the default is the cube root of n, rounded up, at least 2.
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
    check_choice("null", null, ("shuffle", "block"))
    whole_number("n_perm", n_perm)
    row = as_sequence(x)
    if not len(row):
        raise ValueError("there are no scores to test; pass at least one")
    known = METRICS[metric]
    if known.has_patterns:
        window_count(len(row), m, delay)
    length = _block_length(block, len(row), null)
    blocks = np.split(np.arange(len(row)), range(length, len(row), length)) if length else None
    exact = (math.factorial(len(blocks)) if blocks else _arrangements(row)) <= n_perm
    statistic = float(known.evaluate(row[None], m, delay)[0])
    values = np.concatenate(
        [known.evaluate(rows, m, delay) for rows in _null_orders(row, blocks, exact, n_perm, seed)]
    )
    moments = known.moments(row) if known.moments is not None and null == "shuffle" else None
    mean, sd = moments or (float(values.mean()), float(values.std()))
    pool = values if exact else np.append(values, statistic)
    center = mean if moments else float(pool.mean())
    extreme = int(np.count_nonzero(_as_extreme(pool, statistic, center, alternative)))
    return PermutationTest(
        metric=metric,
        statistic=statistic,
        n=len(row),
        null_mean=mean,
        null_sd=sd,
        z=(statistic - mean) / sd if sd > _TOLERANCE else None,
        p=extreme / len(pool),
        p_floor=1 / len(pool),
        exact=exact,
        orders=len(pool),
        alternative=alternative,
        null=null,
        block=length,
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


def _null_orders(
    row: NDArray[Any], blocks: list[NDArray[np.intp]] | None, exact: bool, n_perm: int, seed: int
) -> Iterator[NDArray[Any]]:
    """Yield batches of the orders that the null hypothesis allows: all of them, or random ones."""
    if exact and blocks is None:
        yield _all_orders(row)
        return
    if exact and blocks is not None:
        yield np.array([row[np.concatenate(order)] for order in permutations(blocks)])
        return
    rng = np.random.default_rng(seed)
    for size in _in_chunks(n_perm, len(row)):
        if blocks is None:
            yield rng.permuted(np.tile(row, (size, 1)), axis=1)
        else:
            orders = (rng.permutation(len(blocks)) for _ in range(size))
            yield np.array([row[np.concatenate([blocks[i] for i in order])] for order in orders])


def _block_length(block: int | None, n: int, null: Null) -> int | None:
    if null != "block":
        if block is not None:
            raise ValueError(f"block={block!r} requires null='block', got null={null!r}")
        return None
    length = max(2, math.ceil(round(math.cbrt(n), 9))) if block is None else whole_number("block", block)
    if length >= n:
        raise ValueError(f"a block of {length} leaves no blocks to exchange among {n} scores; lower block")
    return length


RollingMetric = Literal["mean"] | Metric
ROLLING_METRICS = ("mean", *METRICS)
_MAX_COUNTED_CODES = 24
_MAX_COLUMN_WINDOW = 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rolling:
    """Metrics of each window of a sequence."""

    starts: NDArray[np.int64]
    """Index of the first score of each window."""
    values: dict[str, NDArray[np.float64 | np.int64]]
    """For each metric, its value in each window."""

    def __getitem__(self, metric: str) -> NDArray[np.float64 | np.int64]:
        return self.values[metric]


def rolling(
    x: ArrayLike,
    window: int,
    metrics: Sequence[RollingMetric] = ("pen", "cin", "lis"),
    step: int = 1,
    *,
    m: int = 3,
    delay: int = 1,
    base: Base = "e",
) -> Rolling:
    """Compute the metrics of each window: x[0:window], x[step:step + window] and so on.

    Args:
        x: One sequence of at least ``window`` scores, in order.
        window: Number of scores in a window, at least 1; ``pen`` needs at least (m - 1) * delay + 1 scores.
        metrics: Any of ``mean``, ``pen`` (permutation entropy), ``cin`` (inversions), ``lis`` (longest
            strictly increasing subsequence) and ``lnds`` (longest non-decreasing subsequence). Only ``mean``
            depends on how high the scores are.
        step: Distance in positions between the starts of two neighbouring windows, at least 1.
        m: Number of scores in an ordinal pattern, at least 2.
        delay: Distance in positions between consecutive scores of a pattern; 1 means adjacent scores.
        base: Base of the logarithm of ``pen``; ``"e"`` gives nats.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are fewer scores than ``window``, a score is NaN, or a metric is unknown.

    Examples:
        >>> values = rolling([1, 2, 3, 2, 1], 3)
        >>> values["cin"].tolist(), values["lis"].tolist(), values["pen"].tolist()
        ([0, 1, 3], [3, 2, 1], [0.0, 0.0, 0.0])
    """
    row = as_sequence(x)
    whole_number("window", window)
    whole_number("step", step)
    unit = log_of_base(base)
    for metric in metrics:
        check_choice("metric", metric, ROLLING_METRICS)
    if len(row) < window:
        raise ValueError(
            f"{len(row)} scores do not fill a window of {window}; lower the window or add scores"
        )
    values: dict[str, NDArray[np.float64 | np.int64]] = {}
    for metric in metrics:
        if metric == "pen":
            values[metric] = _entropies(row, window, step, m, delay) / unit
        elif metric == "cin":
            values[metric] = _inversions(row, window, step)
        elif metric == "mean":
            values[metric] = _means(row, window, step)
        elif metric in ("lis", "lnds"):
            values[metric] = _lengths(row, window, step, metric == "lis")
        else:
            values[metric] = METRICS[metric].evaluate(sliding_window_view(row, window)[::step], m, delay)
    starts = np.arange(0, len(row) - window + 1, step, dtype=np.int64)
    return Rolling(starts=starts, values=values)


def _means(row: NDArray[Any], window: int, step: int) -> NDArray[np.float64]:
    if not np.isfinite(row).all():
        raise ValueError("a mean needs finite scores, got an infinite one; leave 'mean' out of the metrics")
    return np.asarray(sliding_window_view(row, window)[::step].mean(axis=1))


def _entropies(row: NDArray[Any], window: int, step: int, m: int, delay: int) -> NDArray[np.float64]:
    whole_number("m", m, 2)
    whole_number("delay", delay)
    patterns = window_count(window, m, delay)
    codes = pattern_codes(row, m, delay)
    kinds = int(codes.max()) + 1
    if kinds > _MAX_COUNTED_CODES or step > patterns:
        return code_entropies(sliding_window_view(codes, patterns)[::step], m)
    table = term_table(patterns)
    out = np.zeros(len(range(0, len(row) - window + 1, step)))
    count = np.zeros(len(codes) + 1, np.int64)
    for code in range(kinds):
        np.cumsum(codes == code, out=count[1:])
        out += table.take((count[patterns:] - count[:-patterns])[::step])
    return out


def _inversions(row: NDArray[Any], window: int, step: int) -> NDArray[np.int64]:
    """Return the number of inversions in each window."""
    if step * 4 > window:
        return batch_inversions(sliding_window_view(row, window)[::step])
    levels = few_levels(row)
    scores = row if levels is None else levels
    dtype = np.min_scalar_type(window)
    before_greater = np.zeros(len(row), dtype)
    after_less = np.zeros(len(row), dtype)
    for lag in range(1, window):
        falls = scores[:-lag] > scores[lag:]
        before_greater[lag:] += falls
        after_less[:-lag] += falls
    first = batch_inversions(row[None, :window])
    change = before_greater[window:].astype(np.int64) - after_less[: len(row) - window]
    return np.concatenate([first, first + np.cumsum(change)])[::step]


def _lengths(row: NDArray[Any], window: int, step: int, strict: bool) -> NDArray[np.int64]:
    views = sliding_window_view(row, window)[::step]
    if window > _MAX_COLUMN_WINDOW:
        return np.array([row_length(view, strict) for view in views], np.int64)
    ranks = np.unique(row, return_inverse=True)[1].astype(np.min_scalar_type(len(row)))
    columns = sliding_window_view(ranks, window)[::step].T
    return column_lengths(columns, columns.shape[1], strict)
