"""Made-up courses of checkpoints, and how often the decision on them is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from hengwen.records import Scale
from hengwen.results.comparisons import compare_checkpoints
from hengwen.results.decide import ScoreCourse, decide
from hengwen.results.decision import ScoreDecision
from hengwen.results.score_series import ScoreSeries

Shape = Literal["normal", "levels", "ceiling"]
SHAPES: tuple[Shape, ...] = ("normal", "levels", "ceiling")
LEVELS = Scale(low=0, high=1, levels=(0, 0.25, 0.5, 0.75, 1))
CUTS = {"levels": (-1.6, -1.0, -0.4, 0.5), "ceiling": (-2.8, -2.3, -1.9, -1.3)}
"""Limits between the five levels, in standard deviations of an answer; 90 % are on the top level of
``ceiling``."""
CORRELATION = 0.7
"""Correlation of a prompt's values at two checkpoints."""
SPREAD = (2 * (1 - CORRELATION)) ** 0.5
"""Standard deviation of the difference of a prompt between two checkpoints."""
DECLINE = (-0.5, -0.25, 0.0, -0.25, -0.5, -0.75)
"""A rise to a peak and a slow decline, in standard deviations of a difference."""


def score_of(
    generator: np.random.Generator, shape: Shape, means: Sequence[float], prompts: int, address: str
) -> ScoreSeries:
    """Return values around means, which are in standard deviations of a difference."""
    shared = generator.normal(0, CORRELATION**0.5, prompts)
    own = generator.normal(0, (1 - CORRELATION) ** 0.5, (len(means), prompts))
    values = shared + own + SPREAD * np.asarray(means)[:, None]
    if shape != "normal":
        values = np.searchsorted(np.array(CUTS[shape]), values) / 4
    return ScoreSeries(
        address=address,
        values=tuple({f"p{i}": float(value) for i, value in enumerate(row)} for row in values),
        clusters={},
        coverages=(1.0,) * len(means),
        signatures=("s|v:1",) * len(means),
        scale=None if shape == "normal" else LEVELS,
        task="t",
    )


def decided(
    generator: np.random.Generator, shape: Shape, means: Sequence[float], prompts: int, scores: int
) -> ScoreDecision:
    """Return the decision on the first of several scores; the others do not change."""
    equal = [0.0] * len(means)
    series = [
        score_of(generator, shape, means if index == 0 else equal, prompts, f"t/s{index}")
        for index in range(scores)
    ]
    comparisons = compare_checkpoints(series)
    courses = [
        ScoreCourse(
            address=item.address,
            higher_is_better=True,
            means=tuple(float(np.mean(list(values.values()))) for values in item.values),
            is_covered=(True,) * len(means),
            comparisons=[pair for pair in comparisons if pair.address == item.address],
            series=item,
        )
        for item in series
    ]
    return decide([f"c{index}" for index in range(len(means))], courses).scores[0]


def share_fallen(samples: int, shape: Shape, means: Sequence[float], prompts: int, scores: int = 3) -> float:
    """Return how often the newest checkpoint is said to have fallen from the peak."""
    generator = np.random.default_rng(prompts)
    return (
        sum(decided(generator, shape, means, prompts, scores).newest == "worse" for _ in range(samples))
        / samples
    )


def share_with_best(
    samples: int, shape: Shape, means: Sequence[float], prompts: int, scores: int = 3
) -> float:
    """Return how often the truly best checkpoint is among those not worse than the best seen."""
    generator = np.random.default_rng(prompts)
    best = f"c{int(np.argmax(means))}"
    return (
        sum(best in decided(generator, shape, means, prompts, scores).not_worse for _ in range(samples))
        / samples
    )
