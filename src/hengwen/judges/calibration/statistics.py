"""Compute agreement statistics for many bootstrap resamples at once.

Equal pairs (human value, judge value) form one cell. A resample is a row that states how often each cell
counts; the labels themselves are such a row too. All coefficients of 2,000 resamples of 50 labels take 0.01 s
(one coefficient by scipy, which computes one resample at a time: 0.5 s).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.intp]
    from numpy.typing import NDArray


def krippendorff_alpha(ratings: ArrayLike) -> float | None:
    """Return Krippendorff's alpha of ordinal ratings.

    Args:
        ratings: Array of shape (rated items, raters), NaN for a missing rating. Only the order of the ratings
            matters, not their distances.

    Returns:
        Alpha is 1 for full agreement, 0 for agreement by chance, and below 0 for agreement worse than chance.
        Alpha is undefined, and the result None, if no item has two ratings or all ratings are equal.

    Raises:
        ValueError: ``ratings`` is not a table of two dimensions.

    Notes:
        Alpha is defined in Krippendorff, Content Analysis, 2004, chapter 11.

    Examples:
        >>> nan = float("nan")
        >>> round(krippendorff_alpha([[1, 1], [2, 2], [3, 3], [3, 4], [nan, 4]]), 4)  # 1 - 7 * 4 / 312
        0.9103
        >>> krippendorff_alpha([[2, 2], [2, 2]]) is None
        True
    """
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"ratings must be (units, raters), got {table.ndim} dimensions")
    alpha = float(weighted_alpha(table, np.ones((1, len(table))))[0])
    return None if np.isnan(alpha) else alpha


def rating_table(items: Sequence[Sequence[tuple[str, float]]]) -> Floats:
    """Return the (rater, value) pairs of each item as a row, NaN where a rater gave no value."""
    raters = sorted({rater for item in items for rater, _ in item})
    ratings = np.full((len(items), len(raters)), np.nan)
    for row, item in enumerate(items):
        for rater, value in item:
            ratings[row, raters.index(rater)] = value
    return ratings


def sum_groups(table: NDArray[np.float64], groups: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return, for each row and each group of columns, the sum of the columns."""
    order = np.argsort(groups, kind="stable")
    starts = np.concatenate([[0], np.nonzero(np.diff(groups[order]))[0] + 1])
    return np.asarray(np.add.reduceat(table[:, order], starts, axis=1))


