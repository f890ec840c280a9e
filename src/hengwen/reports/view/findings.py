"""What stands out in a headline score: where it is best, and where it falls by more than its interval.

Computed plainly from means and intervals; no test is made, so the words are "differs" and "may be chance".
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
    """One thing that stands out, in both languages."""

    address: str
    """``TASK/SCORE``."""
    zh: str
    en: str
    weight: Literal["note", "hint", "alarm"] = "note"
    """``hint``: a fall that may be chance; ``alarm``: intervals apart, a conflict or a lack of scores."""


class Drop(NamedTuple):
    """Two checkpoints of which the later is worse than the interval of the earlier."""

    earlier: int
    later: int
    apart: bool
    """Whether the two intervals do not overlap."""


def findings_of(
    address: str,
    checkpoints: Sequence[str],
    cells: Sequence[ScoreCell | None],
    *,
    higher_is_better: bool = True,
    decimals: int = 3,
) -> list[Finding]:
    """Return what stands out in one score over the checkpoints.

    Args:
        address: ``TASK/SCORE``.
        checkpoints: Names in training order.
        cells: One a checkpoint; None where the run does not have the score.
        higher_is_better: The direction of the scale.
        decimals: For the numbers in the text.

    Examples:
        >>> from hengwen.reports.view.cells import ScoreCell
        >>> rest = {"level": 0.95, "n": 9, "prompts": 9, "coverage": 1.0}
        >>> cells = [ScoreCell(mean=m, ci=(m - 1, m + 1), **rest) for m in (5.0, 8.0, 2.0)]
        >>> for finding in findings_of("t/s", ["a", "b", "c"], cells, decimals=1):
        ...     print(finding.en)
        highest at b: 8.0 [7.0, 9.0]; this interval overlaps those of 0 of the 2 others
        falls from b 8.0 [7.0, 9.0] to c 2.0 [1.0, 3.0]; the intervals do not overlap: the two differ
    """
    conflict = signature_conflict(checkpoints, cells)
    if conflict:
        return [
            Finding(
                address=address,
                zh="各检查点签名不同，不作比较",
                en=f"not compared: {conflict}",
                weight="alarm",
            )
        ]
    scored = [i for i, cell in enumerate(cells) if cell is not None and cell.mean is not None]
    if not scored:
        return [Finding(address=address, zh="没有任何得分", en="nothing could be scored", weight="alarm")]
    show = _CheckpointFormatter(tuple(checkpoints), tuple(cells), decimals)
    if len(scored) == 1:
        return [Finding(address=address, zh=show(scored[0]), en=show(scored[0]))]
    best = _best(cells, scored, higher_is_better)
    if all(_mean(cells, i) == _mean(cells, best) for i in scored):
        return [_level_finding(address, show, scored)]
    return [
        _best_finding(address, show, cells, scored, best, higher_is_better),
        *(_fall_finding(address, show, fall, higher_is_better) for fall in falls_of(cells, higher_is_better)),
    ]


def falls_of(cells: Sequence[ScoreCell | None], higher_is_better: bool = True) -> list[Drop]:
    """Return the falls between neighbouring checkpoints; without any, that from the best to the last.

    A fall counts where the later mean is outside the interval of the earlier one, on the bad side.
    """
    scored = [i for i, cell in enumerate(cells) if cell is not None and cell.mean is not None]
    if len(scored) < 2:
        return []
    found = [fall for pair in pairwise(scored) if (fall := _fall(cells, *pair, higher_is_better))]
    if found:
        return found
    fall = _fall(cells, _best(cells, scored, higher_is_better), scored[-1], higher_is_better)
    return [fall] if fall else []


def _fall(cells: Sequence[ScoreCell | None], earlier: int, later: int, higher_is_better: bool) -> Drop | None:
    a, b = cells[earlier], cells[later]
    if a is None or b is None or a.ci is None or b.mean is None:
        return None
    worse = b.mean < a.ci[0] if higher_is_better else b.mean > a.ci[1]
    return Drop(earlier, later, not _overlap(a.ci, b.ci)) if worse else None


def _overlap(a: tuple[float, float] | None, b: tuple[float, float] | None) -> bool:
    """Whether two intervals share a value; True where one is missing, for then nothing tells them apart."""
    return a is None or b is None or (a[0] <= b[1] and b[0] <= a[1])


def _best(cells: Sequence[ScoreCell | None], scored: Sequence[int], higher_is_better: bool) -> int:
    return (max if higher_is_better else min)(scored, key=lambda i: _mean(cells, i))


def _mean(cells: Sequence[ScoreCell | None], i: int) -> float:
    """The mean of a scored cell; rounded, so that the last bits make no order."""
    cell = cells[i]
    if cell is None or cell.mean is None:
        raise ValueError(f"cell {i} has no mean")
    return float(f"{cell.mean:.12g}")


class _CheckpointFormatter(NamedTuple):
    """Prints a checkpoint with its mean and interval."""

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


def _level_finding(address: str, show: _CheckpointFormatter, scored: Sequence[int]) -> Finding:
    value = show.mean(scored[0])
    return Finding(
        address=address,
        zh=f"{len(scored)} 个检查点同为 {value}",
        en=f"the same at all {len(scored)} scored checkpoints: {value}",
    )


def _best_finding(
    address: str,
    show: _CheckpointFormatter,
    cells: Sequence[ScoreCell | None],
    scored: Sequence[int],
    best: int,
    higher_is_better: bool,
) -> Finding:
    zh, en = ("最高", "highest") if higher_is_better else ("最低（越低越好）", "lowest (lower is better)")
    tied = [i for i in scored if _mean(cells, i) == _mean(cells, best)]
    names = ", ".join(show.checkpoints[i] for i in tied)
    value = show.value(best) if len(tied) == 1 else show.mean(best)
    zh, en = f"{names} {zh}：{value}", f"{en} at {names}: {value}"
    ci, *others = [cell.ci for i in [best, *(i for i in scored if i != best)] if (cell := cells[i])]
    if len(tied) == 1 and ci is not None and None not in others:
        near = sum(_overlap(ci, other) for other in others)
        zh += f"；其余 {len(others)} 个检查点中有 {near} 个与它区间重叠"
        en += f"; this interval overlaps those of {near} of the {len(others)} others"
    return Finding(address=address, zh=zh, en=en)


def _fall_finding(address: str, show: _CheckpointFormatter, fall: Drop, higher_is_better: bool) -> Finding:
    zh_verb, en_verb = ("降到", "falls") if higher_is_better else ("升到", "rises")
    pair_zh = f"{show(fall.earlier)} {zh_verb} {show(fall.later)}"
    pair_en = f"{en_verb} from {show(fall.earlier)} to {show(fall.later)}"
    if fall.apart:
        zh, en = "区间不重叠：两者有差别", "the intervals do not overlap: the two differ"
    else:
        zh, en = (
            "超出前者的区间，但两区间重叠：可能出于偶然",
            "outside the earlier interval, but the two overlap: it may be chance",
        )
    weight: Literal["hint", "alarm"] = "alarm" if fall.apart else "hint"
    return Finding(address=address, zh=f"{pair_zh}；{zh}", en=f"{pair_en}; {en}", weight=weight)
