"""Who gives verdicts: a model that reads a rubric, rules that need none, panels. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.judges.admission import admission_test
    from hengwen.judges.calibration.artifact import Calibration, is_stale, read_calibrations
    from hengwen.judges.calibration.certify import calibrate
    from hengwen.judges.calibration.ppi import ppi_mean
    from hengwen.judges.panel import Panel
    from hengwen.judges.rubric_judge import RubricJudge
    from hengwen.judges.rules_judge import RulesJudge

_HOMES = {
    "Calibration": "calibration.artifact",
    "Panel": "panel",
    "RubricJudge": "rubric_judge",
    "RulesJudge": "rules_judge",
    "admission_test": "admission",
    "calibrate": "calibration.certify",
    "is_stale": "calibration.artifact",
    "ppi_mean": "calibration.ppi",
    "read_calibrations": "calibration.artifact",
}

__all__ = [
    "Calibration",
    "Panel",
    "RubricJudge",
    "RulesJudge",
    "admission_test",
    "calibrate",
    "is_stale",
    "ppi_mean",
    "read_calibrations",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
