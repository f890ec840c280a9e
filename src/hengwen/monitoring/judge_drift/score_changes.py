"""Compute how much of a score's change is due to the model and to its judge, or why this is unknown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hengwen.monitoring.judge_drift.effects import (
    MARGIN_SHARE,
    AnchorChanges,
    Bounds,
    Effect,
    JudgeConsistency,
    RejudgedAnswer,
    adjusted_effect,
    anchor_effect,
    judge_consistency,
    length_adjustment,
    paired_effect,
)
from hengwen.monitoring.judge_drift.judged_series import (
    JudgedSeries,
    applicable_prompts,
    judge_changes,
    member_verdicts,
    on_common_answers,
    restricted,
    with_values_of,
)
from hengwen.monitoring.judge_drift.verdicts import MIN_ANCHORS, AnchorAgreement, JudgedScoreDrift, Reason
from hengwen.records import Row, Scale, Score
from hengwen.results.paired_values import PairedValues, pair_values
from hengwen.results.score_table import AnswerId, Column
from hengwen.score_id import LEVEL, ScoreId
from hengwen.stats.mean_interval import level_index
from hengwen.stats.paired import sign_flip_test

AnchorId = tuple[str | None, int | None, str]
"""(sample id, repeat, hash of prompt and answer). An edited anchor has a new hash, so it is a new anchor."""
MAX_UNCOVERED = 0.05
"""Largest share of answers with a level that no anchor has; above it, the verdict is ``cannot tell``."""


class _Judged(NamedTuple):
    cluster: str
    value: float


class JudgedAnchor(NamedTuple):
    """One anchor (fixed answer) with the judge's values in two runs (``then``, ``now``) and human values."""

    cluster: str
    then: float
    now: float
    level: float
    """Human value that decides the weight: of this score or, if there is none, of ``JUDGE.level``."""
    human: float | None
    """Human value of this score; None if people rated the anchors only overall (``JUDGE.level``)."""


class RunAnchors:
    """The anchors (fixed answers) of one run, with the values that judges and people gave them."""

    def __init__(self) -> None:
        self._judged: dict[tuple[ScoreId, str], dict[AnchorId, _Judged]] = defaultdict(dict)
        """Judged values of anchors by score and panel member; the member "" is the judge as a whole."""
        self._human: dict[ScoreId, dict[AnswerId, float]] = defaultdict(dict)

    def add(self, row: Row) -> None:
        """Add a row that holds the value of an anchor by a judge or by a person."""
        outcome = row.outcome
        score = row.score.about("answer")
        if row.score.is_human:
            if isinstance(outcome, Score):
                self._human[score][row.sample_id, row.repeat] = outcome.value
            return
        anchor = (row.sample_id, row.repeat, row.item_hash)
        if isinstance(outcome, Score):
            self._judged[score, ""][anchor] = _Judged(row.cluster, outcome.value)
        for member, value in member_verdicts(outcome).items():
            if value is not None:
                self._judged[score, member][anchor] = _Judged(row.cluster, value)

    def pairs(
        self, later: RunAnchors, score: ScoreId, members: tuple[str, str] = ("", "")
    ) -> list[JudgedAnchor]:
        """Return the anchors that this run and a later run judged, and that have a human value."""
        human = later._human.get(score) or self._human.get(score)
        levels = human or later._human_levels(score) or self._human_levels(score)
        then, now = self._judged[score, members[0]], later._judged[score, members[1]]
        return [
            JudgedAnchor(
                judged.cluster,
                judged.value,
                now[anchor].value,
                levels[anchor[:2]],
                human[anchor[:2]] if human else None,
            )
            for anchor, judged in then.items()
            if anchor in now and anchor[:2] in levels
        ]

    def _human_levels(self, score: ScoreId) -> Mapping[AnswerId, float]:
        """Return the anchors' human values of the overall level by the judge of a score."""
        return self._human.get(score.with_part(LEVEL), {})


