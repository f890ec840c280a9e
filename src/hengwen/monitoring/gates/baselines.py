"""Find the run that a gate compares with: the pinned run, or one named by id, checkpoint or git commit."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.io.git import resolve_ref
from hengwen.plans.gates import DEFAULT_BASELINE
from hengwen.records import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.plans.plan import Plan
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
