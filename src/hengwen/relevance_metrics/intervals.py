"""Confidence intervals of the sequence metrics, by methods that keep the order of the scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core import (
    SequenceResult,
    as_scores,
    check_choice,
    code_entropies,
    pattern_codes,
    refuse_nan,
    window_count,
)
from hengwen.relevance_metrics.inversions import tied_share, u_statistic_interval
from hengwen.relevance_metrics.permutation_tests import in_chunks
from hengwen.relevance_metrics.sequence_metrics import (
    METRICS,
    IntervalMethod,
    Metric,
    SequenceMetric,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MIN_PATTERNS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(SequenceResult):
    """A confidence interval of a metric."""

    metric: Metric
    statistic: str
    """Quantity that ``estimate``, ``low`` and ``high`` measure. For the metric ``cin``, this is ``tau_b``
    (rank correlation with time); for the other metrics, it is the metric itself. ``pen`` is in nats. With
    the method ``prompts``, the quantity is computed from the means over prompts."""
    estimate: float
    """Value of the statistic for the scores; its bias is not corrected."""
    low: float
    """Lower end of the interval, in the unit of the statistic."""
    high: float
    """Upper end of the interval, in the unit of the statistic."""
    confidence: float
    """Confidence level, between 0 and 1."""
    method: IntervalMethod
    windows: int | None
    """Number of ordinal patterns for ``pen``; None for the other metrics."""
    prompts: int | None
    """Number of prompts; None if there is only one sequence of scores."""
    block: int | None
    """Number of patterns in a block (for ``stationary``, the mean number); None if the method has no
    blocks."""
    n_boot: int | None
    """Number of bootstrap samples; None for ``u-statistic``."""
    seed: int


@dataclass(frozen=True, slots=True)
class _BootstrapConfig:
    tails: tuple[float, float]
    n_boot: int
    m: int
    delay: int
    rng: np.random.Generator


def bootstrap_ci(  # noqa: PLR0913 - keyword-only options
    x: ArrayLike,
    metric: Metric = "pen",
    *,
    method: IntervalMethod | None = None,
    confidence: float = 0.95,
    n_boot: int = 1999,
    block: int | None = None,
    m: int = 3,
    delay: int = 1,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval for a metric of a sequence.

    The methods never resample single scores, because this would destroy the order that the metrics measure:

    - ``moving-block`` and ``stationary``, for ``pen``: resample blocks of neighbouring ordinal patterns.
    - ``u-statistic``, for ``cin``: interval of tau-b (rank correlation with time), which is valid if
      neighbouring scores are independent.
    - ``prompts``, for every metric: resample whole prompts, and compute the metric from the means over them.

    Any other combination of metric and method raises a ValueError.

    Args:
        x: Scores in order; for ``prompts``, a row for each prompt and a column for each position.
        metric: ``pen``, ``cin``, ``lis`` (strictly increasing) or ``lnds`` (longest non-decreasing).
        method: Method of the interval. The default is ``prompts`` for data with two axes, otherwise
            ``moving-block`` for ``pen`` and ``u-statistic`` for ``cin``.
        confidence: Confidence level, between 0 and 1.
        n_boot: Number of bootstrap samples, at least 2.
        block: Number of patterns in a block (for ``stationary``, the mean number). The default is 1.75 times
            the cube root of the number of patterns, at least m.
        m: Number of scores in an ordinal pattern, at least 2.
        delay: Distance in positions between consecutive scores of a pattern; 1 means adjacent scores.
        seed: Seed of the bootstrap.

    Returns:
        An `Interval`. Entropy from few patterns is too low, so intervals from blocks are shifted by twice the
        bias that the bootstrap estimates. The upper end of a shifted interval is at most log m!.

    Raises:
        TypeError: A score is not a number.
        ValueError: The metric does not have this method, there are too few scores or prompts, a score is NaN,
            or an option is out of range.

    Notes:
        Kuensch (1989) and Politis and Romano (1994) describe the block bootstraps, Samara and Randles (1988)
        the variance of tau.

    Examples:
        >>> interval = bootstrap_ci([1, 3, 2, 4, 6, 5, 7, 9, 8, 10], "cin")
        >>> interval.statistic, round(interval.estimate, 4)
        ('tau_b', 0.8667)
        >>> interval.low < interval.estimate < interval.high
        True
        >>> bootstrap_ci([[1, 2, 3], [1, 3, 2], [1, 2, 3]], "lis").high
        3.0
    """
    check_choice("metric", metric, METRICS)
    whole_number("n_boot", n_boot, 2)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence!r}")
    rows = _rows(as_scores(x), method)
    known = METRICS[metric]
    resolved: IntervalMethod = method or ("prompts" if rows.ndim == 2 else known.intervals[0])
    _refuse(known, resolved, rows.ndim)
    # sums are ordered like means, but are not rounded, so equal values stay equal
    row = rows.sum(axis=0) if rows.ndim == 2 else rows
    windows = window_count(len(row), m, delay) if known.has_patterns else None
    by_blocks = resolved in ("moving-block", "stationary")
    length = _block_length(block, windows or 0, m) if by_blocks else None
    config = _BootstrapConfig(
        ((1 - confidence) / 2, (1 + confidence) / 2), n_boot, m, delay, np.random.default_rng(seed)
    )
    if resolved == "u-statistic":
        low, estimate, high = u_statistic_interval(row, confidence)
    elif length is not None:
        low, estimate, high = _by_blocks(row, length, resolved == "stationary", config)
    else:
        low, estimate, high = _by_prompts(rows, known, config)
    return Interval(
        metric=metric,
        statistic=known.interval_of[0] if known.interval_of else metric,
        estimate=estimate,
        low=low,
        high=high,
        confidence=confidence,
        method=resolved,
        n=len(row),
        windows=windows,
        prompts=len(rows) if resolved == "prompts" else None,
        tied_share=tied_share(row),
        block=length,
        n_boot=None if resolved == "u-statistic" else n_boot,
        m=m,
        delay=delay,
        seed=seed,
    )


