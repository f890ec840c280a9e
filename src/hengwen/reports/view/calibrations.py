"""Calibrations in a report: a note for each calibrated score, a warning for each stale calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.judges.calibration.artifact import is_stale, rubric_hash_of
from hengwen.reports.text.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hengwen.judges.calibration.artifact import Calibration
    from hengwen.reports.view.models import ScoreView, View

DECISIONS_ZH = {"certified": "可信", "not certified": "不可信", "insufficient": "证据不足"}


def with_calibrations(view: View, calibrations: Iterable[Calibration]) -> View:
    """Return the view with notes on how far its judge scores agree with human labels.

    Args:
        view: The view of a report.
        calibrations: Those of scores that the view does not show are ignored. A calibration is stale if its
            judge or rubric differs from that of the runs: a warning names the difference.
    """
    by_address = {calibration.address: calibration for calibration in calibrations}
    notes: dict[str, str] = {}
    warnings: list[str] = []
    for task in view.tasks:
        for score in task.scores:
            calibration = by_address.get(score.address)
            if calibration is None:
                continue
            if calibration.signature in _signatures(score):
                notes[score.address] = sentence(calibration)
            warnings += [
                f"{score.address}: 校准已失效 the calibration is stale: {difference}"
                for signature in _signatures(score)
                for difference in is_stale(calibration, signature, rubric_hash_of(signature))
            ]
    tasks = tuple(
        replace(task, scores=tuple(_with_note(score, notes.get(score.address)) for score in task.scores))
        for task in view.tasks
    )
    return replace(view, tasks=tasks, warnings=(*view.warnings, *warnings))


def sentence(calibration: Calibration) -> str:
    """Return the result of a calibration as one sentence in both languages."""
    score, decision, agreement = calibration.score, calibration.decision, calibration.agreement
    zh = f"{score} 与人工标注比较：{DECISIONS_ZH[decision]}"
    if agreement is None or agreement.quadratic_kappa.value is None:
        return f"{zh}。 Against human labels: {decision} ({'; '.join(calibration.reasons)})."
    kappa, n = agreement.quadratic_kappa, agreement.n
    ends = interval(None if kappa.low is None or kappa.high is None else (kappa.low, kappa.high), 2)
    bias = number(agreement.bias.value, 3)
    figures = f"kappa {number(kappa.value, 2)} {ends}, n={n}"
    return (
        f"{zh}，二次 {figures}，平均偏差 {bias}。 "
        f"Against human labels: {decision}, quadratic {figures}, mean bias {bias}."
    )


def _signatures(score: ScoreView) -> tuple[str, ...]:
    """Distinct signatures of the score over all runs."""
    return tuple(dict.fromkeys(s for cell in score.cells if cell for s in cell.signatures))


def _with_note(score: ScoreView, note: str | None) -> ScoreView:
    return score if note is None else replace(score, notes=(*score.notes, note))
