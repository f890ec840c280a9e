"""The interface of a rule, and the scorer of several rules.

A rule detects one property of an answer and may cap the level of a judge. It needs no model. Its result has
three parts: a score of the answer, a sentence for the judge (evidence), and a cap. The sentence neither
quotes the answer nor states a threshold, so the judge need not judge again after a threshold has changed. The
cap, if there is one, is the best value that the final score may have. A cap is a share of the judge's scale:
0.5 is the middle of the scale, 0 its low end. If the scale has levels, a cap between two levels is rounded
down to the lower level.

``hengwen.registry`` lists the rules: ``BUILTINS["rules"]`` and the entry point group ``hengwen.rules``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hengwen.judges.rules.input import RuleInput, exemptions
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext, SampleValidator
from hengwen.records import Failure, Outcome, Scale, Score, digest
from hengwen.score_id import RULE_TAG, caps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.records import Response, Sample
    from hengwen.text.language import Language

PASS_SCALE = Scale(low=0, high=1, levels=(0, 1))
"""Scale of a rule whose value is 1 if the answer passes."""
FAIL_SCALE = Scale(low=0, high=1, levels=(0, 1), higher_is_better=False)
"""Scale of a rule whose value is 1 if the answer has the fault."""
LOWER_BETTER = Scale(low=0, high=1, higher_is_better=False)
"""Scale of a share for which lower values are better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """Result of one rule for one answer."""

    value: float | None
    """Value of the rule's score; None if the rule does not apply to the answer."""
    en: str
    zh: str
    """Sentence about the answer for the judge, in Chinese; ``en`` is the same sentence in English. If the
    rule does not apply, the sentence states why."""
    judge_note: tuple[str, str] = ("", "")
    """Text that is added to the rule's sentence in the judge's prompt, but not stored; (English, Chinese)."""
    visible_to_judge: bool = True
    """Whether the judge's prompt includes the rule's sentence about the answer."""
    reason: str = ""
    """Reason that is stored with the rule's score; it may quote the answer. If it is empty, the sentence in
    ``en`` is stored."""
    cap: float | None = None
    """The best value that the final score (the judge's level after all caps) may have, as a share of the
    scale; None for no cap."""
    extra_caps: Mapping[float, float | None] = field(default_factory=dict)
    """For each of the rule's ``extra_thresholds``, the best value that the final score computed with this
    threshold (such as ``final_at_0.8``) may have, as a share of the scale; None for no cap."""
    flags: tuple[str, ...] = ()
    """Marks that a report shows to its reader, such as ``leak_suspect``."""
    details: Mapping[str, Any] = field(default_factory=dict)


class Rule(Protocol):
    """A rule that is applied together with a judge; its fields are its options in a plan.

    A rule may also have the method ``check_sample`` (see ``hengwen.protocols.SampleValidator``). The engine
    calls ``check_sample`` for each sample before any model is called.
    """

    @property
    def name(self) -> str:
        """Name of the rule in plans and in ``metadata.exempt``."""
        ...

    @property
    def score_name(self) -> str:
        """Name of the score that the rule gives."""
        ...

    @property
    def scale(self) -> Scale:
        """Scale of the score that the rule gives."""
        ...

    @property
    def extra_thresholds(self) -> Sequence[float]:
        """Thresholds besides the main one; each gives another final score, such as ``final_at_0.8``."""
        ...

    @property
    def evidence_signature(self) -> str:
        """Text with everything that can change this rule's sentence in the judge's prompt.

        Thresholds and caps are left out, because they do not change the sentence.
        """
        ...

    @property
    def signature(self) -> str:
        """Text with everything that can change the rule's score, its flags and its caps."""
        ...

    def evaluate(self, answer: RuleInput) -> RuleResult:
        """Return the result for an answer; the caller checks whether the sample is exempt from the rule."""
        ...


def not_applicable(en: str, zh: str, *, visible_to_judge: bool = False) -> RuleResult:
    """Return the result of a rule that does not apply to an answer."""
    return RuleResult(value=None, en=en, zh=zh, visible_to_judge=visible_to_judge)


def check_share(name: str, value: object, *, above_zero: bool = False) -> float:
    """Return a threshold or a cap from a plan as a number."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1 or (above_zero and not value):  # type: ignore[operator]
        raise ValueError(
            f"{name} must be a number {'above 0' if above_zero else 'from 0'} to 1, got {value!r}"
        )
    return float(value)  # type: ignore[arg-type]


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
