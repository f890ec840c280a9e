"""Paired tests between the checkpoints of one report, corrected as one family.

All pairs of checkpoints and all scores are one family (``stats/step_down.py``): if nothing changes, at most
one report in twenty names a difference. Looking at whether two confidence intervals overlap does not replace
a paired test, because both checkpoints answer the same prompts.

A test by signs also rejects if most prompts rise a little and a few fall far, while the mean stays. So
"better" and "worse" need the interval of the difference, too, to exclude 0; it counts with prompts that
differ more than those of the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, fsum, inf, isinf, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.results.score_series import ScoreSeries
from hengwen.stats.mean_interval import cluster_sums, pseudo_interval
from hengwen.stats.paired import PairedTest, cluster_error, flip_p, too_few
from hengwen.stats.power import MIN_UNITS as MIN_ESTIMATED
from hengwen.stats.power import POWER, least_number, power_of_t
from hengwen.stats.step_down import MIN_UNITS, StepDown, step_down

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bounds = tuple[float, float]

ALPHA = 0.05
"""Probability that a report names a difference although no true difference exists (familywise error)."""
CHANGES = ("better", "worse")
"""Verdicts that claim a difference."""
ComparisonVerdict = Literal["better", "worse", "mean undecided", "no difference seen", "too few"]
"""What a test says of the later checkpoint. ``mean undecided``: most prompts are higher (or lower), but the
mean may be equal. ``too few``: no difference could have been seen, even if all prompts that moved had moved
in one direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Result of the paired test of two checkpoints by one score. Differences are later minus earlier."""

    address: str
    """``TASK/SCORE``."""
    earlier: int
    """Index of the earlier checkpoint."""
    later: int
    test: PairedTest
    """The test of this pair alone; ``p`` is not corrected for the other tests."""
    p_adjusted: float
    """The p-value, corrected for all pairs and scores of the family; 1 if there are too few clusters."""
    verdict: ComparisonVerdict
    """Whether the later checkpoint is better or worse, with regard to the score's direction."""
    interval: Bounds | None = None
    """95 % interval of the difference of this pair alone, with clusters that differ by plus and minus
    ``reach``; None if there is one cluster only."""
    reach: float | None = None
    """The range of the scale or, for a continuous score, the largest difference in any pair."""
    family_interval: Bounds | None = None
    """Interval for all pairs and scores together: ``interval``, widened by the critical value of the pair. It
    excludes 0 exactly if the verdict is ``better`` or ``worse``. None if it is unbounded."""
    detectable: float | None = None
    """Smallest true difference that the family's test detects with a probability of 80 %."""
    level: float | None = None
    """Significance level of this pair alone, of which a t test has the critical value of the family; None if
    no value is critical."""

    @property
    def prompts(self) -> int:
        """Number of prompts that both checkpoints have a score for."""
        return self.test.prompts

    @property
    def clusters(self) -> int:
        """Number of clusters of these prompts."""
        return self.test.clusters

    def prompts_to_tell(self) -> int | None:
        """Return how many prompts would show the difference, if it is the true one, with power 80 %."""
        if self.level is None or self.detectable is None or self.verdict == "mean undecided":
            return None
        return prompts_for(self.test, self.test.difference, self.level)

    def prompts_within(self, slack: float) -> int | None:
        """Return how many prompts would show that a checkpoint is within a margin, with power 80 %.

        ``slack`` is the part of the margin that the observed difference leaves, if it is the true one.
        """
        return prompts_for(self.test, slack, ALPHA / 2, 1) if slack > 0 else None


def prompts_for(test: PairedTest, effect: float, level: float, sides: Literal[1, 2] = 2) -> int | None:
    """Return how many prompts show an effect with a probability of 80 %, if they vary like these."""
    if test.clusters < MIN_ESTIMATED or not test.error or not effect:
        return None
    deviation = test.error * sqrt(test.clusters)

    def is_enough(clusters: int) -> bool:
        return power_of_t(effect, deviation / sqrt(clusters), clusters - 1, level, sides=sides) >= POWER

    clusters = least_number(is_enough, MIN_ESTIMATED)
    return None if clusters is None else ceil(clusters * test.prompts / test.clusters)


