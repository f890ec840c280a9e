"""Compare two runs: test each score on common prompts, and correct the p-values for the number of tests.

Headline scores are one family, as in a report (``results/comparisons.py``): if nothing differs, at most one
comparison in twenty reports a difference. Of the other differences (breakdowns), one in twenty is false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from hengwen.monitoring.judge_trust import JudgeTrust
from hengwen.monitoring.tested_scores import Family
from hengwen.records import Run, Scale
from hengwen.results.comparisons import ALPHA, CHANGES, Comparison, compare_checkpoints, holding_zero
from hengwen.results.coverage import MIN_COVERAGE, EmptyAnswers
from hengwen.results.decide import Decision
from hengwen.results.group_comparison import GroupComparison
from hengwen.results.paired_values import PairedValues
from hengwen.results.score_series import ScoreSeries
from hengwen.stats.mean_interval import (
    Bounds,
    DifferenceInterval,
    EffectSizes,
    EqualLengthDifference,
    difference_interval,
    effect_sizes,
    equal_length_difference,
    mcnemar_p,
    precision_weights,
)
from hengwen.stats.paired import PairedTest, benjamini_hochberg, sign_flip_test, too_few
from hengwen.stats.step_down import MIN_UNITS

Weights = Literal["equal", "precision"]
ComparisonOutcome = Literal[
    "better", "worse", "mean undecided", "no difference seen", "too few", "missing scores", "not comparable"
]
"""Result of the comparison for one score. ``mean undecided``: most prompts are higher (or lower), but the
interval of the mean difference contains 0. ``missing scores``: a checkpoint has a score for fewer than 95 %
of its prompts or answers; the missing ones may be the bad ones. ``not comparable``: no test is possible."""
Problem = Literal["", "keys", "group score", "not scored", "no common prompts"]
"""Reason why a score is not comparable. ``keys``: the settings of the scorer, or the data behind the score,
differ between the runs. ``group score``: the score is one value for all answers of a task. ``not scored``: a
run does not have the score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedDifference:
    """Difference in which prompts with more repeats have more weight (see ``precision_weights``)."""

    difference: float
    p: float
    """p-value of the sign-flip test of the weighted differences, not corrected."""
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePair:
    """One score at two checkpoints, before it is tested."""

    address: str
    """``TASK/SCORE``."""
    family: Family
    task: str = ""
    scale: Scale | None = None
    values: PairedValues | None = None
    """Values of the common prompts; None if ``problem`` is ``keys``, ``group score`` or ``not scored``."""
    bounds: tuple[Bounds | None, Bounds | None] = (None, None)
    """See ``ScoreComparison.bounds``."""
    length_changes: Sequence[float] | None = None
    """Change of the mean log length of the answers to each common prompt; None if it is not known."""
    problem: Problem = ""
    detail: str = ""
    """How the settings of the scorer, or the data behind the score, differ between the runs."""

    @property
    def series(self) -> ScoreSeries | None:
        """The values of the common prompts for the test of a family; None if there are no ``values``."""
        if self.values is None:
            return None
        return ScoreSeries.of_two(self.address, self.task, self.scale, self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """The comparison of two checkpoints by one score. Differences are later minus earlier values."""

    address: str
    """``TASK/SCORE``."""
    family: Family
    outcome: ComparisonOutcome
    problem: Problem = ""
    detail: str = ""
    """How the settings of the scorer, or the data behind the score, differ between the runs; empty if they
    are equal."""
    scale: Scale | None = None
    means: tuple[float, float] | None = None
    """For each checkpoint, the mean over the common prompts."""
    coverage: tuple[float, float] = (0.0, 0.0)
    """For each checkpoint, the share of prompts with a score."""
    answer_coverage: tuple[float, float] = (0.0, 0.0)
    """For each checkpoint, the share of answers with a score, among those that both should have."""
    bounds: tuple[Bounds | None, Bounds | None] = (None, None)
    """For each checkpoint, the mean if every missing answer had the lowest value of the scale, and if it had
    the highest; None if no answer is missing or the score has no scale."""
    subsampled: int = 0
    """Number of prompts that have more repeats at one checkpoint than at the other; equally many repeats of
    both were used."""
    test: PairedTest | None = None
    """The sign-flip test, which decides on significance; None if the outcome is ``not comparable``."""
    p_adjusted: float | None = None
    """The p-value, corrected for the tests in ``family``; None if there are too few clusters for a test, and
    if the outcome is ``missing scores`` or ``not comparable``."""
    detectable: float | None = None
    """Smallest true difference that is detected with a probability of 80 % by the test of the family. None if
    all differences are equal, or if there are too few clusters."""
    level: float | None = None
    """Significance level of this score alone, of which a t test has the critical value of the family; None
    for a breakdown, and if no value is critical."""
    interval: DifferenceInterval | None = None
    """Interval of the difference in this score alone."""
    family_interval: tuple[float, float] | None = None
    """Interval of the difference for all headline scores together, never shorter than ``interval``; None for
    a breakdown, and if it is unbounded."""
    effects: EffectSizes | None = None
    mcnemar_p: float | None = None
    """p-value of McNemar's test; None if a value is neither 1 (pass) nor 0 (fail), or if prompts form
    clusters."""
    equal_length: EqualLengthDifference | None = None
    """The difference to expect if answers are equally long; None if the lengths are not known."""
    weighted: WeightedDifference | None = None
    """The weighted difference; None unless ``weights`` is ``precision`` and prompts have repeats that are
    averaged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """The comparison of two runs."""

    before: Run
    after: Run
    scores: tuple[ScoreComparison, ...]
    """The comparison of each score; first the headline scores (those of a report's summary). If the user
    named scores, only these are compared."""
    alpha: float = ALPHA
    weights: Weights = "equal"
    left_out_prompts: int = 0
    """Number of prompts that are left out, because their text, references or metadata differ between the
    runs."""
    only_common: bool = False
    """Whether only the prompts that are equal in both runs are compared."""
    unchecked: tuple[str, ...] = ()
    """Checkpoints whose runs could not be checked for comparability, because an older version of Hengwen made
    the runs without storing the data for this check."""
    groups: tuple[GroupComparison, ...] = ()
    """Tests of scores of whole sets of answers, such as diversity."""
    judges: tuple[JudgeTrust, ...] = ()
    """What is known of each judge whose scores are compared."""
    empty: tuple[EmptyAnswers, ...] = ()
    """Checkpoints and tasks of which more than 2 % of the answers are empty."""
    decision: Decision = field(default_factory=lambda: Decision(verdict="none"))
    """Which of both runs to ship, from the tests of the headline scores."""

    @property
    def headline(self) -> tuple[ScoreComparison, ...]:
        """Comparisons of the headline scores: those that the user named, else those of a report's summary."""
        return tuple(score for score in self.scores if score.family == "headline")

    @property
    def breakdown(self) -> tuple[ScoreComparison, ...]:
        """Comparisons of the scores outside a report's summary; empty if the user named the scores."""
        return tuple(score for score in self.scores if score.family == "breakdown")

    def tests(self, family: Family) -> int:
        """Return the number of tests that p-values of a family (headline or breakdown) are corrected for."""
        return sum(score.family == family and score.p_adjusted is not None for score in self.scores)


def compare_scores(
    pairs: Sequence[ScorePair], *, alpha: float = ALPHA, weights: Weights = "equal"
) -> tuple[ScoreComparison, ...]:
    """Test scores of two checkpoints, and correct the p-values for the number of tests."""
    tests = {
        index: sign_flip_test(pair.values.before, pair.values.after, pair.values.clusters)
        for index, pair in enumerate(pairs)
        if pair.values is not None and pair.values.prompts
    }
    covered = [index for index in tests if _lowest_coverage(pairs[index]) >= MIN_COVERAGE]
    breakdowns = benjamini_hochberg(
        {
            str(index): tests[index].p
            for index in covered
            if pairs[index].family == "breakdown" and not too_few(tests[index].clusters, 1, alpha)
        }
    )
    headline = [index for index in covered if pairs[index].family == "headline"]
    series = [values for index in headline if (values := pairs[index].series)]
    family = dict(zip(headline, compare_checkpoints(series, alpha), strict=True))
    level = alpha / max(1, len(breakdowns))
    return tuple(
        _untested(pair)
        if index not in tests
        else _headline(pair, tests[index], family[index], alpha, weights)
        if index in family
        else _breakdown(pair, tests[index], breakdowns.get(str(index)), alpha, level, weights)
        for index, pair in enumerate(pairs)
    )


def _lowest_coverage(pair: ScorePair) -> float:
    if pair.values is None:
        return 0.0
    return min(*pair.values.coverage, *pair.values.answer_coverage)


def _untested(pair: ScorePair) -> ScoreComparison:
    return ScoreComparison(
        address=pair.address,
        family=pair.family,
        outcome="not comparable",
        problem=pair.problem or "no common prompts",
        detail=pair.detail,
        scale=pair.scale,
        coverage=pair.values.coverage if pair.values is not None else (0.0, 0.0),
        answer_coverage=pair.values.answer_coverage if pair.values is not None else (0.0, 0.0),
    )


def _headline(
    pair: ScorePair, test: PairedTest, comparison: Comparison, alpha: float, weights: Weights
) -> ScoreComparison:
    """Return the comparison of a score of the family; its own p-value is exact, that of the family drawn."""
    p_adjusted = max(test.p, comparison.p_adjusted) if comparison.clusters >= MIN_UNITS else None
    verdict, family_interval = comparison.verdict, comparison.family_interval
    if verdict in (*CHANGES, "mean undecided") and test.p > alpha:  # at the limit, by the draw
        verdict, family_interval = "no difference seen", holding_zero(family_interval)
    return replace(
        _described(pair, test, weights),
        outcome=verdict,
        p_adjusted=p_adjusted,
        family_interval=family_interval,
        detectable=comparison.detectable,
        level=comparison.level,
    )


def _breakdown(
    pair: ScorePair, test: PairedTest, p_adjusted: float | None, alpha: float, level: float, weights: Weights
) -> ScoreComparison:
    """Return the comparison of a score outside the family, or of one with too many missing scores."""
    is_better = (test.difference > 0) == (pair.scale is None or pair.scale.higher_is_better)
    described = _described(pair, test, weights)
    bounds = described.interval.bounds if described.interval else None
    outcome: ComparisonOutcome = "no difference seen"
    if _lowest_coverage(pair) < MIN_COVERAGE:
        outcome = "missing scores"
    elif p_adjusted is None:
        outcome = "too few"
    elif p_adjusted <= alpha:
        outcome = "better" if is_better else "worse"
        if bounds is not None and bounds[0] <= 0 <= bounds[1]:
            outcome = "mean undecided"
    return replace(
        described,
        outcome=outcome,
        p_adjusted=p_adjusted,
        detectable=pair.series.detectable(0, level) if pair.series else None,
    )


def _described(pair: ScorePair, test: PairedTest, weights: Weights) -> ScoreComparison:
    """Return the comparison of a score without the results of its family."""
    values, series = pair.values, pair.series
    assert values is not None  # only pairs with values are tested
    assert series is not None
    n = len(values.prompts)
    differences = values.differences
    higher = pair.scale is None or pair.scale.higher_is_better
    effects = effect_sizes(values.before, values.after, higher_is_better=higher)
    return ScoreComparison(
        address=pair.address,
        family=pair.family,
        outcome="no difference seen",
        scale=pair.scale,
        means=(sum(values.before) / n, sum(values.after) / n),
        coverage=values.coverage,
        answer_coverage=values.answer_coverage,
        bounds=pair.bounds,
        subsampled=values.subsampled,
        test=test,
        interval=difference_interval(
            differences, values.clusters, scale=series.bounds, continuous=series.is_continuous
        ),
        effects=effects,
        mcnemar_p=mcnemar_p(effects.wins, effects.losses) if _is_pass_or_fail(values) else None,
        equal_length=None
        if pair.length_changes is None
        else equal_length_difference(differences, pair.length_changes, values.clusters),
        weighted=_weighted(values, differences) if weights == "precision" else None,
    )


def _is_pass_or_fail(values: PairedValues) -> bool:
    return set(values.before) | set(values.after) <= {0.0, 1.0} and values.cluster_count == len(
        values.prompts
    )


def _weighted(values: PairedValues, differences: Sequence[float]) -> WeightedDifference | None:
    if values.repeat_variance is None:
        return None
    repeats = [len(numbers) for numbers, _ in values.repeats]
    weights = precision_weights(differences, repeats, values.repeat_variance)
    weighted = [weight * difference for weight, difference in zip(weights, differences, strict=True)]
    test = sign_flip_test([0.0] * len(weighted), weighted, values.clusters)
    interval = difference_interval(differences, values.clusters, weights=weights)
    return WeightedDifference(difference=test.difference, p=test.p, interval=interval.t)
