"""Estimate the mean human value of all answers and of each checkpoint; warn if labels are not random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hengwen.judges.calibration.joining import JudgedAnswer, LabelJoin, chosen_draws
from hengwen.judges.calibration.statistics import Remark, cluster_index
from hengwen.stats.mean_interval import check_confidence, mean_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


MeanMethod = Literal["ppi", "labels"]

MIN_TUNING_LABELS = 20
"""Fewest labels from which ``lam`` is estimated. With fewer labels ``lam`` would fit noise, so the judge's
values are not used."""
MIN_TUNING_PROMPTS = 5
"""Fewest labelled prompts from which ``lam`` is estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedMean:
    """Estimated mean human value of all answers, with the mean of the labels alone and of the judge alone."""

    mean: float
    """The estimated mean; it is in the unit of the labels, as all means and intervals of this class are."""
    low: float
    high: float
    method: MeanMethod
    """``ppi`` if the judge's values are used, else ``labels``. The judge's values are not used if there are
    too few labels, labelled prompts or unlabelled prompts, or if all labelled answers got the same value from
    the judge."""
    lam: float
    """Weight of the correction by the judge's values; if it is 0, the judge's values are ignored."""
    df: float
    """Degrees of freedom of the t distribution for the interval; fewer labelled prompts give a wider
    interval."""
    n: int
    """Number of labelled answers."""
    others: int
    """Number of judged answers without a label."""
    prompts: int
    """Number of prompts that have labelled answers."""
    labels_mean: float | None
    """Mean of the labels alone; it is None, and its interval too, if the labelled answers are not a random
    sample of all answers."""
    labels_low: float | None
    labels_high: float | None
    judge_mean: float
    """Mean of the judge's values of all answers; no interval is given for it, because an interval would
    ignore the bias of the judge."""

    @property
    def narrowing(self) -> float | None:
        """Width of the interval divided by that of ``labels_mean``; below 1 if the judge helps."""
        if self.labels_low is None or self.labels_high is None:
            return None
        labels = self.labels_high - self.labels_low
        return (self.high - self.low) / labels if labels > 0 else 1.0

    def without_labels_alone(self) -> CorrectedMean:
        """Return a copy in which ``labels_mean`` and its interval are None."""
        return replace(self, labels_mean=None, labels_low=None, labels_high=None)


