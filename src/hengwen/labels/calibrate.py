"""Calibrate the judged scores of a store, and check whether earlier calibrations are still valid."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hengwen.errors import DataError
from hengwen.judges.calibration import Calibration, calibrate, is_stale, rubric_hash_of
from hengwen.judges.calibration.certify import THRESHOLD
from hengwen.labels.calibration_data import labels_for, levels_for

if TYPE_CHECKING:
    from hengwen.labels.calibration_data import CalibrationRequest, ScoreSeries, StoredJudgments
    from hengwen.prompts import Rubric


def calibrate_series(
    series: ScoreSeries,
    request: CalibrationRequest,
    judgments: StoredJudgments,
    *,
    rubric: Rubric | None,
    threshold: float | None = None,
    seed: int = 0,
) -> Calibration:
    """Calibrate one judged score.

    Args:
        series: The judged answers.
        request: Holds the labels.
        judgments: Holds the labels if the request has none.
        rubric: Rubric of the score; None if unknown.
        threshold: Minimum of kappa's lower bound for a certificate; None for the default.
        seed: Seed of the folds and the bootstrap.

    Raises:
        ConfigError: The levels of the score are unknown.
        DataError: Labels and answers do not fit.
    """
    try:
        return calibrate(
            labels_for(request, judgments),
            series.answers,
            score=series.score,
            rubric=rubric,
            levels=levels_for(rubric, series),
            threshold=THRESHOLD if threshold is None else threshold,
            seed=seed,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
        )
    except ValueError as error:
        raise DataError(f"{series.address}: {error}") from None


def rubric_change(series: ScoreSeries, rubric: Rubric | None) -> str:
    """Return how a rubric differs from the one that the runs were judged with, or the empty string."""
    run_hash = rubric_hash_of(series.signature)
    if rubric is None or not run_hash or run_hash == rubric.hash:
        return ""
    return f"judged with rubric {run_hash}, but {rubric.name} is now {rubric.hash}"


def why_invalid(
    calibration: Calibration, request: CalibrationRequest, judgments: StoredJudgments
) -> tuple[str, ...]:
    """Return why a calibration is not valid for the newest runs; empty if it is valid."""
    address = calibration.task, calibration.score
    series = judgments.series.get(address)
    if series is None:
        return ("calibrated, but the newest runs have no such score",)
    rubric = request.rubrics.get(address)
    rubric_hash = rubric.hash if rubric else rubric_hash_of(series.signature)
    return tuple(
        f"stale: {difference}" for difference in is_stale(calibration, series.signature, rubric_hash)
    )
