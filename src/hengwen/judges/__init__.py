"""Judges that score answers: a model that reads a rubric, fixed rules without a model, or a panel of judges.

Names are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.judges.calibration.artifact import Calibration, is_stale, read_calibrations
    from hengwen.judges.calibration.certify import calibrate
    from hengwen.judges.calibration.ppi import ppi_mean
    from hengwen.judges.pairwise.judge import PairJudge, PairOpinion
    from hengwen.judges.panel import Panel
    from hengwen.judges.rubric.judge import RubricJudge
    from hengwen.judges.rules.capped_judge import CappedJudge
    from hengwen.judges.rules.judge import RulesJudge
    from hengwen.judges.trust.admission_run import admission_test
    from hengwen.judges.trust.biases import (
        LabelledAnswer,
        PairOutcome,
        compare_pair,
        family_bias,
        length_bias,
        position_bias,
    )

_EXPORTS = {
    "Calibration": "calibration.artifact",
    "CappedJudge": "rules.capped_judge",
    "LabelledAnswer": "trust.biases",
    "PairJudge": "pairwise.judge",
    "PairOpinion": "pairwise.judge",
    "PairOutcome": "trust.biases",
    "Panel": "panel",
    "RubricJudge": "rubric.judge",
    "RulesJudge": "rules.judge",
    "admission_test": "trust.admission_run",
    "calibrate": "calibration.certify",
    "compare_pair": "trust.biases",
    "family_bias": "trust.biases",
    "is_stale": "calibration.artifact",
    "length_bias": "trust.biases",
    "position_bias": "trust.biases",
    "ppi_mean": "calibration.ppi",
    "read_calibrations": "calibration.artifact",
}

__all__ = [
    "Calibration",
    "CappedJudge",
    "LabelledAnswer",
    "PairJudge",
    "PairOpinion",
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
    __getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
