"""The metrics of every window of a sequence, and of the last scores of a stream."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core import (
    as_scores,
    as_sequence,
    check_choice,
    code_entropies,
    few_levels,
    pattern_codes,
    term_table,
    window_count,
)
from hengwen.relevance_metrics.entropy import log_of_base
from hengwen.relevance_metrics.inversions import batch_inversions
from hengwen.relevance_metrics.sequence_metrics import METRICS, Metric
from hengwen.relevance_metrics.subsequences import column_lengths, row_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


RollingMetric = Literal["mean"] | Metric
ROLLING_METRICS = ("mean", *METRICS)
STREAMED_METRICS = ("mean", "pen", "cin", "lis", "lnds")
"""Metrics of a ``Snapshot``; a metric that is only registered is computed by ``rolling``."""
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


_UNIT = 1 << 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Metrics of the scores in the window. A metric is None if it was not requested or is not yet defined."""

    n: int
    """Number of scores that the stream has had so far."""
    size: int
    """Number of scores in the window."""
    windows: int
    """Number of ordinal patterns in the window, equal patterns included; 0 without ``pen``."""
    tied_share: float
    """Share of the pairs of scores in the window that are equal, from 0 to 1."""
    mean: float | None = None
    """Mean of the scores in the window."""
    pen: float | None = None
    """Permutation entropy; the base of its logarithm is the ``base`` of ``StreamingMetrics``."""
    cin: int | None = None
    """Number of pairs i < j in the window with x[i] > x[j]."""
    lis: int | None = None
    """Length of the longest strictly increasing subsequence of the window."""
    lnds: int | None = None
    """Length of the longest non-decreasing subsequence of the window."""


class StreamingMetrics:
    """Metrics of the last ``window`` scores of a stream.

    The time of an update depends on the number w of scores in the window: ``cin`` and ``mean`` take O(w), and
    ``lis`` and ``lnds`` take O(w log w). Only the time for ``pen`` does not depend on w. Leave ``lis`` and
    ``lnds`` out for long windows.

    Args:
        window: Number of scores in the window; ``pen`` needs at least (m - 1) * delay + 1 scores.
        metrics: Any of ``mean``, ``pen``, ``cin``, ``lis`` (strict) and ``lnds`` (not strict).
        m: Number of scores in an ordinal pattern, at least 2.
        delay: Distance in positions between consecutive scores of a pattern; 1 means adjacent scores.
        base: Base of the logarithm of ``pen``; ``"e"`` gives nats.

    Raises:
        ValueError: The window is too short, or a metric is unknown or not computed for streams.

    Examples:
        >>> stream = StreamingMetrics(3, m=2)
        >>> for score in [5, 4, 5, 4]:
        ...     snapshot = stream.update(score)
        >>> snapshot.cin, snapshot.lis, snapshot.mean, snapshot.n
        (1, 2, 4.333333333333333, 4)
    """

    def __init__(
        self,
        window: int,
        metrics: Sequence[RollingMetric] = ("mean", "pen", "cin", "lis"),
        *,
        m: int = 3,
        delay: int = 1,
        base: float | Literal["e"] = "e",
    ) -> None:
        for metric in metrics:
            check_choice("metric", metric, ROLLING_METRICS)
            if metric not in STREAMED_METRICS:
                raise ValueError(
                    f"metric {metric!r} is not computed for streams; call rolling with the scores so far"
                )
        min_window = (
            (whole_number("m", m, 2) - 1) * whole_number("delay", delay) + 1 if "pen" in metrics else 1
        )
        self.window = whole_number("window", window, min_window)
        self.metrics = tuple(metrics)
        self._unit = log_of_base(base)
        self._patterns = _Patterns(m, delay, window) if "pen" in metrics else None
        self._scores: deque[Any] = deque()
        self._ranked: list[Any] = []
        self._count = self._inversions = self._tied = 0

    def update(self, score: float) -> Snapshot:
        """Add the next score and return the metrics of the window that ends with it.

        Raises:
            TypeError: The score is not a number; the stream is unchanged.
            ValueError: The score is NaN, or it is infinite although ``mean`` is computed; the stream is
                unchanged.
        """
        value = _as_number(score, finite="mean" in self.metrics)
        if len(self._scores) == self.window:
            self._drop()
        self._inversions += len(self._ranked) - bisect_right(self._ranked, value)
        index = bisect_left(self._ranked, value)
        self._tied += bisect_right(self._ranked, value) - index
        self._ranked.insert(index, value)
        self._scores.append(value)
        self._count += 1
        if self._patterns is not None:
            self._patterns.push(value)
        return self.snapshot()

    def snapshot(self) -> Snapshot:
        """Return the metrics of the scores in the window."""
        size = len(self._scores)
        pairs = size * (size - 1) // 2
        metrics = self.metrics
        patterns = self._patterns
        return Snapshot(
            n=self._count,
            size=size,
            windows=patterns.windows if patterns else 0,
            tied_share=self._tied / pairs if pairs else 0.0,
            mean=math.fsum(self._scores) / size if "mean" in metrics and size else None,
            pen=patterns.entropy() / self._unit if patterns and patterns.windows else None,
            cin=self._inversions if "cin" in metrics else None,
            lis=_length(self._scores, strict=True) if "lis" in metrics else None,
            lnds=_length(self._scores, strict=False) if "lnds" in metrics else None,
        )

    def _drop(self) -> None:
        """Remove the oldest score."""
        oldest = self._scores.popleft()
        index = bisect_left(self._ranked, oldest)
        self._inversions -= index
        del self._ranked[index]
        self._tied -= bisect_right(self._ranked, oldest) - index


