"""Answer the first question of a drift report: do the checkpoints differ on prompts like these?

All pairs of checkpoints and all scores are one family (``results/comparisons.py``). The newest checkpoint is
also compared with the mean of several earlier ones, which tells smaller changes. Both share the significance
level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hengwen.monitoring.drift.answers import baseline_members, obstacle_of
from hengwen.monitoring.drift.score_drift import (
    BaselineDifference,
    DiffersAnswer,
    Problem,
    PromptChange,
    ScoreDrift,
)
from hengwen.monitoring.drift.series import TestedSeries
from hengwen.results.comparisons import CHANGES, Comparison, compare_checkpoints, family_size
from hengwen.stats.checkpoints import shrink_changes
from hengwen.stats.exchange import draws_for, exchange_test
from hengwen.stats.mean_interval import DifferenceInterval, EffectSizes, difference_interval, effect_sizes
from hengwen.stats.paired import PairedTest, holm, sign_flip_test
from hengwen.stats.power import detectable_difference
from hengwen.stats.step_down import MIN_UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PAIRS_SHARE = 0.8
"""Share of the significance level for the pairs of checkpoints, if the newest one is also compared with the
mean of several."""
MAX_PROMPTS = 5
"""Maximum number of listed prompts with a rise, and also of listed prompts with a fall."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDifferences:
    """The values of the common prompts at the baseline and at the newest checkpoint, with their test."""

    prompts: tuple[str, ...]
    before: Floats
    """Value of each prompt, averaged over the checkpoints of the baseline."""
    after: Floats
    repeats: Floats
    """Harmonic mean of each prompt's repeats at the baseline's checkpoints together and at the newest."""
    test: PairedTest
    interval: DifferenceInterval
    effects: EffectSizes
    subsampled: int
    clusters: tuple[str, ...]
    """The cluster of each prompt."""
    table: Floats
    """Value of each prompt (row) at the checkpoints of the baseline and, last, at the newest."""
    exchanged: dict[int, float] = field(default_factory=dict)
    """p-values of ``exchange_p``, by their numbers of draws."""

    def exchange_p(self, alpha: float) -> float:
        """Return the p-value of the newest checkpoint against several, by exchanging values."""
        draws = draws_for(alpha)
        if draws not in self.exchanged:
            values = self.table[~np.isnan(self.table)]
            is_pass_or_fail = bool(((values == 0) | (values == 1)).all())
            p = exchange_test(self.table, self.clusters, alpha=alpha, plain=is_pass_or_fail)
            self.exchanged[draws] = p
        return self.exchanged[draws]


def prompt_differences(series: TestedSeries, baseline: Sequence[int]) -> PromptDifferences | None:
    """Compare the newest checkpoint with the baseline, prompt by prompt."""
    columns = [*baseline, series.checkpoints - 1]
    counts = series.counts[:, columns]
    common = (counts[:, -1] > 0) & (counts[:, :-1] > 0).any(axis=1)
    if not common.any():
        return None
    limits = np.where(counts == 0, np.iinfo(np.int64).max, counts).min(axis=1)
    table = series.matrix.means(limits, [series.included[column] for column in columns])[common]
    scored = ~np.isnan(table[:, :-1])
    before = np.where(scored, table[:, :-1], 0.0).sum(axis=1) / scored.sum(axis=1)
    after = table[:, -1]
    rounding = 1e-12 * float(np.abs(after).max())
    before = np.where(np.abs(after - before) <= rounding, after, before)
    names = [name for name, kept in zip(series.matrix.prompts, common, strict=True) if kept]
    clusters = [name for name, kept in zip(series.matrix.clusters, common, strict=True) if kept]
    scale = series.score.scale
    fewest = limits[common]
    return PromptDifferences(
        prompts=tuple(names),
        before=before,
        after=after,
        repeats=2 * fewest / (1 + 1 / scored.sum(axis=1)),  # each baseline checkpoint has ``fewest``
        test=sign_flip_test(before, after, clusters),
        interval=difference_interval(
            after - before,
            clusters,
            scale=None if scale is None else (scale.low, scale.high),
            continuous=scale is None or not scale.discrete,
        ),
        effects=effect_sizes(before, after, higher_is_better=series.matrix.higher_is_better),
        clusters=tuple(clusters),
        table=table,
        subsampled=int(((counts > limits[:, None]) & (counts > 0)).any(axis=1)[common].sum()),
    )