def ppi_mean(
    human: Sequence[float],
    judge: Sequence[float],
    others: Sequence[float],
    *,
    clusters: Sequence[str] | None = None,
    other_clusters: Sequence[str] | None = None,
    bounds: tuple[float, float] | None = None,
    confidence: float = 0.95,
) -> CorrectedMean:
    """Estimate the mean human value of all answers.

    Args:
        human: Human values of the labelled answers, n >= 3, in any unit.
        judge: The judge's values for the same answers, in the same order and unit, length n.
        others: The judge's values for answers without a label; any number of answers, to any prompts.
        clusters: Prompt of each labelled answer; by default, each answer counts as a separate prompt.
        other_clusters: Prompt of each unlabelled answer; by default, each answer counts as a separate prompt.
        bounds: Lowest and highest value of the scale; the mean and its interval are limited to this range.
        confidence: Confidence level of the interval, in (0, 1).

    Returns:
        The estimated mean with its interval, in the unit of the labels, and the mean of the labels alone.

    Raises:
        ValueError: Lengths differ, a value is not finite, there are fewer than 3 labels or 2 prompts, all
            labels are equal and there are no bounds, or ``confidence`` is not in (0, 1).

    Notes:
        The interval of the mean of the labels alone is computed by ``mean_interval``. With bounds, every
        interval is computed with a pseudo-prompt of mean size at each end of the scale, for which the judge's
        and the human values are equal. Without the pseudo-prompts, labels that are all at one end of the
        scale would give an interval of width 0.

        The method is PPI++ by Angelopoulos, Duchi, Zrnic, 2023. The estimate is the mean of the labels minus
        ``lam`` times the difference between the judge's means on labelled and unlabelled answers. The weight
        ``lam`` is the least-squares slope of the labels on the judge's values, times N / (N + n), for n
        labelled and N unlabelled answers; it is 0 if it cannot be estimated. The labelled answers must be a
        random sample of all answers. Answers to one prompt are not independent. To compute the variance, the
        deviations from the mean are therefore summed for each prompt, and these sums are squared. Because
        ``lam`` is estimated from the labels, the residuals (label - lam * judge's value) are too small. The
        variance of the residuals is therefore multiplied by G / (G - 1) * (n - 1) / (n - 2) for n labels of G
        prompts, as is usual in cluster-robust regression. The t distribution has G - 1 degrees of freedom, or
        n - 2 if each label has a separate prompt. Tests check that, with 50 labels, the share of intervals
        that contain the true mean is between .93 and .97.

    Examples:
        >>> human, judge = [0, 0.5, 1, 1, 0.5, 0, 1, 0.5, 0.5, 1], [0.5, 0.5, 1, 1, 1, 0, 1, 0.5, 0.5, 1]
        >>> mean = ppi_mean(human * 2, judge * 2, [0.5, 1] * 90)
        >>> round(mean.labels_mean, 3), round(mean.lam, 3), round(mean.mean, 3)  # 0.6 - lam * (0.7 - 0.75)
        (0.6, 0.859, 0.643)
        >>> round(mean.narrowing, 2)
        0.59
    """
    check_confidence(confidence)
    data = _PpiData.from_sequences(human, judge, others, clusters, other_clusters)
    lam = data.tune()
    labels_low, labels_high, labels_df = data.labels_interval(bounds, confidence)
    low, high, df = data.interval(lam, bounds, confidence) if lam else (labels_low, labels_high, labels_df)
    labels_mean = float(data.human.mean())
    lower, upper = bounds or (-np.inf, np.inf)
    mean = min(max(labels_mean - lam * data.judge_difference, lower), upper)
    return CorrectedMean(
        mean=mean,
        low=max(low, lower),
        high=min(high, upper),
        method="ppi" if lam else "labels",
        lam=lam,
        df=df,
        n=len(data.human),
        others=len(data.others),
        prompts=data.prompts,
        labels_mean=labels_mean,
        labels_low=labels_low,
        labels_high=labels_high,
        judge_mean=float(np.concatenate([data.judge, data.others]).mean()),
    )


