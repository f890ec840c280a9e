"""Summarize a sequence: how high its scores are, and the metrics that depend only on their order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_sequence, check_choice
from hengwen.relevance_metrics.inference.nulls import METRICS, Metric, evaluate, inversion_moments
from hengwen.relevance_metrics.inference.permutation_tests import significance
from hengwen.relevance_metrics.order.inversions import tied_share
from hengwen.relevance_metrics.order.tau import tau_b
from hengwen.relevance_metrics.summaries.wording import TEXTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MAX_SHUFFLED_SCORES = 4_000_000
"""Maximum number of scores that one test shuffles (number of random orders x length of the sequence)."""
_MIN_ORDERS = 99
_MIN_NORMAL_LENGTH = 2000
"""For sequences longer than this, the p-value of the inversions comes from the normal distribution."""
_MAX_TIED_LEVELS = 10
_ALPHA = 0.05

Caveat = Literal["too_short", "short", "ties", "untested", "constant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """One metric, compared with its distribution over random orders of the same scores."""

    value: float
    """Value of the metric. ``cin`` is a number of inverted pairs, ``lis`` and ``lnds`` are numbers of scores,
    and ``pen`` is in nats."""
    null_mean: float | None
    """Mean of the metric over random orders; None if there is no test."""
    null_sd: float | None
    """Standard deviation of the metric over random orders; None if there is no test."""
    z: float | None
    """Distance from the mean over random orders, in standard deviations: (value - null_mean) / null_sd. ``z``
    is None if there is no test, or if all orders give the same value."""
    p: float | None
    """Two-sided p-value; it is not corrected for the number of metrics (four) that are tested."""
    orders: int
    """Number of orders from which the p-value is computed; 0 if the p-value comes from the normal
    approximation or is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceSummary:
    """Metrics of a sequence: how high its scores are, and in which order they come."""

    n: int
    """Number of scores."""
    mean: float
    median: float
    least: float
    """Lowest score."""
    greatest: float
    """Highest score."""
    top: float
    """Lowest score that counts for ``top_share``."""
    top_share: float
    """Share of scores that are at least ``top``."""
    levels: int
    """Number of distinct scores."""
    tied_share: float
    """Share of tied pairs (two equal scores) among all pairs of scores in the sequence, from 0 to 1."""
    m: int
    """Number of scores in an ordinal pattern."""
    delay: int
    """Distance in positions between consecutive scores of an ordinal pattern; 1 means adjacent scores."""
    windows: int
    """Number of ordinal patterns; 0 if the sequence is too short."""
    pen: MetricResult | None
    """Permutation entropy in nats; None if the sequence is too short for m and delay."""
    pen_share: float | None
    """Permutation entropy as a share of its maximum, log m!; None if ``pen`` is None."""
    cin: MetricResult
    """Number of pairs i < j with x[i] > x[j], from 0 to ``pairs``."""
    pairs: int
    """Number of pairs, n(n-1)/2."""
    tau_b: float | None
    """Rank correlation tau-b with time: 1 if the scores always rise, -1 if they always fall; None if they are
    constant."""
    lis: MetricResult
    """Length of the longest strictly increasing subsequence, from 1 to n."""
    lnds: MetricResult
    """Length of the longest non-decreasing subsequence, from 1 to n."""
    warnings: tuple[Caveat, ...]
    """Names of reasons why the numbers are unreliable, such as ``short`` or ``ties``; ``explain`` describes
    these reasons in words."""
    seed: int

    def explain(self, language: Literal["en", "zh"] = "en") -> str:
        """Return what the numbers mean and do not mean, one line for each statement.

        Raises:
            ValueError: The language is not ``en`` or ``zh``.

        Examples:
            >>> print(summarize([1, 2, 3, 4]).explain().splitlines()[0])
            Level: 4 scores, mean 2.5, median 2.5, 25 % at or above 4.
            >>> print(summarize([1, 2, 3, 4]).explain("zh").splitlines()[0])
            水平：共 4 个分数，均值 2.5，中位数 2.5，25 % 的分数不低于 4。
        """
        check_choice("language", language, list(TEXTS))
        return "\n".join(_statements(self, TEXTS[language]))


