"""Describe how one score changes over the checkpoints, by its means and by the order of its means.

The first and the last mean show how high the score is. The order of the means is described by permutation
entropy (PEN), count of inversions (CIN) and longest increasing subsequence (LIS).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING

from hengwen.relevance_metrics import count_inversions, longest_increasing_subsequence, permutation_entropy
from hengwen.results.comparability import names_text
from hengwen.results.score_summaries import scoring_conflict
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.results.aggregate import Summary

ORDER = 3
"""Number of consecutive checkpoint means in a window of the permutation entropy."""
MIN_WINDOWS = 5 * factorial(ORDER)
"""Minimum number of windows (each of ``ORDER`` consecutive checkpoint means) for the permutation entropy.
With fewer windows, the permutation entropy is mostly bias, and the report says "too short"."""
NO_REASON = Bilingual("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """Mean score of the first and last checkpoint, and three metrics of how the means rise and fall.

    The metrics are permutation entropy, count of inversions and longest increasing subsequence.
    """

    n: int
    """Number of checkpoints."""
    first: float | None = None
    last: float | None = None
    pen: float | None = None
    """Permutation entropy of the means in nats, with windows of 3 means."""
    cin: int | None = None
    """Number of pairs of checkpoints in which the later mean is lower (inversions)."""
    pairs: int = 0
    """Number of all pairs of checkpoints, which is the largest possible ``cin``."""
    lis: int | None = None
    windows: int = 0
    too_short: bool = True
    reason: Bilingual = NO_REASON
    """Reason why ``pen``, ``cin`` or ``lis`` is None."""


def trajectory_of(
    checkpoints: Sequence[str], cells: Sequence[Summary | None], order_problem: str = ""
) -> Trajectory:
    """Return the trajectory of one score."""
    n = len(checkpoints)
    present = [cell for cell in cells if cell is not None]
    means = [cell.mean for cell in present if cell.mean is not None]
    windows = max(0, n - ORDER + 1)
    reason = obstacle(checkpoints, cells)
    if not reason.en and order_problem:
        reason = Bilingual("检查点的先后未知", order_problem)
    if reason.en:
        return Trajectory(n=n, windows=windows, reason=reason)
    return Trajectory(
        n=n,
        first=means[0],
        last=means[-1],
        pen=float(permutation_entropy(means, ORDER)) + 0.0 if windows else None,
        cin=int(count_inversions(means)),
        pairs=n * (n - 1) // 2,
        lis=int(longest_increasing_subsequence(means)),
        windows=windows,
        too_short=windows < MIN_WINDOWS,
        reason=NO_REASON
        if windows
        else Bilingual(
            f"PEN 需要 {ORDER} 个检查点，现有 {n} 个", f"PEN needs {ORDER} checkpoints, there are {n}"
        ),
    )


def obstacle(checkpoints: Sequence[str], cells: Sequence[Summary | None]) -> Bilingual:
    """Return why the means of a score over checkpoints cannot be compared; empty if they can."""
    missing = [
        name for name, cell in zip(checkpoints, cells, strict=True) if cell is None or cell.mean is None
    ]
    if missing:
        return Bilingual(
            f"{names_text(missing, ' 及另外 {} 个检查点')} 没有均值", f"no mean at {names_text(missing)}"
        )
    if len(checkpoints) < 2:
        return Bilingual("只有一个检查点", "only one checkpoint")
    repeated = sorted({name for name in checkpoints if list(checkpoints).count(name) > 1})
    if repeated:
        names = ", ".join(repeated)
        return Bilingual(f"同一检查点有多次运行：{names}", f"several runs of one checkpoint: {names}")
    conflict = scoring_conflict(checkpoints, cells)
    return Bilingual(f"评分设置不同（{conflict}）", conflict) if conflict else NO_REASON
