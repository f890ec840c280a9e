"""Which pattern follows which."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.relevance_metrics.core.inputs import check_choice
from hengwen.relevance_metrics.order.inversions import tied_share
from hengwen.relevance_metrics.patterns.counts import as_single_sequence
from hengwen.relevance_metrics.patterns.ties import NanPolicy, Ordinal, Ties, label_windows, pattern_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class Transitions:
    """Counts of steps from one window's pattern to the next one's."""

    patterns: tuple[tuple[int, ...], ...]
    """Those that occur, sorted; rows and columns of ``counts``."""
    counts: tuple[tuple[int, ...], ...]
    """``counts[i][j]``: steps from pattern i to pattern j."""
    conditional_entropy: float
    """Of the next pattern if the present one is known, in nats: 0 if it is settled."""
    n: int
    windows: int
    tied_share: float
    m: int
    delay: int
    ties: Ties

    def probabilities(self) -> dict[tuple[int, ...], dict[tuple[int, ...], float]]:
        """Return, for each pattern that has a successor, the share of each successor."""
        found = {}
        for pattern, row in zip(self.patterns, self.counts, strict=True):
            total = sum(row)
            if total:
                steps = zip(self.patterns, row, strict=True)
                found[pattern] = {after: count / total for after, count in steps if count}
        return found


def ordinal_transitions(
    x: ArrayLike, m: int = 3, delay: int = 1, *, ties: Ties = "stable", nan: NanPolicy = "raise"
) -> Transitions:
    """Count the steps between the patterns of windows that start one score apart.

    Args:
        x: Scores in order, so many that there are two windows.
        m: Scores in a window, at least 2.
        delay: Steps between the scores of a window.
        ties: ``stable``, ``dense``, ``drop`` or ``raise``. A dropped window breaks the chain.
        nan: ``raise``, ``omit-window`` (breaks the chain) or ``omit``.

    Raises:
        ValueError: There are no two windows in a row, NaN, or an unknown option.

    Examples:
        >>> found = ordinal_transitions([1, 2, 1, 2, 3], m=2)
        >>> found.patterns, found.counts
        (((0, 1), (1, 0)), ((1, 1), (1, 0)))
        >>> found.probabilities()[(1, 0)]
        {(0, 1): 1.0}
    """
    check_choice("ties", ties, ("stable", "dense", "drop", "raise"))
    how = Ordinal(m=m, delay=delay, ties=ties, nan=nan)
    row = as_single_sequence(x, how)
    labels = label_windows(row, how)
    _, first, place = np.unique(labels.codes, return_index=True, return_inverse=True)
    reach = np.arange(m) * delay
    names = [pattern_of(row[start + reach], ties) for start in labels.starts[first]]
    rank = np.argsort(np.array([sorted(names).index(name) for name in names]))
    position = np.argsort(rank)[place]
    following = np.flatnonzero(np.diff(labels.starts) == 1)
    if not len(following):
        raise ValueError("no two windows follow each other; add scores, or lower m or delay")
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
