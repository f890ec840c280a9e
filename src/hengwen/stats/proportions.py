"""Intervals of a proportion."""

from __future__ import annotations


def wilson(passed: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the Wilson interval of a share.

    Args:
        passed: 0 to n.
        n: At least 1.
        level: Of confidence.

    Raises:
        ValueError: The numbers do not fit.

    Source:
        Wilson (1927), J. Am. Stat. Assoc. 22, 209-212; computed by scipy.

    Examples:
        >>> [round(end, 4) for end in wilson(8, 8)]
        [0.6756, 1.0]
    """
    from scipy.stats import binomtest

    found = binomtest(passed, n).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)
