"""Test the scores of a drift report: do checkpoints differ, and does a score drift beyond usual movement?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.monitoring.drift.score_drift import (
    MIN_MANN_KENDALL,
    DriftAnswer,
    DriftDirection,
    MannKendall,
    Omission,
    StepTests,
)
from hengwen.monitoring.drift.series import TestedSeries
from hengwen.relevance_metrics.inversions import tau_b, tied_pairs
from hengwen.relevance_metrics.trajectory import Trajectory, trajectory_of_means
from hengwen.results.comparisons import ALPHA
from hengwen.stats.checkpoints import (
    MIN_CHECKPOINTS,
    MIN_CORRELATED,
    NewestTest,
    SlopeTest,
    jump_test,
    newest_test,
    pettitt_test,
    slope_test,
)
from hengwen.stats.paired import holm

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

MIN_COURSE = 3
"""Minimum number of checkpoints for metrics of the order of their means; two means can only rise or fall."""
ORDERS = 9999
MAX_EXACT = 170
"""Maximum number of checkpoints for which the Mann-Kendall test counts all orders; this takes up to 10 ms."""
Obstacle = Literal["missing scores", "not comparable", "one checkpoint"]
"""Result of a score that cannot be tested; it stands in ``differs`` and in ``drifts`` of ``ScoreDrift``."""


def is_constant(means: ArrayLike) -> bool:
    """Return whether all means are equal, up to rounding."""
    return bool(np.ptp(means) <= 1e-9 * (float(np.abs(means).max()) or 1.0))


def baseline_members(means: Floats, mean_variance: float | None) -> list[int]:
    """Return the positions of the checkpoints whose average is the baseline."""
    sizes = range(len(means) - 1, MIN_CHECKPOINTS - 1, -1)
    members = next((size for size in sizes if _passes(means[:size], mean_variance)), 1)
    return list(range(members))


def _passes(means: Floats, mean_variance: float | None) -> bool:
    if is_constant(means):
        return True
    tests = (slope_test(means), newest_test(means, min_variance=mean_variance or 0.0))
    return all(test is not None and test.p > ALPHA for test in tests)


def course_of(means: Floats) -> Trajectory:
    """Return the metrics of the order of the means, with tests."""
    return trajectory_of_means(means, n_perm=ORDERS)


def mann_kendall(means: Floats, course: Trajectory) -> MannKendall | None:
    """Return the Mann-Kendall test; None below 5 checkpoints."""
    inversions = course.metrics["cin"]
    if course.n < MIN_MANN_KENDALL or inversions.p is None:
        return None
    tied = tied_pairs(means)
    s = course.n * (course.n - 1) // 2 - tied - 2 * int(inversions.value)
    p = inversions.p
    if not tied and course.n <= MAX_EXACT:
        from scipy.stats import kendalltau

        p = float(kendalltau(np.arange(course.n), means, method="exact").pvalue)
    return MannKendall(s=s, tau_b=tau_b(means), p=p)


@dataclass(slots=True)
class DriftTests:
    """The tests of one score for the second question: is a change more than checkpoints usually move?"""

    series: TestedSeries
    order_known: bool
    mean_variance: float | None
    independent: SlopeTest | None = None
    """Test of the slope for checkpoints that scatter independently; it does not decide."""
    slope: SlopeTest | None = None
    """Test of the slope that allows for neighbours that move together."""
    newest: NewestTest | None = None
    jump: NewestTest | None = None
    """Test of the last step against the steps before it; it does not decide."""

    @classmethod
    def of(cls, series: TestedSeries, *, order_known: bool, mean_variance: float | None) -> DriftTests:
        """Test the slope of the checkpoint means, and the newest mean against the means before it."""
        if not (order_known and series.has_newest):
            return cls(series, order_known, mean_variance)
        means, noise = series.means, mean_variance or 0.0
        return cls(
            series,
            order_known,
            mean_variance,
            independent=slope_test(means),
            slope=slope_test(means, correlated=True),
            newest=newest_test(means, min_variance=noise),
            jump=jump_test(means, min_variance=noise),
        )

    def without(self, index: int) -> DriftTests:
        """Return the deciding tests as they would be if one checkpoint had not been evaluated."""
        included = self.series.included
        means = np.delete(self.series.means, index)
        positions = np.delete(np.arange(self.series.checkpoints), index)
        return replace(
            self,
            series=replace(self.series, included=included[:index] + included[index + 1 :], means=means),
            slope=slope_test(means, correlated=True, positions=positions),
            newest=newest_test(means, min_variance=self.mean_variance or 0.0),
        )

    @property
    def has_course(self) -> bool:
        """Whether metrics of the order of the means, such as inversions, can be computed."""
        return self.order_known and self.series.has_newest and self.series.checkpoints >= MIN_COURSE

    def tests(self) -> dict[str, float]:
        """Return the p-values of the deciding tests, of the slope and of the newest mean, by name."""
        tests = {"slope": self.slope, "newest": self.newest}
        return {name: test.p for name, test in tests.items() if test is not None}

    def answer(self, adjusted: Mapping[str, float], alpha: float) -> DriftAnswer:
        """Return whether the score drifts, from the corrected p-values of the score's tests."""
        obstacle = obstacle_of(self.series)
        if obstacle is not None:
            return obstacle
        if not self.order_known:
            return "order unknown"
        if self.series.checkpoints < MIN_CHECKPOINTS:
            return "cannot be told from the usual movement"
        if min(adjusted.values(), default=1.0) <= alpha:
            return "drift"
        is_untested = self.slope is None or self.newest is None
        if is_untested and not is_constant(self.series.means):  # 4 checkpoints, one line, or only one moved
            return "cannot be told from the usual movement"
        return "no change beyond the usual movement seen"

    def direction(self, adjusted: Mapping[str, float], alpha: float) -> DriftDirection:
        """Return the direction of a drift, by the tests that are significant at level ``alpha``."""
        changes = {
            "slope": self.slope.slope if self.slope else 0.0,
            "newest": self.newest.difference if self.newest else 0.0,
        }
        rises = {changes[name] > 0 for name, p in adjusted.items() if p <= alpha}
        if len(rises) > 1:
            return "mixed"
        return "better" if self.series.matrix.higher_is_better in rises else "worse"

    def step_tests(
        self, adjusted: Mapping[str, float], level: float, course: Trajectory | None
    ) -> StepTests | None:
        """Return the tests for drift, each at the significance level ``level``."""
        if not self.has_course or self.series.checkpoints < MIN_CHECKPOINTS:
            return None
        return StepTests(
            independent=self.independent,
            slope=self.slope,
            slope_p_adjusted=adjusted.get("slope"),
            slope_detectable=self.slope.detectable(level) if self.slope else None,
            newest=self.newest,
            newest_p_adjusted=adjusted.get("newest"),
            newest_detectable=self.newest.detectable(level) if self.newest else None,
            jump=self.jump,
            mean_error=None if self.mean_variance is None else sqrt(self.mean_variance),
            mann_kendall=mann_kendall(self.series.means, course) if course else None,
            change_point=pettitt_test(self.series.means),
        )


