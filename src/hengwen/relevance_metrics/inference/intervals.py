"""Confidence intervals that respect the order of the scores, and refusals where there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.batch_entropy import code_entropies
from hengwen.relevance_metrics.core.inputs import as_scores, check_choice, refuse_nan
from hengwen.relevance_metrics.core.pattern_codes import pattern_codes, window_count
from hengwen.relevance_metrics.inference.nulls import METRICS, Metric, evaluate, in_chunks
from hengwen.relevance_metrics.order.inversions import tied_share
from hengwen.relevance_metrics.order.tau import tau_rows, u_statistic_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Method = Literal["moving-block", "stationary", "u-statistic", "prompts"]
METHODS: dict[Metric, tuple[Method, ...]] = {
    "pen": ("moving-block", "stationary", "prompts"),
    "cin": ("u-statistic", "prompts"),
    "lis": ("prompts",),
    "lnds": ("prompts",),
}
_LEAST = 10
_REASONS = {
    "pen": "only blocks keep the patterns of one sequence",
    "cin": "blocks put in a new order lose the trend that inversions measure",
    "lis": "a subsequence runs through the whole sequence, so no part of it can be drawn anew",
    "lnds": "a subsequence runs through the whole sequence, so no part of it can be drawn anew",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A confidence interval."""

    metric: Metric
    statistic: str
    """What low, high and estimate are values of: ``pen`` in nats, ``tau_b`` against time for ``cin``, or
    ``lis`` and ``lnds`` of the means over prompts."""
    estimate: float
    low: float
    high: float
    level: float
    method: Method
    n: int
    windows: int | None
    """Ordinal patterns in the sequence; None but for ``pen``."""
    prompts: int | None
    tied_share: float
    block: int | None
    n_boot: int | None
    m: int
    delay: int
    seed: int


@dataclass(frozen=True, slots=True)
class _BootstrapConfig:
    tails: tuple[float, float]
    n_boot: int
    m: int
    delay: int
    rng: np.random.Generator


def bootstrap_ci(
    x: ArrayLike,
    metric: Metric = "pen",
    *,
    method: Method | None = None,
    level: float = 0.95,
    n_boot: int = 1999,
    block: int | None = None,
    m: int = 3,
    delay: int = 1,
    seed: int = 0,
) -> Interval:
    """Return a confidence interval for a metric of an ordered sequence.

    Single scores are never drawn: that would destroy the order, which is all the metrics measure. What is
    offered: ``pen`` by blocks of neighbouring ordinal patterns (``moving-block``, ``stationary``); ``cin`` as
    tau-b against time by its ``u-statistic``, for scores that do not depend on their neighbours; each metric
    of the means over prompts by drawing whole ``prompts``. Anything else is refused.

    Args:
        x: Scores in order; for ``prompts`` a row for each prompt and a column for each place in the order.
        metric: ``pen``, ``cin``, ``lis`` (strict) or ``lnds`` (not strict).
        method: Default: ``prompts`` for two axes, otherwise the first that the metric allows.
        level: Of confidence, between 0 and 1.
        n_boot: Bootstrap samples.
        block: Patterns in a block, or their mean under ``stationary``; default 1.75 cube roots of how many
            there are, at least m.
        m: Scores in an ordinal pattern.
        delay: Steps between the scores of a pattern.
        seed: Of the samples.

    Returns:
        An `Interval`. Block intervals are moved by twice the bias that the bootstrap shows, as entropy from
        few patterns is too low; they end at log m!.

    Raises:
        ValueError: A method that the metric refuses, too few scores or prompts, NaN, or a bad option.

    Notes:
        Kuensch (1989); Politis and Romano (1994); Samara and Randles (1988) for the variance of tau.

    Examples:
        >>> found = bootstrap_ci([1, 3, 2, 4, 6, 5, 7, 9, 8, 10], "cin")
        >>> found.statistic, round(found.estimate, 4)
        ('tau_b', 0.8667)
        >>> found.low < found.estimate < found.high
        True
        >>> bootstrap_ci([[1, 2, 3], [1, 3, 2], [1, 2, 3]], "lis").high
        3.0
    """
    check_choice("metric", metric, METRICS)
    whole_number("n_boot", n_boot, 2)
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
    rows = _rows(as_scores(x), method)
    chosen: Method = method or ("prompts" if rows.ndim == 2 else METHODS[metric][0])
    _refuse(metric, chosen, rows.ndim)
    # sums order as means do, and are exact where means may be rounded apart
    row = rows.sum(axis=0) if rows.ndim == 2 else rows
    windows = window_count(len(row), m, delay) if metric == "pen" else None
    by_blocks = chosen in ("moving-block", "stationary")
    length = _block_length(block, windows or 0, m) if by_blocks else None
    plan = _BootstrapConfig(((1 - level) / 2, (1 + level) / 2), n_boot, m, delay, np.random.default_rng(seed))
    if chosen == "u-statistic":
        low, estimate, high = u_statistic_interval(row, level)
    elif length is not None:
        low, estimate, high = _by_blocks(row, length, chosen == "stationary", plan)
    else:
        low, estimate, high = _by_prompts(rows, metric, plan)
    return Interval(
        metric=metric,
        statistic="tau_b" if metric == "cin" else metric,
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        method=chosen,
        n=len(row),
        windows=windows,
        prompts=len(rows) if chosen == "prompts" else None,
        tied_share=tied_share(row),
        block=length,
        n_boot=None if chosen == "u-statistic" else n_boot,
        m=m,
        delay=delay,
        seed=seed,
    )


