"""Compute how much of a score's change is due to the model and to its judge, or why this is unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hengwen.monitoring.judge_drift.anchor_rows import anchor_agreement, anchor_changes
from hengwen.monitoring.judge_drift.effects import (
    MARGIN_SHARE,
    adjusted_effect,
    anchor_effect,
    paired_effect,
)
from hengwen.monitoring.judge_drift.judged_series import (
    JudgedSeries,
    applicable_prompts,
    judge_changes,
    restricted,
    scored_answers,
    with_values_of,
)
from hengwen.monitoring.judge_drift.verdicts import MIN_ANCHORS, JudgedScoreDrift
from hengwen.results.comparisons import MIN_PROMPT_COVERAGE
from hengwen.results.paired_values import pair_values

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hengwen.monitoring.judge_drift.anchor_rows import JudgedAnchor
    from hengwen.monitoring.judge_drift.effects import Bounds, Effect
    from hengwen.monitoring.judge_drift.judged_series import AnswerId
    from hengwen.monitoring.judge_drift.verdicts import Reason
    from hengwen.results.paired_values import PairedValues
    from hengwen.results.score_table import Column

MAX_UNCOVERED = 0.05
"""Largest share of answers with a level that no anchor has; above it, the verdict is ``cannot tell``."""


class Verdicts(NamedTuple):
    """The verdicts of one judge, or of one member of a panel, in the runs that are compared."""

    then: JudgedSeries
    """Verdicts that the earlier run gave to its own answers."""
    again: JudgedSeries | None
    """Verdicts of a later rejudging of the earlier answers; None if there was none."""
    now: JudgedSeries
    """Verdicts that the later run gave to its own answers."""


def with_changes(
    drift: JudgedScoreDrift,
    verdicts: Verdicts,
    *,
    anchors: Sequence[JudgedAnchor] = (),
    differing: Collection[str] = (),
    incomplete: Sequence[Collection[AnswerId]] = ((), (), ()),
    equal: Mapping[AnswerId, AnswerId] | None = None,
) -> JudgedScoreDrift:
    """A score with the changes by its model and by its judge, or with the reason why there are none."""
    if None in verdicts.then.column.sample_ids or None in verdicts.now.column.sample_ids:
        return replace(drift, reason="group score")
    scale = verdicts.then.column.scale or verdicts.now.column.scale
    bounds = None if scale is None else (scale.low, scale.high)
    margin = None if scale is None else MARGIN_SHARE * (scale.high - scale.low)
    drift = replace(drift, scale=scale, margin=margin, agreement=anchor_agreement(anchors))
    prompts = applicable_prompts(verdicts.then.column) & applicable_prompts(verdicts.now.column)
    prompts -= set(differing)
    if not prompts:
        return replace(drift, reason="no common prompts")
    then, again, now = (
        None if series is None else restricted(series.column, prompts, without=left_out)
        for series, left_out in zip(verdicts, incomplete, strict=True)
    )
    assert then is not None
    assert now is not None
    if again is None or verdicts.again is None:
        changes = judge_changes(verdicts.then.judge, verdicts.now.judge)
        now = with_values_of(now, then, equal or {})
        share = _changed_share(now, equal or {})
        return _by_anchors(replace(drift, changes=changes), then, now, anchors, bounds, share)
    drift = replace(
        drift,
        arm="re-judged",
        changes=judge_changes(verdicts.then.judge, verdicts.again.judge),
        conflicts=judge_changes(verdicts.again.judge, verdicts.now.judge),
    )
    return _rejudged(drift, then, again, with_values_of(now, again, equal or {}), bounds)


def _changed_share(now: Column, equal: Mapping[AnswerId, AnswerId]) -> float:
    """Return the share of judged later answers that equal no earlier answer to the same prompt."""
    scored = scored_answers(now)
    return sum(answer not in equal for answer in scored) / max(1, len(scored))


def _rejudged(
    drift: JudgedScoreDrift, then: Column, again: Column, now: Column, bounds: Bounds | None
) -> JudgedScoreDrift:
    """Return a score with its changes, computed from the earlier answers that were judged again."""
    prompts = applicable_prompts(then)
    both = scored_answers(then) & scored_answers(again)
    judged = pair_values(
        restricted(then, prompts, without=scored_answers(then) - both),
        restricted(again, prompts, without=scored_answers(again) - both),
    )
    if not judged.prompts:
        return replace(drift, reason="not scored")
    drift = replace(
        drift,
        judge=_paired(judged, bounds),
        then=_mean(judged.before),
        again=_mean(judged.after),
        coverage=len(judged.prompts) / len(prompts),
    )
    if drift.conflicts:
        return replace(drift, reason="judges differ")
    return _with_model(drift, pair_values(again, now), prompts, bounds)


def _by_anchors(
    drift: JudgedScoreDrift,
    then: Column,
    now: Column,
    anchors: Sequence[JudgedAnchor],
    bounds: Bounds | None,
    changed_share: float,
) -> JudgedScoreDrift:
    """Return a score with its changes, computed from anchors, or with the reason why anchors give none."""
    if drift.changes:
        return replace(drift, reason="judge changed")
    if not anchors:
        return replace(drift, reason="not judged again")
    drift = replace(drift, arm="anchors")
    assert drift.scale is not None  # human values are on the scale of a rubric
    answers = [value for value in then.values if value is not None]
    changes = anchor_changes(anchors, answers, drift.scale)
    if not changes.used:
        return replace(drift, reason="anchor levels")
    drift = replace(drift, judge=anchor_effect(changes, scale=bounds))
    reason: Reason = ""
    if len(changes.used) < MIN_ANCHORS:
        reason = "few anchors"
    elif changes.uncovered > MAX_UNCOVERED:
        reason = "anchor levels"
    prompts = applicable_prompts(then)
    drift = _with_model(drift, pair_values(then, now), prompts, bounds, changed_share)
    return replace(drift, reason=reason) if reason else drift


def _with_model(
    drift: JudgedScoreDrift,
    paired: PairedValues,
    prompts: set[str | None],
    bounds: Bounds | None,
    changed_share: float = 1.0,
) -> JudgedScoreDrift:
    """Return a score with the change of the model."""
    if not paired.prompts:
        return replace(drift, reason="not scored")
    model = _paired(paired, bounds)
    if drift.arm == "anchors" and drift.judge is not None:
        model = adjusted_effect(model, drift.judge, margin=drift.margin, changed_share=changed_share)
        drift = replace(drift, then=_mean(paired.before))
    coverage = min(drift.coverage, len(paired.prompts) / len(prompts))
    return replace(
        drift,
        model=model,
        now=_mean(paired.after),
        coverage=coverage,
        reason="missing scores" if coverage < MIN_PROMPT_COVERAGE else "",
    )


def _paired(values: PairedValues, bounds: Bounds | None) -> Effect:
    return paired_effect(values.before, values.after, values.clusters, scale=bounds)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