def summarize(
    x: ArrayLike, *, m: int = 3, delay: int = 1, top: float | None = None, n_perm: int = 999, seed: int = 0
) -> SequenceSummary:
    """Summarize a sequence: its mean, and the metrics of its order.

    Each metric of the order is compared with its distribution over random orders of the same scores.

    Args:
        x: One sequence of one or more finite scores, in order.
        m: Number of scores in an ordinal pattern, at least 2.
        delay: Distance in positions between consecutive scores of a pattern; 1 means adjacent scores.
        top: Lowest score that counts for ``top_share``; by default the greatest score.
        n_perm: Number of random orders for each test; fewer are used for long sequences. For more than about
            40,000 scores, fewer than 99 orders would be used, so only ``cin`` is tested.
        seed: Seed of the random orders.

    Returns:
        A `SequenceSummary`; its `explain` describes it in words. If the sequence is too short for m, ``pen``
        is None.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are no scores, or a score is NaN or infinite.

    Examples:
        >>> summary = summarize([5, 4, 5, 4, 5, 4, 5, 4])
        >>> summary.mean, summary.top_share, summary.cin.value, summary.lis.value, summary.pen.value
        (4.5, 0.5, 10.0, 2.0, 0.6931471805599453)
        >>> summary.warnings
        ('short', 'ties')
    """
    row = as_sequence(x)
    if not len(row):
        raise ValueError("there are no scores to summarize; pass at least one")
    if not np.isfinite(row).all():
        raise ValueError("a mean needs finite scores, got an infinite one; leave it out")
    for name, value, minimum in (("m", m, 2), ("delay", delay, 1), ("n_perm", n_perm, 1)):
        whole_number(name, value, minimum)
    n = len(row)
    values = [float(value) for value in row.tolist()]
    top = max(values) if top is None else float(top)
    windows = max(n - (m - 1) * delay, 0)
    results = {
        metric: _metric_result(row, metric, m, delay, n_perm, seed) for metric in METRICS if metric != "pen"
    }
    pen = _metric_result(row, "pen", m, delay, n_perm, seed) if windows else None
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
        cin=results["cin"],
        pairs=n * (n - 1) // 2,
        tau_b=tau_b(row),
        lis=results["lis"],
        lnds=results["lnds"],
        warnings=_caveats(n, windows, levels, m, results["lis"]),
        seed=seed,
    )


def _metric_result(
    row: NDArray[Any], metric: Metric, m: int, delay: int, n_perm: int, seed: int
) -> MetricResult:
    max_orders = _MAX_SHUFFLED_SCORES // len(row)
    if metric == "cin" and (len(row) > _MIN_NORMAL_LENGTH or max_orders < _MIN_ORDERS):
        return _normal_result(row)
    if max_orders < _MIN_ORDERS:
        value = float(evaluate(row[None], metric, m, delay)[0])
        return MetricResult(value=value, null_mean=None, null_sd=None, z=None, p=None, orders=0)
    test = significance(row, metric, n_perm=min(n_perm, max_orders), seed=seed, m=m, delay=delay)
    return MetricResult(
        value=test.statistic,
        null_mean=test.null_mean,
        null_sd=test.null_sd,
        z=test.z,
        p=test.p,
        orders=test.orders,
    )


def _normal_result(row: NDArray[Any]) -> MetricResult:
    """Return the inversions with a p-value from the normal approximation with continuity correction."""
    value = float(evaluate(row[None], "cin", 3, 1)[0])
    mean, sd = inversion_moments(row)
    if not sd:
        return MetricResult(value=value, null_mean=mean, null_sd=sd, z=None, p=1.0, orders=0)
    distance = max(abs(value - mean) - 0.5, 0.0) / sd
    z = (value - mean) / sd
    return MetricResult(
        value=value, null_mean=mean, null_sd=sd, z=z, p=math.erfc(distance / math.sqrt(2)), orders=0
    )


def _caveats(n: int, windows: int, levels: int, m: int, lis: MetricResult) -> tuple[Caveat, ...]:
    caveats: list[Caveat] = []
    if not windows:
        caveats.append("too_short")
    elif windows < 5 * math.factorial(m):
        caveats.append("short")
    if levels == 1:
        caveats.append("constant")
    elif levels <= min(_MAX_TIED_LEVELS, n - 1):
        caveats.append("ties")
    if lis.p is None:
        caveats.append("untested")
    return tuple(caveats)


def _statements(summary: SequenceSummary, texts: dict[str, str]) -> list[str]:
    values = {
        "n": summary.n,
        "mean": _number(summary.mean),
        "median": _number(summary.median),
        "share": _percent(summary.top_share),
        "top": _number(summary.top),
        "m": summary.m,
        "delay": summary.delay,
        "need": (summary.m - 1) * summary.delay + 1,
        "windows": summary.windows,
        "enough": 5 * math.factorial(summary.m),
        "levels": summary.levels,
        "tied": _percent(summary.tied_share),
        "pairs": summary.pairs,
        "weak": _number(summary.lnds.value),
        "part": _percent(summary.pen_share or 0.0),
    }
    results = {"pen" if summary.pen else "pen_none": summary.pen, "cin": summary.cin, "lis": summary.lis}
    return [
        texts["level"].format(**values),
        *[
            texts[key].format(**values, **_result_values(key, result, texts))
            for key, result in results.items()
        ],
        texts["limits"],
        *[texts[caveat].format(**values) for caveat in summary.warnings],
    ]


def _result_values(metric: str, result: MetricResult | None, texts: dict[str, str]) -> dict[str, str]:
    """Return texts about a metric: its value, its distribution over random orders, and the test result."""
    if result is None:
        return {}
    value = _number(result.value)
    if result.null_mean is None or result.null_sd is None or result.p is None:
        return {"value": value, "null": "", "verdict": texts["not_tested"]}
    z = "" if result.z is None else texts["z"].format(z=f"{result.z:+.2f}")
    mean, sd = _number(result.null_mean), _number(result.null_sd)
    verdict = "high" if result.value > result.null_mean else "low"
    if result.p >= _ALPHA:
        verdict = "same"
    return {
        "value": value,
        "null": texts["null"].format(mean=mean, sd=sd, z=z, p=f"{result.p:.2g}"),
        "verdict": texts[f"{metric}_{verdict}"],
    }


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
