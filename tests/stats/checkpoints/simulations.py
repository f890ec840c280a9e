"""How often the tests of checkpoints name a trend, for courses of means with a trend and without."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hengwen.stats.checkpoints import MIN_CORRELATED, NewestTest, SlopeTest, slope_test
from hengwen.stats.power import alpha_at_look

Floats = NDArray[np.float64]
WALK = 1.0
"""Correlation of neighbours of a random walk, in which each mean is the one before plus a random step."""
JITTER = 0.15
NOISE = 0.075
"""Standard error of a mean for fixed prompts, 30 prompts with 3 answers each, in the unit of ``JITTER``."""


def courses(correlation: float, checkpoints: int, samples: int) -> Floats:
    """Return means of variance 1 whose neighbours have a correlation, shape (samples, checkpoints)."""
    rng = np.random.default_rng([checkpoints, round(100 * correlation)])
    steps = rng.normal(size=(samples, checkpoints))
    if correlation == WALK:
        return steps.cumsum(axis=1)
    steps[:, 1:] *= np.sqrt(1 - correlation**2)
    for index in range(1, checkpoints):
        steps[:, index] += correlation * steps[:, index - 1]
    return steps


def falls(fall: float, checkpoints: int, samples: int) -> Floats:
    """Return means of independent checkpoints that fall by ``fall`` latent standard deviations in total."""
    spread = np.hypot(JITTER, NOISE)
    return spread * courses(0, checkpoints, samples) - fall * np.linspace(0, 1, checkpoints)


def correlated_slope(values: Floats) -> SlopeTest | None:
    return slope_test(values, correlated=True)


def rejections(
    test: Callable[[Floats], SlopeTest | NewestTest | None], values: Floats, level: float = 0.05
) -> float:
    """Return the share of series, the rows of ``values``, in which a test is significant."""
    results = [test(row) for row in values]
    return float(np.mean([result is not None and result.p <= level for result in results]))


def verdicts(values: Floats, levels: Callable[[int], float] = lambda look: 0.05) -> NDArray[np.bool_]:
    """Return whether each series has a trend after each checkpoint from the fifth on."""
    looks = range(MIN_CORRELATED, values.shape[1] + 1)
    return np.array(
        [
            [
                (test := correlated_slope(row[:n])) is not None and test.p <= levels(look)
                for look, n in enumerate(looks, 1)
            ]
            for row in values
        ]
    )


def withdrawn(values: Floats) -> float:
    """Return the largest share, over the checkpoints, of series that lose their trend at one checkpoint."""
    named = verdicts(values)
    return float((named[:, :-1] & ~named[:, 1:]).mean(axis=0).max())


def named_at_any_look(correlation: float, samples: int, looks: int = 36) -> float:
    """Return the share of series without a trend for which one is named at any look."""
    values = courses(correlation, MIN_CORRELATED + looks - 1, samples)
    return float(verdicts(values, alpha_at_look).any(axis=1).mean())


def slope_rejections(checkpoints: int, *, jitter: float, fall: float = 0.0, samples: int = 2000) -> float:
    """Return the share of slopes that are significant: five levels, 30 prompts, 3 repeats.

    Half of the variance of the latent answers, which is 1, belongs to their prompts. ``jitter`` is the
    standard deviation of the checkpoints, ``fall`` the total fall.
    """
    rng = np.random.default_rng(checkpoints)
    prompts, repeats = 30, 3
    cuts, spread = stats.norm.ppf([0.05, 0.15, 0.35, 0.7]), np.sqrt(0.5)
    line = np.linspace(0, fall, checkpoints)[:, None]
    significant = 0
    for _ in range(samples):
        latent = rng.normal(0, spread, (prompts, 1, 1)) + rng.normal(0, jitter, (checkpoints, 1)) - line
        answers = latent + rng.normal(0, spread, (prompts, checkpoints, repeats))
        test = slope_test(np.searchsorted(cuts, answers).mean(axis=(0, 2)) / 4)
        significant += test is not None and test.p <= 0.05  # of 4 means, some lie exactly on a line
    return significant / samples
