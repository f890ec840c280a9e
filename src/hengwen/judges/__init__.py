"""Who gives verdicts: a model that reads a rubric, rules that need none, panels. Names load on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.lazy import lazy_exports

if TYPE_CHECKING:
    from hengwen.judges.admission import admission_test
    from hengwen.judges.biases import (
        LabelledAnswer,
        PairOutcome,
        compare_pair,
        family_bias,
        length_bias,
        position_bias,
    )
    from hengwen.judges.calibration.artifact import Calibration, is_stale, read_calibrations
    from hengwen.judges.calibration.certify import calibrate
    from hengwen.judges.calibration.ppi import ppi_mean
    from hengwen.judges.final_judge import FinalJudge
    from hengwen.judges.panel import Panel
    from hengwen.judges.rubric_judge import RubricJudge
    from hengwen.judges.rules_judge import RulesJudge

_HOMES = {
    "Calibration": "calibration.artifact",
    "FinalJudge": "final_judge",
    "LabelledAnswer": "biases",
    "PairOutcome": "biases",
    "Panel": "panel",
    "RubricJudge": "rubric_judge",
    "RulesJudge": "rules_judge",
    "admission_test": "admission",
    "calibrate": "calibration.certify",
    "compare_pair": "biases",
    "family_bias": "biases",
    "is_stale": "calibration.artifact",
    "length_bias": "biases",
    "position_bias": "biases",
    "ppi_mean": "calibration.ppi",
    "read_calibrations": "calibration.artifact",
}

__all__ = [
    "Calibration",
    "FinalJudge",
    "LabelledAnswer",
    "PairOutcome",
    "Panel",
    "RubricJudge",
    "RulesJudge",
    "admission_test",
    "calibrate",
    "compare_pair",
    "family_bias",
    "is_stale",
    "length_bias",
    "position_bias",
    "ppi_mean",
    "read_calibrations",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_exports(__name__, _HOMES)
