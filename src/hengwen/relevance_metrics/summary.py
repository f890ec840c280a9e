"""Summarize a sequence: how high its scores are, and the metrics that depend only on their order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen._internal.plugins import whole_number
from hengwen.relevance_metrics.core import as_sequence, check_choice
from hengwen.relevance_metrics.inversions import tau_b, tied_share
from hengwen.relevance_metrics.sequence_metrics import (
    MAIN_METRICS,
    METRICS,
    Metric,
    SequenceMetric,
    enough_windows,
    significance,
)
from hengwen.text.language import Bilingual
from hengwen.text.numbers import plural

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_MAX_SHUFFLED_SCORES = 4_000_000
"""Maximum number of scores that one test shuffles (number of random orders x length of the sequence)."""
_MIN_ORDERS = 99
_MIN_NORMAL_LENGTH = 2000
"""For sequences longer than this, the p-value of the inversions comes from the normal distribution."""
_MAX_TIED_LEVELS = 10
_ALPHA = 0.05

_TEXTS = {
    "level": Bilingual(
        "水平：共 {n} 个分数，均值 {mean}，中位数 {median}，{share} 的分数不低于 {top}。",
        "Level: {scores}, mean {mean}, median {median}, {share} at or above {top}.",
    ),
    "too_few": Bilingual(
        "{metric}：{n} 个分数太少，m={m}、延迟 {delay} 时至少需要 {need} 个。",
        "{metric}: {scores} {are} too few for m={m} and delay={delay}; {need} are needed.",
    ),
    "null": Bilingual(
        "相同分数随机排列时，均值为 {mean}（标准差 {sd}）{z}，p 值 {p}。",
        " Random order of the same scores gives {mean} (sd {sd}){z}, p {p}.",
    ),
    "z": Bilingual("，z 值 {z}", ", z {z}"),
    "not_tested": Bilingual("未做检验。", "It was not tested."),
    "limits": Bilingual(
        "这些指标只取决于分数的次序：如果所有分数降低相同的量，它们都不变。因此它们不能说明分数的高"
        "低，也不能说明两个检查点的水平是否不同。它们随 n 变化：只在 n 相同时直接比较，否则比较 z 值"
        "。p 值假定每个分数与相邻分数独立，且未做多重检验校正。",
        "These metrics depend on the order only. If every score were lower by the same amount "
        "they would not change: they do not say how good the scores are, nor whether two checkpoints "
        "differ in level. They depend on n: compare at equal n, or by z. The p-values assume scores "
        "that are independent of their neighbours, and are not corrected for testing several metrics.",
    ),
    "short": Bilingual(
        "注意：m={m} 时 {windows} 个模式偏少，少于 {enough} 个时熵值偏低。",
        "Warning: {windows} patterns are few for m={m}; below {enough} the entropy is too low.",
    ),
    "too_short": Bilingual(
        "注意：序列太短，无法计算 m={m} 的排列熵。",
        "Warning: the sequence is too short for m={m}.",
    ),
    "ties": Bilingual(
        "注意：只有 {levels} 个不同的分数，{tied} 的分数对相等。相等按上升处理，因此随机排列也达不到"
        " log {m}!，严格上升子序列的长度不超过 {levels}。",
        "Warning: there are {levels} distinct scores, and {tied} of all pairs are tied. A tie is "
        "read as a rise, so random order does not reach log {m}!, and a strict subsequence has at "
        "most {levels} members.",
    ),
    "constant": Bilingual(
        "注意：所有分数相等，没有次序。",
        "Warning: all scores are equal, so they have no order.",
    ),
    "untested": Bilingual(
        "注意：序列太长，未做随机排列，只检验了逆序数。",
        "Warning: the sequence is too long for random orders; only the inversions are tested.",
    ),
}
"""Sentences by key; the key of a warning is its name in ``SequenceSummary.warnings``."""

Caveat = Literal["too_short", "short", "ties", "untested", "constant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """One metric, compared with its distribution over random orders of the same scores."""

    value: float
    """Value of the metric. ``cin`` is a number of inverted pairs, ``lis`` and ``lnds`` are numbers of scores,
    and ``pen`` is in nats."""
    null_mean: float | None = None
    """Mean of the metric over random orders; None if there is no test."""
    null_sd: float | None = None
    """Standard deviation of the metric over random orders; None if there is no test."""
    z: float | None = None
    """Distance from the mean over random orders, in standard deviations: (value - null_mean) / null_sd. ``z``
    is None if there is no test, or if all orders give the same value."""
    p: float | None = None
    """Two-sided p-value; it is not corrected for the number of metrics that are tested."""
    orders: int = 0
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
    greatest: float
    top: float
    """Lowest score that counts for ``top_share``."""
    top_share: float
    """Share of scores that are at least ``top``."""
    levels: int
    """Number of distinct scores."""
    tied_share: float
    """Share of the pairs of scores that are equal, from 0 to 1."""
    m: int
    """Number of scores in an ordinal pattern."""
    delay: int
    """Distance in positions between consecutive scores of an ordinal pattern; 1 means adjacent scores."""
    windows: int
    """Number of ordinal patterns; 0 if the sequence is too short."""
    metrics: Mapping[Metric, MetricResult]
    """Result of each metric by its name; without ``pen`` if the sequence is too short for m and delay."""
    pen_share: float | None
    """Permutation entropy as a share of its maximum, log m!; None without ``pen``."""
    pairs: int
    """Number of pairs, n(n-1)/2."""
    tau_b: float | None
    """Rank correlation tau-b with time: 1 if the scores always rise, -1 if they always fall; None if they are
    constant."""
    warnings: tuple[Caveat, ...]
    """Names of reasons why the numbers are unreliable, such as ``short`` or ``ties``; ``explain`` describes
    these reasons in words."""
    seed: int

    @property
    def pen(self) -> MetricResult | None:
        """Permutation entropy in nats; None if the sequence is too short for m and delay."""
        return self.metrics.get("pen")

    @property
    def cin(self) -> MetricResult:
        """Number of pairs i < j with x[i] > x[j], from 0 to ``pairs``."""
        return self.metrics["cin"]

    @property
    def lis(self) -> MetricResult:
        """Length of the longest strictly increasing subsequence, from 1 to n."""
        return self.metrics["lis"]

    @property
    def lnds(self) -> MetricResult:
        """Length of the longest non-decreasing subsequence, from 1 to n."""
        return self.metrics["lnds"]

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
        check_choice("language", language, ("en", "zh"))
        return "\n".join(_statements(self, language))


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
    metrics = {
        metric.name: metric_result(row, metric, m, delay, n_perm, seed)
        for metric in METRICS.values()
        if metric.windows(n, m, delay) != 0
    }
    pen = metrics.get("pen")
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
        metrics=metrics,
        pen_share=pen.value / math.log(math.factorial(m)) if pen else None,
        pairs=n * (n - 1) // 2,
        tau_b=tau_b(row),
        warnings=_caveats(n, windows, levels, m, metrics.values()),
        seed=seed,
    )


def metric_result(
    row: NDArray[Any], metric: SequenceMetric, m: int, delay: int, n_perm: int, seed: int
) -> MetricResult:
    """Return the value of a metric, and its test against random orders of the scores."""
    max_orders = _MAX_SHUFFLED_SCORES // len(row)
    value = float(metric.evaluate(row[None], m, delay)[0])
    if metric.moments and (len(row) > _MIN_NORMAL_LENGTH or max_orders < _MIN_ORDERS):
        return _normal_result(value, *metric.moments(row))
    if max_orders < _MIN_ORDERS:
        return MetricResult(value=value)
    test = significance(row, metric.name, n_perm=min(n_perm, max_orders), seed=seed, m=m, delay=delay)
    return MetricResult(
        value=test.statistic,
        null_mean=test.null_mean,
        null_sd=test.null_sd,
        z=test.z,
        p=test.p,
        orders=test.orders,
    )


def _normal_result(value: float, mean: float, sd: float) -> MetricResult:
    """Return a result with a p-value from the normal approximation with continuity correction."""
    if not sd:
        return MetricResult(value=value, null_mean=mean, null_sd=sd, p=1.0)
    distance = max(abs(value - mean) - 0.5, 0.0) / sd
    z = (value - mean) / sd
    return MetricResult(value=value, null_mean=mean, null_sd=sd, z=z, p=math.erfc(distance / math.sqrt(2)))


def _caveats(
    n: int, windows: int, levels: int, m: int, results: Iterable[MetricResult]
) -> tuple[Caveat, ...]:
    caveats: list[Caveat] = []
    if not windows:
        caveats.append("too_short")
    elif windows < enough_windows(m):
        caveats.append("short")
    if levels == 1:
        caveats.append("constant")
    elif levels <= min(_MAX_TIED_LEVELS, n - 1):
        caveats.append("ties")
    if any(result.p is None for result in results):
        caveats.append("untested")
    return tuple(caveats)


def _statements(summary: SequenceSummary, language: Literal["en", "zh"]) -> list[str]:
    values = {
        "n": summary.n,
        "scores": plural(summary.n, "score"),
        "are": "is" if summary.n == 1 else "are",
        "mean": _number(summary.mean),
        "median": _number(summary.median),
        "share": _percent(summary.top_share),
        "top": _number(summary.top),
        "m": summary.m,
        "delay": summary.delay,
        "need": (summary.m - 1) * summary.delay + 1,
        "windows": summary.windows,
        "enough": enough_windows(summary.m),
        "levels": summary.levels,
        "tied": _percent(summary.tied_share),
        "pairs": summary.pairs,
        "weak": _number(summary.lnds.value),
        "part": _percent(summary.pen_share or 0.0),
    }
    statements = [_TEXTS["level"].in_language(language)]
    for metric in MAIN_METRICS:
        result = summary.metrics.get(metric.name)
        name = metric.title.in_language(language)
        if metric.statement is None:
            continue
        if result is None:
            statement = (
                _TEXTS["too_few"].in_language(language).replace("{metric}", name[:1].upper() + name[1:])
            )
        else:
            statement = metric.statement.in_language(language)
            for key, text in _result_values(metric, result, language).items():
                statement = statement.replace(f"{{{key}}}", text)
        statements.append(statement)
    statements.append(_TEXTS["limits"].in_language(language))
    statements += [_TEXTS[caveat].in_language(language) for caveat in summary.warnings]
    return [statement.format(**values) for statement in statements]


def _result_values(
    metric: SequenceMetric, result: MetricResult, language: Literal["en", "zh"]
) -> dict[str, str]:
    """Return texts about a metric: its value, its distribution over random orders, and the test result."""
    value = _number(result.value)
    if result.null_mean is None or result.null_sd is None or result.p is None:
        return {"value": value, "null": "", "verdict": _TEXTS["not_tested"].in_language(language)}
    z = "" if result.z is None else _TEXTS["z"].in_language(language).format(z=f"{result.z:+.2f}")
    mean, sd = _number(result.null_mean), _number(result.null_sd)
    verdict = "high" if result.value > result.null_mean else "low"
    if result.p >= _ALPHA:
        verdict = "same"
    return {
        "value": value,
        "null": _TEXTS["null"].in_language(language).format(mean=mean, sd=sd, z=z, p=f"{result.p:.2g}"),
        "verdict": metric.verdicts[verdict].in_language(language) if metric.verdicts else "",
    }


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
