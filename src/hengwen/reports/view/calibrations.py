"""Show calibrations (agreement of judges with human labels) in notes, warnings and summary of a report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.judges.calibration.artifact import is_stale, rubric_hash_of
from hengwen.reports.view.judge_notes import NO_NOTE, add_notes, judge_name
from hengwen.text.language import Bilingual
from hengwen.text.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hengwen.judges.calibration.artifact import Calibration
    from hengwen.reports.view.models import ScoreView, View

DECISIONS_ZH = {"certified": "可信", "not certified": "不可信", "insufficient": "证据不足"}


def with_calibrations(view: View, calibrations: Iterable[Calibration]) -> View:
    """Return the report data (the view) with notes on how well its judges agree with human labels."""
    by_address = {calibration.address: calibration for calibration in calibrations}
    notes: dict[str, Bilingual] = {}
    warnings: list[str] = []
    for task in view.tasks:
        for score in task.scores:
            calibration = by_address.get(score.address)
            if calibration is None:
                continue
            if calibration.signature in _signatures(score):
                notes[score.address] = sentence(calibration)
            warnings += [
                f"{score.address}: the calibration is stale: {difference}"
                for signature in _signatures(score)
                for difference in is_stale(calibration, signature, rubric_hash_of(signature))
            ]
    tasks = tuple(
        replace(task, scores=tuple(_with_note(score, notes.get(score.address)) for score in task.scores))
        for task in view.tasks
    )
    findings = add_notes(view.findings, _certificate_notes(view, by_address)) if by_address else view.findings
    return replace(view, tasks=tasks, warnings=(*view.warnings, *warnings), findings=findings)


def sentence(calibration: Calibration) -> Bilingual:
    """Return the result of a calibration as one sentence, in Chinese and English."""
    score, decision, agreement = calibration.score, calibration.decision, calibration.agreement
    zh = f"{score} 与人工标注比较：{DECISIONS_ZH[decision]}"
    if agreement is None or agreement.quadratic_kappa.value is None:
        return Bilingual(
            f"{zh}。", f"{score} against human labels: {decision} ({'; '.join(calibration.reasons)})."
        )
    kappa, n = agreement.quadratic_kappa, agreement.n
    ends = interval(None if kappa.low is None or kappa.high is None else (kappa.low, kappa.high), 2)
    bias = number(agreement.bias.value, 3)
    figures = f"kappa {number(kappa.value, 2)} {ends}, n={n}"
    return Bilingual(
        f"{zh}，二次 {figures}，平均偏差 {bias}。",
        f"{score} against human labels: {decision}, quadratic {figures}, mean bias {bias}.",
    )


def _certificate_notes(view: View, by_address: Mapping[str, Calibration]) -> dict[str, Bilingual]:
    """Return, for each score of a judge, what the summary says about the certification of the judge."""
    judged = [score for score in view.scores if score.section == "score" and score.kind == "judge"]
    notes = {score.address: _certificate_note(score, by_address.get(score.address)) for score in judged}
    judges = {
        (score.task, judge_name(score.base)): notes[score.address]
        for score in reversed(judged)
        if score.address in by_address
    }
    return {
        score.address: notes[score.address]
        if score.address in by_address
        else judges.get((score.task, judge_name(score.base)), notes[score.address])
        for score in judged
    }


def _certificate_note(score: ScoreView, calibration: Calibration | None) -> Bilingual:
    if calibration is None:
        return Bilingual("评审没有校准", "the judge is not certified: there is no calibration of it")
    if any(is_stale(calibration, signature, rubric_hash_of(signature)) for signature in _signatures(score)):
        return Bilingual("评审的校准已失效", "the certificate of the judge is stale")
    if calibration.decision == "certified":
        return NO_NOTE
    why = "" if calibration.decision == "not certified" else ": the labels do not allow a decision"
    return Bilingual(
        f"评审未通过校准（{DECISIONS_ZH[calibration.decision]}）", f"the judge is not certified{why}"
    )


def _signatures(score: ScoreView) -> tuple[str, ...]:
    """Return the signatures (settings of the scorer) of a score in all runs, without duplicates."""
    return tuple(dict.fromkeys(s for cell in score.cells if cell for s in cell.signatures))


def _with_note(score: ScoreView, note: Bilingual | None) -> ScoreView:
    return score if note is None else replace(score, notes=(*score.notes, note))
