"""Findings about headline scores: the best checkpoint, and drops below the interval of an earlier one.

Only means and intervals are compared, no test is made: a finding says "differ" or "may be chance".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from hengwen.reports.text.numbers import interval, number
from hengwen.reports.view.trajectory import signature_conflict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.reports.view.cells import ScoreCell


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One notable observation, in both languages."""

    address: str
    """``TASK/SCORE``."""
    zh: str
    en: str
    weight: Literal["note", "hint", "alarm"] = "note"
    """``hint``: possibly chance; ``alarm``: disjoint intervals, a signature conflict or no scores."""


class Drop(NamedTuple):
    """A pair of checkpoints: the later mean is worse than the whole interval of the earlier one."""

    earlier: int
    later: int
    disjoint: bool
    """Whether the two intervals have no value in common."""


def findings_of(
    address: str,
    checkpoints: Sequence[str],
    cells: Sequence[ScoreCell | None],
    *,
    higher_is_better: bool = True,
    decimals: int = 3,
) -> list[Finding]:
    """Return the findings about one score over the checkpoints.

    Args:
        address: ``TASK/SCORE``.
        checkpoints: Names in training order.
        cells: One per checkpoint; None if the run does not have the score.
        higher_is_better: Direction of the scale.
        decimals: Number of decimals in the text.

    Examples:
        >>> from hengwen.reports.view.cells import ScoreCell
        >>> rest = {"confidence": 0.95, "n": 9, "prompts": 9, "coverage": 1.0}
        >>> cells = [ScoreCell(mean=m, ci=(m - 1, m + 1), **rest) for m in (5.0, 8.0, 2.0)]
        >>> for finding in findings_of("t/s", ["a", "b", "c"], cells, decimals=1):
        ...     print(finding.en)
        highest at b: 8.0 [7.0, 9.0]; the interval overlaps those of 0 of 2 other checkpoints
        drops from b 8.0 [7.0, 9.0] to c 2.0 [1.0, 3.0]; the intervals do not overlap: the two differ
    """
    conflict = signature_conflict(checkpoints, cells)
    if conflict:
        return [
            Finding(
                address=address,
                zh="各检查点的签名不同，不作比较",
                en=f"not compared: {conflict}",
                weight="alarm",
            )
        ]
    scored = [i for i, cell in enumerate(cells) if cell is not None and cell.mean is not None]
    if not scored:
        return [Finding(address=address, zh="没有任何得分", en="no answer has a score", weight="alarm")]
    formatter = _CheckpointFormatter(tuple(checkpoints), tuple(cells), decimals)
    if len(scored) == 1:
        return [Finding(address=address, zh=formatter(scored[0]), en=formatter(scored[0]))]
    best = _best(cells, scored, higher_is_better)
    if all(_mean(cells, i) == _mean(cells, best) for i in scored):
        return [_equal_finding(address, formatter, scored)]
    return [
        _best_finding(address, formatter, cells, scored, best, higher_is_better),
        *(
            _drop_finding(address, formatter, drop, higher_is_better)
            for drop in drops_of(cells, higher_is_better)
        ),
    ]


def drops_of(cells: Sequence[ScoreCell | None], higher_is_better: bool = True) -> list[Drop]:
    """Return the drops between consecutive checkpoints; if there are none, a drop from the best to the last.

    A pair is a drop if the later mean lies outside the interval of the earlier one, on the worse side.
    """
    scored = [i for i, cell in enumerate(cells) if cell is not None and cell.mean is not None]
    if len(scored) < 2:
        return []
    drops = [drop for pair in pairwise(scored) if (drop := _drop(cells, *pair, higher_is_better))]
    if drops:
        return drops
    drop = _drop(cells, _best(cells, scored, higher_is_better), scored[-1], higher_is_better)
    return [drop] if drop else []


def _drop(cells: Sequence[ScoreCell | None], earlier: int, later: int, higher_is_better: bool) -> Drop | None:
    a, b = cells[earlier], cells[later]
    if a is None or b is None or a.ci is None or b.mean is None:
        return None
    worse = b.mean < a.ci[0] if higher_is_better else b.mean > a.ci[1]
    return Drop(earlier, later, not _overlap(a.ci, b.ci)) if worse else None