@dataclass(frozen=True, slots=True)
class _PpiData:
    """Values of the labelled and the unlabelled answers, with the index of each answer's prompt."""

    human: Floats
    judge: Floats
    others: Floats
    clusters: NDArray[np.intp]
    other_clusters: NDArray[np.intp]
    cluster_count: int

    @classmethod
    def from_sequences(
        cls,
        human: Sequence[float],
        judge: Sequence[float],
        others: Sequence[float],
        clusters: Sequence[str] | None,
        other_clusters: Sequence[str] | None,
    ) -> _PpiData:
        names = [str(i) for i in range(len(human))] if clusters is None else list(clusters)
        other_names = (
            [f"other {i}" for i in range(len(others))] if other_clusters is None else list(other_clusters)
        )
        if not len(human) == len(judge) == len(names):
            raise ValueError(f"{len(human)} labels, {len(judge)} judge's values and {len(names)} clusters")
        if len(others) != len(other_names):
            raise ValueError(f"{len(others)} other answers but {len(other_names)} clusters of them")
        if len(human) < 3 or len(set(names)) < 2:
            raise ValueError(
                f"a mean with an interval needs at least 3 labels of 2 prompts, got {len(human)} of "
                f"{len(set(names))}"
            )
        if not np.isfinite([*human, *judge, *others]).all():
            raise ValueError("a mean needs finite values; leave out answers without a value")
        index, count = cluster_index([*names, *other_names])
        return cls(
            human=np.asarray(human, dtype=float),
            judge=np.asarray(judge, dtype=float),
            others=np.asarray(others, dtype=float),
            clusters=index[: len(names)],
            other_clusters=index[len(names) :],
            cluster_count=count,
        )

    @property
    def prompts(self) -> int:
        """Number of labelled prompts."""
        return len(np.unique(self.clusters))

    @property
    def judge_difference(self) -> float:
        """Judge's mean on labelled minus its mean on unlabelled answers; 0 if all answers are labelled."""
        return float(self.judge.mean() - self.others.mean()) if len(self.others) else 0.0

    def tune(self) -> float:
        """Return ``lam``, the weight of the correction by the judge's values."""
        centred = self.judge - self.judge.mean()
        squares = float(centred @ centred)
        other_prompts = len(np.unique(self.other_clusters))
        n, rest = len(self.human), len(self.others)
        if n < MIN_TUNING_LABELS or self.prompts < MIN_TUNING_PROMPTS or other_prompts < 2:
            return 0.0
        if squares <= 1e-12 * n:
            return 0.0
        return float(centred @ (self.human - self.human.mean())) / squares * rest / (rest + n)

    def labels_interval(
        self, bounds: tuple[float, float] | None, confidence: float
    ) -> tuple[float, float, float]:
        """Return the confidence interval of the mean of the labels alone, and its degrees of freedom."""
        names = [str(cluster) for cluster in self.clusters]
        interval = mean_interval(self.human, names, scale=bounds, confidence=confidence)
        if interval.bounds is None:
            raise ValueError(f"no interval of the mean label: {interval.reason}")
        return *interval.bounds, interval.effective_clusters - 1

    def interval(
        self, lam: float, bounds: tuple[float, float] | None, confidence: float
    ) -> tuple[float, float, int]:
        """Return the interval of the estimated mean, and the degrees of freedom."""
        from scipy.special import stdtrit

        residuals, clusters, count = self.human - lam * self.judge, self.clusters, self.cluster_count
        sizes = np.ones(len(residuals))
        if bounds is not None:
            size = len(residuals) / self.prompts
            residuals = np.append(residuals, (1 - lam) * np.asarray(bounds))
            sizes, clusters = np.append(sizes, (size, size)), np.append(clusters, (count, count + 1))
            count += 2
        n, prompts = float(sizes.sum()), len(np.unique(clusters))
        mean = float(sizes @ residuals) / n
        parts = np.bincount(clusters, sizes * (residuals - mean), count) / n
        parts *= np.sqrt(prompts / (prompts - 1) * (n - 1) / (n - 2))
        rest, groups = len(self.others), len(np.unique(self.other_clusters))
        other_mean = self.others.mean()
        other_parts = np.bincount(self.other_clusters, self.others - other_mean, count) / rest
        parts += lam * np.sqrt(groups / (groups - 1)) * other_parts
        df = min(prompts - 1, round(n) - 2)
        half = float(stdtrit(df, 0.5 + confidence / 2)) * float(np.sqrt(np.square(parts).sum()))
        centre = mean + lam * float(other_mean)
        return centre - half, centre + half, df


BALANCE_LEVEL = 0.05
"""Significance level of the balance test (``balance_test``); if several tests are made, it is divided by
their number. A p value below this level means that labelled answers differ from unlabelled ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The judge's mean on labelled answers, compared with its mean on unlabelled answers."""

    difference: float
    """The judge's mean on labelled answers minus its mean on unlabelled answers."""
    p_value: float
    level: float = BALANCE_LEVEL
    """p value below which the labelled answers do not count as a random sample."""

    @property
    def holds(self) -> bool:
        """Whether the p value is at least ``level``, so that the labelled answers may be a random sample."""
        return self.p_value >= self.level


