"""Count ordinal patterns (orders of scores) of windows and of all triples, and those that never occur."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice, permutations, product
from typing import TYPE_CHECKING, Literal

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core import SequenceResult, as_sequence, entropy_of
from hengwen.relevance_metrics.entropy import log_of_base
from hengwen.relevance_metrics.inversions import count_pairs, tied_share
from hengwen.relevance_metrics.ties import (
    NanPolicy,
    PatternOptions,
    Ties,
    as_single_sequence,
    label_windows,
    named_counts,
    random_orders,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray


def triple_counts(x: ArrayLike) -> dict[tuple[int, int, int], int]:
    """Count the ordinal patterns of all triples i < j < k, not only of neighbouring scores.

    Args:
        x: One sequence of scores in order, n >= 0. A tie is read as a rise.

    Returns:
        Count of each of the six patterns (a pattern is the stable argsort of a triple). The counts add up to
        n(n-1)(n-2)/6.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN.

    Notes:
        The time is O(n^2), because the counts follow from the numbers of greater and lesser scores on both
        sides of each score. PiCO's code draws random triples with replacement instead. For the same
        ranking, the entropy of random triples changes from draw to draw, often by more than the
        difference between two rows of PiCO's tables.

    Examples:
        >>> list(triple_counts([1, 2, 3, 4]).values())
        [4, 0, 0, 0, 0, 0]
        >>> triple_counts([2, 3, 1])[(2, 0, 1)]
        1
    """
    row = as_sequence(x)
    order = np.argsort(row, kind="stable")
    ranks = np.empty(len(row), np.intp)
    ranks[order] = np.arange(len(row))
    pairs = count_pairs(ranks)
    rise = _dot(pairs.less_before, pairs.greater_after)
    fall = _dot(pairs.greater_before, pairs.less_after)
    first_lowest = _pairs(pairs.greater_after) - rise
    first_highest = _pairs(pairs.less_after) - fall
    middle_lowest = _dot(pairs.greater_before, pairs.greater_after) - first_highest
    middle_highest = _dot(pairs.less_before, pairs.less_after) - first_lowest
    return {
        (0, 1, 2): rise,
        (0, 2, 1): first_lowest,
        (1, 0, 2): middle_lowest,
        (1, 2, 0): first_highest,
        (2, 0, 1): middle_highest,
        (2, 1, 0): fall,
    }


def triple_entropy(x: ArrayLike) -> float:
    """Return the entropy, in nats, of the patterns of all triples: from 0 to log 6.

    The entropy is 0 for a sequence that always rises and also for a sequence that always falls. A sequence
    and its reverse have the same entropy.

    Args:
        x: One sequence of at least three scores in order. A tie is read as a rise.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are fewer than three scores, or a score is NaN.

    Examples:
        >>> triple_entropy([1, 2, 3, 4]), triple_entropy([4, 3, 2, 1])
        (0.0, 0.0)
    """
    counts = np.array(list(triple_counts(x).values()))
    if not counts.any():
        raise ValueError("fewer than 3 scores have no triple; add scores")
    return entropy_of(counts[counts > 0])


def _dot(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    return int((a * b).sum())


def _pairs(counts: NDArray[np.int64]) -> int:
    return int((counts * (counts - 1) // 2).sum())


_MAX_EXAMPLES = 8


def pattern_counts(
    x: ArrayLike,
    m: int = 3,
    delay: int = 1,
    *,
    ties: Ties = "stable",
    nan: NanPolicy = "raise",
    seed: int = 0,
    draws: int = 32,
) -> dict[tuple[int, ...], float]:
    """Count the ordinal patterns (orders of the scores in a window) of a sequence.

    Args:
        x: One sequence of at least (m - 1) * delay + 1 scores, in order.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        ties: Policy for equal scores (ties): any value that `permutation_entropy` accepts.
        nan: Policy for NaN, as in `permutation_entropy` without ``propagate``.
        seed: Seed for ``ties="random"``.
        draws: Number of random tie breaks for ``ties="random"``, at least 1.

    Returns:
        Counts of the patterns that occur, sorted by pattern. A pattern is the stable argsort of its window:
        (0, 1, 2) rises, (2, 1, 0) falls. Under ``ties="dense"``, a pattern is the tuple of dense ranks (equal
        scores share a rank). Counts are whole numbers, except under ``ties="random"`` and ``ties="average"``.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, or an option is unknown.

    Examples:
        >>> pattern_counts([5, 4, 5, 4, 5, 4, 5, 4])
        {(0, 2, 1): 3, (1, 0, 2): 3}
        >>> pattern_counts([5, 4, 5, 4], ties="dense")
        {(0, 1, 0): 1, (1, 0, 1): 1}
        >>> pattern_counts([5, 4, 5, 4], ties="average")
        {(0, 2, 1): 0.5, (1, 0, 2): 0.5, (1, 2, 0): 0.5, (2, 0, 1): 0.5}
    """
    options = PatternOptions(m=m, delay=delay, ties=ties, nan=nan, seed=seed, draws=draws)
    row = as_single_sequence(x, options)
    return named_counts(row, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPatterns(SequenceResult):
    """How many of the possible ordinal patterns (orders of the scores in a window) never occur."""

    missing: int
    """Number of possible patterns that do not occur."""
    possible: int
    """Number of possible patterns: m!, or more under ``ties="dense"``."""
    share: float
    """Share of the possible patterns that do not occur: ``missing`` / ``possible``, from 0 to below 1."""
    expected: float
    """Mean number of missing patterns in random orders of the same scores."""
    examples: tuple[tuple[int, ...], ...]
    """The first missing patterns in sorted order, at most eight."""
    windows: int
    """Number of windows with a pattern."""
    ties: Ties


def missing_patterns(
    x: ArrayLike,
    m: int = 3,
    delay: int = 1,
    *,
    ties: Ties = "stable",
    nan: NanPolicy = "raise",
    seed: int = 0,
    draws: int = 200,
) -> MissingPatterns:
    """Count the ordinal patterns (orders of the scores in a window) that never occur.

    Args:
        x: One sequence of at least (m - 1) * delay + 1 scores, in order.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        ties: Policy for equal scores (ties), described in `permutation_entropy`: ``stable``, ``dense``,
            ``drop`` or ``raise``.
        nan: Policy for NaN, as in `permutation_entropy` without ``propagate``.
        seed: Seed of the random orders from which ``expected`` is computed.
        draws: Number of random orders.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, or an option is unknown.

    Notes:
        Missing patterns suggest that a deterministic rule makes the sequence, but only if more are missing
        than in random order. Amigo, Zambrano and Sanjuan (2007), Europhys. Lett. 79, 50001.

    Examples:
        >>> result = missing_patterns([5, 4, 5, 4, 5, 4, 5, 4])
        >>> result.missing, result.possible, result.examples
        (4, 6, ((0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    """
    if ties in ("random", "average"):
        raise ValueError(f"missing patterns are not defined for ties={ties!r}; use 'stable' or 'dense'")
    options = PatternOptions(m=m, delay=delay, ties=ties, nan=nan)
    whole_number("draws", draws)
    row = as_single_sequence(x, options)
    counts = named_counts(row, options)
    rng = np.random.default_rng(seed)
    kinds = [len(np.unique(label_windows(order, options).codes)) for order in random_orders(row, rng, draws)]
    return MissingPatterns(
        missing=options.possible - len(counts),
        possible=options.possible,
        share=(options.possible - len(counts)) / options.possible,
        expected=options.possible - math.fsum(kinds) / draws,
        examples=tuple(islice((p for p in _all_patterns(options) if p not in counts), _MAX_EXAMPLES)),
        n=len(row),
        windows=round(sum(counts.values())),
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        ties=ties,
    )


def _all_patterns(options: PatternOptions) -> Iterator[tuple[int, ...]]:
    if options.ties != "dense":
        return permutations(range(options.m))
    ranks = product(range(options.m), repeat=options.m)
    return (pattern for pattern in ranks if set(pattern) == set(range(max(pattern) + 1)))


def pattern_js_distance(
    a: ArrayLike,
    b: ArrayLike,
    m: int = 3,
    delay: int = 1,
    *,
    base: float | Literal["e"] = 2,
    ties: Ties = "stable",
    nan: NanPolicy = "raise",
) -> float:
    """Return the Jensen-Shannon distance between the shares of the ordinal patterns in two sequences.

    Args:
        a: At least (m - 1) * delay + 1 scores of one sequence, in order.
        b: Scores of the other sequence in order; the lengths may differ.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        base: Base of the logarithm; with ``2`` the distance is from 0 to 1.
        ties: Policy for equal scores (ties): any value that `permutation_entropy` accepts.
        nan: Policy for NaN, as in `permutation_entropy` without ``propagate``.

    Returns:
        The square root of the Jensen-Shannon divergence: 0 if all patterns have equal shares in both
        sequences, 1 (with base 2) if the sequences have no common pattern. Short sequences hardly ever reach
        0, so compare the distance with the distance between two random orders.

    Raises:
        TypeError: A score is not a number.
        ValueError: There are too few scores for m and delay, a score is NaN, or an option is unknown.

    Notes:
        Lin (1991), IEEE Trans. Inf. Theory 37; Zunino et al. (2022), Chaos Solitons Fractals 158.

    Examples:
        >>> pattern_js_distance([1, 2, 3, 4], [4, 3, 2, 1])
        1.0
        >>> pattern_js_distance([1, 2, 3, 4], [10, 20, 30])
        0.0
    """
    from scipy.special import rel_entr

    unit = log_of_base(base)
    counts_a = pattern_counts(a, m, delay, ties=ties, nan=nan)
    counts_b = pattern_counts(b, m, delay, ties=ties, nan=nan)
    patterns = sorted({*counts_a, *counts_b})
    p, q = (_shares(counts, patterns) for counts in (counts_a, counts_b))
    mixture = (p + q) / 2
    divergence = math.fsum(rel_entr(p, mixture)) + math.fsum(rel_entr(q, mixture))
    return math.sqrt(max(divergence, 0.0) / 2 / unit)


def _shares(counts: dict[tuple[int, ...], float], patterns: list[tuple[int, ...]]) -> NDArray[np.float64]:
    shares: NDArray[np.float64] = np.array([counts.get(pattern, 0) for pattern in patterns], np.float64)
    shares /= shares.sum()
    return shares
