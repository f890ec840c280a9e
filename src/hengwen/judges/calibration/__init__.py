"""Calibrate a judge on human labels: measure agreement, correct its values and means, and certify it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.judges.calibration.agreement import (
        Agreement as Agreement,
        measure_agreement as measure_agreement,
    )
    from hengwen.judges.calibration.certify import (
        Calibration as Calibration,
        is_stale as is_stale,
        read_calibrations as read_calibrations,
        rubric_hash_of as rubric_hash_of,
        write_calibrations as write_calibrations,
    )
    from hengwen.judges.calibration.certify import calibrate as calibrate
    from hengwen.judges.calibration.statistics import Estimate as Estimate
    from hengwen.judges.calibration.joining import JudgedAnswer as JudgedAnswer
    from hengwen.judges.calibration.means import CorrectedMean as CorrectedMean, ppi_mean as ppi_mean
    from hengwen.judges.calibration.statistics import Remark as Remark
    from hengwen.judges.calibration.statistics import krippendorff_alpha as krippendorff_alpha
    from hengwen.judges.calibration.agreement import (
        CheckpointAgreement as CheckpointAgreement,
        WithinAgreement as WithinAgreement,
    )

_EXPORTS = {
    "agreement": "Agreement CheckpointAgreement WithinAgreement measure_agreement",
    "certify": "Calibration calibrate is_stale read_calibrations rubric_hash_of write_calibrations",
    "joining": "JudgedAnswer",
    "means": "CorrectedMean ppi_mean",
    "statistics": "Estimate Remark krippendorff_alpha",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