def weighted_alpha(ratings: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Krippendorff's alpha for many sets of weights; an item of weight 2 counts twice."""
    rated = ~np.isnan(ratings)
    pairable = rated.sum(axis=1) >= 2
    ratings, rated, weights = ratings[pairable], rated[pairable], weights[:, pairable]
    if not len(ratings):
        return np.full(len(weights), np.nan)
    size = rated.sum(axis=1)
    unit = np.nonzero(rated)[0]
    value = np.unique(ratings[rated], return_inverse=True)[1]
    counts = sum_groups(weights[:, unit], value)
    ranks = np.cumsum(counts, axis=1) - counts / 2
    rank_sums = sum_groups(ranks[:, value], unit)
    square_sums = sum_groups(np.square(ranks)[:, value], unit)
    observed = (weights * (size * square_sums - np.square(rank_sums)) / (size - 1)).sum(axis=1)
    n = counts.sum(axis=1)
    expected = n * (counts * np.square(ranks)).sum(axis=1) - np.square((counts * ranks).sum(axis=1))
    defined = (counts > 0).sum(axis=1) >= 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(defined, 1 - (n - 1) * observed / expected, np.nan)


COEFFICIENTS = ("quadratic_kappa", "kappa", "spearman")
SHARES = ("exact", "within_one")
POSITION_TOLERANCE = 1e-9
"""Positions in the list of levels that differ by less than this count as equal; neighbouring levels differ by
1."""
MAX_BATCH_ELEMENTS = 2_000_000
"""Maximum number of elements in the largest array that is computed for a batch of bootstrap resamples."""


@dataclass(frozen=True, slots=True)
class PairCells:
    """The distinct pairs (human, judge), as positions in the list of levels, and their counts by cluster."""

    human: Floats
    judge: Floats
    counts: Floats
    """Count of each cell (distinct pair) in each cluster, in shape (clusters, cells)."""
    levels: Floats

    @property
    def total(self) -> Floats:
        """Count of each cell (distinct pair) in all clusters together, in shape (1, cells)."""
        return np.asarray(self.counts.sum(axis=0, keepdims=True))


def pair_cells(human: Floats, judge: Floats, clusters: Indices, levels: Floats) -> PairCells:
    """Return the cells (distinct pairs) of paired values."""
    indices = np.arange(len(levels), dtype=float)
    pairs = np.column_stack([np.interp(human, levels, indices), np.interp(judge, levels, indices)])
    cells, cell_index = np.unique(pairs, axis=0, return_inverse=True)
    counts = np.zeros((int(clusters.max()) + 1, len(cells)))
    np.add.at(counts, (clusters, cell_index.ravel()), 1.0)
    return PairCells(cells[:, 0], cells[:, 1], counts, levels)


def nearest_level(positions: Floats) -> Indices:
    """Return the index of the level nearest to each position; of two equally near levels, the lower one."""
    return np.ceil(positions - 0.5 - POSITION_TOLERANCE).clip(0).astype(np.intp)


def agreement_statistics(cells: PairCells, weights: Floats) -> dict[str, Floats]:
    """Return each agreement statistic for each bootstrap resample; NaN where it is undefined."""
    rows = max(1, MAX_BATCH_ELEMENTS // len(cells.human))
    batches = [
        _batch_statistics(cells, weights[start : start + rows]) for start in range(0, len(weights), rows)
    ]
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def _batch_statistics(cells: PairCells, weights: Floats) -> dict[str, Floats]:
    n = weights.sum(axis=1)
    human, judge = _Marginal.of(cells.human, weights), _Marginal.of(cells.judge, weights)
    indices = np.arange(len(cells.levels), dtype=float)
    human_values, judge_values = (
        np.interp(positions, indices, cells.levels) for positions in (cells.human, cells.judge)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        coefficients = {
            "quadratic_kappa": _quadratic_kappa(human, judge, weights, n),
            "kappa": _kappa(cells, weights, n),
            "spearman": _correlation(human.midranks, judge.midranks, weights, n),
        }
    defined = (human.distinct > 1) & (judge.distinct > 1)
    coefficients = {name: np.where(defined, values, np.nan) for name, values in coefficients.items()}
    means = {
        "exact": nearest_level(cells.human) == nearest_level(cells.judge),
        "within_one": np.abs(cells.human - cells.judge) <= 1 + POSITION_TOLERANCE,
        "bias": judge_values - human_values,
    }
    return coefficients | {name: weights @ values / n for name, values in means.items()}


@dataclass(frozen=True, slots=True)
class _Marginal:
    """The values of one side (humans or judge), with their counts in each bootstrap resample."""

    values: Floats
    """Distinct values in ascending order, in shape (values,)."""
    index: Indices
    """For each distinct pair (human value, judge value), the index in ``values`` of this side's value."""
    counts: Floats
    """Count of each value in each bootstrap resample, in shape (resamples, values)."""

    @classmethod
    def of(cls, positions: Floats, weights: Floats) -> _Marginal:
        values, index = np.unique(positions, return_inverse=True)
        return cls(values, index, sum_groups(weights, index))

    @property
    def distinct(self) -> Indices:
        """Number of distinct values that occur in each bootstrap resample, in shape (resamples,)."""
        return np.asarray((self.counts > 0).sum(axis=1))

    @property
    def midranks(self) -> Floats:
        """Rank of this side's value in each distinct pair (human value, judge value), minus 0.5."""
        return np.asarray((np.cumsum(self.counts, axis=1) - self.counts / 2)[:, self.index])


def _quadratic_kappa(human: _Marginal, judge: _Marginal, weights: Floats, n: Floats) -> Floats:
    """Return quadratic kappa, 1 - D / E, for each bootstrap resample (row of ``weights``)."""
    observed = weights @ np.square(human.values[human.index] - judge.values[judge.index])
    distances = np.square(human.values[:, None] - judge.values[None, :])
    expected = ((human.counts @ distances) * judge.counts).sum(axis=1)
    return np.asarray(1 - n * observed / expected)


def _kappa(cells: PairCells, weights: Floats, n: Floats) -> Floats:
    """Return Cohen's kappa for each bootstrap resample; values are rounded to the nearest level."""
    human, judge = nearest_level(cells.human), nearest_level(cells.judge)
    indicator = np.eye(len(cells.levels))
    observed = weights @ (human == judge) / n
    expected = ((weights @ indicator[human]) * (weights @ indicator[judge])).sum(axis=1) / np.square(n)
    return np.asarray(np.where(expected < 1, (observed - expected) / (1 - expected), np.nan))


def _correlation(x: Floats, y: Floats, weights: Floats, n: Floats) -> Floats:
    def centre(ranks: Floats) -> Floats:
        return np.asarray(ranks - ((weights * ranks).sum(axis=1) / n)[:, None])

    x, y = centre(x), centre(y)
    squares = (weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1)
    return np.asarray(np.clip((weights * x * y).sum(axis=1) / np.sqrt(squares), -1.0, 1.0))


RemarkCode = Literal[
    "no_pairs",
    "few_labels",
    "few_prompts",
    "labels_on_one_level",
    "judge_on_one_level",
    "undefined_kappa",
    "undefined_within",
    "kappa",
    "within_kappa",
    "undefined_resamples",
    "raters_disagree",
    "majority",
    "one_rater",
    "chosen_answers",
    "unbalanced",
    "few_labels_for_mean",
    "rounded",
    "not_random",
]


@dataclass(frozen=True, slots=True)
class Remark:
    """A reason for a decision, or a warning."""

    code: RemarkCode
    values: Mapping[str, int | float | str] = field(default_factory=dict)
    """Numbers and names by what they are, such as ``n`` and ``needed``."""


RESAMPLES = 2000
MIN_INTERVAL_PROMPTS = 2
"""Fewest prompts for an interval, because one prompt does not show how much prompts differ."""

EstimateKind = Literal["coefficient", "share", "unbounded"]
"""Range of an estimate: ``coefficient`` for -1 to 1 (its interval is computed on Fisher's z scale), ``share``
for 0 to 1, ``unbounded`` for any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number with its confidence interval; if the number is undefined, the reason."""

    value: float | None
    """The estimate; None if it is undefined. An undefined estimate is never 0."""
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Why the value or the interval is None."""
    undefined: int = 0
    """Number of bootstrap resamples in which the value is undefined; the interval ignores them."""


def cluster_index(clusters: Sequence[str]) -> tuple[NDArray[np.intp], int]:
    """Return the index of each item's cluster and the number of clusters."""
    index = {name: i for i, name in enumerate(sorted(set(clusters)))}
    return np.fromiter((index[name] for name in clusters), dtype=np.intp, count=len(clusters)), len(index)


def resample_clusters(clusters: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """Draw clusters with replacement; return how often each is drawn, in shape (resamples, clusters)."""
    draws = np.random.default_rng(seed).multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples)
    return draws.astype(np.float64)


def bootstrap_estimate(
    value: float,
    resampled: NDArray[np.float64],
    *,
    kind: EstimateKind,
    n: int,
    clusters: int,
    reason: str,
    confidence: float,
) -> Estimate:
    """Return an estimate with a t interval that uses the standard error of a bootstrap."""
    defined = resampled[~np.isnan(resampled)]
    undefined = len(resampled) - len(defined)
    if np.isnan(value):
        return Estimate(value=None, reason=reason, undefined=undefined)
    if clusters < MIN_INTERVAL_PROMPTS or len(defined) < 2:
        return Estimate(value=value, reason="no interval below 2 prompts", undefined=undefined)
    low, high = _interval(value, defined, kind, n, clusters, confidence)
    return Estimate(value=value, low=low, high=high, undefined=undefined)


def _interval(
    value: float, resampled: NDArray[np.float64], kind: EstimateKind, n: int, clusters: int, confidence: float
) -> tuple[float, float]:
    from scipy.special import stdtrit

    factor = float(stdtrit(clusters - 1, 0.5 + confidence / 2))
    if kind == "coefficient" and abs(value) < 1:
        limit = max(1 - 1 / (2 * n), abs(value))
        half = factor * float(np.std(np.arctanh(np.clip(resampled, -limit, limit)), ddof=1))
        z = float(np.arctanh(value))
        return float(np.tanh(z - half)), float(np.tanh(z + half))
    half = factor * float(np.std(resampled, ddof=1))
    lower, upper = {"coefficient": (-1.0, 1.0), "share": (0.0, 1.0)}.get(kind, (-np.inf, np.inf))
    return max(lower, value - half), min(upper, value + half)
