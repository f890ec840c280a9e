"""A sequence at a glance: its level beside the metrics that cannot see it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_sequence
from hengwen.relevance_metrics.inference.nulls import METRICS, Metric, evaluate, inversion_moments
from hengwen.relevance_metrics.inference.permutation_tests import significance
from hengwen.relevance_metrics.order.inversions import tied_share
from hengwen.relevance_metrics.order.tau import tau_b

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_BUDGET = 4_000_000
_LEAST_ORDERS = 99
_NORMAL_FROM = 2000
_FEW_LEVELS = 10

Caveat = Literal["too_short", "short", "ties", "untested", "constant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """One metric beside what random order of the same scores gives."""

    value: float
    null_mean: float | None
    null_sd: float | None
    z: float | None
    p: float | None
    """Two-sided; not corrected for reading four metrics."""
    orders: int
    """Orders that the p-value rests on; 0 for the normal approximation, or where there is no test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceSummary:
    """Level and order of a sequence."""

    n: int
    mean: float
    median: float
    least: float
    greatest: float
    top: float
    top_share: float
    """Share of scores of at least ``top``."""
    levels: int
    """Distinct scores."""
    tied_share: float
    m: int
    delay: int
    windows: int
    """Ordinal patterns; 0 where the sequence is too short."""
    pen: MetricResult | None
    """In nats; None where the sequence is too short for m and delay."""
    pen_share: float | None
    """Of log m!."""
    cin: MetricResult
    pairs: int
    tau_b: float | None
    """Against time: 1 always rises, -1 always falls; None for a constant."""
    lis: MetricResult
    lnds: MetricResult
    warnings: tuple[Caveat, ...]
    seed: int

    def explain(self, language: Literal["en", "zh"] = "en") -> str:
        """Say in words what the numbers mean and do not mean.

        Raises:
            ValueError: A language other than ``en`` and ``zh``.
        """
        from hengwen.relevance_metrics.explain import explain

        return explain(self, language)


def summarize(
    x: ArrayLike, *, m: int = 3, delay: int = 1, top: float | None = None, n_perm: int = 999, seed: int = 0
) -> SequenceSummary:
    """Summarize a sequence: its level, and PEN, CIN and LIS beside what random order gives.

    Args:
        x: Scores in order, at least one, finite.
        m: Scores in an ordinal pattern.
        delay: Steps between the scores of a pattern.
        top: From which score on the top box counts; default: the greatest score.
        n_perm: Orders drawn for each test, fewer for long sequences. Where not even 99 are affordable
            (n above 40,000) only ``cin`` is tested.
        seed: Of these orders.

    Returns:
        A `Summary`; its `explain` says it in words. A sequence too short for m has no ``pen``.

    Raises:
        ValueError: No scores, NaN, infinite scores or no numbers.

    Examples:
        >>> found = summarize([5, 4, 5, 4, 5, 4, 5, 4])
        >>> found.mean, found.top_share, found.cin.value, found.lis.value, found.pen.value
        (4.5, 0.5, 10.0, 2.0, 0.6931471805599453)
        >>> found.warnings
        ('short', 'ties')
    """
    row = as_sequence(x)
    if not len(row):
        raise ValueError("there are no scores to summarize; pass at least one")
    if not np.isfinite(row).all():
        raise ValueError("a mean needs finite scores, got an infinite one; leave it out")
    for name, value, least in (("m", m, 2), ("delay", delay, 1), ("n_perm", n_perm, 1)):
        whole_number(name, value, least)
    n = len(row)
    values = [float(value) for value in row.tolist()]
    top = max(values) if top is None else float(top)
    windows = max(n - (m - 1) * delay, 0)
    readings = {
        metric: _reading(row, metric, m, delay, n_perm, seed) if metric != "pen" or windows else None
        for metric in METRICS
    }
    pen, cin, lis, lnds = (readings[metric] for metric in ("pen", "cin", "lis", "lnds"))
    assert cin is not None
    assert lis is not None
    assert lnds is not None
    levels = len(np.unique(row))
    return SequenceSummary(
        n=n,
        mean=math.fsum(values) / n,
        median=float(np.median(row)),
        least=min(values),
        greatest=max(values),
        top=top,
        top_share=sum(value >= top for value in values) / n,
        levels=levels,
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        windows=windows,
        pen=pen,
        pen_share=pen.value / math.log(math.factorial(m)) if pen else None,
        cin=cin,
        pairs=n * (n - 1) // 2,
        tau_b=tau_b(row),
        lis=lis,
        lnds=lnds,
        warnings=_warnings(n, windows, levels, m, lis),
        seed=seed,
    )


def _reading(row: NDArray[Any], metric: Metric, m: int, delay: int, n_perm: int, seed: int) -> MetricResult:
    affordable = _BUDGET // len(row)
    if metric == "cin" and (len(row) > _NORMAL_FROM or affordable < _LEAST_ORDERS):
        return _normal_reading(row)
    if affordable < _LEAST_ORDERS:
        value = float(evaluate(row[None], metric, m, delay)[0])
        return MetricResult(value=value, null_mean=None, null_sd=None, z=None, p=None, orders=0)
    test = significance(row, metric, n_perm=min(n_perm, affordable), seed=seed, m=m, delay=delay)
    return MetricResult(
        value=test.statistic,
        null_mean=test.null_mean,
        null_sd=test.null_sd,
        z=test.z,
        p=test.p,
        orders=test.orders,
    )


def _normal_reading(row: NDArray[Any]) -> MetricResult:
    value = float(evaluate(row[None], "cin", 3, 1)[0])
    mean, sd = inversion_moments(row)
    if not sd:
        return MetricResult(value=value, null_mean=mean, null_sd=sd, z=None, p=1.0, orders=0)
    distance = max(abs(value - mean) - 0.5, 0.0) / sd
    z = (value - mean) / sd
    return MetricResult(
        value=value, null_mean=mean, null_sd=sd, z=z, p=math.erfc(distance / math.sqrt(2)), orders=0
    )


def _warnings(n: int, windows: int, levels: int, m: int, lis: MetricResult) -> tuple[Caveat, ...]:
    found: list[Caveat] = []
    if not windows:
        found.append("too_short")
    elif windows < 5 * math.factorial(m):
        found.append("short")
    if levels == 1:
        found.append("constant")
    elif levels <= min(_FEW_LEVELS, n - 1):
        found.append("ties")
    if lis.p is None:
        found.append("untested")
    return tuple(found)
