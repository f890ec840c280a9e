"""Calibrate a judge on human labels: measure agreement, correct its values and means, and certify it.

Names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.judges.calibration.agreement import Agreement, measure_agreement
    from hengwen.judges.calibration.artifact import (
        Calibration,
        is_stale,
        read_calibrations,
        rubric_hash_of,
        write_calibrations,
    )
    from hengwen.judges.calibration.certify import calibrate
    from hengwen.judges.calibration.estimates import Estimate
    from hengwen.judges.calibration.joining import JudgedAnswer
    from hengwen.judges.calibration.maps import IsotonicMap, MapReport, OrdinalMap, fit_maps
    from hengwen.judges.calibration.ppi import CorrectedMean, ppi_mean
    from hengwen.judges.calibration.remarks import Remark
    from hengwen.judges.calibration.statistics import krippendorff_alpha
    from hengwen.judges.calibration.within import CheckpointAgreement, WithinAgreement

_EXPORTS = {
    "Agreement": "agreement",
    "Calibration": "artifact",
    "CheckpointAgreement": "within",
    "CorrectedMean": "ppi",
    "Estimate": "estimates",
    "IsotonicMap": "maps",
    "JudgedAnswer": "joining",
    "MapReport": "maps",
    "OrdinalMap": "maps",
    "Remark": "remarks",
    "WithinAgreement": "within",
    "calibrate": "certify",
    "fit_maps": "maps",
    "is_stale": "artifact",
    "krippendorff_alpha": "statistics",
    "measure_agreement": "agreement",
    "ppi_mean": "ppi",
    "read_calibrations": "artifact",
    "rubric_hash_of": "artifact",
    "write_calibrations": "artifact",
}

__all__ = [
    "Agreement",
    "Calibration",
    "CheckpointAgreement",
    "CorrectedMean",
    "Estimate",
    "IsotonicMap",
    "JudgedAnswer",
    "MapReport",
    "OrdinalMap",
    "Remark",
    "WithinAgreement",
    "calibrate",
    "fit_maps",
    "is_stale",
    "krippendorff_alpha",
    "measure_agreement",
    "ppi_mean",
    "read_calibrations",
    "rubric_hash_of",
    "write_calibrations",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
