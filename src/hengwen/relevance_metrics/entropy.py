"""Permutation entropy: how evenly ordinal patterns (orders of the scores in a window) occur."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np

from hengwen.relevance_metrics.core import (
    as_rows,
    as_scores,
    batch_entropies,
    check_choice,
    code_counts,
    entropy_of,
    has_nan,
    pattern_codes,
    refuse_nan,
    window_count,
)
from hengwen.relevance_metrics.ties import (
    NAN_WAY_OUT,
    NanPolicy,
    PatternOptions,
    Ties,
    broken_ties,
    label_windows,
    named_counts,
    random_orders,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

Normalize = Literal["m!", "attainable", "null"]
_MAX_NULL_DRAWS = 999
_MAX_NULL_SCORES = 4_000_000


class EntropyOptions(TypedDict, total=False):
    """Keyword arguments of ``permutation_entropy``."""

    base: float | Literal["e"]
    normalize: Normalize | None
    ties: Ties
    bias: Literal["miller-madow"] | None
    nan: NanPolicy
    axis: int
    seed: int
    draws: int


@overload
def permutation_entropy(
    x: Sequence[float], m: int = 3, delay: int = 1, **options: Unpack[EntropyOptions]
) -> float: ...
@overload
def permutation_entropy(
    x: ArrayLike, m: int = 3, delay: int = 1, **options: Unpack[EntropyOptions]
) -> float | NDArray[np.float64]: ...


def permutation_entropy(  # noqa: PLR0913 - keyword-only options
    x: ArrayLike,
    m: int = 3,
    delay: int = 1,
    *,
    base: float | Literal["e"] = "e",
    normalize: Normalize | None = None,
    ties: Ties = "stable",
    bias: Literal["miller-madow"] | None = None,
    nan: NanPolicy = "raise",
    axis: int = -1,
    seed: int = 0,
    draws: int = 32,
) -> float | NDArray[np.float64]:
    """Return the Shannon entropy of the ordinal patterns (orders of the scores in a window) of a sequence.

    Args:
        x: At least (m - 1) * delay + 1 scores in order; an array with several axes is a batch of sequences.
        m: Number of scores in a window, at least 2. For a reliable estimate, the number of scores should be
            well above 5 m!.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        base: Base of the logarithm: ``"e"`` gives nats, ``2`` gives bits.
        normalize: Divisor of the entropy; None returns the entropy without division.

            - ``m!`` divides by the logarithm of the number of possible patterns (m!, or more with
              ``ties="dense"``).
            - ``attainable`` divides by the logarithm of the number of possible patterns or of the number of
              windows, whichever is smaller.
            - ``null`` divides by the mean entropy over random orders of the same scores. The value 1 means
              "as in random order", even if scores are equal or the sequence is short.
        ties: Policy for equal scores.

            - ``stable`` reads a tie as a rise (the published definition).
            - ``random`` breaks ties at random several times, and averages the entropies.
            - ``average`` divides the count of a window with ties equally among all orders that breaking the
              ties can give.
            - ``dense`` gives windows with ties patterns of their own.
            - ``drop`` skips windows with ties.
            - ``raise`` raises an error.
        bias: None for no correction. ``miller-madow`` adds (k - 1) / (2 * windows) nats, where k is the
            number of patterns that occur. It warns if there are fewer than five windows for each possible
            pattern.
        nan: Policy for NaN: ``raise`` raises an error; ``omit-window`` skips windows with a NaN; ``omit``
            removes NaN before windows are formed; ``propagate`` returns NaN for a sequence with a NaN.
        axis: Axis of a batch along which the scores of a sequence follow each other.
        seed: Seed for ``ties="random"`` and ``normalize="null"``.
        draws: Number of random tie breaks for ``ties="random"``, at least 1.

    Returns:
        A float, 0 if only one pattern occurs; for a batch, an array. The entropy is at most the logarithm of
        the number of possible patterns, but ``bias`` may make it larger.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, an option is unknown, or
            ``normalize`` would divide by 0.

    Notes:
        Bandt and Pompe (2002), Phys. Rev. Lett. 88, 174102. The entropy does not depend on how high the
        scores are: applying a strictly increasing function to all scores does not change the entropy.
        ``stable`` favours rising patterns: for random scores from 1 to 5 and m = 3, the entropy is
        .966 log 3!, not log 3!.

    Examples:
        >>> permutation_entropy([5, 4, 5, 4, 5, 4, 5, 4])
        0.6931471805599453
        >>> permutation_entropy([1, 2, 3, 4, 5])
        0.0
        >>> permutation_entropy([1, 2, 1, 3], m=2, base=2, normalize="m!").__round__(4)
        0.9183
    """
    options = PatternOptions(m=m, delay=delay, ties=ties, nan=nan, seed=seed, draws=draws)
    check_choice("normalize", normalize, [None, "m!", "attainable", "null"])
    check_choice("bias", bias, [None, "miller-madow"])
    unit = log_of_base(base)
    scores = as_scores(x, axis=axis)
    gaps = has_nan(scores)
    if gaps and nan == "raise":
        refuse_nan(scores, NAN_WAY_OUT)
    window_count(scores.shape[-1], m, delay)
    if scores.ndim > 1 and ties == "stable" and bias is None and normalize != "null" and not gaps:
        nats = batch_entropies(as_rows(scores), m, delay) / _ceiling(
            options, normalize, scores.shape[-1] - (m - 1) * delay
        )
        return (nats if normalize else nats / unit).reshape(scores.shape[:-1])

    def entropy(row: NDArray[Any]) -> float:
        value = _row_entropy(row, options, normalize, bias)
        return value if normalize else value / unit

    if scores.ndim == 1:
        return entropy(scores)
    rows = as_rows(scores)
    return np.array([entropy(row) for row in rows], np.float64).reshape(scores.shape[:-1])


def count_sets(row: NDArray[Any], options: PatternOptions) -> list[NDArray[Any]]:
    """Return the pattern counts of one sequence: one array, or one array for each random tie break."""
    if options.ties == "random":
        plain = PatternOptions(m=options.m, delay=options.delay, nan=options.nan)
        return [count_sets(ranks, plain)[0] for ranks in broken_ties(row, options)]
    if options.ties == "average":
        return [np.array(list(named_counts(row, options).values()))]
    if options.ties == "stable" and not has_nan(row):
        return [code_counts(row, options.m, options.delay)]
    return [np.unique(label_windows(row, options).codes, return_counts=True)[1]]


def _row_entropy(
    row: NDArray[Any], options: PatternOptions, normalize: Normalize | None, bias: str | None
) -> float:
    if options.nan == "propagate" and has_nan(row):
        return math.nan
    row = options.resolve_nan(row)
    sets = count_sets(row, options)
    windows = round(float(sets[0].sum()))
    value = math.fsum(_estimate(counts, windows, bias) for counts in sets) / len(sets)
    if bias and windows < 5 * options.possible:
        warnings.warn(
            f"{windows} windows are few for {options.possible} patterns: the miller-madow correction needs "
            f"about {5 * options.possible} windows; lower m or add scores",
            stacklevel=4,
        )
    if normalize == "null":
        return value / _null_mean(row, options, lambda counts: _estimate(counts, windows, bias))
    return value / _ceiling(options, normalize, windows)


def _estimate(counts: NDArray[Any], windows: int, bias: str | None) -> float:
    correction = (len(counts) - 1) / (2 * windows) if bias else 0.0
    return entropy_of(counts) + correction


def _ceiling(options: PatternOptions, normalize: Normalize | None, windows: int) -> float:
    if normalize == "m!":
        return math.log(options.possible)
    if normalize == "attainable":
        if windows < 2:
            raise ValueError(
                "one window always has entropy 0, so normalize='attainable' is not defined; add scores"
            )
        return math.log(min(options.possible, windows))
    return 1.0


def _null_mean(
    row: NDArray[Any], options: PatternOptions, estimate: Callable[[NDArray[Any]], float]
) -> float:
    """Return the mean entropy over random orders of the scores; each NaN keeps its position."""
    rng = np.random.default_rng(options.seed)
    draws = max(20, min(_MAX_NULL_DRAWS, _MAX_NULL_SCORES // len(row)))
    estimates = [
        estimate(counts) for order in random_orders(row, rng, draws) for counts in count_sets(order, options)
    ]
    mean = math.fsum(estimates) / len(estimates)
    if mean <= 0:
        raise ValueError(
            "every order of these scores has entropy 0, so normalize='null' is not defined; use 'm!'"
        )
    return mean


def log_of_base(base: float | str) -> float:
    """Return the natural logarithm of the base, 1 for ``"e"``."""
    if base == "e":
        return 1.0
    if isinstance(base, str) or not 1 < base < math.inf:
        raise ValueError(f"base must be 'e' or a number above 1, got {base!r}")
    return math.log(base)


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