def _rows(scores: NDArray[Any], method: IntervalMethod | None) -> NDArray[Any]:
    refuse_nan(scores, "drop that prompt or fill it in")
    if scores.ndim == 1:
        return scores
    if scores.ndim != 2 or len(scores) < 2:
        raise ValueError(f"prompts must be two rows or more, got shape {scores.shape}; pass a row for each")
    if method not in (None, "prompts"):
        raise ValueError(f"method={method!r} takes one sequence, got shape {scores.shape}; use 'prompts'")
    return scores


def _refuse(metric: SequenceMetric, method: IntervalMethod, axes: int) -> None:
    check_choice("method", method, get_args(IntervalMethod))
    allowed = metric.intervals
    if method in allowed and (axes == 2 or method != "prompts"):
        return
    others = [repr(known) for known in allowed if known != "prompts"]
    way_out = f"use {' or '.join(others)}, or pass" if others else "pass"
    raise ValueError(
        f"no interval of {metric.name!r} from one sequence by {method!r}: {metric.no_interval}; "
        f"{way_out} a row for each prompt"
    )


def _block_length(block: int | None, windows: int, m: int) -> int:
    if windows < _MIN_PATTERNS:
        raise ValueError(
            f"a block bootstrap needs at least {_MIN_PATTERNS} patterns, got {windows}; add scores"
        )
    if block is None:
        return min(max(m, round(1.75 * math.cbrt(windows))), windows // 2)
    if whole_number("block", block) > windows // 2:
        raise ValueError(f"block must be at most half of the {windows} patterns, got {block}; lower it")
    return block


def _by_prompts(
    rows: NDArray[Any], metric: SequenceMetric, config: _BootstrapConfig
) -> tuple[float, float, float]:
    count, n = rows.shape
    values = []
    for size in in_chunks(config.n_boot, n):
        weights = config.rng.multinomial(count, np.full(count, 1 / count), size=size)
        values.append(_values(weights @ rows, metric, config))
    estimate = float(_values(rows.sum(axis=0)[None], metric, config)[0])
    low, high = np.quantile(np.concatenate(values), config.tails).tolist()
    return low, estimate, high


def _values(rows: NDArray[Any], metric: SequenceMetric, config: _BootstrapConfig) -> NDArray[np.float64]:
    if metric.interval_of is not None:
        return metric.interval_of[1](rows)
    return metric.evaluate(rows, config.m, config.delay)


def _by_blocks(
    row: NDArray[Any], length: int, stationary: bool, config: _BootstrapConfig
) -> tuple[float, float, float]:
    codes = pattern_codes(row, config.m, config.delay)
    estimate = float(code_entropies(codes[None], config.m)[0])
    values = np.concatenate(
        [
            code_entropies(codes[_block_indices(len(codes), length, stationary, size, config.rng)], config.m)
            for size in in_chunks(config.n_boot, len(codes))
        ]
    )
    bias = float(values.mean()) - estimate
    ends = np.quantile(values, config.tails) - 2 * bias
    low, high = np.clip(ends, 0.0, math.log(math.factorial(config.m))).tolist()
    return low, estimate, high


def _block_indices(
    n: int, length: int, stationary: bool, draws: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return resampled indices: blocks of fixed length, or of geometric length that wrap around the end."""
    if not stationary:
        starts = rng.integers(0, n - length + 1, (draws, -(-n // length)))
        return (starts[..., None] + np.arange(length)).reshape(draws, -1)[:, :n]
    is_start = rng.random((draws, n)) < 1 / length
    is_start[:, 0] = True
    run_starts = np.maximum.accumulate(np.where(is_start, np.arange(n), 0), axis=1)
    starts = rng.integers(0, n, (draws, n))
    return (np.take_along_axis(starts, run_starts, axis=1) + np.arange(n) - run_starts) % n
