"""Simulated coverage of intervals of a mean, false passes of gates, and realised power, with fixed seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from hengwen.judges.calibration.means import balance_test, ppi_mean
from hengwen.stats.mean_interval import difference_interval, mean_interval
from hengwen.stats.paired import sign_flip_test
from hengwen.stats.power import detectable_difference

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]

UNIT = (0.0, 1.0)
LEVELS = np.array([0, 0.25, 0.5, 0.75, 1])
SHARES = {
    "even": [0.2] * 5,
    "skew": [0.05, 0.1, 0.2, 0.35, 0.3],
    "ceil90": [0.025] * 4 + [0.9],
    "top97": [0.0075] * 4 + [0.97],
    "pass95": [0.05, 0, 0, 0, 0.95],
    "pass80": [0.2, 0, 0, 0, 0.8],
}


def _levels(name: str) -> Draw:
    return lambda rng, shape: rng.choice(LEVELS, shape, p=SHARES[name])


def _collapse(share: float, spread: float) -> Draw:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        bulk = np.clip(rng.normal(0.8, spread, shape), 0, 1)
        return np.where(rng.random(shape) < share, 0.0, bulk)

    return draw


DISCRETE: dict[str, Draw] = {name: _levels(name) for name in SHARES}
CONTINUOUS: dict[str, Draw] = {
    "beta(2, 30)": lambda rng, shape: rng.beta(2, 30, shape),
    "beta(.1, 2)": lambda rng, shape: rng.beta(0.1, 2, shape),
    "exponential": lambda rng, shape: np.minimum(rng.exponential(0.05, shape), 1),
    "70 % at the top": lambda rng, shape: np.minimum(rng.random(shape) / 0.3, 1),
    "90 % at the top": lambda rng, shape: np.minimum(rng.random(shape) / 0.1, 1),
    "5 % collapse": _collapse(0.05, 0.1),
    "3 % collapse from a narrow bulk": _collapse(0.03, 0.03),
}
EXCEPTION = "3 % collapse from a narrow bulk"
"""No rule without the declared ends of the scale covers a collapse that most samples do not have."""
CLUSTERS = {
    "6 of 20": [20] * 6,
    "12 of 10": [10] * 12,
    "30 of 3": [3] * 30,
    "1 to 5": [1, 2, 3, 4, 5] * 4,
    "28 of 1 and 2 of 20": [1] * 28 + [20] * 2,
}


@cache
def truth(name: str) -> float:
    """Return the mean of a distribution."""
    if name in SHARES:
        return float(LEVELS @ np.array(SHARES[name]))
    return float(CONTINUOUS[name](np.random.default_rng(0), (4_000_000,)).mean())


def coverage(name: str, prompts: int, samples: int, *, plain: bool = False) -> float:
    """Return the share of intervals (``plain``: of t) of independent prompts that hold the true mean."""
    draw, continuous = (DISCRETE | CONTINUOUS)[name], name in CONTINUOUS
    values = draw(np.random.default_rng(prompts), (samples, prompts))
    scale = None if plain else UNIT
    intervals = [mean_interval(row, scale=scale, continuous=continuous) for row in values]
    mean = truth(name)
    return float(
        np.mean([item.bounds is not None and item.bounds[0] <= mean <= item.bounds[1] for item in intervals])
    )


CHANGES = ("equal", "a fifth falls by a half", "all fall a little")
"""How the later checkpoint differs: no change, or a fall of a share of the prompts, or of all."""


def changed(values: Floats, change: str, rng: np.random.Generator) -> Floats:
    """Return the values of a later checkpoint."""
    if change == "equal":
        return values
    if change == "all fall a little":
        return np.maximum(values - 0.05, 0)
    return np.where(rng.random(values.shape) < 0.2, values / 2, values)


def difference_coverage(name: str, change: str, prompts: int, samples: int) -> float:
    """Return the share of intervals of a difference of continuous values that hold the true difference.

    The values of a prompt correlate at two checkpoints, for half of the prompts are answered alike.
    """
    rng, draw = np.random.default_rng(prompts), CONTINUOUS[name]

    def pairs(shape: tuple[int, ...]) -> Floats:
        before, other = draw(rng, shape), draw(rng, shape)
        return changed(np.where(rng.random(shape) < 0.5, before, other), change, rng) - before

    mean = float(pairs((2_000_000,)).mean())
    bounds = [
        difference_interval(row, scale=UNIT, continuous=True).bounds for row in pairs((samples, prompts))
    ]
    return float(np.mean([item is not None and item[0] <= mean <= item[1] for item in bounds]))


def level_difference_coverage(name: str, share: float, prompts: int, samples: int) -> float:
    """Return the same for levels of which a share falls by one."""
    rng, edges = np.random.default_rng(prompts), np.cumsum(SHARES[name])[:-1]

    def pairs(count: int, size: int) -> Floats:
        latent = 0.6**0.5 * rng.normal(size=(1, count, size)) + 0.4**0.5 * rng.normal(size=(2, count, size))
        before, after = LEVELS[np.searchsorted(edges, ndtr(latent))]
        return np.where(rng.random((count, size)) < share, np.maximum(after - 0.25, 0), after) - before

    mean = float(pairs(1, 2_000_000).mean())
    bounds = [difference_interval(row, scale=UNIT).bounds for row in pairs(samples, prompts)]
    return float(np.mean([item is not None and item[0] <= mean <= item[1] for item in bounds]))


def unbounded_coverage(prompts: int, samples: int) -> float:
    """Return the share of t intervals that hold the mean of a lognormal score."""
    values = np.random.default_rng(prompts).lognormal(size=(samples, prompts))
    bounds = [mean_interval(row).bounds or (0.0, 0.0) for row in values]
    return float(np.mean([low <= np.exp(0.5) <= high for low, high in bounds]))


def clustered(
    rng: np.random.Generator, sizes: list[int], top: float, correlation: float, *, continuous: bool
) -> Floats:
    """Return values of which a share ``top`` is 1; values of a cluster correlate (before they are cut)."""
    common = np.repeat(rng.normal(size=len(sizes)), sizes)
    noise = rng.normal(size=len(common))
    rank = ndtr(np.sqrt(correlation) * common + np.sqrt(1 - correlation) * noise)
    return np.minimum(rank / (1 - top), 1) if continuous else (rank >= 1 - top).astype(float)


def names_of(sizes: list[int]) -> list[str]:
    """Return the name of the cluster of each value."""
    return [str(index) for index, size in enumerate(sizes) for _ in range(size)]


def cluster_bounds(
    design: str, top: float, correlation: float, samples: int, *, continuous: bool = False
) -> tuple[list[tuple[float, float]], float]:
    """Return the intervals of clustered values, and the true mean."""
    sizes, rng = CLUSTERS[design], np.random.default_rng(7)
    names = names_of(sizes)
    bounds = []
    for _ in range(samples):
        values = clustered(rng, sizes, top, correlation, continuous=continuous)
        bounds.append(mean_interval(values, names, scale=UNIT, continuous=continuous).bounds or UNIT)
    return bounds, top + (1 - top) / 2 if continuous else top


def cluster_coverage(
    design: str, top: float, correlation: float, samples: int, *, continuous: bool = False
) -> float:
    """Return the share of intervals of clustered values that hold the true mean."""
    bounds, mean = cluster_bounds(design, top, correlation, samples, continuous=continuous)
    return float(np.mean([low <= mean <= high for low, high in bounds]))


def cluster_false_passes(design: str, top: float, correlation: float, samples: int) -> float:
    """Return the share of runs of clustered passes that pass a gate just above the true mean."""
    bounds, mean = cluster_bounds(design, top, correlation, samples)
    return float(np.mean([low >= mean + 1e-9 for low, _ in bounds]))


def width_ratios(rows: list[list[float]], scale: tuple[float, float]) -> list[float]:
    """Return the width of each interval of a continuous score, in multiples of the t interval."""
    ratios = []
    for row in rows:
        bounds = mean_interval(row, scale=scale, continuous=True).bounds
        plain = 2 * float(stdtrit(len(row) - 1, 0.975)) * float(np.std(row, ddof=1)) / len(row) ** 0.5
        assert bounds is not None
        ratios.append((bounds[1] - bounds[0]) / plain)
    return ratios


def ppi_coverage(samples: int) -> float:
    """Return the coverage of corrected means of 12 conversations of 10 turns, 95 % of which people pass."""
    rng, sizes, covered = np.random.default_rng(11), [10] * 12, 0
    names = np.array(names_of(sizes))
    for _ in range(samples):
        human = clustered(rng, sizes, 0.95, 0.9, continuous=False)
        judge = np.where(rng.random(len(human)) < 0.9, human, rng.random(len(human)) < 0.95).astype(float)
        chosen = np.zeros(len(human), bool)
        chosen[rng.permutation(len(human))[:60]] = True
        mean = ppi_mean(
            human[chosen].tolist(),
            judge[chosen].tolist(),
            judge[~chosen].tolist(),
            clusters=names[chosen].tolist(),
            other_clusters=names[~chosen].tolist(),
            bounds=UNIT,
        )
        covered += mean.low <= 0.95 <= mean.high
    return covered / samples


def balance_rejections(samples: int) -> float:
    """Return how often whole conversations drawn at random are called unbalanced, at a ceiling."""
    rng, sizes, rejected = np.random.default_rng(12), [10] * 24, 0
    names = np.array(names_of(sizes))
    for _ in range(samples):
        judge = clustered(rng, sizes, 0.95, 0.9, continuous=False)
        chosen = np.isin(names, rng.permutation(24)[:6].astype(str))
        balance = balance_test(
            judge[chosen].tolist(),
            judge[~chosen].tolist(),
            clusters=names[chosen].tolist(),
            other_clusters=names[~chosen].tolist(),
            bounds=UNIT,
        )
        rejected += balance is not None and not balance.holds
    return rejected / samples


def noninferior_false_passes(
    prompts: int, margin: float, samples: int, alpha: float = 0.0304, *, plain: bool = False
) -> float:
    """Return how often a fall of the margin passes as none; 3 % of the prompts collapse, the rest stays.

    The default of ``alpha`` is the level of the first run that is tested against a baseline. ``plain``
    decides by t.
    """
    rng, passed = np.random.default_rng(13), 0
    collapse = margin / 0.03
    for _ in range(samples):
        differences = rng.normal(0, 0.02, prompts) - collapse * (rng.random(prompts) < 0.03)
        interval = difference_interval(differences, scale=UNIT, confidence=1 - 2 * alpha)
        bounds = interval.t if plain else interval.bounds
        passed += bounds is not None and bounds[0] >= -margin + 1e-9
    return passed / samples


def noninferior_passes(prompts: int, margin: float, samples: int, alpha: float = 0.05) -> float:
    """Return how often equal checkpoints pass; scores have five levels and correlate by .6."""
    passed = 0
    for before, after in equal_levels("skew", prompts, samples, seed=14):
        bounds = difference_interval(after - before, scale=UNIT, confidence=1 - 2 * alpha).bounds
        passed += bounds is not None and bounds[0] >= -margin
    return passed / samples


def equal_levels(name: str, prompts: int, samples: int, *, seed: int) -> list[tuple[Floats, Floats]]:
    """Return values of equal checkpoints on levels, whose latent values correlate by .6."""
    rng, edges = np.random.default_rng(seed), np.cumsum(SHARES[name])[:-1]
    common = rng.normal(size=(samples, 1, prompts))
    latent = 0.6**0.5 * common + 0.4**0.5 * rng.normal(size=(samples, 2, prompts))
    values = LEVELS[np.searchsorted(edges, ndtr(latent))]
    return list(zip(values[:, 0], values[:, 1], strict=True))


TRIALS = 20
"""Number of later pairs of checkpoints in which the difference of each estimate is looked for."""


def realised_power(name: str, prompts: int, samples: int, alpha: float = 0.05) -> tuple[float, float]:
    """Return the power of the stated differences, and the share of samples that state one.

    Levels fall on a share of the prompts, by up to half of the scale (passes by the whole scale); continuous
    scores (``normal``) are shifted.
    """
    rng, detected, stated = np.random.default_rng(15), 0, 0
    for index in range(samples):
        if name == "normal":
            differences = rng.normal(0, 0.1, prompts)
            fall = detectable_difference(differences, None, alpha, span=1.0)
        else:
            ((before, after),) = equal_levels(name, prompts, 1, seed=10**6 + index)
            fall = detectable_difference(after - before, None, alpha, span=1.0, continuous=False)
        if fall is None:
            continue
        stated += 1
        for trial in range(TRIALS):
            if name == "normal":
                later = rng.normal(0, 0.1, prompts) - fall
            else:
                ((before, after),) = equal_levels(name, prompts, 1, seed=TRIALS * index + trial)
                step = 1.0 if name.startswith("pass") else 0.5
                possible = float(LEVELS.clip(max=step) @ np.array(SHARES[name]))
                falls = rng.random(prompts) < fall / possible
                later = np.where(falls, np.maximum(after - step, 0), after) - before
            detected += sign_flip_test(np.zeros(prompts), later).p <= alpha
    return (detected / (TRIALS * stated) if stated else 0.0), stated / samples
