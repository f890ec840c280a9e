"""Judges that score answers: a model that reads a rubric, fixed rules without a model, or a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen._internal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hengwen.judges.calibration.certify import (
        Calibration as Calibration,
        is_stale as is_stale,
        read_calibrations as read_calibrations,
    )
    from hengwen.judges.calibration.certify import calibrate as calibrate
    from hengwen.judges.calibration.means import ppi_mean as ppi_mean
    from hengwen.judges.pairwise import PairJudge as PairJudge, PairOpinion as PairOpinion
    from hengwen.judges.panel import Panel as Panel
    from hengwen.judges.rubric.judge import RubricJudge as RubricJudge
    from hengwen.judges.rules.capped_judge import CappedJudge as CappedJudge
    from hengwen.judges.rules.judge import RulesJudge as RulesJudge
    from hengwen.judges.trust.admission_run import admission_test as admission_test
    from hengwen.judges.trust.biases import (
        LabelledAnswer as LabelledAnswer,
        family_bias as family_bias,
        length_bias as length_bias,
    )

_EXPORTS = {
    "calibration.certify": "Calibration calibrate is_stale read_calibrations",
    "calibration.means": "ppi_mean",
    "pairwise": "PairJudge PairOpinion",
    "panel": "Panel",
    "rubric.judge": "RubricJudge",
    "rules.capped_judge": "CappedJudge",
    "rules.judge": "RulesJudge",
    "trust.admission_run": "admission_test",
    "trust.biases": "LabelledAnswer family_bias length_bias",
}

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _EXPORTS)