@dataclass(slots=True)
class DifferenceTests:
    """The tests of one score for the first question, before they are corrected."""

    series: TestedSeries
    members: Sequence[int]
    """Positions, in the series, of the checkpoints whose average is the baseline."""
    differences: PromptDifferences | None
    is_newest_known: bool = True
    """Whether it is known which checkpoint is the newest; only then can it be compared with the baseline."""

    @classmethod
    def of(cls, series: TestedSeries, *, order_known: bool, mean_variance: float | None) -> DifferenceTests:
        """Choose the baseline of a score, and pair its prompts with those of the newest checkpoint."""
        if not series.has_newest or series.checkpoints < 2 or series.matrix.is_group_score:
            return cls(series, [], None)
        members = baseline_members(series.means, mean_variance) if order_known else [0]
        has_newest = order_known or series.checkpoints == 2
        differences = prompt_differences(series, members) if has_newest else None
        return cls(series, members, differences, has_newest)

    @property
    def is_testable(self) -> bool:
        """Whether any two checkpoints have common prompts."""
        return bool(self.members) and bool(self.series.pairs())

    @property
    def is_pooled(self) -> bool:
        """Whether the newest checkpoint is compared with the mean of several."""
        return self.differences is not None and len(self.members) > 1

    def problem(self) -> Problem:
        """Return the reason why the checkpoints could not be tested for a difference."""
        if self.series.matrix.is_group_score:
            return "group score"
        return self.series.left_out[-1].problem if self.series.left_out and not self.is_testable else ""


def difference_answers(tests: Sequence[DifferenceTests], alpha: float) -> list[ScoreDrift]:
    """Return for each score whether its checkpoints differ, with an error of ``alpha`` for all scores."""
    share = PAIRS_SHARE if any(item.is_pooled for item in tests) else 1.0
    testable = [item for item in tests if item.is_testable]
    comparisons = compare_checkpoints([item.series.score_series() for item in testable], alpha * share)
    by_address: dict[str, list[Comparison]] = {item.series.score.address: [] for item in tests}
    for comparison in comparisons:
        p_adjusted = min(1.0, comparison.p_adjusted / share)
        by_address[comparison.address].append(replace(comparison, p_adjusted=p_adjusted))
    pooled = _pooled_p(tests, alpha, 1.0 - share)
    level = alpha * (1.0 - share) / max(1, len(pooled))
    return [_differences(item, by_address[item.series.score.address], pooled, alpha, level) for item in tests]


def _pooled_p(tests: Sequence[DifferenceTests], alpha: float, share: float) -> dict[str, float]:
    """Return the corrected p-value of each score whose newest checkpoint is compared with several."""
    p_values = {
        item.series.score.address: item.differences.exchange_p(alpha * share)
        for item in tests
        if item.is_pooled and item.differences and item.differences.test.clusters >= MIN_UNITS
    }
    return {address: min(1.0, p / share) for address, p in holm(p_values).items()}


def _differences(
    tests: DifferenceTests,
    comparisons: Sequence[Comparison],
    pooled: dict[str, float],
    alpha: float,
    level: float,
) -> ScoreDrift:
    baseline = None
    if tests.differences is not None:
        last = tests.series.checkpoints - 1
        pair = next((item for item in comparisons if (item.earlier, item.later) == (0, last)), None)
        baseline = _baseline(tests, None if tests.is_pooled else pair, pooled, level)
    return replace(
        _description(tests),
        differs=_answer(tests, comparisons, baseline, alpha),
        comparisons=tuple(comparisons),
        difference=baseline,
    )


