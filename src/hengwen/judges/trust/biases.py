"""What moves a judge beside the quality of an answer: its length, whose it is, where it stands in a pair.

What cannot be told is None, with a reason; never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen.judges.trust.model_families import same_family
from hengwen.stats.proportions import wilson

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

BiasInterval = tuple[float, float]
Side = Literal["first", "second", "tie"]

_NO_SPREAD = "all prompts say the same: there is no spread for an interval"

LEAST_CLUSTERS = 10
"""Prompts below which a correlation gets no interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBias:
    """How scores go with the lengths of answers.

    A correlation is no proof of a taste: longer answers may be better. Compare with that of human labels.
    """

    n: int
    clusters: int
    rho: float | None
    """Spearman's, from -1 to 1; None where ``reason`` says why."""
    interval: BiasInterval | None
    """95 %."""
    slope: float | None
    """Score for each unit of ln(1 + length): least squares."""
    adjusted: tuple[float, ...] | None
    """Each score as it would be at the mean of ln(1 + length), by that line: the length-residual score."""
    reason: str = ""


def length_of(text: str) -> int:
    """Return the characters of a text without whitespace.

    Examples:
        >>> length_of("山 水\\n")
        2
    """
    return len("".join(text.split()))


def length_bias(
    lengths: Sequence[float], scores: Sequence[float], *, clusters: Sequence[str] | None = None
) -> LengthBias:
    """Measure how scores go with lengths.

    The interval is Fisher's z with the standard error of Bonett and Wright, sqrt((1 + rho² / 2) / (G - 3)); G
    counts prompts, not answers, for the repeats of a prompt are no new evidence: it is wide where they are.

    Args:
        lengths: Of the answers, >= 0.
        scores: As many.
        clusters: The prompt of each; default: every answer has its own.

    Raises:
        ValueError: The lists differ in length, or a number is not finite or negative.

    Source:
        Bonett, D. G. and Wright, T. A. (2000), Psychometrika 65, 23-28.

    Examples:
        >>> found = length_bias([10, 20, 30, 40], [0.0, 0.5, 0.5, 1.0])
        >>> round(found.rho, 4), found.interval, found.reason
        (0.9487, None, '4 prompts: an interval needs 10')
        >>> length_bias([10, 20], [1.0, 1.0]).reason
        'all scores are the same'
    """
    x, y = np.asarray(lengths, dtype=float), np.asarray(scores, dtype=float)
    groups = list(range(len(x))) if clusters is None else list(clusters)
    if not len(x) == len(y) == len(groups):
        raise ValueError(f"{len(x)} lengths, {len(y)} scores and {len(groups)} clusters do not fit")
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (x >= 0).all()):
        raise ValueError("lengths and scores must be finite, and lengths not negative")
    count = len(set(groups))
    if why := _constant(x, y):
        return LengthBias(
            n=len(x), clusters=count, rho=None, interval=None, slope=None, adjusted=None, reason=why
        )
    rho = _spearman(x, y)
    interval, reason = _rho_interval(rho, count)
    slope, adjusted = _without_length(x, y)
    return LengthBias(
        n=len(x),
        clusters=count,
        rho=rho,
        interval=interval,
        slope=slope,
        adjusted=tuple(adjusted.tolist()),
        reason=reason,
    )


def _constant(x: NDArray[np.float64], y: NDArray[np.float64]) -> str:
    if len(x) < 2:
        return f"{len(x)} answers: a correlation needs two"
    if np.ptp(y) == 0:
        return "all scores are the same"
    return "all answers are equally long" if np.ptp(x) == 0 else ""


def _spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    from scipy.stats import rankdata

    return float(np.clip(np.corrcoef(rankdata(x), rankdata(y))[0, 1], -1, 1))


def _rho_interval(rho: float, count: int) -> tuple[BiasInterval | None, str]:
    if count < LEAST_CLUSTERS:
        return None, f"{count} prompts: an interval needs {LEAST_CLUSTERS}"
    if abs(rho) > 1 - 1e-12:
        return None, "lengths and scores are in the same order throughout: there is no spread for an interval"
    half = 1.959963984540054 * sqrt((1 + rho**2 / 2) / (count - 3))
    return (tanh(atanh(rho) - half), tanh(atanh(rho) + half)), ""


