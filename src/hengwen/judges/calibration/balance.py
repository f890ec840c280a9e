"""Whether labelled answers are like the others, as far as the judge can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.judges.calibration.estimates import cluster_index

if TYPE_CHECKING:
    from collections.abc import Sequence

BALANCE_LEVEL = 0.05
"""p value below which labelled answers differ from the others, divided by the number of tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The judge's mean on labelled answers, compared with that on the others."""

    difference: float
    """Mean on labelled answers - mean on the others."""
    p_value: float
    level: float = BALANCE_LEVEL
    """p value below which the sample is not balanced."""

    @property
    def holds(self) -> bool:
        """Whether the labelled answers may be a random sample."""
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
    """Compare the judge's values on labelled answers with those on the others.

    Args:
        labelled: Values by the judge of the labelled answers.
        others: Values by the judge of the other answers.
        clusters: Prompt of each labelled answer.
        other_clusters: Prompt of each other answer; may be prompts of labelled ones.
        bounds: Ends of the scale. The standard error is computed with one more prompt at each end on both
            sides, because values that are all equal would give an error of 0.
        level: p value below which the sample is not balanced.

    Returns:
        The result; None if one side has fewer than two prompts, or values do not vary.

    Notes:
        t test of the difference with a jackknife over prompts: a prompt with answers on both sides is left
        out of both at once. The degrees of freedom are those of the side with fewer effective prompts,
        (sum k)^2 / sum k^2 - 1 for prompts of k answers.

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
