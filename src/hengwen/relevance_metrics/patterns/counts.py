"""Which ordinal patterns occur, and how often."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_scores, has_nan
from hengwen.relevance_metrics.order.inversions import tied_share
from hengwen.relevance_metrics.patterns.ties import (
    NanPolicy,
    Ordinal,
    Ties,
    label_windows,
    named_counts,
    random_orders,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

_EXAMPLES = 8


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
    """Count the ordinal patterns of a sequence.

    Args:
        x: Scores in order.
        m: Scores in a window, at least 2.
        delay: Steps between the scores of a window.
        ties: As in `permutation_entropy`.
        nan: ``raise``, ``omit-window`` or ``omit``.
        seed: Of ``ties="random"``.
        draws: Orders drawn for ``ties="random"``.

    Returns:
        Pattern to count, patterns that occur only, sorted. A pattern is the stable argsort of its window:
        (0, 1, 2) rises, (2, 1, 0) falls. Under ``ties="dense"`` it is the tuple of dense ranks. Counts are
        whole but under ``random`` and ``average``.

    Raises:
        ValueError: Too few scores for m and delay, NaN, or an unknown option.

    Examples:
        >>> pattern_counts([5, 4, 5, 4, 5, 4, 5, 4])
        {(0, 2, 1): 3, (1, 0, 2): 3}
        >>> pattern_counts([5, 4, 5, 4], ties="dense")
        {(0, 1, 0): 1, (1, 0, 1): 1}
        >>> pattern_counts([5, 4, 5, 4], ties="average")
        {(0, 2, 1): 0.5, (1, 0, 2): 0.5, (1, 2, 0): 0.5, (2, 0, 1): 0.5}
    """
    how = Ordinal(m=m, delay=delay, ties=ties, nan=nan, seed=seed, draws=draws)
    row = as_single_sequence(x, how)
    return named_counts(row, how)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPatterns:
    """How many of the possible patterns never occur."""

    missing: int
    possible: int
    share: float
    expected: float
    """Mean number missing over random orders of the same scores: what length and ties miss anyway."""
    examples: tuple[tuple[int, ...], ...]
    """Some of the missing patterns, the first in order."""
    n: int
    windows: int
    tied_share: float
    m: int
    delay: int
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
    """Count the ordinal patterns that never occur.

    Args:
        x: Scores in order.
        m: Scores in a window, at least 2.
        delay: Steps between the scores of a window.
        ties: ``stable``, ``dense``, ``drop`` or ``raise``.
        nan: ``raise``, ``omit-window`` or ``omit``.
        seed: Of the random orders behind ``expected``.
        draws: How many random orders.

    Raises:
        ValueError: Too few scores for m and delay, NaN, or an unknown option.

    Notes:
        Amigo, Zambrano and Sanjuan (2007), Europhys. Lett. 79, 50001: forbidden patterns hint at a rule, but
        only beyond what random order misses.

    Examples:
        >>> found = missing_patterns([5, 4, 5, 4, 5, 4, 5, 4])
        >>> found.missing, found.possible, found.examples
        (4, 6, ((0, 1, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)))
    """
    if ties in ("random", "average"):
        raise ValueError(f"missing patterns are not defined for ties={ties!r}; use 'stable' or 'dense'")
    how = Ordinal(m=m, delay=delay, ties=ties, nan=nan)
    whole_number("draws", draws)
    row = as_single_sequence(x, how)
    seen = named_counts(row, how)
    rng = np.random.default_rng(seed)
    kinds = [len(np.unique(label_windows(order, how).codes)) for order in random_orders(row, rng, draws)]
    return MissingPatterns(
        missing=how.possible - len(seen),
        possible=how.possible,
        share=(how.possible - len(seen)) / how.possible,
        expected=how.possible - math.fsum(kinds) / draws,
        examples=tuple(islice((p for p in _all_patterns(how) if p not in seen), _EXAMPLES)),
        n=len(row),
        windows=round(sum(seen.values())),
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        ties=ties,
    )


def _all_patterns(how: Ordinal) -> Iterator[tuple[int, ...]]:
    if how.ties != "dense":
        return permutations(range(how.m))
    ranks = product(range(how.m), repeat=how.m)
    return (pattern for pattern in ranks if set(pattern) == set(range(max(pattern) + 1)))


def as_single_sequence(x: ArrayLike, how: Ordinal) -> NDArray[Any]:
    """Return one sequence, its NaN settled.

    Raises:
        ValueError: More than one sequence, or NaN where nothing but a number can take it.
    """
    scores = as_scores(x)
    if scores.ndim != 1:
        raise ValueError(f"scores must be one sequence, got shape {scores.shape}; pass one row at a time")
    if how.nan == "propagate" and has_nan(scores):
        raise ValueError("there is a NaN, and counts cannot be NaN; use nan='omit-window' or 'omit'")
    return how.resolve_nan(scores)
