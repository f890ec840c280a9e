"""Reports of made-up checkpoints: how often the tests of all pairs name a difference.

The slow tests assert these figures, and ``benchmarks/bench_monitoring.py`` prints them.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from quick_tests import quick_tests

from hengwen.records import Scale
from hengwen.results.comparisons import Comparison, compare_checkpoints
from hengwen.results.score_series import ScoreSeries
from hengwen.stats import step_down

Values = NDArray[np.float64]
LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
SHARES = {"skew": [0.05, 0.1, 0.2, 0.35, 0.3], "ceiling": [0.025] * 4 + [0.9]}
RUBRIC = Scale(low=0, high=1, levels=tuple(LEVELS))
POINTS = Scale(low=0, high=100)
FALLS = (
    ("skew", 12, 4, 0.6),
    ("ceiling", 12, 4, 0.6),
    ("skew", 26, 4, 0.5),
    ("ceiling", 26, 4, 0.5),
    ("skew", 12, 4, 1.0),
    ("ceiling", 12, 4, 1.0),
    ("skew", 26, 4, 1.0),
    ("ceiling", 26, 4, 1.0),
    ("exponential", 26, 6, 7.0),
)
"""Falls of the last checkpoint: kind, prompts, checkpoints, share of prompts that fall by a level (or
points)."""
KINDS = ("skew", "ceiling", "exponential", "collapse", "noisy", "clusters", "missing")


def draw(rng: np.random.Generator, kind: str, prompts: int, checkpoints: int) -> Values:
    """Return values of equal checkpoints, shape (prompts, checkpoints); prompts differ in difficulty."""
    shape = prompts, checkpoints
    own = rng.normal(0, 1, (prompts, 1))
    if kind in SHARES:
        cuts = np.quantile(rng.normal(0, 2**0.5, 20_000), np.cumsum(SHARES[kind])[:-1])
        return LEVELS[np.searchsorted(cuts, own + rng.normal(0, 1, shape))]
    if kind == "exponential":
        return 50 + 5 * own + 5 * rng.exponential(1, shape)
    if kind == "collapse":
        return np.where(rng.random(shape) < 0.05, 0.0, 60 + 5 * own + rng.normal(0, 2, shape))
    noise = rng.normal(0, 5, shape)
    if kind == "noisy":
        noise[:, -1] *= 2
    if kind == "clusters":
        noise += np.repeat(rng.normal(0, 5, (-(-prompts // 4), checkpoints)), 4, axis=0)[:prompts]
    values = 50 + 5 * own + noise
    return np.where(rng.random(shape) < 0.04, np.nan, values) if kind == "missing" else values


def pairs_of(scores: list[Values], scale: Scale, clusters: list[str] | None = None) -> list[ScoreSeries]:
    """Return all pairs of checkpoints in some scores of one task."""
    pairs = list(combinations(range(scores[0].shape[1]), 2))
    return [
        ScoreSeries(
            address=f"t/{index}",
            task="t",
            scale=scale,
            clusters=clusters or [f"p{row}" for row in range(len(values))],
            values=values,
            pairs=pairs,
        )
        for index, values in enumerate(scores)
    ]


def report(scores: list[Values], scale: Scale) -> list[Comparison]:
    """Return the tests of all pairs, with their verdicts."""
    with quick_tests():
        return compare_checkpoints(pairs_of(scores, scale))


def rejected(family: list[ScoreSeries], seed: int) -> set[tuple[int, int]]:
    """Return the pairs of checkpoints that the test of the family alone tells apart in any score."""
    with quick_tests():
        p_values = step_down.step_down([score.for_family() for score in family], seed=seed).p_adjusted
    pairs = [pair for score in family for pair in score.pairs]
    return {pair for pair, p in zip(pairs, p_values, strict=True) if p <= 0.05}


def family_error(kind: str, prompts: int, checkpoints: int, scores: int, samples: int) -> float:
    """Return the share of reports of equal checkpoints in which the test of any pair rejects."""
    rng = np.random.default_rng([KINDS.index(kind), prompts, checkpoints])
    names = [f"c{row // 4}" for row in range(prompts)] if kind == "clusters" else None
    wrong = 0
    for case in range(samples):
        values = [draw(rng, kind, prompts, checkpoints) for _ in range(scores)]
        wrong += bool(rejected(pairs_of(values, RUBRIC if kind in SHARES else POINTS, names), case))
    return wrong / samples


def partial_error(prompts: int, checkpoints: int, samples: int) -> float:
    """Return the same where the first checkpoint is worse: errors are those among the others."""
    rng, wrong = np.random.default_rng(prompts), 0
    for case in range(samples):
        values = draw(rng, "exponential", prompts, checkpoints)
        values[:, 0] -= 8
        wrong += any(earlier > 0 for earlier, _ in rejected(pairs_of([values], POINTS), case))
    return wrong / samples


def power(
    kind: str, prompts: int, checkpoints: int, scores: int, fall: float, samples: int
) -> tuple[float, float]:
    """Return how often the last checkpoint is told from the first, by the test alone and with its interval.

    All scores fall at the last checkpoint by ``fall`` (in units of a step for levels, of points else).
    """
    rng, tested, claimed = np.random.default_rng(prompts), 0, 0
    for _ in range(samples):
        values = [draw(rng, kind, prompts, checkpoints) for _ in range(scores)]
        for table in values:
            if kind in SHARES:
                table[:, -1] = np.clip(table[:, -1] - 0.25 * (rng.random(prompts) < fall), 0, 1)
            else:
                table[:, -1] -= fall
        tests = report(values, RUBRIC if kind in SHARES else POINTS)
        ends = [item for item in tests if (item.earlier, item.later) == (0, checkpoints - 1)]
        tested += ends[0].p_adjusted <= 0.05
        claimed += ends[0].verdict == "worse"
    return tested / samples, claimed / samples


def six_prompts(checkpoints: int, samples: int, *, scores: int = 3) -> tuple[float, float]:
    """Return how often a fall of all six prompts by one level is seen, by the test and with its interval.

    The first score of the last checkpoint is one level below that of the first; nothing else differs.
    """
    rng, tested, claimed = np.random.default_rng(checkpoints), 0, 0
    for _ in range(samples):
        values = [draw(rng, "skew", 6, checkpoints) for _ in range(scores)]
        values[0][:, 0] = np.maximum(values[0][:, 0], 0.25)
        values[0][:, -1] = values[0][:, 0] - 0.25
        tests = report(values, RUBRIC)
        (fallen,) = [item for item in tests[: len(tests) // scores] if item.earlier == 0][-1:]
        tested += fallen.p_adjusted <= 0.05
        claimed += fallen.verdict == "worse"
    return tested / samples, claimed / samples


def other_shape(prompts: int, samples: int) -> tuple[float, float]:
    """Return how often equal means with another shape are told apart, by the test and with its interval.

    Of the later answers, 2 % collapse by four levels of five; the others rise by as much in the mean.
    """
    rng, tested, claimed = np.random.default_rng(prompts), 0, 0
    for _ in range(samples):
        falls = rng.random(prompts) < 0.02
        rises = ~falls & (rng.random(prompts) < 0.02 * 3 / 0.98)
        after = np.where(falls, 0.0, np.where(rises, 1.0, 0.75))
        (test,) = report([np.column_stack((np.full(prompts, 0.75), after))], RUBRIC)
        tested += test.p_adjusted <= 0.05
        claimed += test.verdict in ("better", "worse")
    return tested / samples, claimed / samples


def other_shape_of_points(prompts: int, samples: int) -> tuple[float, float]:
    """Return the same for points: the bulk rises by 1 +- 1, and 2 % fall by 49."""
    rng, tested, claimed = np.random.default_rng(prompts), 0, 0
    for _ in range(samples):
        before = 60 + rng.normal(0, 5, prompts)
        after = before + np.where(rng.random(prompts) < 0.02, -49.0, 1 + rng.normal(0, 1, prompts))
        (test,) = report([np.column_stack((before, after))], POINTS)
        tested += test.p_adjusted <= 0.05
        claimed += test.verdict in ("better", "worse")
    return tested / samples, claimed / samples
