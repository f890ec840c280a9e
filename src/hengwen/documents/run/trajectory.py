"""Describe how one score changes over the checkpoints, by its means and by the order of its means.

The first and the last mean show how high the score is. The order of the means is described by permutation
entropy (PEN), count of inversions (CIN) and longest increasing subsequence (LIS).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.relevance_metrics.summaries.trajectory import NO_REASON, Trajectory, trajectory_of_means
from hengwen.results.comparability import names_text
from hengwen.results.score_summaries import scoring_conflict
from hengwen.text.language import Bilingual

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hengwen.results.aggregate import Summary


def trajectory_of(
    checkpoints: Sequence[str], summaries: Sequence[Summary | None], order_problem: str = ""
) -> Trajectory:
    """Return the trajectory of one score."""
    n = len(checkpoints)
    means = [summary.mean for summary in summaries if summary is not None and summary.mean is not None]
    reason = obstacle(checkpoints, summaries)
    if not reason.en and order_problem:
        reason = Bilingual("检查点的先后未知", order_problem)
    return Trajectory(n=n, reason=reason) if reason.en else trajectory_of_means(means)


def obstacle(checkpoints: Sequence[str], summaries: Sequence[Summary | None]) -> Bilingual:
    """Return why the means of a score over checkpoints cannot be compared; empty if they can."""
    missing = [
        name
        for name, summary in zip(checkpoints, summaries, strict=True)
        if summary is None or summary.mean is None
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
    conflict = scoring_conflict(checkpoints, summaries)
    return Bilingual(f"评分设置不同（{conflict}）", conflict) if conflict else NO_REASON
