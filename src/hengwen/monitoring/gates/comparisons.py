"""Evaluate conditions of gates that compare a run with a baseline, on the prompts that both answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING

import numpy as np

from hengwen.errors import ConfigError
from hengwen.monitoring.compare_runs import CollectedScores, refuse_conflicts
from hengwen.monitoring.gates.baselines import Baselines, TestedRun
from hengwen.monitoring.gates.missing_scores import (
    pair_coverage,
    removed_scores,
    select_scores,
    with_coverages,
    without_removed,
)
from hengwen.monitoring.gates.results import (
    GateOutcome,
    Reason,
    RunCoverage,
    TermResult,
    failures_text,
    nothing_scored,
    worst,
)
from hengwen.monitoring.run_comparison import ScoreComparison, ScorePair, compare_scores
from hengwen.monitoring.tested_scores import tested_scores
from hengwen.plans.gates import NoDropTerm, NonInferiorTerm
from hengwen.records import Run
from hengwen.results.aggregate import Summary, range_of, summarize_column
from hengwen.results.comparability import run_labels
from hengwen.results.comparisons import ALPHA, min_clusters
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.paired_values import PairedValues
from hengwen.results.score_summaries import ScoreSummaries
from hengwen.results.score_table import SeriesKey
from hengwen.score_id import split_address
from hengwen.stats.mean_interval import Bounds, cluster_sums, difference_interval, jackknife
from hengwen.stats.power import POWER, MeanEstimate, alpha_at_look, least_number, power_of_t

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


MIN_CLUSTERS = 2
"""Smallest number of clusters of prompts for which a confidence interval can be computed."""


@dataclass(frozen=True, slots=True)
class PromptSample:
    """Values of prompts, from which it is estimated how a gate decides with more or fewer prompts."""

    sums: NDArray[np.float64]
    """Sum of the values of each cluster."""
    sizes: NDArray[np.float64]
    """Number of prompts of each cluster."""
    ends: tuple[float, ...] = ()
    """Values of the pseudo-clusters that widen the interval: both ends of the scale, or none."""

    @classmethod
    def of(
        cls, values: ArrayLike, clusters: Sequence[str] | None, ends: tuple[float, ...] = ()
    ) -> PromptSample:
        """Return a sample of prompts from the value and the cluster of each prompt."""
        return cls(*cluster_sums(np.asarray(values, np.float64), clusters), ends)

    @property
    def prompts(self) -> float:
        """Number of prompts of the sample."""
        return float(self.sizes.sum())

    @property
    def prompts_per_cluster(self) -> float:
        """Mean number of prompts of a cluster."""
        return self.prompts / len(self.sums)

    @property
    def fewest_prompts(self) -> int:
        """Smallest number of prompts for which a confidence interval can be computed."""
        return ceil(MIN_CLUSTERS * self.prompts_per_cluster - 1e-9)

    def clusters(self, prompts: float) -> int:
        """Return how many whole clusters a number of prompts forms, if clusters have the mean size."""
        return int(prompts / self.prompts_per_cluster + 1e-9)

    def at(self, prompts: float) -> MeanEstimate | None:
        """The estimate for a number of prompts; None if they are too few or the standard error is 0."""
        if len(self.sums) < MIN_CLUSTERS or prompts < self.fewest_prompts:
            return None
        size = np.full(len(self.ends), self.prompts_per_cluster)
        sums, sizes = np.append(self.sums, size * self.ends), np.append(self.sizes, size)
        copies = np.append(np.full(len(self.sums), prompts / self.prompts), np.ones(len(self.ends)))
        mean, error, freedom = jackknife(sums, sizes, copies)
        if error <= 1e-12 * abs(mean):
            return None
        # the variance within n clusters is on average (n - 1) / n of the true variance
        expected = 1 - self.prompts_per_cluster / prompts
        error *= sqrt(expected / (1 - 1 / len(self.sums)))
        return MeanEstimate(value=mean, error=error, freedom=freedom)

    def without_ends(self, mean: float, prompts: float) -> float:
        """The mean of the prompts alone, given a mean that includes a value at each end of the scale."""
        size = self.prompts_per_cluster
        return (mean * (prompts + size * len(self.ends)) - size * sum(self.ends)) / prompts

    def power(self, prompts: float, effect: Callable[[float], float], alpha: float) -> float:
        """Return the probability that a gate passes with a number of prompts; 0 if it cannot be computed."""
        estimate = self.at(prompts)
        if estimate is None:
            return 0.0
        return power_of_t(effect(estimate.value), estimate.error, estimate.freedom, alpha, sides=1)

    def needed_prompts(self, effect: Callable[[float], float], alpha: float) -> int | None:
        """Return the number of prompts with which a gate passes with probability .8."""
        if self.at(self.fewest_prompts) is None:
            return None
        return least_number(lambda count: self.power(count, effect, alpha) >= POWER, self.fewest_prompts)


COMPARISON_OUTCOMES: dict[str, GateOutcome] = {
    "better": "passed",
    "no difference seen": "passed",
    "worse": "failed",
    "mean undecided": "inconclusive",
    "too few": "inconclusive",
    "missing scores": "inconclusive",
    "not comparable": "inconclusive",
}
"""Outcome of ``no_drop`` for each result of the comparison of one score."""


@dataclass(frozen=True, slots=True)
class Comparer:
    """Evaluate the conditions of gates that compare one run with a baseline."""

    baselines: Baselines
    tested: TestedRun
    collected: dict[str, CollectedScores] = field(default_factory=dict)
    """Scores of the tested run and of a baseline, by the id of the baseline."""

    def result(self, term: NonInferiorTerm | NoDropTerm) -> TermResult:
        """Evaluate a ``noninferior`` or ``no_drop`` condition."""
        baseline = self.baselines.find(term.baseline)
        result = TermResult(
            text=term.text,
            kind="noninferior" if isinstance(term, NonInferiorTerm) else "no_drop",
            baseline=baseline,
        )
        if baseline is None:  # nothing was compared, so no certificate matters
            return replace(result, enforced="inconclusive", reason="no baseline")
        if baseline.id == self.tested.run.id:
            return replace(result, enforced="inconclusive", reason="own baseline")
        if isinstance(term, NonInferiorTerm):
            return self._non_inferior(term, baseline, result)
        return self._no_drop(term, baseline, result)

    def _collected(self, baseline: Run) -> tuple[CollectedScores, tuple[str, ...]]:
        runs = (baseline, self.tested.run)
        labels = run_labels(runs)
        if baseline.id not in self.collected:  # several gates may have the same baseline
            self.collected[baseline.id] = CollectedScores(
                self.baselines.store, runs, labels, common=False, with_lengths=False
            )
        return self.collected[baseline.id], labels

    def _non_inferior(self, term: NonInferiorTerm, baseline: Run, result: TermResult) -> TermResult:
        summary = self.tested.summaries.get(term.address)
        if summary is None or summary.mean is None:
            return replace(nothing_scored(term.text, "noninferior", summary), baseline=baseline)
        collected, labels = self._collected(baseline)
        views = [
            view for _, view in tested_scores(collected.runs, collected.table) if view.address == term.address
        ]
        if not views:
            return replace(result, reason="no values by prompt")
        pair = collected.pair(views[0], "headline")
        problem, detail = pair_problem([pair], labels)
        if problem:
            return replace(result, reason=problem, detail=detail)
        values = pair.values
        assert values is not None  # pair_problem found no problem
        coverages = self._coverage(collected, labels, views[0], summary)
        result = with_coverages(replace(result, scale=pair.scale), coverages)
        if result.missing:
            detail = failures_text(summary)
            return replace(result, reason="low coverage", detail=detail, failures=summary.failures)
        return self._test_margin(term, baseline, values, result, value_range(collected, views[0]))

    def _coverage(
        self, collected: CollectedScores, labels: Sequence[str], score: ScoreSummaries, summary: Summary
    ) -> tuple[RunCoverage, RunCoverage]:
        """Return the coverage of a score in the baseline and in the tested run (from its ``summary``)."""
        series = SeriesKey(collected.runs[0].id, score.id, score.kind)
        before = summarize_column(collected.table.series[series])
        return pair_coverage(labels, score.address, before, summary)

    def _test_margin(
        self,
        term: NonInferiorTerm,
        baseline: Run,
        values: PairedValues,
        result: TermResult,
        reach: Bounds | None,
    ) -> TermResult:
        scale = result.scale
        if scale is not None and term.margin >= scale.high - scale.low:
            raise ConfigError(
                f"{term.text!r}: a margin of {term.margin:g} is as wide as the scale of the score, "
                f"{scale.low:g} to {scale.high:g}"
            )
        differences = values.differences
        look = self.baselines.count_look(baseline)
        level = alpha_at_look(look)
        bounds = difference_interval(
            differences, values.clusters, scale=reach, confidence=1 - 2 * level
        ).bounds
        sign = 1 if scale is None or scale.higher_is_better else -1
        result = replace(
            result,
            value=sum(differences) / len(differences),
            interval=bounds,
            limit=-sign * term.margin,
            confidence=1 - 2 * level,
            prompts=len(differences),
            clusters=values.cluster_count,
            level=level,
            look=look,
        )
        if bounds is None:
            return replace(result, reason="no interval")
        low, high = bounds if sign > 0 else (-bounds[1], -bounds[0])
        if low >= -term.margin:
            return replace(result, outcome="passed")
        if high < -term.margin:
            return replace(result, outcome="failed")
        needed = difference_sample(values, reach).needed_prompts(lambda _: term.margin, level)
        return replace(result, reason="too uncertain", needed_prompts=needed)

    def _no_drop(self, term: NoDropTerm, baseline: Run, result: TermResult) -> TermResult:
        unscored = self.tested.unscored(term.pattern)
        if unscored:
            nothing = nothing_scored(term.text, "no_drop", None, addresses=unscored)
            return replace(nothing, baseline=baseline)
        collected, labels = self._collected(baseline)
        scores = tested_scores(collected.runs, collected.table)
        applicable = {
            address: summary
            for address, summary in self.tested.summaries.items()
            if summary.coverage is not None
        }
        selected = select_scores(term.pattern, [item for item in scores if item[1].address in applicable])
        for view in selected:
            if applicable[view.address].mean is None:
                nothing = nothing_scored(term.text, "no_drop", applicable[view.address])
                return replace(nothing, baseline=baseline)
        pairs = [collected.pair(view, "headline") for view in selected]
        pairs = [pair for pair in pairs if pair.problem != "group score"]
        if not pairs:
            return replace(result, reason="no values by prompt")
        problem, detail = pair_problem(pairs, labels)
        if problem:
            return replace(result, reason=problem, detail=detail)
        look = self.baselines.count_look(baseline)
        level = alpha_at_look(look)
        coverages = {
            view.address: self._coverage(collected, labels, view, applicable[view.address])
            for view in selected
        }
        comparisons = tuple(
            with_coverage(item, coverages[item.address]) for item in compare_scores(pairs, alpha=level)
        )
        result = no_drop_result(
            replace(result, level=level, look=look), comparisons, self.tested.is_certified
        )
        result = with_coverages(result, [item for pair in coverages.values() for item in pair])
        return without_removed(result, removed_scores(term.pattern, baseline, self.tested), self.tested.run)


def with_coverage(comparison: ScoreComparison, coverages: tuple[RunCoverage, RunCoverage]) -> ScoreComparison:
    """Return a comparison with the coverage of both runs."""
    before, after = coverages
    comparison = replace(
        comparison,
        coverage=(before.prompts, after.prompts),
        answer_coverage=(before.answers, after.answers),
        bounds=(before.bounds, after.bounds),
    )
    is_covered = min(before.least, after.least) >= MIN_COVERAGE
    return comparison if is_covered else replace(comparison, outcome="missing scores")


def value_range(collected: CollectedScores, score: ScoreSummaries) -> Bounds | None:
    """Return the range in which the values of a score may lie in two runs; None if they are unbounded."""
    keys = [SeriesKey(run.id, score.id, score.kind) for run in collected.runs]
    ranges = [range_of(collected.table.series[key]) for key in keys if key in collected.table.series]
    known = [item for item in ranges if item is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def difference_sample(values: PairedValues, reach: Bounds | None) -> PromptSample:
    """Return a sample of the prompts' differences, to estimate results for other numbers of prompts."""
    ends = () if reach is None else (reach[0] - reach[1], reach[1] - reach[0])
    return PromptSample.of(values.differences, values.clusters, ends)


