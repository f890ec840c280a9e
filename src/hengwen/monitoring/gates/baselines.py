"""Find the run that a gate takes as baseline: a pinned run, a run, a checkpoint, or a git commit."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hengwen.errors import ConfigError
from hengwen.io.git import resolve_ref
from hengwen.plans.gates import DEFAULT_BASELINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hengwen.plans.plan import Plan
    from hengwen.records import Run
    from hengwen.store import Store

GIT = "git:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Find baselines of one run, and count the runs that are tested against each."""

    store: Store
    plan: Plan
    run: Run
    default: str | None = None
    """Baseline of gates that name none; None for the pinned run of the plan."""
    repeated: Mapping[str, Run] = field(default_factory=dict)
    """For the id of a baseline, a later run of its checkpoint with more repeats, which replaces its data."""
    known: dict[str, Run | None] = field(default_factory=dict)
    """Baselines by name. They stay the same when ``--confirm`` adds a newer run of their checkpoint."""

    def find(self, name: str) -> Run | None:
        """Return a baseline, or None if the default is meant and no run is pinned.

        Args:
            name: ``baseline`` for the default, otherwise a run id, a prefix of one, a checkpoint (its newest
                run) or ``git:REF``.

        Raises:
            ConfigError: There is no such run or commit.
        """
        if name not in self.known:
            self.known[name] = self._find(name)
        return self.known[name]

    def _find(self, name: str) -> Run | None:
        if name == DEFAULT_BASELINE:
            if self.default is None:
                return self.store.baseline(self.plan.name)
            name = self.default
        if name.startswith(GIT):
            return self._at_commit(name.removeprefix(GIT))
        return self.store.find(name, self.plan.name)

    def data_of(self, baseline: Run) -> Run:
        """Return the run that has the answers of a baseline: itself, or a run with more repeats."""
        return self.repeated.get(baseline.id, baseline)

    def count_look(self, baseline: Run) -> int:
        """Return the number of this run among the runs that are tested against a baseline, from 1."""
        when = datetime.now(UTC).isoformat(timespec="seconds")
        return self.store.count_look(look_series(baseline), self.run, when)

    def _at_commit(self, ref: str) -> Run:
        """Return the newest finished run at a commit, of the same checkpoint if there is one."""
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
        # runs are sorted newest first, and the sort is stable
        return min(
            runs,
            key=lambda run: (run.checkpoint != self.run.checkpoint, -run.order, _commits(run)[commit]),
        )


def look_series(baseline: Run) -> str:
    """Return the name of the series of runs that are tested against a baseline."""
    return f"gate {baseline.id}"


def _commits(run: Run) -> dict[str, bool]:
    """Return the commits of a run, and whether files of the plan differed from it."""
    facts: Mapping[str, Any] = run.facts
    return {item["commit"]: item["changed"] for item in facts.get("commits", [])}
