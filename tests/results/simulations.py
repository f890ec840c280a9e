"""Made-up courses of checkpoints, and how often the decision on them is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from prompt_series import prompt_series
from quick_tests import quick_tests
from score_rows import row_of
from score_rows import score_of as score_of_name

from hengwen.records import Failure, Outcome, Scale, Score
from hengwen.results.comparisons import ALPHA, CHANGES, compare_checkpoints
from hengwen.results.decide import ScoreCourse, ScoreDecision, decide
from hengwen.results.score_series import ScoreMatrix, ScoreSeries
from hengwen.results.score_table import ScoreTable

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
    return prompt_series(*values.tolist(), address=address, scale=None if shape == "normal" else LEVELS)


def decided(
    generator: np.random.Generator, shape: Shape, means: Sequence[float], prompts: int, scores: int
) -> ScoreDecision:
    """Return the decision on the first of several scores; the others do not change."""
    equal = [0.0] * len(means)
    series = [
        score_of(generator, shape, means if index == 0 else equal, prompts, f"t/s{index}")
        for index in range(scores)
    ]
    with quick_tests():
        comparisons = compare_checkpoints(series)
    courses = [
        ScoreCourse(
            address=item.address,
            higher_is_better=True,
            means=tuple(item.values.mean(axis=0).tolist()),
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


def share_rejected(
    samples: int, shape: Shape, means: Sequence[float], prompts: int, scores: int = 3
) -> float:
    """Return how often the test of the newest checkpoint against the peak rejects.

    A fall also needs the interval of the difference to exclude 0.
    """
    generator = np.random.default_rng(prompts)
    p_values = [decided(generator, shape, means, prompts, scores).p for _ in range(samples)]
    return sum(p is not None and p <= ALPHA for p in p_values) / samples


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


def lost_answers(generator: np.random.Generator, prompts: int, *, odds: float) -> ScoreMatrix:
    """Return two equal checkpoints; the later has lost answers up to the middle level with these odds.

    A prompt has 3 answers and keeps at least one.
    """
    repeats = 3
    shared = generator.normal(0, CORRELATION**0.5, (prompts, 1, 1))
    latent = shared + generator.normal(0, (1 - CORRELATION) ** 0.5, (prompts, 2, repeats))
    values = np.searchsorted(np.array(CUTS["levels"]), latent) / 4
    is_lost = (values <= 0.5) & (generator.random(values.shape) < odds)
    is_lost[:, 0] = False
    is_lost[:, 1, 0] &= ~is_lost[:, 1].all(axis=1)
    common = {"name": "s", "signature": "s|v:1"}
    table = ScoreTable()
    for (prompt, checkpoint, repeat), value in np.ndenumerate(values):
        outcome: Outcome = Score(**common, value=float(value), scale=LEVELS)
        if is_lost[prompt, checkpoint, repeat]:
            outcome = Failure(**common, status="parse_error", message="")
        name = f"p{prompt}"
        table.add(row_of(f"r{checkpoint}", "t", f"c{checkpoint}", name, repeat + 1, name, outcome))
    matrix = ScoreMatrix()
    for column in table.series.values():
        matrix.add(column)
    return matrix


def verdicts_on_lost(samples: int, prompts: int, *, odds: float) -> tuple[float, float, float]:
    """Return what becomes of two equal checkpoints of which one has lost bad answers.

    Returns:
        The mean share of lost answers, how often the checkpoints are tested at all, and how often they would
        be called different if missing answers were not counted.
    """
    generator = np.random.default_rng(prompts)
    lost, tested, named = 0.0, 0, 0
    for _ in range(samples):
        matrix = lost_answers(generator, prompts, odds=odds)
        coverages = [coverage.least for coverage in matrix.coverages(None)]
        lost += 1 - coverages[1]
        counted, whole = (
            matrix.series(score_of_name("s"), LEVELS, shares) for shares in (coverages, [1.0, 1.0])
        )
        with quick_tests():
            tested += bool(compare_checkpoints([counted]))
            (uncounted,) = compare_checkpoints([whole])
        named += uncounted.verdict in CHANGES
    return lost / samples, tested / samples, named / samples
