"""Level of a test that is repeated."""

from __future__ import annotations

from math import pi


def alpha_at_look(look: int, alpha: float = 0.05) -> float:
    """Return the level of the test at a look, from 1; the levels of all looks add up to ``alpha``."""
    return 6 * alpha / (pi**2 * look**2)
