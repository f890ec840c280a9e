"""Compute metrics of the last scores of a stream, and update them with each new score."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_scores, check_choice
from hengwen.relevance_metrics.patterns.entropy import log_of_base
from hengwen.relevance_metrics.summaries.rolling import ROLLING_METRICS, RollingMetric

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        ValueError: The window is too short, or a metric is unknown.

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
