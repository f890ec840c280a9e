"""Two judges, two checkpoints: the old judge, where it still answers, judges the later answers too.

The change of the model is then measured by the old judge alone, and the judge has one more test: whether it
changed on the later answers as on the earlier ones. A new judge that favours length changes more where
answers got longer. The two judges are never averaged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hengwen.monitoring.judge_drift.effects import paired_effect
from hengwen.monitoring.judge_drift.judged_series import restricted, scored_answers
from hengwen.results.paired_values import pair_values

if TYPE_CHECKING:
    from hengwen.monitoring.judge_drift.effects import Bounds
    from hengwen.monitoring.judge_drift.verdicts import JudgedScoreDrift
    from hengwen.results.score_table import Column


def with_old_judge(
    drift: JudgedScoreDrift,
    earlier: tuple[Column, Column],
    later: tuple[Column, Column],
    prompts: set[str | None],
    bounds: Bounds | None,
) -> JudgedScoreDrift:
    """Measure the model by the old judge, and the judge on later answers too; pairs are (old, new) judge."""
    old, new = zip(_of_both(earlier, prompts), _of_both(later, prompts), strict=True)
    by_old, by_new = pair_values(*old), pair_values(*new)  # the same answers
    if not by_old.prompts:
        return drift
    width = None if bounds is None else bounds[1] - bounds[0]
    return replace(
        drift,
        model=paired_effect(by_old.before, by_old.after, by_old.clusters, scale=bounds),
        interaction=paired_effect(
            by_old.differences,
            by_new.differences,
            by_old.clusters,
            scale=None if width is None else (-width, width),
        ),
        crossed=sum(by_old.after) / len(by_old.after),
        length=None,
    ).with_coverage(by_old, len(prompts))


def _of_both(columns: tuple[Column, Column], prompts: set[str | None]) -> tuple[Column, Column]:
    """Return the values of two judges on the answers that have both."""
    old, new = (scored_answers(column) for column in columns)
    return (
        restricted(columns[0], prompts, without=old - new),
        restricted(columns[1], prompts, without=new - old),
    )
