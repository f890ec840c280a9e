"""Levels by a human and a judge, drawn from a model with a known mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtri

LEVELS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
SHARES = np.array([0.05, 0.1, 0.2, 0.35, 0.3])
CUTS = ndtri(np.cumsum(SHARES)[:-1])


def draw_levels(
    rng: np.random.Generator, prompts: int, each: int, *, rho: float, icc: float = 0.0, shift: float = 0.3
) -> tuple[np.ndarray, np.ndarray]:
    """Return human and judge levels of ``each`` answers per prompt; SHARES are those of the human levels.

    rho: correlation of the latent values; icc: share of the latent variance that is the prompt's; shift: how
    much higher the judge's latent values are.
    """
    noise = rng.normal(size=(prompts, each))
    human = np.sqrt(icc) * rng.normal(size=(prompts, 1)) + np.sqrt(1 - icc) * noise
    judge = rho * human + np.sqrt(1 - rho**2) * rng.normal(size=human.shape) + shift
    return LEVELS[np.searchsorted(CUTS, human)], LEVELS[np.searchsorted(CUTS, judge)]


@pytest.fixture
def draw() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    return draw_levels


@pytest.fixture
def levels() -> list[float]:
    return LEVELS.tolist()


@pytest.fixture
def true_mean() -> float:
    return float(SHARES @ LEVELS)
