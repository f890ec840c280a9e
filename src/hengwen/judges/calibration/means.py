"""Estimate the mean human value of all answers and of each checkpoint; warn if labels are not random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen.judges.calibration.estimates import Remark, cluster_index
from hengwen.judges.calibration.joining import chosen_draws
from hengwen.judges.calibration.ppi import CorrectedMean, ppi_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.calibration.joining import JudgedAnswer, LabelJoin

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
