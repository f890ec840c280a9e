"""Agreement of two series, for many weightings of the same pairs at once: the inner loop of the bootstrap.

Pairs that are the same (human value, judge value) are one cell: with five levels there are at most 25,
however many labels, and a weighting is a row of counts of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.judges.calibration.alpha import sum_groups, weighted_alpha

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]

COEFFICIENTS = ("quadratic_kappa", "linear_kappa", "kappa", "alpha", "spearman", "kendall")
SHARES = ("exact", "within_one")
CLOSE = 1e-9
"""What counts as the same position; positions are 1 apart."""
BATCH = 2_000_000
"""Numbers in the largest array of one batch of weightings."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The different pairs of (human, judge), as positions on the level list, counted by cluster."""

    human: Floats
    judge: Floats
    counts: Floats
    """(clusters, cells)."""
    levels: Floats

    @property
    def total(self) -> Floats:
        """How often each cell occurs, as one weighting."""
        whole: Floats = self.counts.sum(axis=0, keepdims=True)
        return whole


def cells_of(human: Floats, judge: Floats, clusters: Indices, levels: Floats) -> Cells:
    """Return the cells of paired values.

    A value between two levels stands between their positions, as the mean of several raters may.
    """
    places = np.arange(len(levels), dtype=float)
    pairs = np.column_stack([np.interp(human, levels, places), np.interp(judge, levels, places)])
    cells, which = np.unique(pairs, axis=0, return_inverse=True)
    counts = np.zeros((int(clusters.max()) + 1, len(cells)))
    np.add.at(counts, (clusters, which.ravel()), 1.0)
    return Cells(cells[:, 0], cells[:, 1], counts, levels)


def nearest_level(positions: Floats) -> Indices:
    """Return the nearest level of each position; half-way between two is the lower one.

    Examples:
        >>> nearest_level(np.array([0.0, 0.5, 0.6, 3.0])).tolist()
        [0, 0, 1, 3]
    """
    return np.ceil(positions - 0.5 - CLOSE).clip(0).astype(np.intp)


def statistics(cells: Cells, weights: Floats) -> dict[str, Floats]:
    """Return every statistic of agreement for each weighting: (weightings,), NaN where it is undefined.

    Args:
        cells: What was paired.
        weights: (weightings, cells), whole numbers: how often each pair counts.
    """
    rows = max(1, BATCH // len(cells.human))
    order = _order(cells)
    parts = [_statistics(cells, weights[at : at + rows], order) for at in range(0, len(weights), rows)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _statistics(cells: Cells, weights: Floats, order: Floats) -> dict[str, Floats]:
    n = weights.sum(axis=1)
    human, judge = _Side.of(cells.human, weights), _Side.of(cells.judge, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            "quadratic_kappa": _weighted_kappa(human, judge, weights, n, power=2),
            "linear_kappa": _weighted_kappa(human, judge, weights, n, power=1),
            "kappa": _kappa(cells, weights, n),
            "spearman": _pearson(human.ranks, judge.ranks, weights, n),
            "kendall": _tau_b(human, judge, weights, n, order),
        }
    varied = (human.kinds > 1) & (judge.kinds > 1)
    found = {name: np.where(varied, values, np.nan) for name, values in found.items()}
    found["alpha"] = weighted_alpha(np.column_stack([cells.human, cells.judge]), weights)
    same = nearest_level(cells.human) == nearest_level(cells.judge)
    near = np.abs(cells.human - cells.judge) <= 1 + CLOSE
    places = np.arange(len(cells.levels), dtype=float)
    at_human, at_judge = (np.interp(side, places, cells.levels) for side in (cells.human, cells.judge))
    means = {"exact": same, "within_one": near, "bias": at_judge - at_human}
    means |= {"human_mean": at_human, "judge_mean": at_judge}
    return found | {name: weights @ values / n for name, values in means.items()}


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two series under each weighting."""

    values: Floats
    """The different values, ascending: (values,)."""
    where: Indices
    """The value of each cell: (cells,)."""
    counts: Floats
    """How often each value occurs: (weightings, values)."""

    @classmethod
    def of(cls, positions: Floats, weights: Floats) -> _Side:
        values, where = np.unique(positions, return_inverse=True)
        return cls(values, where, sum_groups(weights, where))

    @property
    def kinds(self) -> Indices:
        """How many different values occur."""
        found: Indices = (self.counts > 0).sum(axis=1)
        return found

    @property
    def ranks(self) -> Floats:
        """The mid-rank of each cell: (weightings, cells)."""
        middle = np.cumsum(self.counts, axis=1) - self.counts / 2
        ranks: Floats = middle[:, self.where]
        return ranks


def _weighted_kappa(human: _Side, judge: _Side, weights: Floats, n: Floats, *, power: int) -> Floats:
    """1 - the mean distance of pairs / the mean distance of a value of one side and any of the other."""
    observed = weights @ np.abs(human.values[human.where] - judge.values[judge.where]) ** power
    distances = np.abs(human.values[:, None] - judge.values[None, :]) ** power
    expected = ((human.counts @ distances) * judge.counts).sum(axis=1)
    kappa: Floats = 1 - n * observed / expected
    return kappa


def _kappa(cells: Cells, weights: Floats, n: Floats) -> Floats:
    """Cohen's kappa of the nearest levels."""
    human, judge = nearest_level(cells.human), nearest_level(cells.judge)
    one = np.eye(len(cells.levels))
    observed = weights @ (human == judge) / n
    expected = ((weights @ one[human]) * (weights @ one[judge])).sum(axis=1) / np.square(n)
    kappa: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return kappa


def _pearson(x: Floats, y: Floats, weights: Floats, n: Floats) -> Floats:
    def centred(ranks: Floats) -> Floats:
        off: Floats = ranks - ((weights * ranks).sum(axis=1) / n)[:, None]
        return off

    x, y = centred(x), centred(y)
    squares = (weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1)
    found: Floats = np.clip((weights * x * y).sum(axis=1) / np.sqrt(squares), -1.0, 1.0)
    return found


def _order(cells: Cells) -> Floats:
    """Of each two cells, whether both sides put them in the same order (1), in opposite ones (-1), or tie."""
    human, judge = (np.sign(side[:, None] - side[None, :]) for side in (cells.human, cells.judge))
    found: Floats = human * judge
    return found


def _tau_b(human: _Side, judge: _Side, weights: Floats, n: Floats, order: Floats) -> Floats:
    """(concordant - discordant) / sqrt of the pairs that are tied in neither; all pairs are counted twice."""
    excess = ((weights @ order) * weights).sum(axis=1)
    untied = [np.square(n) - np.square(side.counts).sum(axis=1) for side in (human, judge)]
    tau: Floats = np.clip(excess / np.sqrt(untied[0] * untied[1]), -1.0, 1.0)
    return tau
