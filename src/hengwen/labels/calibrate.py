"""Calibrate stored scores of judges with human labels, and check whether earlier calibrations still hold."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hengwen.errors import DataError
from hengwen.judges.calibration import Calibration, calibrate, is_stale, rubric_hash_of
from hengwen.judges.calibration.certify import THRESHOLD, pooled_signature
from hengwen.judges.calibration.joining import MEAN
from hengwen.judges.trust.admission_report import TASK_PARTS
from hengwen.labels.calibration_data import ScoreSeries, labels_for, levels_for, rubric_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.labels.calibration_data import CalibrationRequest, StoredJudgments
    from hengwen.prompts import Rubric


def calibrate_series(
    series: ScoreSeries,
    request: CalibrationRequest,
    judgments: StoredJudgments,
    *,
    rubric: Rubric | None,
    threshold: float | None = None,
    seed: int = 0,
    raters: str = MEAN,
) -> Calibration:
    """Calibrate one score of a judge by comparing it with human labels."""
    try:
        return calibrate(
            labels_for(request, judgments),
            series.answers,
            score=series.score,
            rubric=rubric,
            levels=levels_for(rubric, series),
            is_continuous=rubric is None and series.scale is not None and series.scale.levels is None,
            threshold=THRESHOLD if threshold is None else threshold,
            seed=seed,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            pooled=len(series.tasks) > 1,
            raters=raters,
        )
    except ValueError as error:
        raise DataError(f"{series.address}: {error}") from None


def pool_series(series: Iterable[ScoreSeries]) -> list[list[ScoreSeries]]:
    """Group the score series (one score in one task) that have the same score, judge and rubric."""
    groups: dict[tuple[str, str], list[ScoreSeries]] = {}
    for item in series:
        if rubric_hash_of(item.signature):
            groups.setdefault((item.score, TASK_PARTS.sub("", item.signature)), []).append(item)
    return [group for group in groups.values() if len(group) > 1]


def merge_series(group: Sequence[ScoreSeries]) -> ScoreSeries:
    """Merge the score series of several tasks into one; ``task`` of the result names all tasks."""
    return ScoreSeries(
        task="+".join(series.task for series in group),
        score=group[0].score,
        answers=[answer for series in group for answer in series.answers],
        scale=group[0].scale,
        signature=pooled_signature(series.signature for series in group),
        excluded=sum(series.excluded for series in group),
        tasks=tuple(series.task for series in group),
    )


def rubric_change(series: ScoreSeries, rubric: Rubric | None) -> str:
    """Return a message if the rubric has changed since the runs were judged, else an empty string."""
    run_hash = rubric_hash_of(series.signature)
    if rubric is None or not run_hash or run_hash == rubric.hash:
        return ""
    return f"judged with rubric {run_hash}, but {rubric.name} is now {rubric.hash}"


def why_invalid(
    calibration: Calibration, request: CalibrationRequest, judgments: StoredJudgments
) -> tuple[str, ...]:
    """Return the reasons why a calibration is not valid for the newest runs; empty if it is valid."""
    addresses = [(task, calibration.score) for task in calibration.tasks or (calibration.task,)]
    group = [judgments.series[address] for address in addresses if address in judgments.series]
    if len(group) < len(addresses):
        return ("calibrated, but the newest runs have no such score",)
    series = merge_series(group)
    rubric = rubric_for(request, series, None)
    rubric_hash = rubric.hash if rubric else rubric_hash_of(series.signature)
    return tuple(
        f"stale: {difference}" for difference in is_stale(calibration, series.signature, rubric_hash)
    )
