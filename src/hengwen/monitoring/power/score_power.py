"""Compute which differences in a score a run detects, and the cheapest size of a run for a difference."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf
from typing import TYPE_CHECKING, Literal

from hengwen.stats.power import MIN_UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.monitoring.power.answer_cost import AnswerCost
    from hengwen.records import Scale
    from hengwen.stats.paired_variance import PairedVariance

Basis = Literal["two checkpoints", "one checkpoint"]
"""Data from which the variance of the differences between two checkpoints is estimated: runs of both
checkpoints, or a run of one checkpoint and an assumed correlation."""
Problem = Literal["", "not scored", "group score", "too few", "constant"]
"""Why no sizes of runs can be computed for a score. ``too few``: fewer than three clusters (groups of
dependent prompts). ``constant``: all prompts have the same value or difference, so the variance is
unknown."""
SHOWN_REPEATS = (1, 2, 3, 5, 10)
"""Repeats per prompt for which the needed number of prompts is shown."""
MAX_REPEATS = 1000
"""Largest number of repeats that a plan allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSize:
    """Numbers of prompts and repeats, the difference that they detect, and the cost of one such run."""

    prompts: int
    repeats: float
    """Answers per prompt; the mean if prompts of the present run have different numbers of answers."""
    answers: int
    """Answers of the whole run."""
    smallest_difference: float | None
    """Smallest true difference that is detected with the planned power, about; None if it cannot be estimated
    from so few prompts, or if there is none on the scale."""
    calls: int | None
    """Calls of one run; None if their number is unknown."""
    cost: float | None
    """Cost of one run, at the prices of the plan; None if a price is unknown."""
    prompts_interval: tuple[int, int] | None = None
    """95 % interval of the needed number of prompts, which is uncertain because the variances are estimates;
    None if the data say too little about the variances."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """The sizes of runs that detect one difference."""

    difference: float
    sizes: tuple[RunSize, ...]
    """For each number of repeats, the fewest prompts that detect the difference. Numbers of repeats that need
    more than a million prompts are left out."""
    cheapest: RunSize | None
    """The size with the lowest cost, or with the fewest calls or answers if costs are unknown or 0."""
    with_present_prompts: RunSize | None
    """The present prompts with the fewest repeats that detect the difference; None if no number of repeats is
    enough, or if the variance of repeats is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorePower:
    """Differences in one score that the present plan and runs of other sizes can detect."""

    address: str
    """``TASK/SCORE``."""
    scale: Scale | None = None
    problem: Problem = ""
    basis: Basis = "two checkpoints"
    conflict: str = ""
    """Differences in data or settings between the baseline run and the run of another checkpoint, because of
    which only the baseline run is used; empty if there are none."""
    data_prompts: int = 0
    """Number of prompts from which the variances are estimated."""
    data_clusters: int = 0
    variance: PairedVariance | None = None
    judge_variance: float | None = None
    """Part of the variance of repeats that comes from the judge; None if it is unknown."""
    level: float = 0.05
    """Significance level of the test of this score alone, of which a t test has the critical value of the
    family of all scores."""
    present: RunSize | None = None
    """Prompts and repeats of the present plan, with the difference that they detect."""
    infinite_repeats: float | None = None
    """Smallest difference that the present prompts detect with infinitely many repeats; None if it is
    unknown, for example because the variance between prompts is estimated as 0."""
    requirements: tuple[Requirement, ...] = ()
    affordable: RunSize | None = None
    """Of the sizes that the budget pays for, the one that detects the smallest difference; None without a
    budget, or if the budget is too small for any test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerSearch:
    """Searches the numbers of prompts and repeats that detect a difference in one score."""

    variance: PairedVariance
    answer: AnswerCost | None
    level: float
    power: float
    span: float = inf
    """Range of the scale, which no difference exceeds."""
    answers_per_prompt: float | None = None
    """Mean number of answers per prompt of the present run, where prompts have different numbers."""

    @property
    def least(self) -> int:
        """Smallest number of prompts for which the power of the sign-flip test can be estimated."""
        return ceil(MIN_UNITS * self.variance.cluster_size - 1e-9)

    def size(self, prompts: int, repeats: float, interval: tuple[int, int] | None = None) -> RunSize:
        """Return the size of a run, with the difference that such a run detects and its cost."""
        is_uneven = self.answers_per_prompt is not None and repeats == self.variance.repeats
        answers_of_prompt = self.answers_per_prompt if is_uneven and self.answers_per_prompt else repeats
        answers = ceil(prompts * answers_of_prompt - 1e-9)
        answer = self.answer
        detectable = (
            self.variance.smallest_difference(prompts, repeats, self.level, self.power)
            if prompts >= self.least
            else None
        )
        if detectable is not None and detectable > self.span:
            detectable = None
        return RunSize(
            prompts=prompts,
            repeats=answers_of_prompt,
            answers=answers,
            smallest_difference=detectable,
            calls=None if answer is None else ceil(answers * answer.calls - 1e-9),
            cost=None if answer is None or answer.cost is None else answers * answer.cost,
            prompts_interval=interval,
        )

    def requirement(self, difference: float, present_prompts: int, present_repeats: float) -> Requirement:
        """Return the sizes of runs that detect a difference."""
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
        """Return, of the sizes that a budget pays for, the one that detects the smallest difference."""
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
        """Return the numbers of repeats to try: only the present one if ``variance.repeat`` is unknown."""
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
    """Return the sort key of a size: cost, calls and answers, where an unknown number counts as 0."""
    return size.cost or 0.0, size.calls or 0, size.answers
