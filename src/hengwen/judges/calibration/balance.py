"""Test whether the judge's mean differs between labelled and unlabelled answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.judges.calibration.estimates import cluster_index

if TYPE_CHECKING:
    from collections.abc import Sequence

BALANCE_LEVEL = 0.05
"""Significance level of the balance test (``balance_test``); if several tests are made, it is divided by
their number. A p value below this level means that labelled answers differ from unlabelled ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The judge's mean on labelled answers, compared with its mean on unlabelled answers."""

    difference: float
    """The judge's mean on labelled answers minus its mean on unlabelled answers."""
    p_value: float
    level: float = BALANCE_LEVEL
    """p value below which the labelled answers do not count as a random sample."""

    @property
    def holds(self) -> bool:
        """Whether the p value is at least ``level``, so that the labelled answers may be a random sample."""
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
    """Compare the judge's values for labelled answers with its values for unlabelled answers."""
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