def balance_test(
    labelled: Sequence[float],
    others: Sequence[float],
    *,
    clusters: Sequence[str],
    other_clusters: Sequence[str],
    bounds: tuple[float, float] | None = None,
    level: float = BALANCE_LEVEL,
) -> Balance | None:
    """Compare the judge's values for labelled answers with its values for unlabelled answers."""
    if len(set(clusters)) < 2 or len(set(other_clusters)) < 2:
        return None
    from scipy.special import stdtr

    difference = float(np.mean(labelled) - np.mean(others))
    index, count = cluster_index([*clusters, *other_clusters])
    sides = ((labelled, index[: len(clusters)]), (others, index[len(clusters) :]))
    sums = [np.bincount(of_side, values, count) for values, of_side in sides]
    sizes = [np.bincount(of_side, minlength=count).astype(float) for _, of_side in sides]
    if bounds is not None:  # each side has two pseudo-clusters of its mean cluster size
        means = [size.sum() / np.count_nonzero(size) for size in sizes]
        sizes = [
            np.append(size, np.repeat(np.eye(2)[side] * means[side], 2)) for side, size in enumerate(sizes)
        ]
        sums = [
            np.append(total, size[-4:] * (*bounds, *bounds)) for total, size in zip(sums, sizes, strict=True)
        ]
        count += 4
    means = [(total.sum() - total) / (size.sum() - size) for total, size in zip(sums, sizes, strict=True)]
    without = means[0] - means[1]
    error = float(np.sqrt((count - 1) / count * np.square(without - without.mean()).sum()))
    if error <= 1e-12:
        return None
    freedom = min(float(size.sum() ** 2 / np.square(size).sum() - 1) for size in sizes)
    p_value = 2 * float(stdtr(freedom, -abs(difference) / error))
    return Balance(difference=difference, p_value=p_value, level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanReport:
    """Estimate of the mean human value of one checkpoint, or of all answers, made with the judge's values."""

    checkpoint: str
    """Name of the checkpoint; empty for all answers."""
    corrected: CorrectedMean | None
    reason: Remark | None = None
    """Why no mean could be estimated; None if a mean was estimated."""
    balance: Balance | None = None
    """Result of the test whether the judge's mean differs between labelled and unlabelled answers; None if
    the test is impossible."""


def corrected_means(
    joined: LabelJoin,
    answers: Sequence[JudgedAnswer],
    levels: tuple[float, ...],
    confidence: float,
    drawn: Mapping[str, int],
) -> tuple[MeanReport, ...]:
    """Return the estimated mean human value of all answers, then of each checkpoint."""
    checkpoints = list(dict.fromkeys(answer.checkpoint for answer in answers))
    names = ["", *(checkpoints if len(checkpoints) > 1 else [])]
    settings: dict[str, Any] = {
        "bounds": (levels[0], levels[-1]),
        "confidence": confidence,
        "level": BALANCE_LEVEL / len(names),
        "chosen": bool(chosen_draws(drawn)),
    }
    return tuple(_mean(joined, name, **settings) for name in names)


def _mean(
    joined: LabelJoin,
    checkpoint: str,
    *,
    bounds: tuple[float, float],
    confidence: float,
    level: float,
    chosen: bool,
) -> MeanReport:
    """Return the estimated mean human value of a checkpoint, or of all answers if ``checkpoint`` is empty."""
    pairs = [pair for pair in joined.pairs if checkpoint in ("", pair.answer.checkpoint)]
    others = [answer for answer in joined.others if checkpoint in ("", answer.checkpoint)]
    judge = [pair.value for pair in pairs]
    other_values = [answer.value for answer in others if answer.value is not None]
    clusters = [pair.answer.prompt for pair in pairs]
    other_clusters = [answer.prompt for answer in others]
    prompts: dict[str, Any] = {"clusters": clusters, "other_clusters": other_clusters, "bounds": bounds}
    balance = balance_test(judge, other_values, level=level, **prompts)
    try:
        corrected = ppi_mean(
            [pair.human for pair in pairs], judge, other_values, confidence=confidence, **prompts
        )
    except ValueError:
        counts = {"n": len(pairs), "prompts": len(set(clusters))}
        few = Remark("few_labels_for_mean", counts)
        return MeanReport(checkpoint=checkpoint, corrected=None, reason=few, balance=balance)
    if not chosen and (balance is None or balance.holds):
        return MeanReport(checkpoint=checkpoint, corrected=corrected, balance=balance)
    if corrected.method == "labels":
        unknown = Remark("not_random")
        return MeanReport(checkpoint=checkpoint, corrected=None, reason=unknown, balance=balance)
    return MeanReport(checkpoint=checkpoint, corrected=corrected.without_labels_alone(), balance=balance)


def sampling_warnings(means: Sequence[MeanReport], drawn: Mapping[str, int]) -> tuple[Remark, ...]:
    """Return warnings if the labelled answers are not a random sample of all answers."""
    warnings = [Remark("chosen_answers", {"n": drawn[text], "drawn": text}) for text in chosen_draws(drawn)]
    for mean in means:
        balance = mean.balance
        if balance is not None and not balance.holds:
            values = {"difference": balance.difference, "p": balance.p_value}
            warnings.append(Remark("unbalanced", {"checkpoint": mean.checkpoint, **values}))
    return tuple(warnings)