def _rows(scores: NDArray[Any], method: Method | None) -> NDArray[Any]:
    refuse_nan(scores, "drop that prompt or fill it before")
    if scores.ndim == 1:
        return scores
    if scores.ndim != 2 or len(scores) < 2:
        raise ValueError(f"prompts must be two rows or more, got shape {scores.shape}; pass a row for each")
    if method not in (None, "prompts"):
        raise ValueError(f"method={method!r} takes one sequence, got shape {scores.shape}; use 'prompts'")
    return scores


def _refuse(metric: Metric, method: Method, axes: int) -> None:
    check_choice("method", method, ("moving-block", "stationary", "u-statistic", "prompts"))
    allowed = METHODS[metric]
    if method in allowed and (axes == 2 or method != "prompts"):
        return
    others = [repr(known) for known in allowed if known != "prompts"]
    way_out = f"use {' or '.join(others)}, or pass" if others else "pass"
    raise ValueError(
        f"no interval of {metric!r} from one sequence by {method!r}: {_REASONS[metric]}; "
        f"{way_out} a row for each prompt"
    )


def _block_length(block: int | None, windows: int, m: int) -> int:
    if windows < _LEAST:
        raise ValueError(f"a block bootstrap needs at least {_LEAST} patterns, got {windows}; add scores")
    if block is None:
        usual = round(1.75 * math.cbrt(windows))
        return min(max(m, usual), windows // 2)
    if whole_number("block", block) > windows // 2:
        raise ValueError(f"block must be at most half of the {windows} patterns, got {block}; lower it")
    return block


def _by_prompts(rows: NDArray[Any], metric: Metric, plan: _BootstrapConfig) -> tuple[float, float, float]:
    count, n = rows.shape
    values = []
    for size in in_chunks(plan.n_boot, n):
        drawn = plan.rng.multinomial(count, np.full(count, 1 / count), size=size)
        values.append(_values(drawn @ rows, metric, plan))
    estimate = float(_values(rows.sum(axis=0)[None], metric, plan)[0])
    low, high = np.quantile(np.concatenate(values), plan.tails).tolist()
    return low, estimate, high


def _values(rows: NDArray[Any], metric: Metric, plan: _BootstrapConfig) -> NDArray[np.float64]:
    return tau_rows(rows) if metric == "cin" else evaluate(rows, metric, plan.m, plan.delay)


def _by_blocks(
    row: NDArray[Any], length: int, varied: bool, plan: _BootstrapConfig
) -> tuple[float, float, float]:
    codes = pattern_codes(row, plan.m, plan.delay)
    estimate = float(code_entropies(codes[None], plan.m)[0])
    values = np.concatenate(
        [
            code_entropies(codes[_places(len(codes), length, varied, size, plan.rng)], plan.m)
            for size in in_chunks(plan.n_boot, len(codes))
        ]
    )
    bias = float(values.mean()) - estimate
    ends = np.quantile(values, plan.tails) - 2 * bias
    low, high = np.clip(ends, 0.0, math.log(math.factorial(plan.m))).tolist()
    return low, estimate, high


def _places(n: int, length: int, varied: bool, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Places drawn: whole blocks inside the sequence, or, varied, runs of geometric length on a circle."""
    if not varied:
        starts = rng.integers(0, n - length + 1, (draws, -(-n // length)))
        return (starts[..., None] + np.arange(length)).reshape(draws, -1)[:, :n]
    fresh = rng.random((draws, n)) < 1 / length
    fresh[:, 0] = True
    begins = np.maximum.accumulate(np.where(fresh, np.arange(n), 0), axis=1)
    starts = rng.integers(0, n, (draws, n))
    return (np.take_along_axis(starts, begins, axis=1) + np.arange(n) - begins) % n
