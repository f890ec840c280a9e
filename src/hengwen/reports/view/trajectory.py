"""Describe how one score changes over the checkpoints, by its means and by the order of its means.

The first and the last mean show how high the score is. The order of the means is described by permutation
entropy (PEN), count of inversions (CIN) and longest increasing subsequence (LIS).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING

from hengwen.relevance_metrics import count_inversions, longest_increasing_subsequence, permutation_entropy
from hengwen.results.comparability import comparability_conflict
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.reports.view.cells import ScoreCell

ORDER = 3
"""Number of consecutive checkpoint means in a window of the permutation entropy."""
MIN_WINDOWS = 5 * factorial(ORDER)
"""Minimum number of windows (each of ``ORDER`` consecutive checkpoint means) for the permutation entropy.
With fewer windows, the permutation entropy is mostly bias, and the report says "too short"."""
MAX_NAMES = 4
"""Maximum number of checkpoints that a message such as "no mean at a, b" names; others are only counted."""
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
    checkpoints: Sequence[str], cells: Sequence[ScoreCell | None], order_problem: str = ""
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


def obstacle(checkpoints: Sequence[str], cells: Sequence[ScoreCell | None]) -> Bilingual:
    """Return why the means of a score over checkpoints cannot be compared; empty if they can."""
    missing = [
        name for name, cell in zip(checkpoints, cells, strict=True) if cell is None or cell.mean is None
    ]
    if missing:
        return Bilingual(
            f"{_names_text(missing, ' 及另外 {} 个检查点')} 没有均值", f"no mean at {_names_text(missing)}"
        )
    if len(checkpoints) < 2:
        return Bilingual("只有一个检查点", "only one checkpoint")
    repeated = sorted({name for name in checkpoints if list(checkpoints).count(name) > 1})
    if repeated:
        names = ", ".join(repeated)
        return Bilingual(f"同一检查点有多次运行：{names}", f"several runs of one checkpoint: {names}")
    conflict = scoring_conflict(checkpoints, cells)
    return Bilingual(f"评分设置不同（{conflict}）", conflict) if conflict else NO_REASON


def scoring_conflict(checkpoints: Sequence[str], cells: Sequence[ScoreCell | None]) -> str:
    """Return how the scoring differs between checkpoints; empty if it does not differ."""
    conflict = signature_conflict(checkpoints, cells)
    return conflict or comparability_conflict(
        checkpoints, [cell.comparability if cell else None for cell in cells]
    )


def signature_conflict(checkpoints: Sequence[str], cells: Sequence[ScoreCell | None]) -> str:
    """Return the settings of the scorer (parts of signatures) that differ between checkpoints."""
    checkpoints_of: dict[str, list[str]] = {}
    for name, cell in zip(checkpoints, cells, strict=True):
        for signature in cell.signatures if cell else ():
            checkpoints_of.setdefault(signature, []).append(name)
    if len(checkpoints_of) < 2:
        return ""
    parts = distinct_parts(list(checkpoints_of))
    return "signatures differ: " + "; ".join(
        f"{part} ({_names_text(names)})" for part, names in zip(parts, checkpoints_of.values(), strict=True)
    )


def distinct_parts(signatures: Sequence[str]) -> list[str]:
    """Return the signatures without their common parts."""
    shared = set.intersection(*(set(signature.split("|")) for signature in signatures))
    parts = ["|".join(p for p in signature.split("|") if p not in shared) for signature in signatures]
    return parts if all(parts) else list(signatures)


def _names_text(names: Sequence[str], rest_text: str = " and {} more") -> str:
    rest = len(names) - MAX_NAMES
    return ", ".join(names) if rest <= 0 else ", ".join(names[:MAX_NAMES]) + rest_text.format(rest)
