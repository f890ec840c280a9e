"""Decide for each judged score what changed (drifted): the model, its judge, both or neither.

The change of the model and the change of the judge each have a p-value. The verdict names the change with the
smaller p-value if this p-value is at most ``ALPHA``. It also names the change with the larger p-value if that
p-value is at most ``SECOND_ALPHA``. If both p-values are equal and above ``SECOND_ALPHA``, neither change is
named. If ``ALPHA`` were the limit for both changes, one report in twenty would name both although only one
has drifted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hengwen.monitoring.judge_drift.consistency import MIN_KAPPA
from hengwen.monitoring.judge_drift.effects import MARGIN_SHARE
from hengwen.results.comparisons import ALPHA
from hengwen.stats.equivalence import is_within
from hengwen.stats.paired import benjamini_hochberg, enough_clusters, holm, too_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hengwen.monitoring.judge_drift.consistency import JudgeConsistency
    from hengwen.monitoring.judge_drift.effects import Effect
    from hengwen.monitoring.judge_drift.length import LengthAdjustment
    from hengwen.records import Scale
    from hengwen.results.comparability import Difference

DriftVerdict = Literal["stable", "model drifted", "judge drifted", "both", "cannot tell"]
Arm = Literal["re-judged", "anchors"]
"""Where the judge's change is measured: on stored answers that were judged again, or on anchors (fixed
answers that every run judges)."""
DriftFamily = Literal["headline", "member"]
Reason = Literal[
    "",
    "not enough evidence",
    "equal evidence",
    "too few",
    "missing scores",
    "not judged again",
    "judged again once",
    "judge agreement",
    "length",
    "few anchors",
    "anchor levels",
    "judge changed",
    "judges differ",
    "group score",
    "not scored",
    "no common prompts",
]
"""Why the verdict is ``cannot tell``. ``equal evidence``: the model or the judge changed, but the p-values of
both changes are equal. ``not judged again``: there are neither anchors nor new verdicts on the earlier
answers. ``judged again once``: how far the judge repeats itself is not known. ``judge agreement``: the means
hardly changed, but old and new verdicts on the same answers agree too little. ``length``: the model changed,
or the judge on longer answers. ``judge changed``: there are no new verdicts on the earlier answers, and the
two runs have different judges. ``judges differ``: the new verdicts on the earlier answers are not by the
judge of the later answers."""

SECOND_ALPHA = 0.005
"""The verdict is ``both`` (model and judge drifted) only if both p-values are at most this value."""
MIN_ANCHORS = 100
"""Minimum number of anchors (fixed answers that every run judges); if the judge's change is measured on fewer
anchors, the verdict is ``cannot tell``."""
ANCHORS_FOR_VERDICT = 250
"""Number of anchors (fixed answers that every run judges) with which a change of the judge by one level on a
fifth of the answers is usually detected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorAgreement:
    """How far a judge's values are from human values, on anchors (fixed answers) that two runs judged."""

    anchors: int
    error_then: float
    """Mean distance of the judge's value from the human value in the earlier run."""
    error_now: float
    """Mean distance of the judge's value from the human value in the later run."""
    p: float
    """p-value of the sign-flip test whether the mean distance between the judge's and the human values
    changed; not corrected for the number of scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedScoreDrift:
    """What changed one judged score (or the score by one member of a panel): the model, its judge or both."""

    address: str
    """``TASK/SCORE``."""
    family: DriftFamily = "headline"
    member: str = ""
    """Signature (text of a judge's settings) of the panel member that gave the score; empty if the whole
    judge or panel gave it."""
    label: str = ""
    """Parts of the signature (text of a judge's settings) that distinguish a panel member from the other
    members; empty if the whole judge or panel gave the score."""
    verdict: DriftVerdict = "cannot tell"
    reason: Reason = ""
    arm: Arm | None = None
    scale: Scale | None = None
    margin: float | None = None
    """Largest change that does not matter: 0.04 of the scale; None on an unbounded scale."""
    model: Effect | None = None
    """Mean change of the scores that is due to the model, without the change that is due to the judge."""
    judge: Effect | None = None
    """Mean change that is due to the judge: how its values for the same answers changed."""
    then: float | None = None
    """Mean value of the earlier answers, as the earlier run judged them."""
    again: float | None = None
    """Mean value of the earlier answers when judged again; None if they were not judged again."""
    now: float | None = None
    """Mean value of the later answers."""
    coverage: float = 1.0
    """Share of prompts with values for both the earlier and the later answers. If the earlier answers were
    judged again, the share of prompts with old and new values for these answers is given if it is lower."""
    changes: tuple[Difference, ...] = ()
    """Settings in which the judge of the earlier run and the present judge differ: signature, endpoint, model
    name that the server returned, reply format or method."""
    conflicts: tuple[Difference, ...] = ()
    """Settings that differ between the judge of the later run and the judge that gave the earlier answers new
    verdicts."""
    consistency: JudgeConsistency | None = None
    """Agreement of the old verdicts with the new ones on the same answers; None if none has both."""
    length: LengthAdjustment | None = None
    """The model's change without that which a judge's change by length would explain; None if the earlier
    answers were not judged again, or all have the same length."""
    agreement: AnchorAgreement | None = None
    """Distance of the judge's values from human values; None if no anchor (fixed answer) that both runs
    judged has a human value of this score."""

    @property
    def prompts_needed(self) -> int | None:
        """Number of prompts that the verdict ``stable`` usually needs if nothing changed; None if unknown."""
        return _largest(effect.prompts_needed for effect in (self.model, self.judge) if effect)

    @property
    def anchors_needed(self) -> int | None:
        """Number of anchors that the verdict ``stable`` usually needs; None if it is unknown."""
        return _largest(effect.anchors_needed for effect in (self.model, self.judge) if effect)


def _largest(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def decide(scores: Sequence[JudgedScoreDrift], *, alpha: float = ALPHA) -> tuple[JudgedScoreDrift, ...]:
    """Return the scores with verdicts, and with p-values corrected for the number of scores."""
    decided = list(scores)
    for family in ("headline", "member"):
        effects = {
            str(index): (score.model, score.judge)
            for index, score in enumerate(scores)
            if score.family == family and not score.reason and score.model and score.judge
        }
        counts = [min(model.clusters, judge.clusters) for model, judge in effects.values()]
        enough = (
            enough_clusters(counts, alpha)
            if family == "headline"
            else [not too_few(count, 1, alpha) for count in counts]
        )
        tested = [name for name, is_enough in zip(effects, enough, strict=True) if is_enough]
        correct = holm if family == "headline" else benjamini_hochberg
        model_p = correct({name: effects[name][0].p for name in tested})
        judge_p = correct({name: effects[name][1].p for name in tested})
        seen = {name: scores[int(name)].consistency for name in tested}
        consistency_p = correct(
            {name: item.p for name, item in seen.items() if item is not None and item.p is not None}
        )
        for name, (model, judge) in effects.items():
            score = scores[int(name)]
            if score.consistency is not None:
                consistency = replace(score.consistency, p_adjusted=consistency_p.get(name))
                score = replace(score, consistency=consistency)
            if name in model_p:
                corrected = replace(
                    score,
                    model=replace(model, p_adjusted=model_p[name]),
                    judge=replace(judge, p_adjusted=judge_p[name]),
                )
                decided[int(name)] = _decided(corrected, model_p[name], judge_p[name], alpha)
            else:
                decided[int(name)] = replace(score, reason="too few")
    return tuple(decided)


def _decided(score: JudgedScoreDrift, model_p: float, judge_p: float, alpha: float) -> JudgedScoreDrift:
    intervals = [effect.interval_90 for effect in (score.model, score.judge) if effect]
    has_changed = score.consistency is not None and score.consistency.has_changed(alpha)
    if score.margin and all(is_within(interval, score.margin) for interval in intervals):
        if has_changed:
            return replace(score, verdict="judge drifted")
        reason = _unstable(score, score.margin / MARGIN_SHARE)
        return replace(score, reason=reason) if reason else replace(score, verdict="stable")
    verdict = name_drift(model_p, judge_p, alpha)
    if has_changed and verdict == "cannot tell":
        verdict = "judge drifted"
    elif verdict == "model drifted" and score.consistency and score.consistency.has_changed(SECOND_ALPHA):
        verdict = "both"
    if score.length is not None and score.length.p > alpha:  # the judge on longer answers explains the model
        if verdict == "model drifted":
            return replace(score, reason="length")
        verdict = "judge drifted" if verdict == "both" else verdict
    if verdict != "cannot tell":
        return replace(score, verdict=verdict, reason="")
    is_tied = min(model_p, judge_p) <= alpha
    return replace(score, verdict=verdict, reason="equal evidence" if is_tied else "not enough evidence")


def _unstable(score: JudgedScoreDrift, width: float) -> Reason:
    """Return why a score with hardly changed means is not stable; empty if it is."""
    consistency = score.consistency
    if score.arm == "anchors":  # the anchors are judged once a run
        interval = None if consistency is None else consistency.kappa_interval
        return "" if interval is not None and interval[0] >= MIN_KAPPA else "judge agreement"
    if consistency is None or consistency.excess is None:
        return "judged again once"
    return "" if consistency.is_stable(width) else "judge agreement"


def name_drift(model_p: float, judge_p: float, alpha: float = ALPHA) -> DriftVerdict:
    """Return what drifted (the model, its judge or both), according to the p-values of the two changes."""
    first, second = min(model_p, judge_p), max(model_p, judge_p)
    if first > alpha:
        return "cannot tell"
    if second <= SECOND_ALPHA:
        return "both"
    if model_p == judge_p:  # the evidence for both changes is equal
        return "cannot tell"
    return "model drifted" if model_p < judge_p else "judge drifted"
