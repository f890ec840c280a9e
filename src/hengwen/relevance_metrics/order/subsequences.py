"""Find the longest increasing subsequence: its length and its members."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any, overload

from hengwen.relevance_metrics.core.inputs import as_rows, as_scores, as_sequence, refuse_nan
from hengwen.relevance_metrics.order.patience import batch_lengths, row_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


@overload
def longest_increasing_subsequence(
    x: Sequence[float], *, strict: bool = True, decreasing: bool = False, axis: int = -1
) -> int: ...
@overload
def longest_increasing_subsequence(
    x: ArrayLike, *, strict: bool = True, decreasing: bool = False, axis: int = -1
) -> int | NDArray[np.int64]: ...


def longest_increasing_subsequence(
    x: ArrayLike, *, strict: bool = True, decreasing: bool = False, axis: int = -1
) -> int | NDArray[np.int64]:
    """Return the length of the longest increasing subsequence.

    Args:
        x: Scores in order, n >= 0; an array with several axes is a batch of sequences.
        strict: Whether each member must be greater than the previous member; otherwise it may also be equal.
            A strict subsequence has at most as many members as there are different scores (5 on a scale from
            1 to 5), so ``strict=False`` is more informative on such scales.
        decreasing: Whether to look for the longest decreasing subsequence instead.
        axis: Axis of a batch along which the scores of a sequence follow each other.

    Returns:
        An int from 1 to n (0 for an empty sequence); for a batch, an array of int64.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN, or the axis does not exist.

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
    """Return the indices of the members of one longest increasing subsequence, ascending.

    Args:
        x: One sequence of scores in order, n >= 0.
        strict: Whether each member must be greater than the previous member; otherwise it may also be equal.
        decreasing: Whether to look for a longest decreasing subsequence instead.

    Raises:
        TypeError: A score is not a number.
        ValueError: A score is NaN, or there is more than one sequence.

    Examples:
        >>> longest_increasing_indices([3, 1, 2, 5, 4])
        [1, 2, 4]
        >>> longest_increasing_indices([3, 1, 2], decreasing=True)
        [0, 1]
    """
    scores = as_sequence(x)
    if not decreasing:
        return _members(scores.tolist(), strict)
    last = len(scores) - 1
    return [last - index for index in reversed(_members(scores[::-1].tolist(), strict))]


def _members(values: list[Any], strict: bool) -> list[int]:
    find = bisect_left if strict else bisect_right
    tails: list[Any] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, score in enumerate(values):
        length = find(tails, score)
        previous.append(ends[length - 1] if length else -1)
        tails[length : length + 1] = [score]
        ends[length : length + 1] = [index]
    indices: list[int] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        indices.append(index)
        index = previous[index]
    return indices[::-1]
