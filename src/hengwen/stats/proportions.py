"""Confidence intervals of a proportion."""

from __future__ import annotations


def wilson(passed: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson interval of a proportion.

    Args:
        passed: Number of successes, from 0 to n.
        n: Number of trials, >= 1.
        confidence: Confidence level, in (0, 1).

    Raises:
        ValueError: A number is out of range.

    Notes:
        Wilson (1927), J. Am. Stat. Assoc. 22, 209-212; computed by scipy.

    Examples:
        >>> [round(end, 4) for end in wilson(8, 8)]
        [0.6756, 1.0]
    """
    from scipy.stats import binomtest

    interval = binomtest(passed, n).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)
