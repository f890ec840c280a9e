"""The longest increasing subsequence, and where it runs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

from hengwen.relevance_metrics.core.inputs import as_rows, as_scores, as_sequence, refuse_nan
from hengwen.relevance_metrics.order.patience import batch_lengths, row_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def longest_increasing_subsequence(
    x: ArrayLike, *, strict: bool = True, decreasing: bool = False, axis: int = -1
) -> Any:
    """Return the length of the longest increasing subsequence.

    Args:
        x: Scores in order, n >= 0; for a batch any shape.
        strict: Each member must be greater than the one before; otherwise it may be equal. A strict one is
            never longer than the number of distinct scores (5 on a scale from 1 to 5), so on such scales
            ``strict=False`` says more.
        decreasing: The longest falling one instead.
        axis: Where the sequences of a batch run.

    Returns:
        An int from 1 (0 if empty) to n; for a batch an array of int64.

    Raises:
        ValueError: A score is NaN or no number.

    Notes:
        Fredman (1975), Discrete Mathematics 11.

    Examples:
        >>> longest_increasing_subsequence([5, 4, 5, 4, 5, 4, 5, 4])
        2
        >>> longest_increasing_subsequence([5, 4, 5, 4, 5, 4, 5, 4], strict=False)
        4
        >>> longest_increasing_subsequence([])
        0
    """
    scores = as_scores(x, axis=axis)
    refuse_nan(scores)
    if decreasing:
        scores = scores[..., ::-1]
    if scores.ndim == 1:
        return row_length(scores, strict)
    return batch_lengths(as_rows(scores), strict).reshape(scores.shape[:-1])


def longest_increasing_indices(x: ArrayLike, *, strict: bool = True, decreasing: bool = False) -> list[int]:
    """Return the places of one longest increasing subsequence, ascending.

    Args:
        x: Scores in order, n >= 0.
        strict: Each member must be greater than the one before; otherwise it may be equal.
        decreasing: A longest falling one instead.

    Raises:
        ValueError: A score is NaN or no number, or there is more than one sequence.

    Examples:
        >>> longest_increasing_indices([3, 1, 2, 5, 4])
        [1, 2, 4]
        >>> longest_increasing_indices([3, 1, 2], decreasing=True)
        [0, 1]
    """
    scores = as_sequence(x)
    if not decreasing:
        return _witness(scores.tolist(), strict)
    last = len(scores) - 1
    return [last - place for place in reversed(_witness(scores[::-1].tolist(), strict))]


def _witness(values: list[Any], strict: bool) -> list[int]:
    find = bisect_left if strict else bisect_right
    tails: list[Any] = []
    ends: list[int] = []
    before: list[int] = []
    for index, score in enumerate(values):
        place = find(tails, score)
        before.append(ends[place - 1] if place else -1)
        tails[place : place + 1] = [score]
        ends[place : place + 1] = [index]
    found: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        found.append(index)
        index = before[index]
    return found[::-1]
