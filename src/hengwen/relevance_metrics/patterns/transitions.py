"""Count the transitions from one ordinal pattern (order of the scores in a window) to the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.relevance_metrics.core.inputs import check_choice
from hengwen.relevance_metrics.order.inversions import tied_share
from hengwen.relevance_metrics.patterns.counts import as_single_sequence
from hengwen.relevance_metrics.patterns.ties import NanPolicy, PatternOptions, Ties, label_windows, pattern_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions:
    """Counts of transitions from the pattern of one window to the pattern of the next."""

    patterns: tuple[tuple[int, ...], ...]
    """The patterns that occur, sorted; they label the rows and columns of ``counts``."""
    counts: tuple[tuple[int, ...], ...]
    """``counts[i][j]`` is the number of transitions from pattern i to pattern j."""
    conditional_entropy: float
    """Entropy, in nats, of the next pattern given the current pattern; 0 if the current pattern determines
    the next."""
    n: int
    """Number of scores."""
    windows: int
    """Number of windows with a pattern."""
    tied_share: float
    """Share of tied pairs (two equal scores) among all pairs of scores in the sequence, from 0 to 1."""
    m: int
    """Number of scores in an ordinal pattern."""
    delay: int
    """Distance in positions between consecutive scores of an ordinal pattern; 1 means adjacent scores."""
    ties: Ties

    def probabilities(self) -> dict[tuple[int, ...], dict[tuple[int, ...], float]]:
        """Return, for each pattern, the share of its transitions that lead to each next pattern.

        Patterns without a transition to a next pattern are left out.
        """
        shares = {}
        for pattern, row in zip(self.patterns, self.counts, strict=True):
            total = sum(row)
            if total:
                steps = zip(self.patterns, row, strict=True)
                shares[pattern] = {after: count / total for after, count in steps if count}
        return shares


def ordinal_transitions(
    x: ArrayLike, m: int = 3, delay: int = 1, *, ties: Ties = "stable", nan: NanPolicy = "raise"
) -> Transitions:
    """Count the transitions from the ordinal pattern of a window to the pattern of the next window.

    The next window starts one score later.

    Args:
        x: One sequence of scores in order, enough for two windows.
        m: Number of scores in a window, at least 2.
        delay: Distance in positions between consecutive scores of a window; 1 means adjacent scores.
        ties: Policy for equal scores (ties), described in `permutation_entropy`: ``stable``, ``dense``,
            ``drop`` or ``raise``. A window that ``drop`` skips has no transitions.
        nan: Policy for NaN: ``raise`` an error, ``omit-window`` (skip windows with NaN; a skipped window has
            no transitions), or ``omit`` (remove NaN first).

    Raises:
        TypeError: A score is not a number.
        ValueError: There are no two consecutive windows, a score is NaN, or an option is unknown.

    Examples:
        >>> transitions = ordinal_transitions([1, 2, 1, 2, 3], m=2)
        >>> transitions.patterns, transitions.counts
        (((0, 1), (1, 0)), ((1, 1), (1, 0)))
        >>> transitions.probabilities()[(1, 0)]
        {(0, 1): 1.0}
    """
    check_choice("ties", ties, ("stable", "dense", "drop", "raise"))
    options = PatternOptions(m=m, delay=delay, ties=ties, nan=nan)
    row = as_single_sequence(x, options)
    labels = label_windows(row, options)
    _, first, index = np.unique(labels.codes, return_index=True, return_inverse=True)
    reach = np.arange(m) * delay
    names = [pattern_of(row[start + reach], ties) for start in labels.starts[first]]
    rank = np.argsort(np.array([sorted(names).index(name) for name in names]))
    position = np.argsort(rank)[index]
    following = np.flatnonzero(np.diff(labels.starts) == 1)
    if not len(following):
        raise ValueError("there are no two consecutive windows; add scores, or lower m or delay")
    kinds = len(names)
    cells = np.bincount(position[following] * kinds + position[following + 1], minlength=kinds * kinds)
    counts = cells.reshape(kinds, kinds).tolist()
    return Transitions(
        patterns=tuple(sorted(names)),
        counts=tuple(map(tuple, counts)),
        conditional_entropy=_conditional_entropy(counts),
        n=len(row),
        windows=len(labels.starts),
        tied_share=tied_share(row),
        m=m,
        delay=delay,
        ties=ties,
    )


def _conditional_entropy(counts: list[list[int]]) -> float:
    steps = sum(map(sum, counts))
    parts = [count / steps * math.log(sum(row) / count) for row in counts for count in row if count]
    return math.fsum(parts)
