"""Check whether judges are certified, that is, whether human labels showed that they agree with people.

Gates on the scores of a judge that is not certified only warn. The rules judge needs a certificate too: its
levels are repeatable, but only a comparison with people shows whether the levels are right. ``hengwen
calibrate`` certifies judges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.judges.calibration.artifact import is_stale, rubric_hash_of
from hengwen.score_id import LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.judges.calibration.artifact import Calibration
    from hengwen.monitoring.gates.results import NoCertificate
    from hengwen.results.score_table import Column, SeriesKey


def certificate_problem(
    series: SeriesKey, columns: Mapping[SeriesKey, Column], calibrations: Mapping[str, Calibration]
) -> NoCertificate | None:
    """Return why the judge of a score is not certified; None if it is, or if no judge gave the score."""
    if series.kind != "judge":
        return None
    score = series.score
    calibrated = series._replace(score=score.with_part(LEVEL)) if score.is_derived else series
    calibration = calibrations.get(calibrated.address)
    if calibration is None:
        return "no calibration"
    column = columns.get(calibrated)
    if column is None or stale_parts(calibration, column):
        return "stale calibration"
    if calibration.decision == "certified":
        return None
    return "not certified" if calibration.decision == "not certified" else "insufficient labels"


def stale_parts(calibration: Calibration, column: Column) -> list[str]:
    """Return how the judge that gave the scores differs from the calibrated judge; empty if they agree."""
    return [
        difference
        for signature in sorted(column.signatures)
        for difference in is_stale(
            calibration, signature.partition("|repeats:")[0], rubric_hash_of(signature)
        )
    ]
