"""Decide for each judged score what changed (drifted): the model, its judge, both or neither.

The change of the model has a p-value. The judge has up to three: of its mean change, of its verdicts on the
same answers, and of its change on later answers. They are corrected as one family, and the least counts. The
verdict names the change with the smaller p-value if this p-value is at most ``ALPHA``. It also names the
change with the larger p-value if that p-value is at most ``SECOND_ALPHA``. If both p-values are equal and
above ``SECOND_ALPHA``, neither change is named. If ``ALPHA`` were the limit for both changes, one report in
twenty would name both although only one has drifted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hengwen.monitoring.judge_drift.effects import (
    MARGIN_SHARE,
    MIN_KAPPA,
    Effect,
    JudgeConsistency,
    LengthAdjustment,
)
from hengwen.records import Scale
from hengwen.results.comparability import Difference
from hengwen.results.comparisons import ALPHA
from hengwen.results.coverage import MIN_COVERAGE
from hengwen.results.paired_values import PairedValues
from hengwen.stats.paired import benjamini_hochberg, enough_clusters, holm, too_few
from hengwen.stats.power import is_within

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
    "judged once each",
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
answers. ``judged again once``: how far the judge repeats itself is not known. ``judged once each``:
the same of two judges whose scores are compared. ``judge agreement``: the means
hardly changed, but old and new verdicts on the same answers agree too little. ``length``: the model changed,
or the judge on longer answers. ``judge changed``: there are no new verdicts on the earlier answers, and the
two runs have different judges. ``judges differ``: the new verdicts on the earlier answers are not by the
judge of the later answers."""

SECOND_ALPHA = 0.005
"""The verdict is ``both`` (model and judge drifted) only if both p-values are at most this value."""
MIN_ANCHORS = 100
"""Minimum number of anchors; with fewer, the verdict is ``cannot tell``."""
ANCHORS_FOR_VERDICT = 250
"""Number of anchors with which a change by one level on a fifth of the answers is usually detected."""


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
    """Signature of the panel member that gave the score; empty if the whole judge or panel gave it."""
    label: str = ""
    """Parts of the signature that distinguish the panel member from the others."""
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
    answer_coverage: float = 1.0
    """The same share of answers, of the run with the lower one."""
    changes: tuple[Difference, ...] = ()
    """Settings in which the judge of the earlier run and the present judge differ: signature, endpoint, model
    name that the server returned, reply format or method."""
    conflicts: tuple[Difference, ...] = ()
    """Settings that differ between the judge of the later run and the judge that gave the earlier answers new
    verdicts."""
    consistency: JudgeConsistency | None = None
    """Agreement of the old verdicts with the new ones on the same answers; None if none has both."""
    crossed: float | None = None
    """Mean value of the later answers by the old judge; None if it did not judge them."""
    interaction: Effect | None = None
    """Change of the judge on the later answers minus that on the earlier ones; the old judge then measures
    the change of the model. None if the old judge did not judge the later answers."""
    old_conflicts: tuple[Difference, ...] = ()
    """Settings in which the judge of the earlier run differs from that named as the old judge; if there are
    any, its verdicts on the later answers are not used."""
    length: LengthAdjustment | None = None
    """The model's change without that which a judge's change by length would explain; None if the earlier
    answers were not judged again, all have the same length, or the old judge judged the later answers."""
    agreement: AnchorAgreement | None = None
    """Distance of the judge's values from human values; None if no anchor (fixed answer) that both runs
    judged has a human value of this score."""

    @property
    def prompts_needed(self) -> int | None:
        """Number of prompts that the verdict ``stable`` usually needs if nothing changed; None if unknown."""
        return _largest(effect.prompts_needed for effect in self.effects)

    @property
    def effects(self) -> list[Effect]:
        """Changes that are measured: of the judge, of the model, and of the judge on the later answers."""
        return [effect for effect in (self.judge, self.model, self.interaction) if effect is not None]

    @property
    def anchors_needed(self) -> int | None:
        """Number of anchors that the verdict ``stable`` usually needs; None if it is unknown."""
        return _largest(effect.anchors_needed for effect in self.effects)

    def with_coverage(self, values: PairedValues, prompts: int) -> JudgedScoreDrift:
        """Return the score with the lower of its coverage and that of ``values``; if low, with the reason."""
        shares = (
            min(self.coverage, len(values.prompts) / prompts),
            min(self.answer_coverage, *values.answer_coverage),
        )
        reason: Reason = "missing scores" if min(shares) < MIN_COVERAGE else ""
        return replace(self, coverage=shares[0], answer_coverage=shares[1], reason=self.reason or reason)

    @property
    def judge_p(self) -> float | None:
        """Smallest corrected p-value of the judge's tests; None if none is corrected."""
        tests = (self.judge, self.consistency, self.interaction)
        p_values = [test.p_adjusted for test in tests if test is not None and test.p_adjusted is not None]
        return min(p_values, default=None)


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
        judge_p = correct(
            {f"{name} {test}": p for name in tested for test, p in _judge_tests(scores[int(name)]).items()}
        )
        for name, (model, _) in effects.items():
            score = scores[int(name)]
            if name in model_p:
                corrected = _with_judge_p(
                    score, {test: judge_p.get(f"{name} {test}") for test in _JUDGE_TESTS}
                )
                corrected = replace(corrected, model=replace(model, p_adjusted=model_p[name]))
                decided[int(name)] = _decided(corrected, model_p[name], alpha)
            else:
                decided[int(name)] = replace(score, reason="too few")
    return tuple(decided)


_JUDGE_TESTS = ("judge", "consistency", "interaction")
"""Fields of a score that have a test of its judge."""


def _judge_tests(score: JudgedScoreDrift) -> dict[str, float]:
    tests = {test: getattr(score, test) for test in _JUDGE_TESTS}
    return {test: item.p for test, item in tests.items() if item is not None and item.p is not None}


def _with_judge_p(score: JudgedScoreDrift, adjusted: Mapping[str, float | None]) -> JudgedScoreDrift:
    judge, consistency, interaction = score.judge, score.consistency, score.interaction
    return replace(
        score,
        judge=judge and replace(judge, p_adjusted=adjusted["judge"]),
        consistency=consistency and replace(consistency, p_adjusted=adjusted["consistency"]),
        interaction=interaction and replace(interaction, p_adjusted=adjusted["interaction"]),
    )


def _decided(score: JudgedScoreDrift, model_p: float, alpha: float) -> JudgedScoreDrift:
    consistency, judge_p = score.consistency, 1.0 if score.judge_p is None else score.judge_p
    if score.margin and all(is_within(effect.interval_90, score.margin) for effect in score.effects):
        if consistency is not None and consistency.has_changed(alpha):
            return replace(score, verdict="judge drifted")
        reason = _unstable(score, score.margin / MARGIN_SHARE)
        return replace(score, reason=reason) if reason else replace(score, verdict="stable")
    if consistency is not None and consistency.is_unlike:
        judge_p = min(judge_p, SECOND_ALPHA)
    verdict = name_drift(model_p, judge_p, alpha)
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