def corrected(tests: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Return the p-values of each score, corrected by Holm's method for the tests of all scores."""
    adjusted = holm({f"{index}/{name}": p for index, row in enumerate(tests) for name, p in row.items()})
    return [{name: adjusted[f"{index}/{name}"] for name in row} for index, row in enumerate(tests)]


def obstacle_of(series: TestedSeries) -> Obstacle | None:
    """Return why a score cannot be tested (see ``Obstacle``); None if it can be tested."""
    if not series.has_newest:
        return "missing scores"
    if series.checkpoints > 1:
        return None
    if len(series.score.labels) == 1:
        return "one checkpoint"
    problems = {item.problem for item in series.left_out}
    return "missing scores" if problems == {"coverage"} else "not comparable"


def decisive_omissions(
    tests: DriftTests, others: Sequence[Mapping[str, float]], alpha: float
) -> tuple[Omission, ...]:
    """Return the checkpoints before the newest without which a score would have another answer."""
    series = tests.series
    if len(tests.tests()) < 2 or series.checkpoints <= MIN_CORRELATED:
        return ()
    answer = _answer(tests, others, alpha)
    omissions = []
    for index, label in enumerate(series.labels[:-1]):
        left = tests.without(index)
        other = _answer(left, others, alpha)
        if other != answer:
            omissions.append(Omission(checkpoint=label, drifts=other[0], direction=other[1]))
    return tuple(omissions)


def _answer(
    tests: DriftTests, others: Sequence[Mapping[str, float]], alpha: float
) -> tuple[DriftAnswer, DriftDirection]:
    adjusted = corrected([tests.tests(), *others])[0]
    answer = tests.answer(adjusted, alpha)
    return answer, tests.direction(adjusted, alpha) if answer == "drift" else ""
