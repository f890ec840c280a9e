"""Registry of the sequence metrics: reports, drift tests, summaries and their words take what stands here.

To add a metric, write its function of a batch of sequences and add an entry to ``METRICS`` and its name to
``Metric``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen.relevance_metrics.core import batch_entropies
from hengwen.relevance_metrics.inversions import batch_inversions, inversion_moments, tau_rows
from hengwen.relevance_metrics.subsequences import batch_lengths
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Rows = NDArray[Any]
    Values = NDArray[np.float64]

Metric = Literal["pen", "cin", "lis", "lnds"]
IntervalMethod = Literal["moving-block", "stationary", "u-statistic", "prompts"]
_SUBSEQUENCE = "a subsequence spans the whole sequence, so its parts cannot be resampled"


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
    intervals: tuple[IntervalMethod, ...] = ("prompts",)
    """Methods of a confidence interval."""
    no_interval: str = ""
    """Why other methods give no interval."""
    interval_of: tuple[str, Callable[[Rows], Values]] | None = None
    """Name and function of the statistic that has an interval, if it is not the metric."""
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
            intervals=("moving-block", "stationary", "prompts"),
            no_interval="only blocks keep the patterns of one sequence",
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
            intervals=("u-statistic", "prompts"),
            no_interval="reordered blocks lose the trend that inversions measure",
            interval_of=("tau_b", tau_rows),
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
            no_interval=_SUBSEQUENCE,
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
            no_interval=_SUBSEQUENCE,
        ),
    )
}
MAIN_METRICS = tuple(metric for metric in METRICS.values() if metric.is_main)


def enough_windows(m: int) -> int:
    """Return the number of ordinal patterns below which a metric that counts them is too low."""
    return 5 * math.factorial(m)
