"""What runs of different sizes can detect in one score, and the cheapest size for a difference."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf
from typing import TYPE_CHECKING, Literal

from hengwen.results.comparisons import min_clusters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.monitoring.power.answer_cost import AnswerCost
    from hengwen.records import Scale
    from hengwen.stats.paired_variance import PairedVariance

Basis = Literal["two checkpoints", "one checkpoint"]
"""Where the variance of differences comes from: their prompts' differences, or an assumed correlation."""
Problem = Literal["", "not scored", "group score", "too few", "constant"]
"""Why nothing can be planned for a score. ``too few``: fewer than three clusters of prompts. ``constant``: no
prompt differs from the others, so the variance is unknown."""
SHOWN_REPEATS = (1, 2, 3, 5, 10)
"""Repeats per prompt for which the needed number of prompts is shown."""
MAX_REPEATS = 1000
"""Largest number of repeats that a plan allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSize:
    """A number of prompts and repeats, what it detects, and what one checkpoint's run costs."""

    prompts: int
    repeats: float
    """Repeats per prompt; not a whole number if prompts of the present run differ in theirs."""
    answers: int
    smallest_difference: float | None
    """Smallest true difference that is detected with the planned power; None below three clusters."""
    calls: int | None
    """Calls of one run; None if their number is unknown."""
    cost: float | None
    """Cost of one run, at the prices of the plan; None if a price is unknown."""
    prompts_interval: tuple[int, int] | None = None
    """95 % interval of the needed number of prompts, because variances are estimated; None if they are known
    too little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """The sizes of runs that detect one difference."""

    difference: float
    sizes: tuple[RunSize, ...]
    """The fewest prompts for each number of repeats, without those that would need above a million."""
    cheapest: RunSize | None
    """The size with the lowest cost, or with the fewest calls or answers if costs are unknown or 0."""
    with_present_prompts: RunSize | None
    """The fewest repeats of the present prompts; None if no number of repeats is enough, or is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePower:
    """What the present plan can detect in one score, and what other sizes can."""

    address: str
    """``TASK/SCORE``."""
    scale: Scale | None = None
    problem: Problem = ""
    basis: Basis = "two checkpoints"
    conflict: str = ""
    """Why the second run is not used for this score, if its settings differ from the baseline's."""
    data_prompts: int = 0
    """Number of prompts from which the variances are estimated."""
    data_clusters: int = 0
    variance: PairedVariance | None = None
    judge_variance: float | None = None
    """Part of the variance of repeats that comes from the judge; None if it is unknown."""
    level: float = 0.05
    """Level of the test: alpha divided by the number of headline scores."""
    present: RunSize | None = None
    """The size of the present plan."""
    infinite_repeats: float | None = None
    """Smallest difference that the present prompts detect with infinitely many repeats; None if it is
    unknown, such as with a variance between prompts that is estimated as 0."""
    requirements: tuple[Requirement, ...] = ()
    affordable: RunSize | None = None
    """The size that detects the smallest difference for the budget; None without a budget, or if it is too
    small for any test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerSearch:
    """Searches the sizes of runs for one score.

    Args:
        variance: Variance of the differences.
        answer: Cost of an answer; None if it is unknown.
        level: Two-sided level of the test.
        power: Probability of detecting a difference.
        tests: Number of headline scores, for which a test needs a minimum number of clusters.
    """

    variance: PairedVariance
    answer: AnswerCost | None
    level: float
    power: float
    tests: int

    @property
    def least(self) -> int:
        """Smallest number of prompts with which the sign-flip test can be significant."""
        return ceil(min_clusters(self.tests) * self.variance.cluster_size - 1e-9)

    def size(self, prompts: int, repeats: float, interval: tuple[int, int] | None = None) -> RunSize:
        """Return what a size detects and costs."""
        answers = ceil(prompts * repeats - 1e-9)
        answer = self.answer
        detectable = (
            self.variance.smallest_difference(prompts, repeats, self.level, self.power)
            if prompts >= self.least
            else None
        )
        return RunSize(
            prompts=prompts,
            repeats=repeats,
            answers=answers,
            smallest_difference=detectable,
            calls=None if answer is None else ceil(answers * answer.calls - 1e-9),
            cost=None if answer is None or answer.cost is None else answers * answer.cost,
            prompts_interval=interval,
        )

    def requirement(self, difference: float, present_prompts: int, present_repeats: float) -> Requirement:
        """Return the sizes that detect a difference."""
        sizes = {}
        for repeats in self._choices(present_repeats):
            size = self._smallest_size(difference, repeats)
            if size is not None:
                sizes[repeats] = size
        listed = SHOWN_REPEATS if self.variance.repeat is not None else tuple(sizes)
        return Requirement(
            difference=difference,
            sizes=tuple(size for repeats, size in sizes.items() if repeats in listed),
            cheapest=min(sizes.values(), key=_price, default=None),
            with_present_prompts=self._fewest_repeats(difference, present_prompts),
        )

    def affordable(self, budget: float, present_repeats: float) -> RunSize | None:
        """Return the size that detects the smallest difference for a cost."""
        answer = self.answer
        if answer is None or not answer.cost:
            return None
        sizes = []
        for repeats in self._choices(present_repeats):
            size = self.size(floor(budget / (repeats * answer.cost) + 1e-9), repeats)
            if size.smallest_difference is not None:
                sizes.append(size)
        return min(sizes, key=lambda size: size.smallest_difference or inf, default=None)

    def _choices(self, present_repeats: float) -> Sequence[float]:
        """Return the numbers of repeats to search; only the present one if their variance is unknown."""
        if self.variance.repeat is None:
            return (present_repeats,)
        return range(1, max(SHOWN_REPEATS) + 1)

    def _smallest_size(self, difference: float, repeats: float) -> RunSize | None:
        prompts = self.variance.prompts_for(difference, repeats, self.level, self.power, least=self.least)
        if prompts is None:
            return None
        factors = self.variance.factors(repeats)
        interval = None
        if factors is not None:
            low, high = (max(self.least, ceil(prompts * factor)) for factor in factors)
            interval = (low, high)
        return self.size(prompts, repeats, interval)

    def _fewest_repeats(self, difference: float, prompts: int) -> RunSize | None:
        if self.variance.repeat is None or prompts < self.least:
            return None

        def detects(repeats: int) -> bool:
            smallest = self.variance.smallest_difference(prompts, repeats, self.level, self.power)
            return smallest is not None and smallest <= difference * (1 + 1e-9)

        if not detects(MAX_REPEATS):
            return None
        low, high = 0, MAX_REPEATS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if detects(middle) else (middle, high)
        return self.size(prompts, high)


def _price(size: RunSize) -> tuple[float, float, int]:
    """Return what sizes are sorted by: their cost, then calls, then answers; unknown ones do not count."""
    return size.cost or 0.0, size.calls or 0, size.answers