def pair_problem(pairs: Sequence[ScorePair], labels: Sequence[str]) -> tuple[Reason, str]:
    """Return (reason, details) if the scores of two runs cannot be compared, otherwise two empty texts."""
    try:
        refuse_conflicts(pairs, labels, common=False)
    except ConfigError as error:
        return "not comparable", str(error)
    for pair in pairs:
        if pair.problem == "group score":
            return "no values by prompt", ""
        if pair.problem:
            return "not comparable", f"{pair.address}: {pair.problem}"
    return "", ""


def comparison_outcome(item: ScoreComparison, least: int) -> GateOutcome:
    """Return the outcome of ``no_drop`` for one score."""
    # A score that changes on few of many prompts has not dropped; there are too few prompts only where not
    # even a change of all would be significant.
    if item.outcome == "too few" and item.test and item.test.clusters >= least:
        return "passed"
    return COMPARISON_OUTCOMES[item.outcome]


def no_drop_result(
    result: TermResult, comparisons: tuple[ScoreComparison, ...], is_certified: Callable[[str], bool]
) -> TermResult:
    """Return the result of ``no_drop``, computed from the comparison of each score with the baseline."""
    tasks = {split_address(item.address)[0] for item in comparisons}
    least = min_clusters(max(1, len(tasks)), result.level or ALPHA)
    outcomes = [comparison_outcome(item, least) for item in comparisons]
    enforced = [
        outcome for outcome, item in zip(outcomes, comparisons, strict=True) if is_certified(item.address)
    ]
    outcome = worst(outcomes)
    tested = [item for item in comparisons if item.test is not None]
    reason: Reason = ""
    if outcome == "inconclusive":
        seen = {item.outcome for item in comparisons}
        reason = "too uncertain" if "mean undecided" in seen else "too few prompts"
        reason = "low coverage" if "missing scores" in seen else reason
    return replace(
        result,
        outcome=outcome,
        enforced=worst(enforced) if enforced else None,
        reason=reason,
        p=min((item.p_adjusted for item in tested if item.p_adjusted is not None), default=None),
        prompts=min((item.test.prompts for item in tested if item.test), default=0),
        clusters=min((item.test.clusters for item in tested if item.test), default=0),
        scores=comparisons,
    )