def _without_length(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    logs = np.log1p(x)
    away = logs - logs.mean()
    slope = float(away @ y / (away @ away))
    return slope, y - slope * away


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswer:
    """An answer with a judge's value and a human's."""

    generator: str
    """The model that wrote it, by name."""
    judge: float
    human: float
    cluster: str
    """The prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorBias:
    """What a judge gives the answers of one model beyond what humans do."""

    own: bool
    """Whether the model is of a family of the judge."""
    n: int
    clusters: int
    mean: float
    """Of judge - human; prompts weigh equally."""
    interval: BiasInterval | None
    """95 %, t on prompt means; None below two prompts, or where they do not differ at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyBias:
    """Whether a judge favours its own family: against human labels, so that better answers are no bias."""

    generators: Mapping[str, GeneratorBias]
    preference: float | None
    """(judge - human) of its own family minus that of the others; above 0: it favours its own."""
    interval: BiasInterval | None
    """95 %: paired by prompt where both answered the same, else Welch's."""
    reason: str = ""


def family_bias(judge: str, answers: Iterable[LabelledAnswer]) -> FamilyBias:
    """Compare what a judge adds to human values, for models of its own family and for others.

    Args:
        judge: The model's name; ``hengwen.judges.trust.model_families`` says what it belongs to.
        answers: With labels. Values of the two on one scale.

    Examples:
        >>> rows = [("gpt-4o", 1.0, 0.5, "a"), ("gpt-4o", 1.0, 0.75, "b"), ("glm-4", 0.5, 0.5, "a"),
        ...         ("glm-4", 0.75, 0.75, "b")]
        >>> found = family_bias("gpt-4o-mini", [
        ...     LabelledAnswer(generator=g, judge=j, human=h, cluster=c) for g, j, h, c in rows])
        >>> found.generators["gpt-4o"].mean, found.preference, found.generators["glm-4"].own
        (0.375, 0.375, False)
    """
    gaps: dict[str, dict[str, list[float]]] = {}
    for answer in answers:
        prompts = gaps.setdefault(answer.generator, {})
        prompts.setdefault(answer.cluster, []).append(answer.judge - answer.human)
    own = {name: bool(same_family(judge, name)) for name in gaps}
    generators = {name: _generator(own[name], gaps[name]) for name in sorted(gaps)}
    ours = _prompt_means([gaps[name] for name in generators if own[name]])
    others = _prompt_means([gaps[name] for name in generators if not own[name]])
    if not ours or not others:
        which = "its own family" if not ours else "another family"
        return FamilyBias(
            generators=generators,
            preference=None,
            interval=None,
            reason=f"no labelled answer of a model of {which}, as far as names tell",
        )
    preference, interval, reason = _difference(ours, others)
    return FamilyBias(generators=generators, preference=preference, interval=interval, reason=reason)


def _generator(own: bool, prompts: Mapping[str, Sequence[float]]) -> GeneratorBias:
    means = np.array([np.mean(gaps) for gaps in prompts.values()])
    return GeneratorBias(
        own=own,
        n=sum(map(len, prompts.values())),
        clusters=len(means),
        mean=float(means.mean()),
        interval=_t_interval(means),
    )


def _prompt_means(groups: Sequence[Mapping[str, Sequence[float]]]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for prompts in groups:
        for prompt, gaps in prompts.items():
            found.setdefault(prompt, []).extend(gaps)
    return {prompt: float(np.mean(gaps)) for prompt, gaps in found.items()}


def _difference(
    ours: Mapping[str, float], others: Mapping[str, float]
) -> tuple[float, BiasInterval | None, str]:
    shared = [prompt for prompt in ours if prompt in others]
    if len(shared) > 1:
        pairs = np.array([ours[prompt] - others[prompt] for prompt in shared])
        interval = _t_interval(pairs)
        return float(pairs.mean()), interval, "" if interval else _NO_SPREAD
    a, b = np.array(list(ours.values())), np.array(list(others.values()))
    difference = float(a.mean() - b.mean())
    if min(len(a), len(b)) < 2:
        return difference, None, "an interval needs two prompts on each side"
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return difference, None, _NO_SPREAD
    from scipy.stats import ttest_ind

    found = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    return difference, (float(found.low), float(found.high)), ""


def _t_interval(values: NDArray[np.float64]) -> BiasInterval | None:
    from scipy.stats import t

    if len(values) < 2 or np.ptp(values) == 0:
        return None
    half = float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutcome:
    """Two answers compared in both orders; None: no verdict."""

    forward: Side | None
    """What won where ``a`` stood first."""
    backward: Side | None
    """What won where ``b`` stood first."""

    @property
    def winner(self) -> Literal["a", "b", "tie"] | None:
        """Who wins in both orders; a tie where they conflict; None where one has no verdict."""
        if self.forward is None or self.backward is None:
            return None
        names: dict[Side, Literal["a", "b", "tie"]] = {"first": "a", "second": "b", "tie": "tie"}
        turned: dict[Side, Side] = {"first": "second", "second": "first", "tie": "tie"}
        same = self.forward == turned[self.backward]
        return names[self.forward] if same else "tie"

    @property
    def consistent(self) -> bool | None:
        """Whether both orders say the same; None where one has no verdict."""
        if self.forward is None or self.backward is None:
            return None
        return {self.forward, self.backward} in ({"first", "second"}, {"tie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """How often the order of two answers decides which is better."""

    n: int
    """Pairs with a verdict in both orders."""
    no_verdict: int
    consistent: float | None
    """Share of ``n`` where both orders say the same; None where n is 0."""
    interval: BiasInterval | None
    """95 % (Wilson)."""
    first: int
    """Pairs in which the first place won in both orders."""
    second: int
    """Pairs in which the second place won in both orders."""


async def compare_pair(compare: Callable[[str, str], Awaitable[Side | None]], a: str, b: str) -> PairOutcome:
    """Compare two answers in both orders.

    Args:
        compare: Told the first and the second answer, says which is better; None: no verdict.
        a: An answer.
        b: Another one.

    Examples:
        >>> import asyncio
        >>> async def first_wins(first, second):
        ...     return "first"
        >>> found = asyncio.run(compare_pair(first_wins, "x", "y"))
        >>> found.winner, found.consistent
        ('tie', False)
    """
    return PairOutcome(forward=await compare(a, b), backward=await compare(b, a))


def position_bias(pairs: Iterable[PairOutcome]) -> PositionBias:
    """Count how often the order decides.

    Args:
        pairs: Each judged in both orders.

    Examples:
        >>> kept = PairOutcome(forward="first", backward="second")
        >>> turned = PairOutcome(forward="first", backward="first")
        >>> found = position_bias([kept, kept, turned])
        >>> found.n, round(found.consistent, 3), found.first
        (3, 0.667, 1)
    """
    found = list(pairs)
    told = [pair for pair in found if pair.consistent is not None]
    same = sum(bool(pair.consistent) for pair in told)
    return PositionBias(
        n=len(told),
        no_verdict=len(found) - len(told),
        consistent=same / len(told) if told else None,
        interval=wilson(same, len(told)) if told else None,
        first=sum(pair.forward == pair.backward == "first" for pair in told),
        second=sum(pair.forward == pair.backward == "second" for pair in told),
    )
