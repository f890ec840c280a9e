"""``ReportData``: everything from which the document of runs is built."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.documents.run.answers import AnswerList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.documents.run.answers import AnswerSource
    from hengwen.judges.calibration import Calibration
    from hengwen.records import Run, Usage
    from hengwen.results.score_table import ScoreTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """Everything from which the document of runs is built."""

    plan: str
    runs: tuple[Run, ...]
    """Runs in training order."""
    table: ScoreTable
    order_problem: str = ""
    """Reason why the order of the runs is not known; empty if it is known."""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    """Calls and tokens by role: ``judge``, or ``subject`` (the model under test)."""
    warnings: tuple[str, ...] = ()
    answers: AnswerSource = field(default_factory=AnswerList)
    calibrations: tuple[Calibration, ...] = ()
    """How well judges agree with human labels."""
    created: str = ""
    """Time of creation, in ISO 8601."""
    version: str = ""
    """Version of Hengwen."""
    baseline: str = ""
    """Id of the run that is pinned as the baseline; empty if none of these runs is pinned."""
    pending_calls: int = 0
    """Number of calls that have no reply yet after an import of batch replies; 0 for any other report."""

    @property
    def baseline_index(self) -> int:
        """Index of the run with which the last checkpoint is compared; 0 if no run is pinned as baseline."""
        return next((index for index, run in enumerate(self.runs) if run.id == self.baseline), 0)