Stream = StreamingMetrics
"""Former name of ``StreamingMetrics``."""


class _Patterns:
    """Counts of the ordinal patterns in the window of a stream, updated with each new score."""

    def __init__(self, m: int, delay: int, window: int) -> None:
        self.m, self.delay = m, delay
        self.capacity = window - (m - 1) * delay
        self.weights = [math.factorial(j) for j in range(m)]
        self.recent: deque[Any] = deque(maxlen=(m - 1) * delay + 1)
        self.partial: deque[int] = deque(maxlen=(m - 1) * delay + 1)
        self.codes: deque[int] = deque()
        self.counts: Counter[int] = Counter()
        self.total = 0

    @property
    def windows(self) -> int:
        """Number of patterns in the window."""
        return len(self.codes)

    def push(self, score: Any) -> None:
        """Add a score, and the pattern that ends with it."""
        self.recent.append(score)
        self.partial.append(0)
        greater = 0
        for j in range(1, self.m):
            back = -1 - j * self.delay
            if -back > len(self.recent):
                return
            greater += self.recent[back] > score
            self.partial[back] += self.weights[j] * greater
        if len(self.codes) == self.capacity:
            self._count(self.codes.popleft(), -1)
        self.codes.append(self.partial[0])
        self._count(self.partial[0], 1)

    def entropy(self) -> float:
        """Return the entropy of the pattern counts, in nats."""
        if len(self.counts) == 1:
            return 0.0
        n = len(self.codes)
        return (_scaled(n) - self.total) / (n * _UNIT)

    def _count(self, code: int, change: int) -> None:
        before = self.counts[code]
        self.total += _scaled(before + change) - _scaled(before)
        self.counts[code] = before + change
        if not self.counts[code]:
            del self.counts[code]


@lru_cache(maxsize=1 << 16)
def _scaled(count: int) -> int:
    """Return c ln c of a count c, scaled to an integer, so that rounding errors do not add up."""
    return round(count * math.log(count) * _UNIT) if count > 1 else 0


def _length(scores: deque[Any], *, strict: bool) -> int:
    find = bisect_left if strict else bisect_right
    tails: list[Any] = []
    for score in scores:
        index = find(tails, score)
        tails[index : index + 1] = [score]
    return len(tails)


def _as_number(score: Any, *, finite: bool) -> Any:
    value = score if isinstance(score, int | float) else _as_scalar(score)
    if value != value:  # noqa: PLR0124 - true for a NaN of any type; math.isnan fails for large integers
        raise ValueError("the score is NaN, which has no order; leave it out")
    if finite and math.isinf(value):
        raise ValueError("a mean needs finite scores, got an infinite one; leave 'mean' out of the metrics")
    return value


def _as_scalar(score: Any) -> Any:
    array = as_scores([score])
    if array.ndim > 1:
        raise ValueError(f"a stream takes one score at a time, got {score!r}; call update for each")
    return array[0].item()
