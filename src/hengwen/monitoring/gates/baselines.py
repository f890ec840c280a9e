"""Find the run that a gate compares with: the pinned run, or one named by id, checkpoint or git commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from hengwen.errors import ConfigError
from hengwen.io.git import resolve_ref
from hengwen.judges.calibration.certify import Calibration, is_stale, rubric_hash_of
from hengwen.monitoring.gates.results import NoCertificate
from hengwen.plans.gates import DEFAULT_BASELINE, matching
from hengwen.plans.plan import Plan
from hengwen.records import Run
from hengwen.results.aggregate import Summary, aggregate
from hengwen.results.score_table import Column, ScoreTable, SeriesKey
from hengwen.score_id import LEVEL
from hengwen.store import Store

GIT = "git:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Find the baselines with which a run is compared, and count the runs that are tested against each."""

    store: Store
    plan: Plan
    run: Run
    default: str | Run | None = None
    """Baseline for gates that do not name one; None for the pinned run of the plan."""
    known: dict[str, Run | None] = field(default_factory=dict)
    """Baselines that were found before, by name."""

    warnings: list[str] = field(default_factory=list)
    """A warning for each baseline that is named by a git commit (``git:REF``), if files of the plan differed
    from this commit at the time of the run."""

    def find(self, name: str) -> Run | None:
        """Return a baseline; None if the plan's pinned run is meant and no run is pinned."""
        if name not in self.known:
            self.known[name] = self._find(name)
        return self.known[name]

    def _find(self, name: str) -> Run | None:
        if name == DEFAULT_BASELINE:
            if self.default is None:
                return self.store.baseline(self.plan.name)
            if isinstance(self.default, Run):
                return self.default
            name = self.default
        if name.startswith(GIT):
            return self._at_commit(name.removeprefix(GIT))
        return self.store.find(name, self.plan.name)

    def count_look(self, baseline: Run) -> int:
        """Count this test, and return its number: 1 for the first run tested against the baseline."""
        when = datetime.now(UTC).isoformat(timespec="seconds")
        return self.store.count_look(look_series(baseline), self.run, when)

    def _at_commit(self, ref: str) -> Run:
        """Return the newest finished run made at a git commit, if possible of the tested checkpoint."""
        if self.plan.file is None:
            raise ConfigError(f"git:{ref} needs a plan that is a file")
        commit = resolve_ref(self.plan.file.path.resolve().parent, ref)
        runs = [
            run
            for run in self.store.runs(self.plan.name)
            if run.status == "finished" and commit in _commits(run)
        ]
        if not runs:
            raise ConfigError(
                f"git:{ref}: {self.store.name} has no finished run of plan {self.plan.name!r} at commit "
                f"{commit[:12]}; run the plan there"
            )
        # runs are sorted newest first, and min returns the first of equal runs
        baseline = min(
            runs,
            key=lambda run: (run.checkpoint != self.run.checkpoint, _commits(run)[commit], -run.order),
        )
        if _commits(baseline)[commit]:
            self.warnings.append(
                f"git:{ref}: the plan of the baseline {baseline.id}, or a file that it names, differed from "
                "the commit"
            )
        return baseline


def look_series(baseline: Run) -> str:
    """Return the text under which the store counts the runs that are tested against a baseline."""
    return f"gate {baseline.id}"


def _commits(run: Run) -> dict[str, bool]:
    """The git commits at which a run was started; True if files of the plan differed from the commit."""
    facts: Mapping[str, Any] = run.facts
    changed: dict[str, bool] = {}
    for item in facts.get("commits", []):
        changed[item["commit"]] = changed.get(item["commit"], True) and item["changed"]
    return changed


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
