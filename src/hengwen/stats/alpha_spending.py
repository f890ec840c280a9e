"""Compute the significance level of the tests of later runs against one baseline.

A look is the test of one run; each look has a level of its own.
"""

from __future__ import annotations

from math import pi


def alpha_at_look(look: int, alpha: float = 0.05) -> float:
    """Return the significance level of the tests at look k: 6 alpha / (pi^2 k^2)."""
    if look < 1 or not 0 < alpha < 1:
        raise ValueError(f"no level for look {look} with alpha {alpha}")
    return 6 * alpha / (pi * look) ** 2