def anchor_changes(anchors: Sequence[JudgedAnchor], answers: Iterable[float], scale: Scale) -> AnchorChanges:
    """Return the changes and human levels of anchors, and the levels of the earlier checkpoint's answers."""

    def level(value: float) -> int:
        return level_index(value, scale.low, scale.high, scale.levels)

    return AnchorChanges(
        differences=[anchor.now - anchor.then for anchor in anchors],
        clusters=[anchor.cluster for anchor in anchors],
        levels=[level(anchor.level) for anchor in anchors],
        answer_levels=[level(value) for value in answers],
    )


def anchor_agreement(anchors: Sequence[JudgedAnchor]) -> AnchorAgreement | None:
    """Return the judge's mean distance from human values in both runs; None if no anchor has such a value."""
    rated = [
        (anchor.cluster, anchor.then - anchor.human, anchor.now - anchor.human)
        for anchor in anchors
        if anchor.human is not None
    ]
    if not rated:
        return None
    errors = np.abs([distances for _, *distances in rated])
    test = sign_flip_test(errors[:, 0], errors[:, 1], [cluster for cluster, *_ in rated])
    return AnchorAgreement(
        anchors=len(rated),
        error_then=float(errors[:, 0].mean()),
        error_now=float(errors[:, 1].mean()),
        p=test.p,
    )


class Verdicts(NamedTuple):
    """The verdicts of one judge, or of one member of a panel, in the runs that are compared."""

    then: JudgedSeries
    """Verdicts that the earlier run gave to its own answers."""
    again: JudgedSeries | None
    """Verdicts of a later rejudging of the earlier answers; None if there was none."""
    now: JudgedSeries
    """Verdicts that the later run gave to its own answers."""
    repeat: JudgedSeries | None = None
    """Verdicts of a second rejudging of the earlier answers; None if there was none."""
    crossed: JudgedSeries | None = None
    """Verdicts of the old judge on the later answers; None if it gave none."""


