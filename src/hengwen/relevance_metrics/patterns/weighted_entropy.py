"""Permutation entropy in which every window of scores is weighted by the variance of its scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from hengwen.relevance_metrics.core.inputs import as_rows, as_scores, check_choice, refuse_nan
from hengwen.relevance_metrics.core.pattern_codes import pattern_codes
from hengwen.relevance_metrics.patterns.entropy import log_of_base
from hengwen.relevance_metrics.patterns.ties import PatternOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class WeightedOptions(TypedDict, total=False):
    """Keyword arguments of ``weighted_permutation_entropy``."""

    base: float | Literal["e"]
    normalize: Literal["m!"] | None
    axis: int


@overload
def weighted_permutation_entropy(
    x: Sequence[float], m: int = 3, delay: int = 1, **options: Unpack[WeightedOptions]
) -> float: ...
@overload
def weighted_permutation_entropy(
    x: ArrayLike, m: int = 3, delay: int = 1, **options: Unpack[WeightedOptions]
) -> float | NDArray[np.float64]: ...


def weighted_permutation_entropy(
    x: ArrayLike,
    m: int = 3,
    delay: int = 1,
    *,
    base: float | Literal["e"] = "e",
    normalize: Literal["m!"] | None = None,
    axis: int = -1,
) -> float | NDArray[np.float64]:
    """Return the entropy of ordinal patterns, each window weighted by the variance of its scores.

    Unlike `permutation_entropy`, this entropy depends on the size of the ups and downs. Constant windows have
    weight 0.

    Args:
        x: At least (m - 1) * delay + 1 finite scores in order; an array with several axes is a batch of
            sequences.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        base: Base of the logarithm; ``"e"`` gives nats.
        normalize: None returns the entropy; ``m!`` divides it by log m!, the largest possible entropy.
        axis: Axis of a batch along which the scores of a sequence follow each other.

    Returns:
        A float from 0 to log m!, or from 0 to 1 if normalized; for a batch, an array. The entropy is 0 if
        only one pattern occurs, as in a constant sequence. Two equal scores count as a rise.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN or infinite, or an option is
            unknown.

    Notes:
        Fadlallah, Chen, Keil and Principe (2013), Phys. Rev. E 87, 022911.

    Examples:
        >>> weighted_permutation_entropy([1, 2, 1, 2, 1], m=2)
        0.6931471805599453
        >>> weighted_permutation_entropy([0, 3, 2], m=2, base=2).__round__(4)
        0.469
        >>> weighted_permutation_entropy([4, 4, 4, 4])
        0.0
    """
    options = PatternOptions(m=m, delay=delay)
    check_choice("normalize", normalize, [None, "m!"])
    unit = math.log(options.possible) if normalize else log_of_base(base)
    scores = as_scores(x, axis=axis)
    refuse_nan(scores)
    if not np.isfinite(scores).all():
        raise ValueError("weights need finite scores, got an infinite one; use permutation_entropy")
    values = [_weighted(row, options) / unit for row in as_rows(scores)]
    return float(values[0]) if scores.ndim == 1 else np.array(values).reshape(scores.shape[:-1])


def _weighted(row: NDArray[Any], options: PatternOptions) -> float:
    codes = pattern_codes(row, options.m, options.delay)
    kinds, index = np.unique(codes, return_inverse=True)
    if len(kinds) == 1:
        return 0.0
    sums = np.bincount(index, _variances(row, options, len(codes)))
    total = math.fsum(sums)
    shares = [part / total for part in sums.tolist() if part > 0]
    return abs(math.fsum(share * math.log(share) for share in shares))


def _variances(row: NDArray[Any], options: PatternOptions, windows: int) -> NDArray[np.float64]:
    """Return, for each window, the sum of squared deviations of its scores from their mean."""
    values = row.astype(np.float64)
    largest = float(np.abs(values).max())
    values /= largest or 1.0
    members = [values[j * options.delay :][:windows] for j in range(options.m)]
    mean = sum(members) / options.m
    return np.asarray(sum((member - mean) ** 2 for member in members))
