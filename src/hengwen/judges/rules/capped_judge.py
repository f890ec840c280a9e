"""A judge with rules: the judge's scores are kept, and a final score that rules may lower is added.

The final score is the judge's level or the strictest cap (best value that a rule allows), whichever is lower.
If the judge gave no level, there is no final score, because a failure never becomes a low value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from hengwen.judges.rules.rule import RuleResult, RuleSet, evidence_sentences
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext, Judge, is_local
from hengwen.records import Failure, Outcome, Response, Sample, Scale, Score, Verdict
from hengwen.score_id import final_part, judge_name, score_name
from hengwen.text.language import Language

VERSION = 1
"""Version of the computation from a level and its caps to a final score; it is a part of the signature."""


@dataclass(frozen=True, eq=False, repr=False)
class CappedJudge:
    """Ask a judge, and compute the score ``NAME.final`` from its level and the rules of the task.

    The prompt of a judge that accepts evidence includes what the rules detected. If a rule has extra
    thresholds, a final score at each of these thresholds is added, such as ``NAME.final_at_0.8``. Details of
    a final score are ``raw`` (the judge's level), ``cap`` (on the judge's scale; None for no cap) and ``by``
    (the rules that set the cap). Further details of ``NAME.final`` are ``flags`` (marks for the reader of a
    report) and measurements of rules, such as ``dup_of`` and ``similarity``.

    Args:
        inner: The judge to ask; the first of its scores is the level.
        rules: Rules of the task.
        scale: Scale of the level, used if the judge's scores do not state a scale.
        language: Language of the evidence shown to the judge.
        name: First part of the names of the final scores; default: the first part of the level's name.

    Examples:
        >>> import asyncio
        >>> from hengwen.judges.rules.text_rules import NearDuplicate
        >>> from hengwen.judges.rules.judge import RulesJudge
        >>> from hengwen.judges.rules.rule import RuleSet
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.protocols import EvaluationContext
        >>> from hengwen.records import Response, Sample
        >>> inner = RulesJudge(rubric=load_rubric("persona_generic"))
        >>> judge = CappedJudge(inner, RuleSet((NearDuplicate(extra_thresholds=[]),)), language="en")
        >>> first = Response(sample_id="1", text="I went down to the sea today")
        >>> again = Response(sample_id="1", text="I went down to the sea today!", repeat=2)
        >>> asyncio.run(judge.judge(Sample(id="1"), first)).outcomes[-1].value
        0.75
        >>> context = EvaluationContext(earlier=[first])
        >>> score = asyncio.run(judge.judge(Sample(id="1"), again, context)).outcomes[-1]
        >>> score.value, score.details["dup_of"]
        (0.0, 1)
    """

    inner: Judge
    rules: RuleSet
    _: KW_ONLY
    scale: Scale | None = None
    language: Language = "zh"
    name: str = ""

    reads: ClassVar[tuple[ContextPart, ...]] = ("earlier",)

    @property
    def is_local(self) -> bool:
        """Whether the wrapped judge needs no network."""
        return is_local(self.inner)

    @cached_property
    def _finals(self) -> Mapping[str, float | None]:
        """For each final score, the extra threshold at which it is computed."""
        name, thresholds = self.name or judge_name(self.inner.names), (None, *self.rules.extra_thresholds)
        return {score_name(name, final_part(threshold)): threshold for threshold in thresholds}

    def __repr__(self) -> str:
        return f"CappedJudge({self.signature!r})"

    @cached_property
    def signature(self) -> str:
        """Text of all settings that can change a final score: signatures of the judge and of the rules."""
        final = next(iter(self._finals))
        return f"{final}|caps:[{self.rules.signature}]|[{self.inner.signature}]|v:{VERSION}"

    @property
    def names(self) -> Sequence[str]:
        """Names of the judge's scores, the final score, and one final score per extra threshold of a rule."""
        return (*self.inner.names, *self._finals)

    @property
    def signatures(self) -> Mapping[str, str]:
        """Signature of each score, by name; scores of the judge itself have the judge's signature."""
        inner = dict.fromkeys(self.inner.names, self.inner.signature)
        return {**inner, **dict.fromkeys(self._finals, self.signature)}

    async def judge(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> Verdict:
        """Judge an answer; ``metadata.exempt`` of the sample lists rules that do not apply to it.

        Raises:
            JudgeError: The wrapped judge gave no usable verdict.
        """
        results = self.rules.evaluate(sample, response, context.earlier)
        told = replace(context, evidence=evidence_sentences(results, self.language))
        verdict = await self.inner.judge(sample, response, *told.arguments_for(self.inner))
        return self._with_final_scores(verdict, results)

    def _with_final_scores(self, verdict: Verdict, results: Mapping[str, RuleResult]) -> Verdict:
        return replace(verdict, outcomes=(*verdict.outcomes, *self._final_scores(verdict.outcomes, results)))

    def derive(
        self,
        outcomes: Sequence[Outcome],
        sample: Sample,
        response: Response,
        context: EvaluationContext = NO_CONTEXT,
    ) -> Sequence[Outcome]:
        """Compute final scores from stored scores, for example after a threshold or a cap was changed."""
        return self._final_scores(outcomes, self.rules.evaluate(sample, response, context.earlier))

    def _final_scores(
        self, outcomes: Sequence[Outcome], results: Mapping[str, RuleResult]
    ) -> tuple[Outcome, ...]:
        """Return the final scores; none if the judge gave no level (the engine then adds Failures)."""
        level = next((outcome for outcome in outcomes if outcome.name == self.inner.names[0]), None)
        if level is None:
            return ()
        return tuple(
            self._final_score(name, threshold, level, results) for name, threshold in self._finals.items()
        )

    def _final_score(
        self, name: str, threshold: float | None, level: Outcome, results: Mapping[str, RuleResult]
    ) -> Outcome:
        if isinstance(level, Failure):
            return replace(level, name=name, message=f"no level: {level.message}", signature=self.signature)
        scale = level.scale or self.scale
        if scale is None:
            raise ValueError(f"{level.name} has no scale: caps are shares of one")
        caps = {
            rule: cap_on_scale(share, scale)
            for rule, result in results.items()
            if (share := _share_at(result, threshold)) is not None
        }
        cap = min(caps.values(), default=None)
        deciding = [rule for rule, value in caps.items() if value == cap]
        details: dict[str, Any] = {"raw": level.value, "cap": cap, "by": deciding}
        if threshold is None:
            flags = [flag for result in results.values() for flag in result.flags]
            details |= _copy_details(results) | ({"flags": flags} if flags else {})
        return Score(
            name=name,
            value=level.value if cap is None else min(cap, level.value),
            signature=self.signature,
            scale=scale,
            kind="judge",
            reason=self._reason(level.value, cap, {rule: results[rule] for rule in deciding}),
            details=details,
        )

    @staticmethod
    def _reason(raw: float, cap: float | None, deciding: Mapping[str, RuleResult]) -> str:
        if cap is None:
            return ""
        causes = "; ".join(f"{rule} ({result.en})" for rule, result in deciding.items())
        effect = f"{raw:g} becomes {cap:g}" if cap < raw else f"at most {cap:g}, which {raw:g} is not above"
        return f"{effect}: {causes}"


def cap_on_scale(share: float, scale: Scale) -> float:
    """Return the best value that a cap allows on a scale; if the scale has levels, the value is a level."""
    if not scale.higher_is_better:
        raise ValueError("caps are for scales on which more is better")
    value = scale.low + share * (scale.high - scale.low)
    if scale.levels is None:
        return value
    tolerance = 1e-9 * (scale.high - scale.low)
    return max(level for level in scale.levels if level <= value + tolerance)


def _share_at(result: RuleResult, threshold: float | None) -> float | None:
    """The cap (share of the scale) that a rule sets at one of its extra thresholds; None for no cap."""
    return result.cap if threshold is None else result.extra_caps.get(threshold, result.cap)


def _copy_details(results: Mapping[str, RuleResult]) -> dict[str, Any]:
    """Return details about copies."""
    details: dict[str, Any] = {}
    duplicate = results.get("near_duplicate")
    if duplicate is not None and duplicate.value is not None:
        keys = ("dup_of", "similarity")
        details |= {key: duplicate.details[key] for key in keys if key in duplicate.details}
    kinds = {
        rule: results[rule].details["kind"]
        for rule in ("target_copy", "leakage")
        if rule in results and results[rule].cap is not None
    }
    return details | ({"copies": kinds} if kinds else {})