def with_changes(
    drift: JudgedScoreDrift,
    verdicts: Verdicts,
    *,
    anchors: Sequence[JudgedAnchor] = (),
    differing: Collection[str] = (),
    incomplete: Sequence[Collection[AnswerId]] = ((), (), (), (), ()),
    equal: Mapping[AnswerId, AnswerId] | None = None,
    lengths: tuple[Mapping[AnswerId, int], Mapping[AnswerId, int]] = ({}, {}),
) -> JudgedScoreDrift:
    """A score with the changes by its model and by its judge, or with the reason why there are none."""
    if verdicts.then.column.is_group_score or verdicts.now.column.is_group_score:
        return replace(drift, reason="group score")
    scale = verdicts.then.column.scale or verdicts.now.column.scale
    bounds = None if scale is None else (scale.low, scale.high)
    margin = None if scale is None else MARGIN_SHARE * (scale.high - scale.low)
    drift = replace(drift, scale=scale, margin=margin, agreement=anchor_agreement(anchors))
    prompts = applicable_prompts(verdicts.then.column) & applicable_prompts(verdicts.now.column)
    prompts -= set(differing)
    if not prompts:
        return replace(drift, reason="no common prompts")
    then, again, now, repeat, crossed = (
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
    now = with_values_of(now, again, equal or {})
    drift = replace(
        drift,
        consistency=_consistency(then, again, repeat),
        length=length_adjustment(
            _judged_answers(again, lengths[0], then.by_answer()), _judged_answers(now, lengths[1])
        ),
    )
    drift = _rejudged(drift, then, again, now, bounds)
    if crossed is None or verdicts.crossed is None:
        return drift
    drift = replace(drift, old_conflicts=judge_changes(verdicts.then.judge, verdicts.crossed.judge))
    if drift.model is None or drift.conflicts or drift.old_conflicts:
        return drift
    crossed = with_values_of(crossed, then, equal or {})
    return with_old_judge(drift, (then, again), (crossed, now), applicable_prompts(then), bounds)


def _judged_answers(
    column: Column, lengths: Mapping[AnswerId, int], old: Mapping[AnswerId, float] | None = None
) -> list[RejudgedAnswer]:
    """Return the answers of known length that have a value and, with ``old``, an old value too."""
    return [
        RejudgedAnswer(
            prompt=str(sample),
            cluster=cluster or str(sample),
            length=lengths[sample, repeat],
            new=value,
            old=None if old is None else old[sample, repeat],
        )
        for sample, repeat, cluster, _, value in column.rows()
        if value is not None and (sample, repeat) in lengths and (old is None or (sample, repeat) in old)
    ]


def _consistency(then: Column, again: Column, repeat: Column | None) -> JudgeConsistency | None:
    """Return the agreement of old and new verdicts on the answers that have all of them."""
    columns = (then, again) if repeat is None else (then, again, repeat)
    old, *fresh = (column.by_answer() for column in columns)
    common = sorted(old.keys() & set.intersection(*map(set, fresh)), key=str)
    if not common:
        return None
    clusters = dict(zip(zip(then.sample_ids, then.repeats, strict=True), then.clusters, strict=True))
    return judge_consistency(
        [old[answer] for answer in common],
        [[values[answer] for answer in common] for values in fresh],
        [clusters[answer] or str(answer[0]) for answer in common],
    )


def _changed_share(now: Column, equal: Mapping[AnswerId, AnswerId]) -> float:
    """Return the share of judged later answers that equal no earlier answer to the same prompt."""
    scored = now.by_answer()
    return sum(answer not in equal for answer in scored) / max(1, len(scored))


def _rejudged(
    drift: JudgedScoreDrift, then: Column, again: Column, now: Column, bounds: Bounds | None
) -> JudgedScoreDrift:
    """Return a score with its changes, computed from the earlier answers that were judged again."""
    prompts = applicable_prompts(then)
    judged = pair_values(*on_common_answers(then, again, prompts))
    if not judged.prompts:
        return replace(drift, reason="not scored")
    drift = replace(
        drift,
        judge=_paired(judged, bounds),
        then=_mean(judged.before),
        again=_mean(judged.after),
    ).with_coverage(judged, len(prompts))
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
    consistency = judge_consistency(
        [anchor.then for anchor in anchors],
        [[anchor.now for anchor in anchors]],
        [anchor.cluster for anchor in anchors],
    )
    drift = replace(drift, judge=anchor_effect(changes, scale=bounds), consistency=consistency)
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
    return replace(drift, model=model, now=_mean(paired.after)).with_coverage(paired, len(prompts))


def _paired(values: PairedValues, bounds: Bounds | None) -> Effect:
    return paired_effect(values.before, values.after, values.clusters, scale=bounds)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def with_old_judge(
    drift: JudgedScoreDrift,
    earlier: tuple[Column, Column],
    later: tuple[Column, Column],
    prompts: set[str | None],
    bounds: Bounds | None,
) -> JudgedScoreDrift:
    """Measure the model by the old judge, and the judge on later answers too; pairs are (old, new) judge."""
    # A new judge that favours length changes more where answers got longer. The judges are never averaged.
    (old, old_later), (new, new_later) = zip(
        on_common_answers(*earlier, prompts), on_common_answers(*later, prompts), strict=True
    )
    by_old, by_new = pair_values(old, old_later), pair_values(new, new_later)  # the same answers
    if not by_old.prompts:
        return drift
    width = None if bounds is None else bounds[1] - bounds[0]
    return replace(
        drift,
        model=_paired(by_old, bounds),
        interaction=paired_effect(
            by_old.differences,
            by_new.differences,
            by_old.clusters,
            scale=None if width is None else (-width, width),
        ),
        crossed=_mean(by_old.after),
        length=None,
    ).with_coverage(by_old, len(prompts))
