"""One figure with its interval, by a bootstrap of prompts; what is undefined stays undefined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RESAMPLES = 2000
FEW_PROMPTS = 2
"""Prompts below which there is no interval: one prompt says nothing about others."""

Kind = Literal["coefficient", "share", "free"]
"""``coefficient``: from -1 to 1, so its interval is made on Fisher's z; ``share``: from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its interval, or why there is none."""

    value: float | None
    """None where it is undefined; never 0 for "could not tell"."""
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Why value or interval is None."""
    undefined: int = 0
    """Resamples in which it was undefined; they are not in the interval."""


def cluster_index(clusters: Sequence[str]) -> tuple[NDArray[np.intp], int]:
    """Return the number of each item's cluster, and how many clusters there are.

    Examples:
        >>> index, count = cluster_index(["b", "a", "b"])
        >>> index.tolist(), count
        ([1, 0, 1], 2)
    """
    names = {name: i for i, name in enumerate(sorted(set(clusters)))}
    return np.fromiter((names[name] for name in clusters), dtype=np.intp, count=len(clusters)), len(names)


def resample_clusters(clusters: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """Return how often each cluster is drawn in each resample: (resamples, clusters)."""
    draws = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples)
    return draws.astype(np.float64)


def figure(
    value: float,
    resampled: NDArray[np.float64],
    *,
    kind: Kind,
    n: int,
    clusters: int,
    reason: str,
    level: float,
) -> Estimate:
    """Return a figure with its interval: t on the bootstrap's standard error.

    Args:
        value: The estimate; NaN where it is undefined.
        resampled: The same of each resample; NaN where it is undefined. May be empty.
        kind: Its range, and so the scale on which the interval is symmetric.
        n: Items behind it; a coefficient of 1 has no z, so it is held below 1 - 1 / (2 n) there.
        clusters: Prompts behind it; t has one degree of freedom less.
        reason: Why the value is undefined, if it is.
        level: Of the interval, in (0, 1).

    Notes:
        Why not percentiles: ``benchmarks/bench_kappa.py``. With 5 to 100 prompts the 95 % interval of
        quadratic kappa covered .918-.950 this way, .809-.942 by percentiles and .808-.948 by BCa.
    """
    defined = resampled[~np.isnan(resampled)]
    undefined = len(resampled) - len(defined)
    if np.isnan(value):
        return Estimate(value=None, reason=reason, undefined=undefined)
    if clusters < FEW_PROMPTS or len(defined) < 2:
        return Estimate(value=value, reason="no interval below 2 prompts", undefined=undefined)
    low, high = _interval(value, defined, kind, n, clusters, level)
    return Estimate(value=value, low=low, high=high, undefined=undefined)


def _interval(
    value: float, resampled: NDArray[np.float64], kind: Kind, n: int, clusters: int, level: float
) -> tuple[float, float]:
    from scipy.special import stdtrit

    factor = float(stdtrit(clusters - 1, 0.5 + level / 2))
    if kind == "coefficient" and abs(value) < 1:
        most = max(1 - 1 / (2 * n), abs(value))
        half = factor * float(np.std(np.arctanh(np.clip(resampled, -most, most)), ddof=1))
        middle = float(np.arctanh(value))
        return float(np.tanh(middle - half)), float(np.tanh(middle + half))
    half = factor * float(np.std(resampled, ddof=1))
    least, most = {"coefficient": (-1.0, 1.0), "share": (0.0, 1.0)}.get(kind, (-np.inf, np.inf))
    return max(least, value - half), min(most, value + half)
