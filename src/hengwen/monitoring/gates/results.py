"""Results of gates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hengwen.monitoring.compare.run_comparison import ScoreComparison
    from hengwen.monitoring.drift.score_drift import ScoreDrift
    from hengwen.plans.gates import Tier
    from hengwen.records import Run, Scale
    from hengwen.results.aggregate import Summary

Outcome = Literal["passed", "failed", "inconclusive", "error"]
"""``inconclusive``: the data do not decide. ``error``: nothing is scored."""
TermKind = Literal["score", "coverage", "calibration", "noninferior", "no_drop", "no_drift"]
Reason = Literal[
    "",
    "too uncertain",
    "nothing scored",
    "low coverage",
    "no interval",
    "no baseline",
    "own baseline",
    "not comparable",
    "no values by prompt",
    "too few prompts",
    "too few checkpoints",
    "order unknown",
    "no calibration",
    "stale calibration",
    "undefined agreement",
]
"""Why a term is inconclusive or an error; empty if it is decided."""
NoCertificate = Literal["no calibration", "not certified", "insufficient labels", "stale calibration"]
"""Why a judge is not certified."""
_SEVERITY: Mapping[Outcome, int] = {"passed": 0, "inconclusive": 1, "error": 2, "failed": 3}

PASSED, ENDPOINT, FAILED, INCONCLUSIVE = 0, 1, 3, 4
"""Exit codes of a report of gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermResult:
    """Result of one term of a gate."""

    text: str
    kind: TermKind
    outcome: Outcome
    task: str = ""
    """Task of the score; empty for a pattern."""
    enforced: Outcome | None = None
    """The outcome without the scores of judges that are not certified; None if there are no other scores."""
    reason: Reason = ""
    detail: str = ""
    """More about the reason, such as the failures or how two runs differ."""
    value: float | None = None
    """Mean, coverage or agreement; for ``noninferior`` the difference from the baseline."""
    interval: tuple[float, float] | None = None
    """Interval of the value at ``confidence``; the bound that is worse decides."""
    confidence: float | None = None
    prompts: int | None = None
    """Number of prompts with a score; for an agreement, the number of labelled answers."""
    clusters: int | None = None
    prompt_coverage: float | None = None
    """Share of the prompts with a score; of two runs the lower one."""
    p: float | None = None
    """p-value of a test against a baseline: for ``no_drop`` the smallest corrected one of a fall."""
    level: float | None = None
    """Level of the test, which falls with each run that is tested against the same baseline."""
    look: int | None = None
    """Number of this run among those that were tested against the baseline, from 1."""
    baseline: Run | None = None
    scale: Scale | None = None
    needed_prompts: int | None = None
    """Number of prompts with which such data would be decided in about 80 of 100 cases; None if unknown."""
    scores: tuple[ScoreComparison, ...] = ()
    """For ``no_drop``, the tested scores."""
    drifts: tuple[ScoreDrift, ...] = ()
    """For ``no_drift``, the tested scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """Result of one gate."""

    expression: str
    tier: Tier
    """The tier of the plan. A gate on scores of judges that are not certified never fails a job."""
    outcome: Outcome
    enforced: Outcome | None
    """The outcome that counts for the exit code; None if the gate only warns."""
    terms: tuple[TermResult, ...]
    uncertified: Mapping[str, NoCertificate] = field(default_factory=dict)
    """Scores (``TASK/SCORE``) of the gate whose judges are not certified, and why."""

    @property
    def only_warns(self) -> bool:
        """Whether the outcome does not count for the exit code, at least not in this severity."""
        return self.outcome != self.enforced


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """Results of the gates of a plan for one run."""

    plan: str
    run: Run
    gates: tuple[GateResult, ...]
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """3 if a gate failed, 1 if something is not scored at all, 4 if a gate is inconclusive, else 0.

        Gates that only warn do not count, except that nothing scored is never a success.
        """
        enforced = {gate.enforced for gate in self.gates}
        if "failed" in enforced:
            return FAILED
        if any(gate.outcome == "error" or gate.enforced == "error" for gate in self.gates):
            return ENDPOINT
        return INCONCLUSIVE if "inconclusive" in enforced else PASSED


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of several conditions that must all hold.

    Examples:
        >>> worst(["passed", "inconclusive"]), worst(["error", "failed"]), worst([])
        ('inconclusive', 'failed', 'passed')
    """
    return max(outcomes, key=_SEVERITY.__getitem__, default="passed")


def failures_text(summary: Summary | None) -> str:
    """Return the failures of a score by status, with the message of the first one; empty without any."""
    if summary is None:
        return ""
    counts = [f"{n} {status}" for status, n in summary.failures.items()]
    message = next(
        (summary.first_messages[name] for name in summary.failures if name in summary.first_messages), ""
    )
    return ", ".join(counts) + (f" (first: {message})" if message else "")


def nothing_scored(text: str, kind: TermKind, summary: Summary | None) -> TermResult:
    """Return the result of a term on a score without any value; it is never a success.

    Args:
        text: The term.
        kind: Kind of the term.
        summary: Summary of the score; None if the run does not have it.
    """
    return TermResult(
        text=text,
        kind=kind,
        outcome="error",
        enforced="error",
        reason="nothing scored",
        detail=failures_text(summary),
        prompts=0,
        prompt_coverage=0.0,
    )
