"""Compute the significance level of the tests of later runs against one baseline.

A look is the test of one run; each look has a level of its own.
"""

from __future__ import annotations

from math import pi


def alpha_at_look(look: int, alpha: float = 0.05) -> float:
    """Return the significance level of the tests at look k: 6 alpha / (pi^2 k^2).

    The levels of all looks add up to alpha. So if nothing changes, the probability that any look gives a
    false alarm is at most alpha, however many looks follow.

    Args:
        look: Number of the look, from 1.
        alpha: Probability of a false alarm at any look, in (0, 1).

    Raises:
        ValueError: A number is out of range.

    Notes:
        Bonferroni's inequality with weights 1 / k^2, whose sum is pi^2 / 6.

    Examples:
        >>> [round(alpha_at_look(look), 4) for look in (1, 2, 20)]
        [0.0304, 0.0076, 0.0001]
        >>> round(sum(alpha_at_look(look) for look in range(1, 10_000)), 4)
        0.05
    """
    if look < 1 or not 0 < alpha < 1:
        raise ValueError(f"no level for look {look} with alpha {alpha}")
    return 6 * alpha / (pi * look) ** 2
