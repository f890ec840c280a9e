"""How far two series of levels agree: the human and the judge's, with intervals by prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hengwen.judges.calibration.figures import (
    FEW_PROMPTS,
    RESAMPLES,
    Estimate,
    cluster_index,
    figure,
    resample_clusters,
)
from hengwen.judges.calibration.statistics import (
    CLOSE,
    COEFFICIENTS,
    SHARES,
    cells_of,
    nearest_level,
    statistics,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hengwen.judges.calibration.figures import Kind
    from hengwen.judges.calibration.statistics import Cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What a judge's values have to do with people's."""

    n: int
    prompts: int
    levels: tuple[float, ...]
    quadratic_kappa: Estimate
    linear_kappa: Estimate
    kappa: Estimate
    """Unweighted, of the nearest levels."""
    alpha: Estimate
    """Krippendorff's, ordinal."""
    spearman: Estimate
    kendall: Estimate
    """Tau-b."""
    exact: Estimate
    """Share of pairs on the same (nearest) level."""
    within_one: Estimate
    """Share of pairs at most one level apart."""
    bias: Estimate
    """Mean of judge - human, on the scale of the values."""
    human_mean: float
    judge_mean: float
    confusion: tuple[tuple[int, ...], ...]
    """Rows: the human's levels ascending; columns: the judge's."""
    between: int
    """Values between two levels (means of raters, of panels): in ``confusion``, ``kappa`` and ``exact`` they
    count as the nearest one."""
    resamples: int

    @property
    def human_base(self) -> tuple[float, ...]:
        """The share of the human values on each level."""
        return tuple(float(share) for share in np.sum(self.confusion, axis=1) / self.n)

    @property
    def judge_base(self) -> tuple[float, ...]:
        """The share of the judge's values on each level."""
        return tuple(float(share) for share in np.sum(self.confusion, axis=0) / self.n)


def measure_agreement(
    human: Sequence[float],
    judge: Sequence[float],
    *,
    levels: Sequence[float],
    clusters: Sequence[str] | None = None,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Agreement:
    """Measure the agreement of paired values.

    Args:
        human: What people said, length n >= 1; a value may lie between two levels.
        judge: What the judge said of the same answers.
        levels: ALL levels of the scale, at least two, ascending: a level that nobody gave still counts.
        clusters: The prompt of each pair; pairs of one prompt are drawn together. Default: all different.
        resamples: Of the bootstrap.
        level: Of the intervals.
        seed: Of the bootstrap.

    Returns:
        The figures. Where one side is constant, kappa and the correlations are None with a reason, not 0.

    Raises:
        ValueError: The lengths differ, there are no pairs, the levels are no ascending list, or a value lies
            outside of them.

    Notes:
        Weighted kappa is 1 - the mean distance of the pairs / the mean distance of any human and any judge's
        value; on values that are levels this is Cohen's (1968). Distances are counted in levels.

    Examples:
        >>> found = measure_agreement([0, 0.5, 1, 1], [0, 1, 1, 0.5], levels=[0, 0.5, 1])
        >>> found.quadratic_kappa.value, found.exact.value, found.bias.value  # 1 - 4 * 2 / (2 * 11)
        (0.6363636363636364, 0.5, 0.0)
        >>> found.confusion
        ((1, 0, 0), (0, 0, 1), (0, 1, 1))
        >>> measure_agreement([1, 1], [0, 1], levels=[0, 0.5, 1]).quadratic_kappa.reason
        'undefined: all human values are the same'
    """
    people, machine, scale = _checked(human, judge, levels)
    index, count = cluster_index(clusters or [str(i) for i in range(len(people))])
    if len(index) != len(people):
        raise ValueError(f"{len(people)} pairs but {len(index)} clusters")
    cells = cells_of(people, machine, index, scale)
    drawn = resample_clusters(count, resamples if count >= FEW_PROMPTS else 0, seed) @ cells.counts
    found = statistics(cells, np.vstack([cells.total, drawn]))
    reason = _why_undefined(people, machine)
    figures = {
        name: figure(
            float(found[name][0]),
            found[name][1:],
            kind=_kind(name),
            n=len(people),
            clusters=count,
            reason=reason,
            level=level,
        )
        for name in (*COEFFICIENTS, *SHARES, "bias")
    }
    return Agreement(
        n=len(people),
        prompts=count,
        levels=tuple(float(value) for value in scale),
        human_mean=float(people.mean()),
        judge_mean=float(machine.mean()),
        confusion=_confusion(cells),
        between=_between(cells),
        resamples=len(drawn),
        **figures,
    )


def _kind(name: str) -> Kind:
    if name in COEFFICIENTS:
        return "coefficient"
    return "share" if name in SHARES else "free"


def _checked(
    human: Sequence[float], judge: Sequence[float], levels: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    people, machine = np.asarray(human, dtype=float), np.asarray(judge, dtype=float)
    scale = np.asarray(levels, dtype=float)
    if len(people) != len(machine):
        raise ValueError(f"{len(people)} human values but {len(machine)} of the judge")
    if not len(people):
        raise ValueError("there are no pairs of a human and a judge's value")
    if len(scale) < 2 or not np.all(np.isfinite(scale)) or np.any(np.diff(scale) <= 0):
        raise ValueError(f"levels must be at least two finite numbers, ascending, got {list(levels)}")
    room = CLOSE * (scale[-1] - scale[0])
    for side, values in (("human", people), ("judge's", machine)):
        off = values[~((values >= scale[0] - room) & (values <= scale[-1] + room))]
        if len(off):
            raise ValueError(f"a {side} value is {off[0]:g}, off the levels {scale[0]:g} to {scale[-1]:g}")
    return people, machine, scale


def _why_undefined(people: NDArray[np.float64], machine: NDArray[np.float64]) -> str:
    same = [side for side, values in (("human", people), ("judge's", machine)) if len(np.unique(values)) < 2]
    return f"undefined: all {' and all '.join(same)} values are the same" if same else "undefined"


def _confusion(cells: Cells) -> tuple[tuple[int, ...], ...]:
    table = np.zeros((len(cells.levels),) * 2, dtype=int)
    where = nearest_level(cells.human), nearest_level(cells.judge)
    np.add.at(table, where, cells.total[0].astype(int))
    return tuple(tuple(int(count) for count in row) for row in table)


def _between(cells: Cells) -> int:
    off = [np.abs(side - np.round(side)) > CLOSE for side in (cells.human, cells.judge)]
    return int(cells.total[0] @ (off[0].astype(float) + off[1]))