def _description(tests: DifferenceTests) -> ScoreDrift:
    """Return a score with its mean at each checkpoint, largest changes on single prompts, and variance."""
    series = tests.series
    ranked = None
    if tests.differences is not None:
        repeat_variance = series.matrix.repeat_variance(series.included)
        ranked = rank_changes(tests.differences, repeat_variance)
    return ScoreDrift(
        address=series.score.address,
        differs="not comparable",
        drifts="not comparable",
        problem=tests.problem(),
        kind=series.score.kind,
        scale=series.score.scale,
        means=series.checkpoint_means(),
        left_out=series.left_out,
        changes=ranked.changes if ranked else (),
        prompts_vary=ranked is None or ranked.prompts_vary,
        shrunken=ranked is not None and ranked.shrunken,
        variance=series.variance(),
    )


def _answer(
    tests: DifferenceTests,
    comparisons: Sequence[Comparison],
    baseline: BaselineDifference | None,
    alpha: float,
) -> DiffersAnswer:
    obstacle = obstacle_of(tests.series)
    if obstacle is not None:
        return obstacle
    if not comparisons:
        is_group = tests.series.matrix.is_group_score
        return "not comparable" if tests.is_newest_known or is_group else "too few prompts"
    is_pooled_change = tests.is_pooled and baseline is not None and baseline.is_change(alpha)
    if is_pooled_change or any(item.verdict in CHANGES for item in comparisons):
        return "differ"
    if not family_size(comparisons) or all(item.verdict == "too few" for item in comparisons):
        return "too few prompts"
    return "no difference seen"


def _baseline(
    tests: DifferenceTests, pair: Comparison | None, pooled: dict[str, float], level: float
) -> BaselineDifference | None:
    """Return the difference from the baseline, by its pair or by the exchange of values."""
    values, series = tests.differences, tests.series
    assert values is not None  # asked only where the prompts are paired
    scale = series.score.scale
    p, p_adjusted, detectable, interval = values.test.p, None, None, values.interval
    if pair is not None:
        interval = replace(interval, pseudo=pair.interval, reach=pair.reach)
        p_adjusted = pair.p_adjusted if family_size([pair]) else None
        detectable = pair.detectable
    elif tests.is_pooled:
        p, p_adjusted = values.exchange_p(level), pooled.get(series.score.address)
        detectable = detectable_difference(
            values.after - values.before,
            values.clusters,
            level,
            span=float("inf") if scale is None else scale.high - scale.low,
            continuous=True,  # a mean of several checkpoints has no levels
        )
    return BaselineDifference(
        baseline=tuple(series.labels[position] for position in tests.members),
        newest=series.labels[-1],
        means=(float(values.before.mean()), float(values.after.mean())),
        difference=values.test.difference,
        interval=interval,
        p=p,
        p_adjusted=p_adjusted,
        detectable=detectable,
        effects=values.effects,
        prompts=values.test.prompts,
        clusters=values.test.clusters,
        subsampled=values.subsampled,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedChanges:
    """Prompts with the largest changes."""

    changes: tuple[PromptChange, ...]
    """The largest rise first; empty if changes vary no more than the repeats of one prompt."""
    prompts_vary: bool
    shrunken: bool
    """Whether the changes are drawn towards their mean, which needs prompts with several repeats."""


def rank_changes(differences: PromptDifferences, repeat_variance: float | None) -> RankedChanges:
    """Return up to 5 prompts with the largest rise and up to 5 with the largest fall."""
    changes = differences.after - differences.before
    estimates, prompts_vary = changes, bool(np.ptp(changes) > _ROUNDING * np.abs(changes).max())
    if repeat_variance is not None:
        result = shrink_changes(changes, 2 * repeat_variance / differences.repeats)
        estimates, prompts_vary = np.array(result.changes), result.true_variance > 0
    if not prompts_vary:
        return RankedChanges(changes=(), prompts_vary=False, shrunken=repeat_variance is not None)
    order = np.argsort(-estimates, kind="stable")
    rises = [index for index in order if estimates[index] > 0][:MAX_PROMPTS]
    falls = [index for index in order if estimates[index] < 0][-MAX_PROMPTS:]
    return RankedChanges(
        changes=tuple(
            PromptChange(
                prompt=differences.prompts[index],
                change=float(changes[index]),
                shrunken=float(estimates[index]),
            )
            for index in (*rises, *falls)
        ),
        prompts_vary=True,
        shrunken=repeat_variance is not None,
    )
