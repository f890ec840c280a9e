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
    """Return the squared standard error of a checkpoint's mean for fixed prompts.

    The variance between prompts is not included, because all checkpoints answer the same prompts. The result
    includes the variance of repeats, and the interaction of prompts and checkpoints: the scores of some
    prompts change more than those of others.

    Args:
        values: Value of each prompt at each checkpoint, shape (prompts, checkpoints); NaN if missing. Every
            checkpoint needs at least one value.
        clusters: Cluster of each prompt; the values of a cluster may depend on each other.

    Returns:
        The average of the squared standard errors of all checkpoints; None if there are too few values for an
        estimate, for example values of a single cluster.

    Notes:
        The model is value = checkpoint + prompt (least squares). The residuals of the model are summed by
        cluster. The jackknife over clusters gives the variance of a mean, which is then corrected for the
        degrees of freedom of the fitted prompts and checkpoints.

        If no value is missing and all clusters have the same size, the result can also be computed by a
        two-way analysis of variance (cluster by checkpoint) of the means of the clusters. The result then
        equals the mean square of the interaction, divided by the number of clusters.

    Examples:
        >>> table = [[0.25, 0.5], [0.5, 0.5], [0.75, 1.0], [1.0, 0.75]]
        >>> round(mean_variance(table, ["a", "b", "c", "d"]), 5)
        0.00716
        >>> mean_variance([[0.25, 0.5]], ["a"]) is None
        True
    """
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
