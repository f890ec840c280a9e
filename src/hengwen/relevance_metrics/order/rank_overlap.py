"""Measure the overlap of two rankings at the top.

With ties, the overlap is the expected overlap after all ties are broken at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from hengwen._internal.checks import whole_number
from hengwen.relevance_metrics.core.inputs import as_scores, refuse_nan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Ranking = Mapping[Any, float] | Sequence[Any]
"""A mapping from item to score, or names of items, best first."""


def aligned_scores(model: Any, human: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the scores of two rankings as two arrays that list the items in the same order."""
    if isinstance(model, Mapping) or isinstance(human, Mapping):
        model, human = _from_mappings(model, human)
    elif _is_names(model) or _is_names(human):
        model, human = _from_names(model, human)
    model_scores, human_scores = as_scores(model), as_scores(human)
    if model_scores.shape != human_scores.shape or model_scores.ndim > 2:
        raise ValueError(
            f"rankings must have the same shape, got {model_scores.shape} and {human_scores.shape}"
        )
    for scores in (model_scores, human_scores):
        refuse_nan(scores, "leave that item out of both rankings")
    return model_scores, human_scores


def _from_mappings(model: Any, human: Any) -> tuple[list[float], list[float]]:
    if not (isinstance(model, Mapping) and isinstance(human, Mapping)):
        raise ValueError("only one of the rankings maps items to scores; pass both in the same form")
    _check_same_items(model, human)
    return [model[item] for item in model], [human[item] for item in model]


def _from_names(model: Any, human: Any) -> tuple[list[int], list[int]]:
    if not (_is_names(model) and _is_names(human)):
        raise ValueError("only one of the rankings lists names; pass both in the same form")
    for names in (model, human):
        if len(set(names)) < len(names):
            repeated = next(item for item in names if list(names).count(item) > 1)
            raise ValueError(f"a ranking names {repeated!r} more than once; name each item once")
    _check_same_items(model, human)
    human_scores = {item: -rank for rank, item in enumerate(human)}
    return [-rank for rank in range(len(model))], [human_scores[item] for item in model]


def _check_same_items(model: Any, human: Any) -> None:
    unmatched = sorted({*model} ^ {*human}, key=str)
    if unmatched:
        raise ValueError(
            f"{unmatched[0]!r} is in one ranking only ({len(unmatched)} such items); rank the same items"
        )


def _is_names(ranking: Any) -> bool:
    return isinstance(ranking, Sequence) and bool(ranking) and all(isinstance(item, str) for item in ranking)


def top_shares(scores: NDArray[Any], depth: int) -> NDArray[np.float64]:
    """Return the probability that each item is among the top ``depth`` if ties are broken at random."""
    above = (scores > scores[:, None]).sum(axis=1)
    equal = (scores == scores[:, None]).sum(axis=1)
    return np.asarray(np.clip((depth - above) / equal, 0.0, 1.0))


def top_overlap(a: NDArray[Any], b: NDArray[Any], depth: int) -> float:
    """Return the share of the top ``depth`` items that two rankings have in common."""
    if whole_number("depth", depth) > len(a):
        raise ValueError(f"depth must be at most the {len(a)} items, got {depth}; lower it")
    return float(top_shares(a, depth) @ top_shares(b, depth)) / depth


def rank_biased_overlap(a: Ranking | ArrayLike, b: Ranking | ArrayLike, persistence: float = 0.9) -> float:
    """Return the extrapolated rank-biased overlap of two rankings of the same items.

    Args:
        a: Scores of the items, higher is better, as a list or an array; or a mapping from item to score; or
            names of items, best first.
        b: The other ranking of the same items, in the same form as ``a``.
        persistence: Parameter p between 0 and 1, the probability that a reader continues to the next rank.

    Returns:
        A number from 0 to 1, in which the top ranks have the most weight. The number is the expected value if
        ties are broken at random (RBO-a), so a ranking with ties has an overlap below 1 with itself.

    Raises:
        TypeError: A score is not a number.
        ValueError: ``persistence`` is outside (0, 1), there are no items, the two rankings differ in items or
            form, or a score is NaN.

    Notes:
        Webber, Moffat and Zobel (2010), ACM TOIS 28, 20, equation 32; Corsi and Urbano (2024) for ties.

    Examples:
        >>> rank_biased_overlap([3, 2, 1], [3, 2, 1])
        1.0
        >>> rank_biased_overlap(["a", "b"], ["b", "a"], 0.5)
        0.5
    """
    a_scores, b_scores = aligned_scores(a, b)
    if a_scores.ndim > 1:
        raise ValueError(
            f"a ranking must be one sequence, got shape {a_scores.shape}; pass one row at a time"
        )
    if not len(a_scores):
        raise ValueError("there are no items to compare; pass at least one")
    return overlap_of_scores(a_scores, b_scores, persistence)


def overlap_of_scores(a: NDArray[Any], b: NDArray[Any], persistence: float) -> float:
    """Return the rank-biased overlap of validated scores of the same items in the same order."""
    if not 0 < persistence < 1:
        raise ValueError(f"persistence must be between 0 and 1, got {persistence!r}")
    depths = range(1, len(a) + 1)
    agreement = [top_overlap(a, b, depth) for depth in depths]
    weights = [(1 - persistence) * persistence ** (depth - 1) for depth in depths]
    head = fsum(weight * share for weight, share in zip(weights, agreement, strict=True))
    return min(1.0, head + agreement[-1] * persistence ** len(a))
