"""Does a judge still give an answer the verdict that it gave then, as far as it repeats itself at all?

If the judge has not changed, its old verdict and its two new ones on an answer can be exchanged. Means alone
do not show a judge that gives as many good levels as before, but to other answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

MAX_EXCESS_SHARE = 0.06
"""Largest excess of a judge that counts as stable, as a share of the scale."""
MIN_KAPPA = 0.4
"""Linear kappa of old and new verdicts below which a judge does not reproduce its verdicts."""
DRAWS = 9999
_BLOCK = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConsistency:
    """Agreement of old verdicts with new ones, beside the agreement of two new verdicts (the noise floor)."""

    kappa: float | None
    """Linear kappa of the old and the new verdicts; None if all verdicts are equal."""
    kappa_interval: tuple[float, float] | None
    """95 % interval by the jackknife over prompts (or clusters); None with ``kappa``, or with one prompt."""
    floor: float | None
    """Linear kappa of the two new verdicts; None if all are equal, or if there is one new verdict."""
    excess: float | None
    """Mean distance of the old verdict to the new ones, minus the distance between the two new ones; None if
    there is one new verdict."""
    p: float | None
    """Two-sided p-value of ``excess`` if old and new verdicts of a prompt can be exchanged; not corrected."""
    p_adjusted: float | None = None
    """p-value corrected for all tests of the judge, over all scores; None if it is not tested."""
    answers: int
    prompts: int

    @property
    def is_unlike(self) -> bool:
        """Whether the new verdicts do not reproduce the old ones: kappa's upper limit is below the least."""
        return self.kappa_interval is not None and self.kappa_interval[1] < MIN_KAPPA

    def has_changed(self, alpha: float) -> bool:
        """Return whether the judge's verdicts on the same answers have changed."""
        p = self.p if self.p_adjusted is None else self.p_adjusted
        return (p is not None and p <= alpha) or self.is_unlike

    def is_stable(self, width: float) -> bool:
        """Return whether old and new verdicts agree closely enough on a scale of this width."""
        return (
            self.excess is not None
            and abs(self.excess) <= MAX_EXCESS_SHARE * width
            and self.kappa_interval is not None
            and self.kappa_interval[0] >= MIN_KAPPA
        )


def judge_consistency(
    then: ArrayLike, fresh: Sequence[ArrayLike], clusters: Sequence[str]
) -> JudgeConsistency:
    """Compare the old verdicts on answers with one or two new ones."""
    old = np.asarray(then, np.float64)
    new = np.array([np.asarray(values, np.float64) for values in fresh])
    _, codes = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    kappa, interval = _kappa(old, new, codes)
    excess = p = floor = None
    if len(new) > 1:
        excess, p = _exchange(np.stack([old, *new]), codes)
        floor = _kappa(new[0], new[1:], codes)[0]
    return JudgeConsistency(
        kappa=kappa,
        kappa_interval=interval,
        floor=floor,
        excess=excess,
        p=p,
        answers=len(old),
        prompts=int(codes.max()) + 1,
    )


def _exchange(passes: Floats, codes: NDArray[np.intp]) -> tuple[float, float]:
    """Return the excess of the first of three passes, and its p-value by exchanging passes by cluster."""
    first, second, third = passes
    near, far, between = abs(first - second), abs(first - third), abs(second - third)
    parts = ((near + far) / 2 - between, (near + between) / 2 - far, (far + between) / 2 - near)
    sums = np.stack([np.bincount(codes, weights=part) for part in parts])
    groups = sums.shape[1]
    observed = float(sums[0].sum())
    rng = np.random.default_rng(0)
    draws = np.concatenate(
        [
            sums[rng.integers(0, 3, (size, groups)), np.arange(groups)].sum(axis=1)
            for size in _block_sizes(max(1, _BLOCK // groups))
        ]
    )
    rounding = 1e-9 * (float(np.abs(sums).sum()) or 1.0)
    above = 1 + int((draws >= observed - rounding).sum())
    below = 1 + int((draws <= observed + rounding).sum())
    return observed / len(first), min(1.0, 2 * min(above, below) / (DRAWS + 1))


def _block_sizes(block: int) -> list[int]:
    return [min(block, DRAWS - start) for start in range(0, DRAWS, block)]


def _kappa(
    old: Floats, new: Floats, codes: NDArray[np.intp]
) -> tuple[float | None, tuple[float, float] | None]:
    """Return linear kappa of the old values with the mean of the new ones, and its jackknife interval."""
    pooled = new.ravel()
    distances = np.bincount(codes, weights=np.abs(new - old).sum(axis=0))
    rows = np.bincount(codes, weights=_distance_sums(old, pooled))
    columns = np.bincount(codes, weights=_distance_sums(pooled, old).reshape(new.shape).sum(axis=0))
    sizes = np.bincount(codes)
    total = float(rows.sum())
    if total <= 0:
        return None, None
    n, groups = len(old), len(sizes)
    kappa = 1 - float(distances.sum()) * n / total
    if groups < 2:
        return kappa, None
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(sizes)[:-1])
    within = np.array([np.abs(old[part][:, None, None] - new[:, part]).sum() for part in members])
    left = total - rows - columns + within
    if (left <= 1e-12 * total).any():
        return kappa, None
    values = 1 - (distances.sum() - distances) * (n - sizes) / left
    from scipy.special import stdtrit

    error = np.sqrt((groups - 1) / groups * np.square(values - values.mean()).sum())
    half = float(stdtrit(groups - 1, 0.975) * error)
    return kappa, (max(-1.0, kappa - half), min(1.0, kappa + half))


def _distance_sums(values: Floats, others: Floats) -> Floats:
    """Return for each value the sum of its distances to all others."""
    ordered = np.sort(others)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    below = np.searchsorted(ordered, values)
    n, total = len(ordered), sums[-1]
    return np.asarray(values * (2 * below - n) + total - 2 * sums[below], np.float64)
