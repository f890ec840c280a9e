"""``compare_runs``: test whether two runs of a store differ on their common prompts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log1p
from typing import TYPE_CHECKING, cast, get_args

from hengwen.errors import ConfigError
from hengwen.monitoring.judge_trust import judge_trust
from hengwen.monitoring.run_comparison import (
    RunComparison,
    ScoreComparison,
    ScorePair,
    Weights,
    compare_scores,
)
from hengwen.monitoring.tested_scores import Family, compare_groups, named_scores, tested_scores
from hengwen.records import Run
from hengwen.results.comparability import run_labels
from hengwen.results.comparisons import Comparison, ComparisonVerdict
from hengwen.results.coverage import MIN_COVERAGE, mean_bounds
from hengwen.results.decide import Decision, ScoreCourse, decide, margins_of
from hengwen.results.group_comparison import GroupComparison
from hengwen.results.paired_values import PairedValues, log_length_changes, pair_values
from hengwen.results.score_summaries import ScoreSummaries, signature_conflict
from hengwen.results.score_table import ScoreTable, SeriesKey
from hengwen.store import Store

if TYPE_CHECKING:
    Lengths = Mapping[str, Mapping[tuple[str, int], float]]
    """ln(1 + length) of answers, by task, then by (sample id, repeat)."""
    Compared = tuple[ScoreSummaries, ScorePair, ScoreComparison]
    """A headline score, its values in both runs, and their test."""

EQUALIZED_PARTS = ("repeats", "set size")
"""Parts of the comparability key that may differ between runs: equally many repeats of both are used, and
scores of groups of answers are not compared."""
PROMPT_PARTS = ("samples", "references")
"""Parts of the comparability key that may differ if only the common prompts of two runs are compared."""


def compare_runs(
    store: Store,
    before: str | Run | None,
    after: str | Run,
    *,
    plan: str | None = None,
    scores: Sequence[str] = (),
    common: bool = False,
    weights: Weights = "equal",
) -> RunComparison:
    """Compare every score of two runs, on the prompts that have the score in both runs.

    A sign-flip test decides whether a score differs; it uses the sums of the differences in each cluster. The
    headline scores (those of a report's summary) are one family: their p-values are corrected by the
    step-down maximum over joint sign flips, and a verdict also needs the interval of the difference to
    exclude 0. The p-values of the other scores (breakdowns) are corrected by the method of Benjamini and
    Hochberg.

    Args:
        store: Holds the runs.
        before: Id of the earlier run, a prefix of the id, or the name of a checkpoint, which means its newest
            run; None for the baseline of the plan (``hengwen runs pin``).
        after: The later run: an id, a prefix of an id, or a checkpoint name. Differences are values of the
            later run minus values of ``before``.
        plan: Name of the plan of both runs; default: any plan.
        scores: Addresses (``TASK/SCORE``) of the only scores to compare, which then count as headline scores;
            default: all scores.
        common: If True, only the prompts are compared whose texts, references and metadata are equal in both
            runs. Scores with other differences, such as another judge, are left out. If False, an error is
            raised if prompts, references or settings differ.
        weights: ``precision`` also computes the difference in which prompts with more repeats have more
            weight. Because prompts do not count equally, this difference does not estimate the mean over
            prompts.

    Returns:
        The comparison, with one record for each score; headline scores come first.

    Raises:
        ConfigError: A run or a score does not exist, no run is pinned as the baseline, ``before`` and
            ``after`` name the same run, or the runs are not comparable.

    Examples:
        >>> from importlib.resources import files
        >>> from hengwen import compare_runs, open_store, run_plan
        >>> with open_store("sqlite://") as store:
        ...     _ = run_plan(files("hengwen.demo") / "data" / "plan.yaml", store=store)
        ...     result = compare_runs(store, "ckpt-3000", "ckpt-4000")
        >>> for score in result.headline:
        ...     if score.test is not None:  # distinct_n has one value for all answers
        ...         print(score.address, score.outcome, round(score.test.difference, 3))
        lyrics/lyric.total better 17.318
        lyrics/lyric_craft.level no difference seen 0.0
        persona/persona_generic.level worse -0.479
    """
    if weights not in get_args(Weights):
        raise ConfigError(f"weights is equal or precision, got {weights!r}")
    later = store.find(after, plan)
    runs = (_baseline(store, later) if before is None else store.find(before, plan), later)
    if runs[0].id == runs[1].id:
        if before is None:
            raise ConfigError(f"{after!r} is the pinned baseline itself ({later.id}); name another run")
        raise ConfigError(
            f"{before!r} and {after!r} are one run ({runs[0].id}); name two, see: hengwen runs list"
        )
    labels = run_labels(runs)
    collected = CollectedScores(store, runs, labels, common=common)
    selected = _selected(tested_scores(runs, collected.table), scores, labels)
    pairs = [collected.pair(score, family) for family, score in selected]
    refuse_conflicts(pairs, labels, common=common)
    compared, used = compare_scores(pairs, weights=weights), {pair.address for pair in pairs}
    groups = compare_groups(store, runs, used=used)
    headline = [
        (score, pair, result)
        for (family, score), pair, result in zip(selected, pairs, compared, strict=True)
        if family == "headline"
    ]
    return RunComparison(
        before=runs[0],
        after=runs[1],
        scores=compared,
        weights=weights,
        left_out_prompts=collected.left_out_prompts,
        only_common=common,
        unchecked=tuple(label for label, run in zip(labels, runs, strict=True) if not run.facts),
        groups=groups,
        judges=judge_trust(store, runs, used=used),
        empty=store.empty_answers(runs, labels),
        decision=decide_pair(headline, groups, labels, margins_of(runs)),
    )


def _baseline(store: Store, later: Run) -> Run:
    baseline = store.baseline(later.plan)
    if baseline is None:
        raise ConfigError(
            f"plan {later.plan!r} has no baseline: name two runs, or pin one, see: hengwen runs pin"
        )
    return baseline


def _selected(
    views: Sequence[tuple[Family, ScoreSummaries]], addresses: Sequence[str], labels: Sequence[str]
) -> list[tuple[Family, ScoreSummaries]]:
    """Return the named scores, or all scores with those of a report's summary (headline scores) first."""
    if not views:
        raise ConfigError(f"{labels[0]} and {labels[1]} have no scores to compare")
    if not addresses:
        return sorted(views, key=lambda item: item[0] != "headline")
    return named_scores(views, addresses, "compare")


def refuse_conflicts(pairs: Sequence[ScorePair], labels: Sequence[str], *, common: bool) -> None:
    """Raise an error if the settings or data of a score differ between the two runs."""
    conflicts = [pair for pair in pairs if pair.problem == "keys"]
    if not conflicts or (common and len(conflicts) < len(pairs)):
        return
    first, *others = conflicts
    more = f", and {len(others)} more" if others else ""
    other = "" if common else ", or compare what is equal (--common) or other scores (--score)"
    raise ConfigError(
        f"{labels[0]} and {labels[1]} are not comparable: {first.detail} ({first.address}{more}); "
        f"run both with the same settings{other}"
    )


@dataclass
class CollectedScores:
    """The scores that two runs have in the store."""

    store: Store
    runs: tuple[Run, Run]
    labels: Sequence[str]
    common: bool
    with_lengths: bool = True
    table: ScoreTable = field(init=False)
    lengths: tuple[Lengths, Lengths] = field(init=False)
    differing: Mapping[str, set[str]] = field(init=False)
    """By task: prompts of which the two runs have different texts, references or metadata."""

    def __post_init__(self) -> None:
        self.table = self.store.table(self.runs)
        if self.with_lengths:
            self.lengths = (_lengths(self.store, self.runs[0]), _lengths(self.store, self.runs[1]))
        self.differing = differing_prompts(self.store, self.runs) if self.common else {}

    @property
    def left_out_prompts(self) -> int:
        """Number of prompts of all tasks that differ between the two runs."""
        return sum(map(len, self.differing.values()))

    def pair(self, score: ScoreSummaries, family: Family) -> ScorePair:
        """Return the values of a score in both runs, or the reason why they cannot be compared."""
        before, after = (self.table.series.get(SeriesKey(run.id, score.id, score.kind)) for run in self.runs)
        pair = ScorePair(
            address=score.address, task=score.task, family=family, scale=score.scale, problem="not scored"
        )
        if before is None or after is None or not ("ok" in before.statuses and "ok" in after.statuses):
            return pair
        conflict = scoring_conflict(score, self.labels, common=self.common)
        if conflict:
            return replace(pair, problem="keys", detail=conflict)
        if before.is_group_score or after.is_group_score:
            return replace(pair, problem="group score")
        values = pair_values(
            before, after, differing=self.differing.get(score.task, ()), common_only=self.common
        )
        if not values.prompts:
            return replace(pair, problem="no common prompts", values=values)
        changes = self._length_changes(score.task, values) if self.with_lengths else None
        bounds = mean_bounds(before), mean_bounds(after)
        return replace(pair, problem="", values=values, bounds=bounds, length_changes=changes)

    def _length_changes(self, task: str, values: PairedValues) -> Sequence[float] | None:
        before, after = (lengths.get(task, {}) for lengths in self.lengths)
        return log_length_changes(values, before, after)


def scoring_conflict(score: ScoreSummaries, labels: Sequence[str], *, common: bool = False) -> str:
    """Return which settings or data of a score differ so that two runs are not comparable; empty if none."""
    conflict = signature_conflict(labels, score.summaries)
    if conflict:
        return conflict
    before, after = (item.comparability for item in score.summaries if item is not None)
    equal = (*EQUALIZED_PARTS, *(PROMPT_PARTS if common else ()))
    return "; ".join(
        f"{difference.part} differ: {difference.this} ({labels[0]}), {difference.that} ({labels[1]})"
        for difference in before.differences(after)
        if difference.part not in equal
    )


def _lengths(store: Store, run: Run) -> Lengths:
    from hengwen.judges.trust.biases import length_of

    lengths: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for response in store.responses(run):
        lengths[response.task][response.sample_id, response.repeat] = log1p(length_of(response.text))
    return lengths


def differing_prompts(store: Store, runs: tuple[Run, Run]) -> dict[str, set[str]]:
    """Return, by task, the prompts whose text, references or metadata differ between two runs."""
    before, after = (store.sample_hashes(run) for run in runs)
    differing: dict[str, set[str]] = defaultdict(set)
    for (task, sample), sample_hash in before.items():
        if after.get((task, sample), sample_hash) != sample_hash:
            differing[task].add(sample)
    return differing


def decide_pair(
    scores: Sequence[Compared],
    groups: Sequence[GroupComparison],
    labels: Sequence[str],
    margins: Mapping[str, float],
) -> Decision:
    """Return which of two runs to ship; ``groups`` are the tests of scores of whole sets of answers."""
    by_address = {item.address: item for item in groups}
    return decide(
        labels, [_course(item, by_address.get(item[0].address), len(groups)) for item in scores], margins
    )


def _course(compared: Compared, group: GroupComparison | None, group_tests: int) -> ScoreCourse:
    score, pair, result = compared
    is_covered = tuple(summary is not None and summary.is_covered for summary in score.summaries)
    means = tuple(summary.mean if summary else None for summary in score.summaries)
    if result.means is not None:  # of the common prompts
        means = result.means
        shares = zip(result.coverage, result.answer_coverage, strict=True)
        is_covered = tuple(min(coverages) >= MIN_COVERAGE for coverages in shares)
    return ScoreCourse(
        address=score.address,
        higher_is_better=score.higher_is_better,
        means=means,
        is_covered=is_covered,
        comparisons=_tests(result) if group is None else (group.comparison,),
        series=pair.series,
        has_conflict=pair.problem in ("keys", "no common prompts"),
        is_group=group is not None,
        group_tests=group_tests,
    )


def _tests(result: ScoreComparison) -> tuple[Comparison, ...]:
    """Return the test of a score for the decision; none if too many scores are missing."""
    if result.test is None or result.outcome == "missing scores":
        return ()
    return (
        Comparison(
            address=result.address,
            earlier=0,
            later=1,
            test=result.test,
            p_adjusted=1.0 if result.p_adjusted is None else result.p_adjusted,
            verdict=cast("ComparisonVerdict", result.outcome),
            detectable=result.detectable,
            level=result.level,
        ),
    )
