"""A judge with rules: the judge's scores are kept, and a final score that rules may lower is added.

A cap is the best value that a rule allows. The final score is the judge's level or the strictest cap,
whichever is lower. If the judge gave no level, there is no final score, because a failure never becomes a low
value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hengwen.judges.rules.rule_set import evidence_sentences
from hengwen.protocols import evidence_judge, local_judge
from hengwen.records import Failure, Outcome, Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.rules.rule import RuleResult
    from hengwen.judges.rules.rule_set import RuleSet
    from hengwen.protocols import Judge
    from hengwen.records import Response, Sample, Scale, Verdict
    from hengwen.text.language import Language

VERSION = 1
"""Version of the computation from a level and its caps to a final score; it is a part of the signature."""


class CappedJudge:
    """Ask a judge, and compute the score ``NAME.final`` from its level and the rules of the task.

    The prompt of a judge that accepts evidence includes what the rules detected. If a rule has extra
    thresholds, a final score at each of these thresholds is added, such as ``NAME.final_at_0.8``. Details of
    a final score are ``raw`` (the judge's level), ``cap`` (on the judge's scale; None for no cap) and ``by``
    (the rules that set the cap). Further details of ``NAME.final`` are ``flags`` (marks for the reader of a
    report) and measurements of rules, such as ``dup_of`` and ``similarity``.

    Args:
        judge: The judge to ask; the first of its scores is the level.
        rules: Rules of the task.
        scale: Scale of the level, used if the judge's scores do not state a scale.
        language: Language of the evidence shown to the judge, and of the reasons.
        name: First part of the names of the final scores; default: the first part of the level's name.

    Examples:
        >>> import asyncio
        >>> from hengwen.judges.rules.copy_rules import NearDuplicate
        >>> from hengwen.judges.rules.judge import RulesJudge
        >>> from hengwen.judges.rules.rule_set import RuleSet
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.records import Response, Sample
        >>> inner = RulesJudge(rubric=load_rubric("persona_generic"), language="en")
        >>> judge = CappedJudge(inner, RuleSet((NearDuplicate(extra_thresholds=[]),)), language="en")
        >>> first = Response(sample_id="1", text="I went down to the sea today")
        >>> again = Response(sample_id="1", text="I went down to the sea today!", repeat=2)
        >>> asyncio.run(judge.judge(Sample(id="1"), first)).outcomes[-1].value
        0.75
        >>> score = asyncio.run(judge.judge(Sample(id="1"), again, earlier=[first])).outcomes[-1]
        >>> score.value, score.details["dup_of"]
        (0.0, 1)
    """

    def __init__(
        self,
        judge: Judge,
        rules: RuleSet,
        *,
        scale: Scale | None = None,
        language: Language = "zh",
        name: str | None = None,
    ) -> None:
        self.inner = judge
        self._evidence_judge = evidence_judge(judge)
        self._local_judge = local_judge(judge)
        self.is_local = self._local_judge is not None and self._evidence_judge is None
        self.rules = rules
        self.language: Language = language
        self._scale = scale
        self._level = judge.names[0]
        stem = name or self._level.removesuffix(".level")
        self._finals: dict[str, float | None] = {f"{stem}.final": None}
        self._finals |= {f"{stem}.final_at_{threshold:g}": threshold for threshold in rules.extra_thresholds}
        self._names = (*judge.names, *self._finals)
        self._signature = f"{stem}.final|caps:[{rules.signature}]|[{judge.signature}]|v:{VERSION}"
        self._signatures = {
            **dict.fromkeys(judge.names, judge.signature),
            **dict.fromkeys(self._finals, self._signature),
        }

    def __repr__(self) -> str:
        return f"CappedJudge({self.signature!r})"

    @property
    def signature(self) -> str:
        """Text of all settings that can change a final score: signatures of the judge and of the rules."""
        return self._signature

    @property
    def names(self) -> Sequence[str]:
        """Names of the judge's scores, the final score, and one final score per extra threshold of a rule."""
        return self._names

    @property
    def signatures(self) -> Mapping[str, str]:
        """Signature (text of all settings) of each score, by name.

        Scores that the judge itself gave have the judge's signature.
        """
        return self._signatures

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        """Judge an answer.

        Args:
            sample: Task input; ``metadata.exempt`` lists rules that do not apply to it.
            response: The answer.
            earlier: Earlier answers to the same sample (smaller ``repeat`` number).

        Raises:
            JudgeError: The wrapped judge gave no usable verdict.
        """
        results = self.rules.evaluate(sample, response, earlier)
        if self._evidence_judge is not None:
            evidence = evidence_sentences(results, self.language)
            verdict = await self._evidence_judge.judge(sample, response, earlier=earlier, evidence=evidence)
        else:
            verdict = await self.inner.judge(sample, response, earlier=earlier)
        return self._with_final_scores(verdict, results)

    def judge_locally(
        self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()
    ) -> Verdict:
        """Judge an answer as ``judge`` does, by a judge that needs no network.

        Args:
            sample: Task input and metadata.
            response: The answer.
            earlier: Earlier answers to the same sample (smaller ``repeat`` number).

        Raises:
            TypeError: The wrapped judge needs a network (``is_local`` is False).
        """
        if self._local_judge is None:
            raise TypeError(f"{self.inner!r} cannot judge without a network")
        verdict = self._local_judge.judge_locally(sample, response, earlier=earlier)
        return self._with_final_scores(verdict, self.rules.evaluate(sample, response, earlier))

    def _with_final_scores(self, verdict: Verdict, results: Mapping[str, RuleResult]) -> Verdict:
        return replace(verdict, outcomes=(*verdict.outcomes, *self._final_scores(verdict.outcomes, results)))

    def derive(
        self,
        outcomes: Sequence[Outcome],
        sample: Sample,
        response: Response,
        earlier: Sequence[Response] = (),
    ) -> Sequence[Outcome]:
        """Compute final scores from stored scores, for example after a threshold or a cap was changed.

        Args:
            outcomes: Stored scores and failures of the wrapped judge.
            sample: Task input and metadata.
            response: The answer.
            earlier: Earlier answers to the same sample (smaller ``repeat`` number).
        """
        return self._final_scores(outcomes, self.rules.evaluate(sample, response, earlier))

    def _final_scores(
        self, outcomes: Sequence[Outcome], results: Mapping[str, RuleResult]
    ) -> tuple[Outcome, ...]:
        """Return the final scores; none if the judge gave no level (the engine then adds Failures)."""
        level = next((outcome for outcome in outcomes if outcome.name == self._level), None)
        if level is None:
            return ()
        return tuple(
            self._final_score(name, threshold, level, results) for name, threshold in self._finals.items()
        )

    def _final_score(
        self, name: str, threshold: float | None, level: Outcome, results: Mapping[str, RuleResult]
    ) -> Outcome:
        if isinstance(level, Failure):
            return replace(level, name=name, message=f"no level: {level.message}", signature=self._signature)
        scale = level.scale or self._scale
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
            signature=self._signature,
            scale=scale,
            kind="judge",
            reason=self._reason(level.value, cap, {rule: results[rule] for rule in deciding}),
            details=details,
        )

    def _reason(self, raw: float, cap: float | None, deciding: Mapping[str, RuleResult]) -> str:
        if cap is None:
            return ""
        if self.language == "zh":
            causes = "；".join(f"{rule}（{result.zh}）" for rule, result in deciding.items())
            effect = f"由 {raw:g} 降为 {cap:g}" if cap < raw else f"至多 {cap:g}，原分 {raw:g} 未超出"
            return f"{effect}：{causes}"
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
