"""Test whether the judge's mean differs between the labelled answers and the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.judges.calibration.estimates import cluster_index

if TYPE_CHECKING:
    from collections.abc import Sequence

BALANCE_LEVEL = 0.05
"""Significance level, divided by the number of tests. A smaller p value means that labelled answers differ
from the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The judge's mean on labelled answers, compared with that on the others."""

    difference: float
    """Mean on labelled answers - mean on the others."""
    p_value: float
    level: float = BALANCE_LEVEL
    """p value below which the labelled answers do not count as a random sample."""

    @property
    def holds(self) -> bool:
        """Whether, by this test, the labelled answers may be a random sample of all answers."""
        return self.p_value >= self.level


def balance_test(
    labelled: Sequence[float],
    others: Sequence[float],
    *,
    clusters: Sequence[str],
    other_clusters: Sequence[str],
    bounds: tuple[float, float] | None = None,
    level: float = BALANCE_LEVEL,
) -> Balance | None:
    """Compare the judge's values for labelled answers with its values for the other answers.

    Args:
        labelled: The judge's values for the labelled answers.
        others: The judge's values for the other answers.
        clusters: Prompt of each labelled answer.
        other_clusters: Prompt of each other answer; a prompt may have labelled answers as well.
        bounds: Ends of the scale. For the standard error, each group gets one more prompt at each end of the
            scale: otherwise equal values would give a standard error of 0.
        level: p value below which the labelled answers do not count as a random sample.

    Returns:
        The result; None if one of the groups has fewer than two prompts, or all values are equal.

    Notes:
        t test of the difference. A jackknife leaves out one prompt at a time, from both groups at once. The
        degrees of freedom are the number of effective prompts - 1, for the group where it is smaller. A group
        whose prompts have k answers each has (sum k)^2 / sum k^2 effective prompts.

    Examples:
        >>> names = [str(i) for i in range(20)]
        >>> same = balance_test([0, 1] * 5, [0, 1] * 5, clusters=names[:10], other_clusters=names[10:])
        >>> same.difference, same.p_value, same.holds
        (0.0, 1.0, True)
        >>> balance_test([1] * 10, [0, 1] * 5, clusters=names[:10], other_clusters=names[10:]).holds
        False
    """
    if len(set(clusters)) < 2 or len(set(other_clusters)) < 2:
        return None
    from scipy.special import stdtr

    difference = float(np.mean(labelled) - np.mean(others))
    ends = () if bounds is None else bounds
    names = [*clusters, *(f"labelled end {end}" for end in ends)]
    other_names = [*other_clusters, *(f"other end {end}" for end in ends)]
    index, count = cluster_index([*names, *other_names])
    sides = (([*labelled, *ends], index[: len(names)]), ([*others, *ends], index[len(names) :]))
    sums = [np.bincount(of_side, values, count) for values, of_side in sides]
    sizes = [np.bincount(of_side, minlength=count).astype(float) for _, of_side in sides]
    means = [(total.sum() - total) / (size.sum() - size) for total, size in zip(sums, sizes, strict=True)]
    without = means[0] - means[1]
    error = float(np.sqrt((count - 1) / count * np.square(without - without.mean()).sum()))
    if error <= 1e-12:
        return None
    freedom = min(float(size.sum() ** 2 / np.square(size).sum() - 1) for size in sizes)
    p_value = 2 * float(stdtr(freedom, -abs(difference) / error))
    return Balance(difference=difference, p_value=p_value, level=level)
