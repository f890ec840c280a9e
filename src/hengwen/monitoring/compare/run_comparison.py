"""Compare two runs: test each score on common prompts, and correct the p-values for the number of tests.

The scores form two families. The headline scores are those of a report's summary, or those that the user
named. Their p-values are corrected by Holm's method: if no score truly differs, at most one comparison in
twenty reports a difference. The p-values of the other scores (breakdowns) are corrected by the method of
Benjamini and Hochberg: on average, at most one in twenty of the reported differences is false.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from hengwen.results.comparisons import ALPHA, MIN_PROMPT_COVERAGE
from hengwen.stats.difference_interval import DifferenceInterval, difference_interval
from hengwen.stats.effect_sizes import EffectSizes, effect_sizes, mcnemar_p
from hengwen.stats.equal_length import EqualLengthDifference, equal_length_difference
from hengwen.stats.level_weights import precision_weights
from hengwen.stats.paired import (
    PairedTest,
    benjamini_hochberg,
    enough_clusters,
    holm,
    sign_flip_test,
    too_few,
)
from hengwen.stats.power import detectable_difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.monitoring.judge_trust import JudgeTrust
    from hengwen.monitoring.tested_scores import Family
    from hengwen.records import Run, Scale
    from hengwen.results.paired_values import PairedValues
    from hengwen.stats.mean_interval import Bounds

Weights = Literal["equal", "precision"]
ComparisonOutcome = Literal[
    "better", "worse", "no difference seen", "too few", "missing scores", "not comparable"
]
"""Result of the comparison for one score. ``missing scores``: a checkpoint has a score for fewer than 95 % of
its prompts or answers; the missing ones may be the bad ones. ``not comparable``: no test is possible."""
Problem = Literal["", "keys", "group score", "not scored", "no common prompts"]
"""Reason why a score is not comparable. ``keys``: the settings of the scorer, or the data behind the score,
differ between the runs. ``group score``: the score is one value for all answers of a task. ``not scored``: a
run does not have the score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedDifference:
    """Difference in which prompts with more repeats have more weight (see ``precision_weights``)."""

    difference: float
    p: float
    """The p-value of the sign-flip test of the weighted differences, not corrected for the number of
    tests."""
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePair:
    """One score at two checkpoints, before it is tested."""

    address: str
    """``TASK/SCORE``."""
    family: Family
    scale: Scale | None = None
    values: PairedValues | None = None
    """Values of the common prompts; None if ``problem`` is ``keys``, ``group score`` or ``not scored``."""
    bounds: tuple[Bounds | None, Bounds | None] = (None, None)
    """For each checkpoint, the mean if every missing answer had the lowest value of the scale, and if it had
    the highest; None if no answer is missing or the score has no scale."""
    length_changes: Sequence[float] | None = None
    """Change of the mean log length of the answers to each common prompt; None if it is not known."""
    problem: Problem = ""
    detail: str = ""
    """How the settings of the scorer, or the data behind the score, differ between the runs; empty if they
    are equal."""


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
    """The p-value, corrected for the number of tests in ``family``; None if the outcome is ``too few``,
    ``missing scores`` or ``not comparable``."""
    detectable: float | None = None
    """Smallest true difference that is detected with a probability of 80 %, if the significance level is
    divided by the number of tests in the family. None if all differences are equal, or if there are fewer
    than two clusters."""
    interval: DifferenceInterval | None = None
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
    judges: tuple[JudgeTrust, ...] = ()
    """What is known of each judge whose scores are compared."""

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
    sizes: dict[Family, int] = {}
    adjusted: dict[str, float] = {}
    for family in ("headline", "breakdown"):
        members = [
            index
            for index in tests
            if pairs[index].family == family and _lowest_coverage(pairs[index]) >= MIN_PROMPT_COVERAGE
        ]
        counts = [tests[index].clusters for index in members]
        enough = (
            enough_clusters(counts, alpha)
            if family == "headline"
            else [not too_few(count, 1, alpha) for count in counts]
        )
        p_values = {
            str(index): tests[index].p for index, is_enough in zip(members, enough, strict=True) if is_enough
        }
        sizes[family] = len(p_values)
        adjusted |= holm(p_values) if family == "headline" else benjamini_hochberg(p_values)
    return tuple(
        _comparison(
            pair,
            tests[index],
            adjusted.get(str(index)),
            alpha,
            alpha / max(1, sizes[pair.family]),
            weights,
        )
        if index in tests
        else _untested(pair)
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


def _comparison(
    pair: ScorePair,
    test: PairedTest,
    p_adjusted: float | None,
    alpha: float,
    level: float,
    weights: Weights,
) -> ScoreComparison:
    values = pair.values
    assert values is not None  # only pairs with values are tested
    n = len(values.prompts)
    differences = values.differences
    higher = pair.scale is None or pair.scale.higher_is_better
    bounds = None if pair.scale is None else (pair.scale.low, pair.scale.high)
    is_continuous = pair.scale is not None and not pair.scale.discrete
    effects = effect_sizes(values.before, values.after, higher_is_better=higher)
    return ScoreComparison(
        address=pair.address,
        family=pair.family,
        outcome=_outcome(pair, test, p_adjusted, alpha, higher_is_better=higher),
        scale=pair.scale,
        means=(sum(values.before) / n, sum(values.after) / n),
        coverage=values.coverage,
        answer_coverage=values.answer_coverage,
        bounds=pair.bounds,
        subsampled=values.subsampled,
        test=test,
        p_adjusted=p_adjusted,
        detectable=detectable_difference(
            differences,
            values.clusters,
            level,
            span=inf if bounds is None else bounds[1] - bounds[0],
            continuous=is_continuous,
        ),
        interval=difference_interval(
            differences,
            values.clusters,
            scale=bounds,
            continuous=is_continuous,
        ),
        effects=effects,
        mcnemar_p=mcnemar_p(effects.wins, effects.losses) if _is_pass_or_fail(values) else None,
        equal_length=None
        if pair.length_changes is None
        else equal_length_difference(differences, pair.length_changes, values.clusters),
        weighted=_weighted(values, differences) if weights == "precision" else None,
    )


def _outcome(
    pair: ScorePair, test: PairedTest, p_adjusted: float | None, alpha: float, *, higher_is_better: bool
) -> ComparisonOutcome:
    if _lowest_coverage(pair) < MIN_PROMPT_COVERAGE:
        return "missing scores"
    if p_adjusted is None:
        return "too few"
    if p_adjusted > alpha:
        return "no difference seen"
    return "better" if (test.difference > 0) == higher_is_better else "worse"


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
