"""Results of gates, which are conditions on the scores of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hengwen.monitoring.judge_trust import JudgeTrust
from hengwen.monitoring.run_comparison import ScoreComparison
from hengwen.plans.gates import Tier
from hengwen.records import Run, Scale
from hengwen.results.aggregate import Summary
from hengwen.results.coverage import EmptyAnswers
from hengwen.score_id import ScoreId

GateOutcome = Literal["passed", "failed", "inconclusive", "error"]
"""``inconclusive``: the data do not decide. ``error``: nothing is scored."""
TermKind = Literal["score", "coverage", "calibration", "noninferior", "no_drop"]
Reason = Literal[
    "",
    "too uncertain",
    "nothing scored",
    "low coverage",
    "no interval",
    "low confidence",
    "no baseline",
    "own baseline",
    "not comparable",
    "no values by prompt",
    "too few prompts",
    "too few checkpoints",
    "usual movement unknown",
    "order unknown",
    "no calibration",
    "stale calibration",
    "undefined agreement",
]
"""Why a condition is inconclusive or an error; empty if it passed or failed."""
NoCertificate = Literal["no calibration", "not certified", "insufficient labels", "stale calibration"]
"""Why a judge is not certified."""
_SEVERITY: Mapping[GateOutcome, int] = {"passed": 0, "inconclusive": 1, "error": 2, "failed": 3}

PASSED, ENDPOINT, FAILED, INCONCLUSIVE = 0, 1, 3, 4
"""Exit codes of ``hengwen gate``: all gates passed, no answer has a gate's score, a gate failed, a gate is
inconclusive."""


class RunCoverage(NamedTuple):
    """How many of a run's prompts and answers have a score, and what its mean may then be."""

    checkpoint: str
    address: str
    prompts: float
    """Share of the prompts that have a score."""
    answers: float
    """Share of the answers that have a score."""
    bounds: tuple[float, float] | None
    """Mean if every missing answer had the lowest value of the scale, and if it had the highest; None if the
    score has no scale, or none is missing."""

    @property
    def least(self) -> float:
        """The lower of both shares."""
        return min(self.prompts, self.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class TermResult:
    """Result of one condition of a gate; the conditions of a gate (its terms) are joined by ``and``."""

    text: str
    kind: TermKind
    outcome: GateOutcome = "inconclusive"
    task: str = ""
    """Task of the score; empty for a pattern such as ``lyrics/*``."""
    enforced: GateOutcome | None = None
    """Outcome that counts for the exit code; it ignores scores whose judge is not certified, and is None if
    no other score is left."""
    reason: Reason = ""
    detail: str = ""
    """Details of why the condition has this result, such as the failures or how two runs differ."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """Number of failures by status, if they are the reason."""
    value: float | None = None
    """Mean, coverage or agreement; for ``noninferior`` the difference from the baseline."""
    interval: tuple[float, float] | None = None
    """Confidence interval of the value; the condition must hold for both of its bounds."""
    limit: float | None = None
    """Limit of the value, in its units; None if no limit is stated."""
    confidence: float | None = None
    prompts: int | None = None
    """Number of prompts with a score; for an agreement, the number of labelled answers."""
    clusters: int | None = None
    prompt_coverage: float | None = None
    """Share of the prompts with a score; if two runs are compared, the lower share."""
    answer_coverage: float | None = None
    """Share of the answers with a score; if two runs are compared, the lower share."""
    missing: tuple[RunCoverage, ...] = ()
    """Coverage of each score and run of which too many answers have no score for a verdict."""
    p: float | None = None
    """Smallest corrected p-value of the tested scores, for ``no_drop``."""
    level: float | None = None
    """Significance level of the test; it is lower for each further run tested against the same baseline."""
    look: int | None = None
    """Number of this test: 1 for the first run that was tested against the baseline."""
    baseline: Run | None = None
    scale: Scale | None = None
    needed_prompts: int | None = None
    """Number of prompts that would decide the condition with a probability of about 80 %; None if unknown."""
    scores: tuple[ScoreComparison, ...] = ()
    """For ``no_drop``, the comparison of each score with the baseline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """Result of one gate."""

    expression: str
    tier: Tier
    """``warn`` if the plan says that the gate only warns, otherwise ``fail``."""
    outcome: GateOutcome
    enforced: GateOutcome | None
    """The outcome that counts for the exit code; None if the gate only warns."""
    terms: tuple[TermResult, ...]
    uncertified: Mapping[ScoreId, NoCertificate] = field(default_factory=dict)
    """Scores of the gate whose judges are not certified, and why."""

    @property
    def only_warns(self) -> bool:
        """Whether ``enforced`` (the outcome for the exit code) is None or less severe than ``outcome``."""
        return self.outcome != self.enforced


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """Results of the gates of a plan for one run."""

    plan: str
    run: Run
    gates: tuple[GateResult, ...]
    warnings: tuple[str, ...] = ()
    judges: tuple[JudgeTrust, ...] = ()
    """What is known of each judge whose scores the gates use."""
    empty: tuple[EmptyAnswers, ...] = ()
    """Tasks of which more than 2 % of the answers are empty."""
    rewards: tuple[str, ...] = ()
    """Addresses of the scores that the gates use and that the model was trained on."""

    @property
    def decides(self) -> bool:
        """Whether at least one gate counts for the exit code; all others only warn."""
        return any(gate.enforced for gate in self.gates)

    @property
    def exit_code(self) -> int:
        """3 if a gate failed, 1 if no answer has the score of a gate, 4 if a gate is inconclusive, else 0.

        If several of these conditions hold, the first one in this list decides. A gate that only warns
        (``enforced`` is None) never causes 3 or 4, but causes 1 if no answer has its score.
        """
        enforced = {gate.enforced for gate in self.gates}
        if "failed" in enforced:
            return FAILED
        if any(gate.outcome == "error" or gate.enforced == "error" for gate in self.gates):
            return ENDPOINT
        return INCONCLUSIVE if "inconclusive" in enforced else PASSED


def worst(outcomes: Iterable[GateOutcome]) -> GateOutcome:
    """Return the outcome of several conditions that must all hold."""
    return max(outcomes, key=_SEVERITY.__getitem__, default="passed")


def failures_text(summary: Summary | None) -> str:
    """Return the numbers of failures by status, with the first message; empty if there are no failures."""
    if summary is None:
        return ""
    counts = [f"{n} {status}" for status, n in summary.failures.items()]
    message = next(
        (summary.first_messages[name] for name in summary.failures if name in summary.first_messages), ""
    )
    return ", ".join(counts) + (f" (first: {message})" if message else "")


def nothing_scored(
    text: str, kind: TermKind, summary: Summary | None, *, addresses: Sequence[str] = ()
) -> TermResult:
    """Return the result (an error) of a condition on a score that no answer has."""
    return TermResult(
        text=text,
        kind=kind,
        outcome="error",
        enforced="error",
        reason="nothing scored",
        detail=failures_text(summary) or ", ".join(addresses),
        failures=summary.failures if summary is not None else {},
        prompts=0,
        prompt_coverage=0.0,
        answer_coverage=0.0,
    )
