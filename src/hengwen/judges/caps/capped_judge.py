"""A judge under rules: its own score stays as it is, and a final one stands beside it.

The final score is the judge's level, but no better than the strictest cap of the rules. Where the judge gave
no level there is no final score either: a failure never becomes a low value.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hengwen.judges.caps.rule import told
from hengwen.protocols import AcceptsEvidence
from hengwen.records import Failure, Outcome, Score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.caps.rule import RuleResult, RuleSet
    from hengwen.prompts.rubric import Language
    from hengwen.protocols import Judge
    from hengwen.records import Response, Sample, Scale, Verdict

VERSION = 1
"""Goes up whenever the way from a level and its caps to a final score changes."""


class CappedJudge:
    """Asks a judge, and derives ``NAME.final`` from its level and the rules of the task.

    A judge that reads facts is shown what the rules found. Where a rule has other thresholds (``also``), the
    final score at each of them stands beside: ``NAME.final_at_0.8``. Details of a final score: ``raw`` (the
    judge's level), ``cap`` (on the judge's scale; None: there is none), ``by`` (the rules that set it),
    ``flags``, and what the rules measured, such as ``dup_of`` and ``similarity``.

    Args:
        judge: Whose first name is its level.
        rules: Of the task.
        scale: Of the level, where a score has none of its own.
        language: Of what the judge is shown, and of the reasons.
        name: First part of the names of the final scores; default: that of the level.

    Examples:
        >>> import asyncio
        >>> from hengwen.judges.caps.rule import RuleSet
        >>> from hengwen.judges.caps.copy_rules import NearDuplicate
        >>> from hengwen.judges.rules.judge import RulesJudge
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.records import Response, Sample
        >>> inner = RulesJudge(rubric=load_rubric("persona_generic"), language="en")
        >>> judge = CappedJudge(inner, RuleSet((NearDuplicate(also=[]),)), language="en")
        >>> first = Response(sample_id="1", text="I went down to the sea today")
        >>> again = Response(sample_id="1", text="I went down to the sea today!", repeat=2)
        >>> one = asyncio.run(judge.judge(Sample(id="1"), first)).outcomes[-1]
        >>> two = asyncio.run(judge.judge(Sample(id="1"), again, earlier=[first])).outcomes[-1]
        >>> one.value, two.value, two.details["dup_of"]
        (0.75, 0.0, 1)
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
        self.rules = rules
        self.language: Language = language
        self._scale = scale
        self._level = judge.names[0]
        stem = name or self._level.removesuffix(".level")
        self._finals: dict[str, float | None] = {f"{stem}.final": None}
        self._finals |= {f"{stem}.final_at_{threshold:g}": threshold for threshold in rules.also}
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
        """Of the final scores: that of the judge and those of the rules."""
        return self._signature

    @property
    def names(self) -> Sequence[str]:
        """Those of the judge, then the final score, then that at other thresholds."""
        return self._names

    @property
    def signatures(self) -> Mapping[str, str]:
        """The judge's own scores keep their signature."""
        return self._signatures

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        """Judge an answer.

        Args:
            sample: What was asked; ``metadata.exempt`` lists rules that do not apply to it.
            response: The answer.
            earlier: The answers with a lower ``repeat``.

        Raises:
            JudgeError: As the judge does.
        """
        facts = self.rules.look(sample, response, earlier)
        if isinstance(self.inner, AcceptsEvidence) and self.inner.reads_facts:
            shown = told(facts, self.language)
            verdict = await self.inner.judge(sample, response, earlier=earlier, facts=shown)
        else:
            verdict = await self.inner.judge(sample, response, earlier=earlier)
        return replace(verdict, outcomes=(*verdict.outcomes, *self._all_finals(verdict.outcomes, facts)))

    def derive(
        self,
        outcomes: Sequence[Outcome],
        sample: Sample,
        response: Response,
        earlier: Sequence[Response] = (),
    ) -> Sequence[Outcome]:
        """Return the final scores of a verdict that is there: for other thresholds or caps.

        Args:
            outcomes: Of the judge.
            sample: What was asked.
            response: The answer.
            earlier: The answers with a lower ``repeat``.
        """
        return self._all_finals(outcomes, self.rules.look(sample, response, earlier))

    def _all_finals(
        self, outcomes: Sequence[Outcome], facts: Mapping[str, RuleResult]
    ) -> tuple[Outcome, ...]:
        """None where there is no level: the engine says that outcomes are missing."""
        level = next((one for one in outcomes if one.name == self._level), None)
        if level is None:
            return ()
        return tuple(self._final(name, at, level, facts) for name, at in self._finals.items())

    def _final(self, name: str, at: float | None, level: Outcome, facts: Mapping[str, RuleResult]) -> Outcome:
        if isinstance(level, Failure):
            return replace(level, name=name, message=f"no level: {level.message}", signature=self._signature)
        scale = level.scale or self._scale
        if scale is None:
            raise ValueError(f"{level.name} has no scale: caps are shares of one")
        caps = {
            rule: limit(share, scale)
            for rule, fact in facts.items()
            if (share := fact.also.get(at, fact.cap) if at is not None else fact.cap) is not None
        }
        cap = min(caps.values(), default=None)
        by = [rule for rule, value in caps.items() if value == cap]
        value = level.value if cap is None else min(cap, level.value)
        details: dict[str, Any] = {"raw": level.value, "cap": cap, "by": by}
        if at is None:
            flags = [flag for fact in facts.values() for flag in fact.flags]
            details |= _evidence(facts) | ({"flags": flags} if flags else {})
        return Score(
            name=name,
            value=value,
            signature=self._signature,
            scale=scale,
            kind="judge",
            reason=self._reason(level.value, cap, by, facts),
            details=details,
        )

    def _reason(
        self, raw: float, cap: float | None, by: Sequence[str], facts: Mapping[str, RuleResult]
    ) -> str:
        zh = self.language == "zh"
        if cap is None:
            return ""
        found = [f"{rule}（{facts[rule].zh}）" if zh else f"{rule} ({facts[rule].en})" for rule in by]
        if cap < raw:
            said = f"由 {raw:g} 降为 {cap:g}" if zh else f"{raw:g} becomes {cap:g}"
        else:
            said = (
                f"至多 {cap:g}，原分 {raw:g} 未超出" if zh else f"at most {cap:g}, which {raw:g} is not above"
            )
        return f"{said}：{'；'.join(found)}" if zh else f"{said}: {'; '.join(found)}"