def _overlap(a: tuple[float, float] | None, b: tuple[float, float] | None) -> bool:
    """Whether two intervals share a value; True if one is missing, because nothing then separates them."""
    return a is None or b is None or (a[0] <= b[1] and b[0] <= a[1])


def _best(cells: Sequence[ScoreCell | None], scored: Sequence[int], higher_is_better: bool) -> int:
    return (max if higher_is_better else min)(scored, key=lambda i: _mean(cells, i))


def _mean(cells: Sequence[ScoreCell | None], i: int) -> float:
    """The mean of a scored cell, rounded so that differences in the last bits do not count."""
    cell = cells[i]
    if cell is None or cell.mean is None:
        raise ValueError(f"cell {i} has no mean")
    return float(f"{cell.mean:.12g}")


class _CheckpointFormatter(NamedTuple):
    """Formats a checkpoint with its mean and interval."""

    checkpoints: tuple[str, ...]
    cells: tuple[ScoreCell | None, ...]
    decimals: int

    def mean(self, i: int) -> str:
        cell = self.cells[i]
        return number(cell.mean if cell else None, self.decimals)

    def value(self, i: int) -> str:
        cell = self.cells[i]
        return f"{self.mean(i)} {interval(cell.ci, self.decimals)}" if cell and cell.ci else self.mean(i)

    def __call__(self, i: int) -> str:
        return f"{self.checkpoints[i]} {self.value(i)}"


def _equal_finding(address: str, formatter: _CheckpointFormatter, scored: Sequence[int]) -> Finding:
    value = formatter.mean(scored[0])
    return Finding(
        address=address,
        zh=f"{len(scored)} 个有得分的检查点均为 {value}",
        en=f"the same at all {len(scored)} scored checkpoints: {value}",
    )


def _best_finding(
    address: str,
    formatter: _CheckpointFormatter,
    cells: Sequence[ScoreCell | None],
    scored: Sequence[int],
    best: int,
    higher_is_better: bool,
) -> Finding:
    zh, en = ("最高", "highest") if higher_is_better else ("最低（越低越好）", "lowest (lower is better)")
    tied = [i for i in scored if _mean(cells, i) == _mean(cells, best)]
    names = ", ".join(formatter.checkpoints[i] for i in tied)
    value = formatter.value(best) if len(tied) == 1 else formatter.mean(best)
    zh, en = f"{names} {zh}：{value}", f"{en} at {names}: {value}"
    ci, *others = [cell.ci for i in [best, *(i for i in scored if i != best)] if (cell := cells[i])]
    if len(tied) == 1 and ci is not None and None not in others:
        overlapping = sum(_overlap(ci, other) for other in others)
        zh += f"；其余 {len(others)} 个检查点中，{overlapping} 个的区间与之重叠"
        en += f"; the interval overlaps those of {overlapping} of {len(others)} other checkpoints"
    return Finding(address=address, zh=zh, en=en)


def _drop_finding(
    address: str, formatter: _CheckpointFormatter, drop: Drop, higher_is_better: bool
) -> Finding:
    zh_verb, en_verb = ("降到", "drops") if higher_is_better else ("升到", "rises")
    pair_zh = f"{formatter(drop.earlier)} {zh_verb} {formatter(drop.later)}"
    pair_en = f"{en_verb} from {formatter(drop.earlier)} to {formatter(drop.later)}"
    if drop.disjoint:
        zh, en = "两个区间不重叠：有差别", "the intervals do not overlap: the two differ"
    else:
        zh, en = (
            "超出前者的区间，但两个区间重叠：可能是偶然",
            "outside the earlier interval, but the two intervals overlap: this may be chance",
        )
    weight: Literal["hint", "alarm"] = "alarm" if drop.disjoint else "hint"
    return Finding(address=address, zh=f"{pair_zh}；{zh}", en=f"{pair_en}; {en}", weight=weight)
