"""Records of a drift report: whether checkpoints differ, whether a score drifts, and the deciding tests.

Tests that compare prompts answer the first question: do these checkpoints differ on prompts like these? Tests
that compare checkpoints answer the second question: is a difference more than checkpoints usually move?
Neighbouring checkpoints always differ a little, so only tests that compare checkpoints decide whether a
difference is a drift.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hengwen.monitoring.judge_trust import JudgeTrust
from hengwen.records import Kind, Run, Scale
from hengwen.relevance_metrics import RankingComparison
from hengwen.relevance_metrics.trajectory import Trajectory
from hengwen.results.comparisons import ALPHA, Comparison, family_size
from hengwen.results.coverage import EmptyAnswers
from hengwen.results.decide import Decision
from hengwen.results.group_comparison import GroupComparison
from hengwen.stats.checkpoints import ChangePoint, NewestTest, SlopeTest, VarianceBySource
from hengwen.stats.mean_interval import DifferenceInterval, EffectSizes

MIN_MANN_KENDALL = 5
"""Minimum number of checkpoints of the Mann-Kendall test; with 4, the smallest p-value is .083."""

DiffersAnswer = Literal[
    "differ", "no difference seen", "too few prompts", "missing scores", "not comparable", "one checkpoint"
]
"""Answer to the question whether checkpoints differ. ``too few prompts``: between the newest checkpoint and
the best seen before it, no difference could have been seen. ``missing scores``: the newest has a score
for fewer than 95 % of its prompts. ``not comparable``: the score has no values for single prompts, or no
other checkpoint is comparable."""
DriftAnswer = Literal[
    "drift",
    "no change beyond the usual movement seen",
    "cannot be told from the usual movement",
    "order unknown",
    "missing scores",
    "not comparable",
    "one checkpoint",
]
"""Answer to the question whether a score drifts, that is, moves more than checkpoints usually move. ``cannot
be told from the usual movement``: there are fewer than 5 checkpoints (with 4, only a newest mean far from the
others is a drift), or the usual movement is unknown. The usual movement is unknown in two cases: all means
lie on one rising or falling line, or all means before the newest are equal and have no known error."""
DriftDirection = Literal["better", "worse", "mixed", ""]
"""DriftDirection of a drift. ``mixed``: both the trend and the newest mean drift, in opposite directions."""
Problem = Literal["", "group score", "coverage", "keys", "not scored"]
"""Reason why a score, or one of its checkpoints, is left out of the tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A checkpoint that the tests of a score leave out."""

    checkpoint: str
    problem: Problem
    """``coverage``: at this checkpoint, fewer than 95 % of the prompts, or of the answers, have a score. A
    prompt or answer that this checkpoint did not evaluate counts as one without a score if another checkpoint
    with the same scorer and data evaluated it. ``keys``: the scorer or the data differ from those of the
    newest checkpoint."""
    detail: str = ""
    """How the scorer or the data differ from those of the newest checkpoint; empty if they do not differ."""
    coverage: float | None = None
    """Share of the prompts with a score; None if the checkpoint does not have the score."""
    answer_coverage: float | None = None
    """Share of the answers with a score; None if the checkpoint does not have the score."""
    bounds: tuple[float, float] | None = None
    """Mean if every missing answer had the lowest value of the scale, and if it had the highest; None if the
    scorer or the data differ, or without a scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMean:
    """The mean of a score at one checkpoint."""

    checkpoint: str
    mean: float
    """Mean over prompts, adjusted for missing prompts; without missing prompts it is the plain mean."""
    prompts: int
    """Number of prompts with a score."""
    coverage: float
    """Share of the prompts with a score."""
    answer_coverage: float
    """Share of the answers with a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDifference:
    """Comparison of the newest checkpoint with the baseline, on the prompts that both have scores for."""

    baseline: tuple[str, ...]
    """Checkpoints that form the baseline; several are averaged if they show no drift among themselves."""
    newest: str
    means: tuple[float, float]
    """Mean over the common prompts at the baseline and at the newest checkpoint."""
    difference: float
    """Newest minus baseline."""
    interval: DifferenceInterval
    p: float
    """p-value, not corrected: of the sign-flip test, or, for the mean of several checkpoints, of the exchange
    of values within prompts."""
    p_adjusted: float | None
    """p-value corrected for all tests whether checkpoints differ; None if there are too few prompts."""
    detectable: float | None
    """Smallest true difference that is detected with a probability of 80 %; None if all differences are
    equal, or if there are fewer than two clusters."""
    effects: EffectSizes
    prompts: int
    clusters: int
    subsampled: int
    """Number of prompts that have more repeats at one checkpoint than at another; equally many repeats of
    each were used."""

    def is_change(self, alpha: float) -> bool:
        """Return whether the newest checkpoint differs: p is up to ``alpha``, and the interval excludes 0."""
        bounds = self.interval.bounds
        is_apart = bounds is None or bounds[0] > 0 or bounds[1] < 0
        return self.p_adjusted is not None and self.p_adjusted <= alpha and is_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class MannKendall:
    """The Mann-Kendall test whether the checkpoint means rise or fall; it uses the number of inversions."""

    s: int
    """Number of pairs of checkpoints in which the later mean is higher, minus the number in which it is
    lower."""
    tau_b: float | None
    """Kendall's tau-b against the training order; None if all means are equal."""
    p: float
    """Two-sided p-value over all orders of the means. If some means are equal, or there are more than 170
    means, it is the p-value of the inversions in ``ScoreDrift.course``. The Mann-Kendall test has no
    influence on whether a score counts as drifting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTests:
    """Tests whether a score drifts; only ``slope`` and ``newest`` decide."""

    independent: SlopeTest | None
    """Test of the slope for checkpoints that scatter independently, which overstates the evidence where
    neighbours move together; it does not decide. None if all means lie on one line."""
    slope: SlopeTest | None
    """Test of the slope that allows for neighbours that move together; None below 5 checkpoints, or if all
    means lie on one line."""
    slope_p_adjusted: float | None
    """p-value of ``slope``, corrected by Holm's method for the two deciding tests (slope and newest mean) of
    all scores."""
    slope_detectable: float | None
    """Smallest total rise or fall of the fitted line that is detected with a probability of 80 %."""
    newest: NewestTest | None
    """Test of the newest mean against the earlier ones; None if the earlier means are equal and have no known
    error."""
    newest_p_adjusted: float | None
    newest_detectable: float | None
    jump: NewestTest | None
    """Test of the last step against the root mean square of the steps before it, which holds its level also
    where neighbours move together; it does not decide. None below 5 checkpoints."""
    mean_error: float | None
    """Standard error of a checkpoint's mean, without the variance between prompts, because all checkpoints
    answer the same prompts. The test ``newest`` never uses a standard deviation below this value. None if the
    score is one value for all answers, or if there are too few independent prompts."""
    mann_kendall: MannKendall | None
    """The Mann-Kendall test; None below 5 checkpoints."""
    change_point: ChangePoint | None
    """Pettitt's test; None below 8 checkpoints, or if all means are equal. Pettitt's test has no influence on
    whether a score counts as drifting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """The answer that a score would have if one checkpoint had not been evaluated."""

    checkpoint: str
    drifts: DriftAnswer
    direction: DriftDirection


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptChange:
    """The change of one prompt from the baseline to the newest checkpoint; exploratory, without a test."""

    prompt: str
    change: float
    """Newest minus baseline."""
    shrunken: float
    """The change, drawn towards the mean change of all prompts; the more the repeats of a prompt vary, the
    nearer to the mean change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAgreement:
    """Comparison of a ranking by humans with the ranking by the score."""

    checkpoint: str
    """Checkpoint whose prompts or answers are ranked; empty if the checkpoints themselves are ranked."""
    ranking: RankingComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDrift:
    """Whether checkpoints differ in one score and whether the score drifts, with the tests that decide."""

    address: str
    """``TASK/SCORE``."""
    differs: DiffersAnswer
    drifts: DriftAnswer
    direction: DriftDirection = ""
    """DriftDirection of a drift, by the tests that are significant; empty without a drift."""
    problem: Problem = ""
    """Reason why the score is not comparable, or why its prompts cannot be compared; otherwise empty."""
    kind: Kind = "scorer"
    scale: Scale | None = None
    means: tuple[CheckpointMean, ...] = ()
    """Means of the tested checkpoints, in training order if it is known."""
    left_out: tuple[LeftOut, ...] = ()
    difference: BaselineDifference | None = None
    comparisons: tuple[Comparison, ...] = ()
    """Paired tests of all pairs of tested checkpoints; ``earlier`` and ``later`` are positions in ``means``.
    p-values hold for all tests of the first question."""
    steps: StepTests | None = None
    omissions: tuple[Omission, ...] = ()
    """Checkpoints before the newest without which ``drifts`` or ``direction`` would be another; from 6
    checkpoints on."""
    course: Trajectory | None = None
    """Metrics of the sequence of checkpoint means in training order. None if the training order is not known,
    the newest checkpoint is not tested, or fewer than 3 checkpoints are tested."""
    changes: tuple[PromptChange, ...] = ()
    """Prompts with the largest rises and falls, by ``PromptChange.shrunken``; the largest rise comes
    first."""
    prompts_vary: bool = True
    """Whether the changes of prompts vary more than the repeats of a prompt do; if not, ``changes`` is
    empty."""
    shrunken: bool = False
    """Whether ``changes`` are shrunken (drawn towards the mean change), which needs prompts with several
    repeats."""
    variance: VarianceBySource | None = None
    human: tuple[HumanAgreement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """Number of the newest run among the runs tested against the baseline, and its significance levels.

    Runs are counted separately for the two questions of a drift report: whether checkpoints differ, and
    whether a score drifts. A look is the test of one run; the significance level falls with every look.
    """

    differ: int | None
    """Number of the newest run (from 1) among the runs that were tested for a difference from this baseline;
    None if no test was possible."""
    differ_alpha: float | None
    """Significance level at which the newest run is tested for a difference; None if no test was possible.
    The level holds for the tests of all scores together."""
    drift: int | None
    drift_alpha: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """Whether checkpoints differ and whether scores drift, for the tested scores of runs of one plan."""

    runs: tuple[Run, ...]
    """Runs from the baseline on; if the training order is known, they are sorted by it, the newest last."""
    labels: tuple[str, ...]
    """Name of each run in the report."""
    pinned: bool
    """Whether the baseline was named or pinned; otherwise it is the first checkpoint."""
    before_baseline: tuple[str, ...]
    """Checkpoints that are left out because they come before the baseline."""
    order_problem: str
    """Reason why the training order is not known; empty if it is known."""
    looks: Looks
    scores: tuple[ScoreDrift, ...]
    other_scores: tuple[str, ...]
    """Addresses of the scores that are not tested; to test them, name them in ``scores`` of
    ``drift_report``."""
    other_prompts: tuple[str, ...]
    """Checkpoints of the plan that are left out because their prompts differ from those of the newest run."""
    unchecked: tuple[str, ...]
    """Checkpoints whose runs could not be checked for comparability, because an older version of Hengwen made
    the runs without storing the data for this check."""
    alpha: float = ALPHA
    """Largest probability of any false alarm among all scores and all runs that are ever tested against the
    baseline. It holds separately for ``differs`` and for ``drifts`` of the scores."""
    decision: Decision
    """Which checkpoint to ship, by the tests of a report of these runs, which count no looks."""
    groups: tuple[GroupComparison, ...] = ()
    """Tests of scores of whole sets of answers, such as diversity."""
    judges: tuple[JudgeTrust, ...] = ()
    """What is known of each judge whose scores are tested."""
    empty: tuple[EmptyAnswers, ...] = ()
    """Checkpoints and tasks of which more than 2 % of the answers are empty."""

    @property
    def baseline(self) -> Run:
        """The first run of the report, with which later runs are compared."""
        return self.runs[0]

    @property
    def newest(self) -> Run:
        """The newest run, which is compared with the baseline."""
        return self.runs[-1]

    @property
    def differ_tests(self) -> int:
        """Number of tests whether checkpoints differ, for which their p-values are corrected."""
        pooled = [
            score.difference
            for score in self.scores
            if score.difference is not None and len(score.difference.baseline) > 1
        ]
        return sum(family_size(score.comparisons) for score in self.scores) + sum(
            item.p_adjusted is not None for item in pooled
        )

    @property
    def drift_tests(self) -> int:
        """Number of tests whether scores drift; Holm's method corrects for this number."""
        return sum(
            p is not None
            for score in self.scores
            if score.steps
            for p in (score.steps.slope_p_adjusted, score.steps.newest_p_adjusted)
        )
