"""Estimate the mean human value of all answers and of each checkpoint; warn if labels are not random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hengwen.judges.calibration.artifact import MeanReport
from hengwen.judges.calibration.balance import BALANCE_LEVEL, balance_test
from hengwen.judges.calibration.draws import chosen_draws
from hengwen.judges.calibration.ppi import ppi_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.calibration.joining import JudgedAnswer, LabelJoin


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
    except ValueError as error:
        return MeanReport(checkpoint=checkpoint, corrected=None, reason=str(error), balance=balance)
    if not chosen and (balance is None or balance.holds):
        return MeanReport(checkpoint=checkpoint, corrected=corrected, balance=balance)
    if corrected.method == "labels":
        reason = "the labelled answers are no random sample, and there is too little data to correct that"
        return MeanReport(checkpoint=checkpoint, corrected=None, reason=reason, balance=balance)
    return MeanReport(checkpoint=checkpoint, corrected=corrected.without_labels_alone(), balance=balance)


def sampling_warnings(means: Sequence[MeanReport], drawn: Mapping[str, int]) -> tuple[str, ...]:
    """Return warnings if the labelled answers are not a random sample of all answers."""
    advice = "the mean of the labels alone is not shown, and the corrected mean may be biased"
    warnings = [
        f"{drawn[text]} labels were not drawn at random ({text}): {advice}" for text in chosen_draws(drawn)
    ]
    warnings += [
        f"{mean.checkpoint or 'all answers'}: the judge's mean on labelled answers differs by "
        f"{mean.balance.difference:+.3f} from that on the others (p = {mean.balance.p_value:.2g}), so they "
        f"are no random sample: {advice}; draw answers with hengwen label"
        for mean in means
        if mean.balance is not None and not mean.balance.holds
    ]
    return tuple(warnings)
