"""An estimate with its confidence interval from a bootstrap over prompts, and remarks on a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RemarkCode = Literal[
    "no_pairs",
    "few_labels",
    "few_prompts",
    "labels_on_one_level",
    "judge_on_one_level",
    "undefined_kappa",
    "undefined_within",
    "kappa",
    "within_kappa",
    "undefined_resamples",
    "raters_disagree",
    "majority",
    "one_rater",
    "chosen_answers",
    "unbalanced",
    "few_labels_for_mean",
    "rounded",
    "not_random",
]


@dataclass(frozen=True, slots=True)
class Remark:
    """A reason for a decision, or a warning."""

    code: RemarkCode
    values: Mapping[str, int | float | str] = field(default_factory=dict)
    """Numbers and names by what they are, such as ``n`` and ``needed``."""


RESAMPLES = 2000
MIN_INTERVAL_PROMPTS = 2
"""Fewest prompts for an interval, because one prompt does not show how much prompts differ."""

EstimateKind = Literal["coefficient", "share", "unbounded"]
"""Range of an estimate: ``coefficient`` for -1 to 1 (its interval is computed on Fisher's z scale), ``share``
for 0 to 1, ``unbounded`` for any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its confidence interval; if the number is undefined, the reason."""

    value: float | None
    """The estimate; None if it is undefined. An undefined estimate is never 0."""
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Why the value or the interval is None."""
    undefined: int = 0
    """Number of bootstrap resamples in which the value is undefined; the interval ignores them."""


def cluster_index(clusters: Sequence[str]) -> tuple[NDArray[np.intp], int]:
    """Return the index of each item's cluster and the number of clusters."""
    index = {name: i for i, name in enumerate(sorted(set(clusters)))}
    return np.fromiter((index[name] for name in clusters), dtype=np.intp, count=len(clusters)), len(index)


def resample_clusters(clusters: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """Draw clusters with replacement; return how often each is drawn, in shape (resamples, clusters)."""
    draws = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples)
    return draws.astype(np.float64)


def bootstrap_estimate(
    value: float,
    resampled: NDArray[np.float64],
    *,
    kind: EstimateKind,
    n: int,
    clusters: int,
    reason: str,
    confidence: float,
) -> Estimate:
    """Return an estimate with a t interval that uses the standard error of a bootstrap."""
    defined = resampled[~np.isnan(resampled)]
    undefined = len(resampled) - len(defined)
    if np.isnan(value):
        return Estimate(value=None, reason=reason, undefined=undefined)
    if clusters < MIN_INTERVAL_PROMPTS or len(defined) < 2:
        return Estimate(value=value, reason="no interval below 2 prompts", undefined=undefined)
    low, high = _interval(value, defined, kind, n, clusters, confidence)
    return Estimate(value=value, low=low, high=high, undefined=undefined)


def _interval(
    value: float, resampled: NDArray[np.float64], kind: EstimateKind, n: int, clusters: int, confidence: float
) -> tuple[float, float]:
    from scipy.special import stdtrit

    factor = float(stdtrit(clusters - 1, 0.5 + confidence / 2))
    if kind == "coefficient" and abs(value) < 1:
        limit = max(1 - 1 / (2 * n), abs(value))
        half = factor * float(np.std(np.arctanh(np.clip(resampled, -limit, limit)), ddof=1))
        z = float(np.arctanh(value))
        return float(np.tanh(z - half)), float(np.tanh(z + half))
    half = factor * float(np.std(resampled, ddof=1))
    lower, upper = {"coefficient": (-1.0, 1.0), "share": (0.0, 1.0)}.get(kind, (-np.inf, np.inf))
    return max(lower, value - half), min(upper, value + half)
