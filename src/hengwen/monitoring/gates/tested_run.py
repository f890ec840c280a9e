"""``TestedRun``: the scores of the run that gates check, and whether the judges that gave them are certified.

Gates on the scores of a judge that is not certified only warn. The rules judge needs a certificate too: its
levels are repeatable, but only a comparison with people shows whether the levels are right. ``hengwen
calibrate`` certifies judges.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from hengwen.judges.calibration.artifact import is_stale, rubric_hash_of
from hengwen.plans.gates import matching
from hengwen.results.aggregate import aggregate
from hengwen.score_id import LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.judges.calibration.artifact import Calibration
    from hengwen.monitoring.gates.results import NoCertificate
    from hengwen.records import Run
    from hengwen.results.aggregate import Summary
    from hengwen.results.score_table import Column, ScoreTable, SeriesKey
    from hengwen.store import Store


@dataclass
class TestedRun:
    """The scores of a run by their addresses (``TASK/SCORE``)."""

    __test__ = False

    run: Run
    store: Store
    calibrations: Mapping[str, Calibration]
    table: ScoreTable = field(init=False)
    summaries: Mapping[str, Summary] = field(init=False)
    keys: Mapping[str, SeriesKey] = field(init=False)

    def __post_init__(self) -> None:
        self.table = self.store.table([self.run])
        by_key = {key: item for key, item in aggregate(self.table).items() if key.score.is_of_run}
        self.summaries = {key.address: self._with_prompts(key, summary) for key, summary in by_key.items()}
        self.keys = {key.address: key for key in by_key}

    def _with_prompts(self, key: SeriesKey, summary: Summary) -> Summary:
        """Return a summary; for a score of a group of answers, add the number of answered prompts."""
        expected = self.table.series[key].sample_count
        if summary.mean is None or summary.prompts_expected is not None or expected is None:
            return summary
        return replace(summary, prompts=self.answered[key.task], prompts_expected=expected)

    @cached_property
    def answered(self) -> Counter[str]:
        """Number of prompts that have an answer, by task."""
        return Counter(task for task, _ in self.store.sample_hashes(self.run))

    @property
    def addresses(self) -> list[str]:
        """Addresses of the scores that the run's plan names or that the run contains."""
        return list(dict.fromkeys((*self.run.score_order, *self.keys)))

    def column(self, address: str) -> Column:
        """Return the scores and failures at an address that the run contains."""
        return self.table.series[self.keys[address]]

    def unscored(self, pattern: str) -> list[str]:
        """Return the matching addresses that the run's plan names, but that have no rows in the run."""
        return [item for item in matching(pattern, self.run.score_order) if item not in self.summaries]

    def is_certified(self, address: str) -> bool:
        """Return False if a judge gave the score and is not certified."""
        return self.certificate_problem(address) is None

    def certificate_problem(self, address: str) -> NoCertificate | None:
        """Return why the judge of a score is not certified; None if it is, or if no judge gave the score."""
        series = self.keys.get(address)
        if series is None or series.kind != "judge":
            return None
        score = series.score
        calibrated = series._replace(score=score.with_part(LEVEL)) if score.is_derived else series
        calibration = self.calibrations.get(calibrated.address)
        if calibration is None:
            return "no calibration"
        column = self.table.series.get(calibrated)
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
