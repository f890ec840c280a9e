"""Estimate how precise the mean of a checkpoint is on given prompts, also if scores are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hengwen.stats.checkpoints.additive_fit import additive_part, fill_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


def mean_variance(values: ArrayLike, clusters: Sequence[str]) -> float | None:
    """Return the squared standard error of a checkpoint's mean for fixed prompts."""
    table = np.asarray(values, np.float64)
    is_scored = ~np.isnan(table)
    has_score = is_scored.any(axis=1)
    table, is_scored = table[has_score], is_scored[has_score]
    _, codes = np.unique(np.asarray(clusters, dtype=str)[has_score], return_inverse=True)
    sizes = _by_cluster(is_scored.astype(np.float64), codes)
    groups, checkpoints = sizes.shape
    cells = int((sizes > 0).sum())
    freedom = cells - groups - checkpoints + 1
    prompts = sizes.sum(axis=0)
    if freedom <= 0 or checkpoints < 2 or (sizes == prompts).any():
        return None
    filled = fill_missing(table)
    sums = _by_cluster(np.where(is_scored, filled - additive_part(filled), 0.0), codes)
    jackknifed = sums / (1 - sizes / prompts)
    variances = np.square(jackknifed).sum(axis=0) / prompts**2 * (1 - 1 / groups) ** 2
    return float(variances.mean() * cells / freedom)


def _by_cluster(table: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return the sums of the rows of each cluster, shape (clusters, columns)."""
    return np.stack([np.bincount(codes, weights=column) for column in table.T], axis=1)
