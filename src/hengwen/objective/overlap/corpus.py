"""Confidence intervals of values that are computed from counts summed over a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.stats.mean_interval import check_confidence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray


RESAMPLES = 1000
MIN_BOOTSTRAP_CLUSTERS = 30
"""Minimum number of clusters (groups of dependent texts) for the bootstrap. With fewer clusters, bootstrap
intervals are too narrow, so Student's t intervals are used instead."""
_MAX_BATCH_COUNTS = 4_000_000
"""Maximum size (bootstrap samples x clusters) of the table of draws that is in memory at a time."""


def corpus_interval(
    statistics: Sequence[Sequence[float]],
    value: Callable[[Sequence[float]], float],
    clusters: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[float, float] | None:
    """Return the interval of a value that is computed from statistics summed over texts."""
    import numpy as np

    if len(statistics) != len(clusters):
        raise ValueError(f"{len(statistics)} statistics but {len(clusters)} clusters")
    check_confidence(confidence)
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    index = {name: position for position, name in enumerate(dict.fromkeys(clusters))}
    if len(index) < 2:
        return None
    rows = np.asarray(statistics, dtype=np.float64)
    sums = np.zeros((len(index), rows.shape[1]))
    np.add.at(sums, [index[name] for name in clusters], rows)
    if len(index) < MIN_BOOTSTRAP_CLUSTERS:
        return _jackknife(sums, value, confidence)
    return _bootstrap(sums, value, confidence, resamples, seed)


def _jackknife(
    sums: NDArray[np.float64], value: Callable[[Sequence[float]], float], confidence: float
) -> tuple[float, float]:
    import numpy as np
    from scipy.special import stdtrit

    total, groups = sums.sum(axis=0), len(sums)
    without = np.array([value((total - cluster_sums).tolist()) for cluster_sums in sums])
    error = float(np.sqrt((groups - 1) / groups * np.square(without - without.mean()).sum()))
    middle, half = value(total.tolist()), float(stdtrit(groups - 1, 0.5 + confidence / 2)) * error
    return middle - half, middle + half


def _bootstrap(
    sums: NDArray[np.float64],
    value: Callable[[Sequence[float]], float],
    confidence: float,
    resamples: int,
    seed: int,
) -> tuple[float, float]:
    import numpy as np

    rng, groups = np.random.default_rng(seed), len(sums)
    values: list[float] = []
    while len(values) < resamples:
        size = min(resamples - len(values), max(1, _MAX_BATCH_COUNTS // groups))
        drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=size)
        values += [value(total) for total in (drawn @ sums).tolist()]
    low, high = np.quantile(values, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return float(low), float(high)
