"""What calibrations say of the judges in a report: a sentence a score, a warning where one is stale."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.judges.calibration.artifact import is_stale, rubric_hash_of
from hengwen.reports.text.numbers import interval, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hengwen.judges.calibration.artifact import Calibration
    from hengwen.reports.view.models import ScoreView, View

WORDS = {"certified": "可信", "not certified": "不可信", "insufficient": "证据不足"}


def with_calibrations(view: View, calibrations: Iterable[Calibration]) -> View:
    """Return a view whose judge scores say how far they agree with people.

    Args:
        view: Of runs.
        calibrations: Those of scores that the view does not show are passed over. One of another judge or
            another rubric than the runs' is stale: a warning says what differs.
    """
    by_address = {one.address: one for one in calibrations}
    notes: dict[str, str] = {}
    warnings: list[str] = []
    for task in view.tasks:
        for score in task.scores:
            found = by_address.get(score.address)
            if found is None:
                continue
            held = [signature for signature in _signatures(score) if signature == found.signature]
            if held:
                notes[score.address] = sentence(found)
            warnings += [
                f"{score.address}: 校准已过期 the calibration is stale: {difference}"
                for signature in _signatures(score)
                for difference in is_stale(found, signature, rubric_hash_of(signature))
            ]
    tasks = tuple(
        replace(task, scores=tuple(_noted(score, notes.get(score.address)) for score in task.scores))
        for task in view.tasks
    )
    return replace(view, tasks=tasks, warnings=(*view.warnings, *warnings))


def sentence(found: Calibration) -> str:
    """Say what a calibration found, in both languages."""
    if found.agreement is None or found.agreement.quadratic_kappa.value is None:
        reason = "; ".join(found.reasons)
        return (
            f"{found.score} 与人比较：{WORDS[found.decision]}。 Against people: {found.decision} ({reason})."
        )
    kappa, n = found.agreement.quadratic_kappa, found.agreement.n
    ends = interval(None if kappa.low is None or kappa.high is None else (kappa.low, kappa.high), 2)
    bias = number(found.agreement.bias.value, 3)
    figures = f"kappa {number(kappa.value, 2)} {ends}, n={n}"
    return (
        f"{found.score} 与人比较：{WORDS[found.decision]}，二次 {figures}，平均偏差 {bias}。 "
        f"Against people: {found.decision}, quadratic {figures}, mean bias {bias}."
    )


def _signatures(score: ScoreView) -> tuple[str, ...]:
    """Those of its runs, each once."""
    return tuple(dict.fromkeys(s for cell in score.cells if cell for s in cell.signatures))


def _noted(score: ScoreView, note: str | None) -> ScoreView:
    return score if note is None else replace(score, notes=(*score.notes, note))
