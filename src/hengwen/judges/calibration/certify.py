"""``calibrate``: human labels and a judge's values to a certificate, or to why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.judges.calibration.agreement import Agreement, measure_agreement
from hengwen.judges.calibration.alpha import krippendorff_alpha, weighted_alpha
from hengwen.judges.calibration.artifact import Calibration, Decision, MeanReport, rubric_hash_of
from hengwen.judges.calibration.figures import RESAMPLES, Estimate, cluster_index, figure, resample_clusters
from hengwen.judges.calibration.joining import join
from hengwen.judges.calibration.maps import fit_maps
from hengwen.judges.calibration.ppi import ppi_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.judges.calibration.joining import JudgedAnswer, LabelJoin, Pair
    from hengwen.judges.calibration.maps import MapReport
    from hengwen.prompts.rubric import Rubric
    from hengwen.records import Label

LEAST_LABELS = 30
LEAST_PROMPTS = 5
THRESHOLD = 0.5
"""What the lower bound of kappa must reach. A judge is commonly asked for a quadratic kappa of .70
(Williamson, Xi, Breyer, Educational Measurement 31, 2012: from there on it shares half of what people vary).
With 50 labels the lower bound of such a judge is about .5; to pass surely, be better or label more."""
ONE_LEVEL = 0.8
"""Share of the labels on one level from which they cannot tell a good judge from one that always says it."""
OFTEN_UNDEFINED = 0.05
POOR_CEILING = 0.4
"""Alpha among people below which a warning says so."""


def calibrate(
    labels: Iterable[Label],
    answers: Sequence[JudgedAnswer],
    *,
    score: str,
    rubric: Rubric | None = None,
    levels: Sequence[float] | None = None,
    threshold: float = THRESHOLD,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
    created: str = "",
) -> Calibration:
    """Measure a judge against people.

    Args:
        labels: Human values; those of other scores and tasks are passed over.
        answers: One task's, with the judge's value of that score; also those without a label, for the means.
        score: Such as ``muice_live.level``.
        rubric: Gives the levels, and the examples to leave out: the judge has seen them.
        levels: All levels ascending, where there is no rubric.
        threshold: What the lower bound of quadratic kappa must reach.
        resamples: Of the bootstrap by prompt.
        level: Of all intervals.
        seed: Of folds and bootstrap.
        created: ISO time, kept in the result.

    Returns:
        ``certified`` where at least 30 labels of 5 prompts, not 80 % of them on one level, put the lower
        bound of kappa at the threshold or above; ``not certified`` where they put it below; else
        ``insufficient``.

    Raises:
        ValueError: There are no answers, they are of several tasks or judges, two have the same place, a
            value is off the levels, or neither a rubric nor levels are given.

    Examples:
        >>> from hengwen.judges.calibration.joining import JudgedAnswer
        >>> from hengwen.records import Label
        >>> human, judge = [0, 0.5, 1, 1], [0, 0.5, 1, 0.5]
        >>> answers = [JudgedAnswer(task="t", id=str(i), value=judge[i % 4]) for i in range(40)]
        >>> labels = [Label(task="t", id=str(i), score="s", value=human[i % 4]) for i in range(36)]
        >>> found = calibrate(labels, answers, score="s", levels=[0, 0.5, 1])
        >>> found.decision, found.agreement.quadratic_kappa.value, found.means[0].corrected.n
        ('certified', 0.8, 36)
        >>> calibrate(labels[:12], answers, score="s", levels=[0, 0.5, 1]).reasons
        ('12 labels, but a verdict needs 30',)
    """
    task, signature = _one_judge(answers)
    scale = _levels(rubric, levels)
    joined = join([one for one in labels if (one.score, one.task) == (score, task)], answers, rubric)
    pairs = joined.pairs
    agreement = _agreement(pairs, scale, resamples, level, seed)
    decision, reasons = decide(agreement, threshold)
    maps, maps_reason = _maps(pairs, scale, resamples, level, seed)
    ceiling = _ceiling(pairs, resamples, level, seed)
    return Calibration(
        task=task,
        score=score,
        rubric=f"{rubric.name} {rubric.version}" if rubric else "",
        rubric_hash=rubric.hash if rubric else rubric_hash_of(signature),
        signature=signature,
        decision=decision,
        reasons=reasons,
        threshold=threshold,
        level=level,
        seed=seed,
        agreement=agreement,
        raters=len({rater for pair in pairs for rater, _ in pair.ratings}),
        ceiling=ceiling,
        dropped=joined.dropped,
        maps=maps,
        maps_reason=maps_reason,
        means=_means(joined, answers, scale, level),
        warnings=_warnings(agreement, ceiling),
        created=created,
        version=_version(),
    )


def decide(agreement: Agreement | None, threshold: float) -> tuple[Decision, tuple[str, ...]]:
    """Return the decision, and why."""
    if agreement is None:
        return "insufficient", ("no label found a judged answer",)
    kappa = agreement.quadratic_kappa
    lacking = []
    if agreement.n < LEAST_LABELS:
        lacking.append(f"{agreement.n} labels, but a verdict needs {LEAST_LABELS}")
    if agreement.prompts < LEAST_PROMPTS:
        lacking.append(f"labels of {agreement.prompts} prompts, but a verdict needs {LEAST_PROMPTS}")
    if max(agreement.human_base) >= ONE_LEVEL:
        lacking.append(
            f"{max(agreement.human_base):.0%} of the labels are on one level: always saying it would do"
        )
    if kappa.value is None or kappa.low is None:
        lacking.append(f"quadratic kappa: {kappa.reason}")
    if lacking or kappa.value is None or kappa.low is None:
        return "insufficient", tuple(lacking)
    said = f"quadratic kappa {kappa.value:.2f}, at least {kappa.low:.2f}: "
    if kappa.low >= threshold:
        return "certified", (f"{said}{threshold:.2f} or more is asked",)
    hint = "; more labels may show that it is enough" if kappa.value >= threshold else ""
    return "not certified", (f"{said}less than the {threshold:.2f} that is asked{hint}",)


def _one_judge(answers: Sequence[JudgedAnswer]) -> tuple[str, str]:
    if not answers:
        raise ValueError("there are no judged answers to calibrate on")
    tasks = sorted({answer.task for answer in answers})
    if len(tasks) > 1:
        raise ValueError(f"answers of one task are calibrated at a time, these are of {', '.join(tasks)}")
    signatures = sorted({answer.signature for answer in answers if answer.value is not None})
    if len(signatures) > 1:
        raise ValueError(f"one judge is calibrated at a time, these are {len(signatures)}: {signatures}")
    return tasks[0], signatures[0] if signatures else answers[0].signature


def _levels(rubric: Rubric | None, levels: Sequence[float] | None) -> tuple[float, ...]:
    if levels is not None:
        return tuple(levels)
    if rubric is None:
        raise ValueError("the levels of the scale are not known: give a rubric, or levels")
    return tuple(rubric.levels)


def _agreement(
    pairs: Sequence[Pair], levels: tuple[float, ...], resamples: int, level: float, seed: int
) -> Agreement | None:
    if not pairs:
        return None
    return measure_agreement(
        [pair.human for pair in pairs],
        [pair.value for pair in pairs],
        levels=levels,
        clusters=[pair.answer.prompt for pair in pairs],
        resamples=resamples,
        level=level,
        seed=seed,
    )


def _maps(
    pairs: Sequence[Pair], levels: tuple[float, ...], resamples: int, level: float, seed: int
) -> tuple[tuple[MapReport, ...], str]:
    try:
        found = fit_maps(
            [pair.value for pair in pairs],
            [pair.human for pair in pairs],
            levels=levels,
            clusters=[pair.answer.prompt for pair in pairs],
            resamples=resamples,
            level=level,
            seed=seed,
        )
    except ValueError as error:
        return (), str(error)
    return found, ""


def _ceiling(pairs: Sequence[Pair], resamples: int, level: float, seed: int) -> Estimate:
    """Alpha among raters, with an interval by prompt."""
    shared = [pair for pair in pairs if len(pair.ratings) > 1]
    if not shared:
        return Estimate(value=None, reason="no answer was labelled by two people")
    raters = sorted({rater for pair in shared for rater, _ in pair.ratings})
    ratings = np.full((len(shared), len(raters)), np.nan)
    for row, pair in enumerate(shared):
        for rater, value in pair.ratings:
            ratings[row, raters.index(rater)] = value
    index, count = cluster_index([pair.answer.prompt for pair in shared])
    alpha = krippendorff_alpha(ratings)
    return figure(
        np.nan if alpha is None else alpha,
        weighted_alpha(ratings, resample_clusters(count, resamples, seed)[:, index]),
        kind="coefficient",
        n=len(shared),
        clusters=count,
        reason="undefined: all labels are the same",
        level=level,
    )


def _means(
    joined: LabelJoin, answers: Sequence[JudgedAnswer], levels: tuple[float, ...], level: float
) -> tuple[MeanReport, ...]:
    """Of all answers, and of each checkpoint where there are several: in the order in which they come."""
    checkpoints = list(dict.fromkeys(answer.checkpoint for answer in answers))
    names = ["", *(checkpoints if len(checkpoints) > 1 else [])]
    return tuple(_mean(joined, (levels[0], levels[-1]), level, name) for name in names)


def _mean(joined: LabelJoin, bounds: tuple[float, float], level: float, checkpoint: str) -> MeanReport:
    pairs = [pair for pair in joined.pairs if checkpoint in ("", pair.answer.checkpoint)]
    others = [answer for answer in joined.others if checkpoint in ("", answer.checkpoint)]
    try:
        corrected = ppi_mean(
            [pair.human for pair in pairs],
            [pair.value for pair in pairs],
            [answer.value for answer in others if answer.value is not None],
            clusters=[pair.answer.prompt for pair in pairs],
            other_clusters=[answer.prompt for answer in others],
            bounds=bounds,
            level=level,
        )
    except ValueError as error:
        return MeanReport(checkpoint=checkpoint, corrected=None, reason=str(error))
    return MeanReport(checkpoint=checkpoint, corrected=corrected)


def _warnings(agreement: Agreement | None, ceiling: Estimate) -> tuple[str, ...]:
    if agreement is None:
        return ()
    found = []
    for who, shares in (("labels", agreement.human_base), ("judge's values", agreement.judge_base)):
        if max(shares) >= ONE_LEVEL:
            level = agreement.levels[int(np.argmax(shares))]
            found.append(
                f"{max(shares):.0%} of the {who} are on level {level:g}: agreement is mostly that of chance"
            )
    kappa = agreement.quadratic_kappa
    if kappa.undefined > OFTEN_UNDEFINED * max(1, agreement.resamples):
        found.append(
            f"quadratic kappa is undefined in {kappa.undefined} of {agreement.resamples} resamples: "
            "its interval leaves them out and is too narrow"
        )
    if ceiling.value is not None and ceiling.value < POOR_CEILING:
        found.append(
            f"people agree poorly among themselves (alpha {ceiling.value:.2f}): the rubric may be unclear"
        )
    return tuple(found)


def _version() -> str:
    from importlib.metadata import version

    return version("hengwen")