def limit(share: float, scale: Scale) -> float:
    """Return the best value that a cap leaves: a level, where the scale has levels.

    Args:
        share: Of the scale, 0..1.
        scale: On which more is better.

    Raises:
        ValueError: Less is better on this scale.

    Examples:
        >>> from hengwen.records import Scale
        >>> limit(0.5, Scale(low=1, high=5)), limit(0.5, Scale(low=1, high=4, levels=(1, 2, 3, 4)))
        (3.0, 2)
    """
    if not scale.higher_is_better:
        raise ValueError("caps are for scales on which more is better")
    value = scale.low + share * (scale.high - scale.low)
    if scale.levels is None:
        return value
    room = 1e-9 * (scale.high - scale.low)
    return max(level for level in scale.levels if level <= value + room)


def _evidence(facts: Mapping[str, RuleResult]) -> dict[str, Any]:
    """What a reader looks for first: the repeat, and the kind of a copy."""
    found: dict[str, Any] = {}
    duplicate = facts.get("near_duplicate")
    if duplicate is not None and duplicate.value is not None:
        found |= {key: duplicate.details[key] for key in ("dup_of", "similarity") if key in duplicate.details}
    kinds = {
        rule: facts[rule].details["kind"]
        for rule in ("target_copy", "leakage")
        if rule in facts and facts[rule].cap is not None
    }
    return found | ({"copies": kinds} if kinds else {})
