"""Compute the metrics of every window of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_sequence, check_choice, few_levels
from hengwen.relevance_metrics.core.pattern_codes import (
    code_entropies,
    pattern_codes,
    term_table,
    window_count,
)
from hengwen.relevance_metrics.inference.sequence_metrics import METRICS, Metric
from hengwen.relevance_metrics.order.inversions import batch_inversions
from hengwen.relevance_metrics.order.subsequences import column_lengths, row_length
from hengwen.relevance_metrics.patterns.entropy import log_of_base

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

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
    n: int
    """Number of scores in the sequence."""
    window: int
    """Number of scores in a window."""
    step: int
    """Distance in positions between the starts of two neighbouring windows."""
    m: int
    """Number of scores in an ordinal pattern."""
    delay: int
    """Distance in positions between consecutive scores of an ordinal pattern; 1 means adjacent scores."""
    base: float | str
    """Base of the logarithm of ``pen``; ``"e"`` for nats."""

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
    base: float | Literal["e"] = "e",
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
    return Rolling(
        starts=starts, values=values, n=len(row), window=window, step=step, m=m, delay=delay, base=base
    )


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
