"""Permutation entropy: how evenly ordinal patterns (orders of the scores in a window) occur."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core import (
    as_rows,
    as_scores,
    as_sequence,
    batch_entropies,
    code_counts,
    entropy_of,
    pattern_codes,
    refuse_nan,
    window_count,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

Base = float | Literal["e"]


@overload
def permutation_entropy(
    x: Sequence[float],
    m: int = 3,
    delay: int = 1,
    *,
    base: Base = "e",
    normalize: bool = False,
    axis: int = -1,
) -> float: ...
@overload
def permutation_entropy(
    x: ArrayLike, m: int = 3, delay: int = 1, *, base: Base = "e", normalize: bool = False, axis: int = -1
) -> float | NDArray[np.float64]: ...


def permutation_entropy(
    x: ArrayLike, m: int = 3, delay: int = 1, *, base: Base = "e", normalize: bool = False, axis: int = -1
) -> float | NDArray[np.float64]:
    """Return the Shannon entropy of the ordinal patterns (orders of the scores in a window) of a sequence.

    Args:
        x: At least (m - 1) * delay + 1 scores in order; an array with several axes is a batch of sequences.
        m: Number of scores in a window, at least 2. For a reliable estimate, the number of scores should be
            well above 5 m!.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        base: Base of the logarithm: ``"e"`` gives nats, ``2`` gives bits.
        normalize: Whether to divide the entropy by the logarithm of m!, its largest possible value.
        axis: Axis of a batch along which the scores of a sequence follow each other.

    Returns:
        A float from 0 (only one pattern occurs) to log m!, or to 1 if normalized; for a batch, an array.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, or an option is unknown.

    Notes:
        Bandt and Pompe (2002), Phys. Rev. Lett. 88, 174102. The entropy does not depend on how high the
        scores are: applying a strictly increasing function to all scores does not change the entropy.
        Two equal scores count as a rise, so ties favour rising patterns: for random scores from 1 to 5 and
        m = 3, the entropy is .966 log 3!, not log 3!.

    Examples:
        >>> permutation_entropy([5, 4, 5, 4, 5, 4, 5, 4])
        0.6931471805599453
        >>> permutation_entropy([1, 2, 3, 4, 5])
        0.0
        >>> permutation_entropy([1, 2, 1, 3], m=2, normalize=True).__round__(4)
        0.9183
    """
    _check_window(m, delay)
    if not isinstance(normalize, bool):
        raise ValueError(f"normalize must be True or False, got {normalize!r}")
    unit = log_of_base(base)
    if normalize:
        unit = math.log(math.factorial(m))
    scores = as_scores(x, axis=axis)
    refuse_nan(scores)
    window_count(scores.shape[-1], m, delay)
    if scores.ndim == 1:
        return entropy_of(code_counts(scores, m, delay)) / unit
    return (batch_entropies(as_rows(scores), m, delay) / unit).reshape(scores.shape[:-1])


def pattern_counts(x: ArrayLike, m: int = 3, delay: int = 1) -> dict[tuple[int, ...], int]:
    """Count the ordinal patterns (orders of the scores in a window) of a sequence.

    Args:
        x: One sequence of at least (m - 1) * delay + 1 scores, in order.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.

    Returns:
        Counts of the patterns that occur, sorted by pattern. A pattern is the stable argsort of its window:
        (0, 1, 2) rises, (2, 1, 0) falls. Two equal scores count as a rise.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, or a score is NaN.

    Examples:
        >>> pattern_counts([5, 4, 5, 4, 5, 4, 5, 4])
        {(0, 2, 1): 3, (1, 0, 2): 3}
    """
    _check_window(m, delay)
    row = as_sequence(x)
    codes = pattern_codes(row, m, delay)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    windows = row[first[:, None] + np.arange(m) * delay]
    patterns = map(tuple, np.argsort(windows, axis=1, kind="stable").tolist())
    return dict(sorted(zip(patterns, counts.tolist(), strict=True)))


def _check_window(m: int, delay: int) -> None:
    whole_number("m", m, 2)
    whole_number("delay", delay)


def log_of_base(base: float | str) -> float:
    """Return the natural logarithm of the base, 1 for ``"e"``."""
    if base == "e":
        return 1.0
    if isinstance(base, str) or not 1 < base < math.inf:
        raise ValueError(f"base must be 'e' or a number above 1, got {base!r}")
    return math.log(base)
