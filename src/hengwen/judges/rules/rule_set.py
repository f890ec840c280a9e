"""The rules of a task: each rule gives a score, and all rules together cap the level of a judge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from hengwen.judges.rules.input import RuleInput, exemptions
from hengwen.judges.rules.rule import not_applicable
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext, SampleValidator
from hengwen.records import Failure, Outcome, Score, digest
from hengwen.score_id import RULE_TAG, caps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.judges.rules.rule import Rule, RuleResult
    from hengwen.records import Response, Sample
    from hengwen.text.language import Language


def evaluate_unless_exempt(rule: Rule, answer: RuleInput) -> RuleResult:
    """Return the result of a rule; if the sample is exempt from the rule, the result is "not applicable"."""
    if rule.name in answer.exempt:
        return not_applicable("the sample is exempt from this rule", "此题不受这条规则约束")
    return rule.evaluate(answer)


def evidence_sentences(results: Mapping[str, RuleResult], language: Language) -> list[str]:
    """Return the sentences (evidence) about an answer that a judge's prompt includes."""
    zh = language == "zh"
    return [
        (result.zh if zh else result.en) + result.judge_note[1 if zh else 0]
        for result in results.values()
        if result.visible_to_judge
    ]


@dataclass(frozen=True, slots=True)
class RuleScorer:
    """A scorer that returns the score of a rule."""

    reads: ClassVar[tuple[ContextPart, ...]] = ("earlier",)
    rule: Rule

    @property
    def signature(self) -> str:
        """Signature of the rule, with a tag by which reports recognise the scores of rules."""
        signature = self.rule.signature
        return signature if caps(signature) else f"{self.rule.name}{RULE_TAG}{signature}"

    @property
    def names(self) -> tuple[str, ...]:
        """Name of the rule's only score."""
        return (self.rule.score_name,)

    def score(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> list[Outcome]:
        """Score an answer; the context has the earlier answers with which it is compared."""
        answer = RuleInput.of(sample, response, context.earlier)
        result = evaluate_unless_exempt(self.rule, answer)
        name, signature = self.rule.score_name, self.signature
        if result.value is None:
            return [Failure(name=name, status="not_applicable", message=result.en, signature=signature)]
        flags = {"flags": list(result.flags)} if result.flags else {}
        suffix = f" [{', '.join(result.flags)}]" if result.flags else ""
        return [
            Score(
                name=name,
                value=result.value,
                signature=signature,
                scale=self.rule.scale,
                reason=(result.reason or result.en) + suffix,
                details={**result.details, **flags},
            )
        ]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Check the exemptions of a sample, and the metadata that the rule requires."""
        exemptions(sample)
        return self.rule.check_sample(sample) if isinstance(self.rule, SampleValidator) else ()


@dataclass(frozen=True)
class RuleSet:
    """The rules of a task, in the order of the plan."""

    rules: tuple[Rule, ...]

    @cached_property
    def signature(self) -> str:
        """Text with everything that can change the scores, flags and caps of the rules."""
        return "; ".join(rule.signature for rule in self.rules)

    @cached_property
    def evidence_signature(self) -> str:
        """Hash (8 hex digits) of all that can change the rules' sentences in the judge's prompt."""
        return digest([rule.evidence_signature for rule in self.rules])[:8]

    @property
    def extra_thresholds(self) -> tuple[float, ...]:
        """Extra thresholds of all rules; each gives a further final score, such as ``final_at_0.8``."""
        return tuple(threshold for rule in self.rules for threshold in rule.extra_thresholds)

    def evaluate(
        self, sample: Sample, response: Response, earlier: Sequence[Response] = ()
    ) -> dict[str, RuleResult]:
        """Return the result of each rule, by the name of the rule."""
        answer = RuleInput.of(sample, response, earlier)
        return {rule.name: evaluate_unless_exempt(rule, answer) for rule in self.rules}