def compare_checkpoints(scores: Sequence[ScoreSeries], alpha: float = ALPHA) -> list[Comparison]:
    """Test the pairs of checkpoints of all scores as one family."""
    family = step_down([score.for_family() for score in scores], alpha)
    comparisons: list[Comparison] = []
    for score in scores:
        if score.pairs:
            reach = score.reach()
            comparisons += [
                _comparison(score, position, reach, family, len(comparisons) + position, alpha)
                for position in range(len(score.pairs))
            ]
    return comparisons


def _comparison(
    score: ScoreSeries, position: int, reach: float | None, family: StepDown, index: int, alpha: float
) -> Comparison:
    differences, clusters = score.of_pair(position)
    sums, sizes = cluster_sums(differences, clusters)
    difference = fsum(differences) / len(differences)
    test = PairedTest(
        difference=difference,
        p=float(family.p[index]) if family.is_tested[index] else flip_p(sums),
        prompts=len(differences),
        clusters=len(sums),
        error=cluster_error(sums, sizes, difference),
    )
    interval = None
    if reach is not None:
        interval = pseudo_interval(differences, clusters, reach, score.bounds, continuous=score.is_continuous)
    p_adjusted, critical = float(family.p_adjusted[index]), float(family.critical[index])
    verdict: ComparisonVerdict = "no difference seen"
    if p_adjusted <= alpha:
        is_apart = interval is None or interval[0] > 0 or interval[1] < 0
        is_better = (difference > 0) == (score.scale is None or score.scale.higher_is_better)
        verdict = ("better" if is_better else "worse") if is_apart else "mean undecided"
    elif family.is_too_few[index]:
        verdict = "too few"
    wide = _family_interval(score.span, test, sums, critical, interval)
    earlier, later = score.pairs[position]
    level = None if isinf(critical) else min(alpha, _level(critical, len(sums) - 1))
    return Comparison(
        address=score.address,
        earlier=earlier,
        later=later,
        test=test,
        p_adjusted=p_adjusted,
        verdict=verdict,
        interval=interval,
        reach=None if interval is None else reach,
        family_interval=wide if verdict in CHANGES else holding_zero(wide),
        detectable=None if level is None else score.detectable(position, level),
        level=level,
    )


def _family_interval(
    limit: float, test: PairedTest, sums: Floats, critical: float, interval: Bounds | None
) -> Bounds | None:
    """Return the interval of a pair at its critical value, never shorter than the interval of the pair."""
    half = critical * sqrt(len(sums) * float(sums.var(ddof=1))) / test.prompts if len(sums) > 1 else inf
    low, high = interval or (test.difference, test.difference)
    low, high = min(low, test.difference - half), max(high, test.difference + half)
    return None if isinf(limit) and isinf(half) else (max(low, -limit), min(high, limit))


def holding_zero(bounds: Bounds | None) -> Bounds | None:
    """Return an interval widened to 0, because no difference is claimed: ties of the flips can exclude it."""
    return None if bounds is None else (min(bounds[0], 0.0), max(bounds[1], 0.0))


def _level(critical: float, freedom: int) -> float:
    """Return the significance level of a t test with a critical value."""
    from scipy.special import stdtr

    return max(float(2 * stdtr(freedom, -critical)), 1e-300)


def family_level(scores: Sequence[ScoreSeries], alpha: float = ALPHA) -> float:
    """Return the level of a test alone, of which a t test has the critical value of the family's maximum."""
    # never below the level of independent tests, which the few flips of a small sample would allow
    family = step_down([score.for_family() for score in scores], alpha)
    critical = zip(family.critical.tolist(), family.units.tolist(), strict=True)
    levels = [_level(value, units - 1) for value, units in critical if not isinf(value)]
    least = independent_level(len(family.units), alpha)
    return min(max(min(levels, default=least), least), alpha)


def independent_level(tests: int, alpha: float = ALPHA) -> float:
    """Return the level of a test alone if its family has independent tests (Sidak 1967)."""
    return alpha if tests < 2 else float(-np.expm1(np.log1p(-alpha) / tests))


def family_size(comparisons: Iterable[Comparison]) -> int:
    """Return the number of tests for which p-values are corrected; pairs with too few clusters are not."""
    return sum(item.clusters >= MIN_UNITS for item in comparisons)


def min_clusters(tasks: int = 1, alpha: float = ALPHA) -> int:
    """Return the smallest number of clusters of which a change of all is significant in a family."""
    # the scores of a task are flipped together, so their number does not matter, but tasks flip apart
    clusters = MIN_UNITS
    while too_few(clusters, tasks, alpha):
        clusters += 1
    return clusters
