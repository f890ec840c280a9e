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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

from hengwen import registry
from hengwen.errors import did_you_mean
from hengwen.objective.detectors import (
    Corruption,
    MarkupHit,
    NumberVerdict,
    answer_without_thinking,
    as_number,
    find_breakage,
    find_markup,
    number_verdict,
    strip_thinking,
)
from hengwen.objective.duplicates.similarity import (
    PreparedText,
    normalize_text,
    prepare_text,
    prepared_similarity,
)
from hengwen.objective.duplicates.training_set import with_particles
from hengwen.objective.text import normal_form
from hengwen.prompts.rubric import RubricRules
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext, SampleValidator
from hengwen.records import Failure, Outcome, Response, Sample, Scale, Score, digest
from hengwen.score_id import RULE_TAG, caps
from hengwen.text.language import Language


class CopyMatch(NamedTuple):
    """How closely a text copies one of the references; both fields are false if it copies none of them."""

    exact: bool
    """Whether the letters and digits of the text equal those of a reference."""
    normalized: bool
    """Whether the text equals a reference except for final particles (such as 呀) and punctuation. A final
    particle is removed only before punctuation or at the end of a text. This field can therefore be false
    although ``exact`` is true, if punctuation follows a particle in only one of the two texts.
    """


def find_copy(text: str, references: Sequence[str]) -> CopyMatch | None:
    """Return whether a text copies a reference; None if no reference has a letter or digit."""
    comparable = [(reference, bare) for reference in references if (bare := normalize_text(reference))]
    if not comparable:
        return None
    letters, normalized = with_particles(text), normalize_text(text)
    return CopyMatch(
        exact=any(letters == with_particles(reference) for reference, _ in comparable),
        normalized=any(normalized == bare for _, bare in comparable),
    )


_FLAGS = {"exempt_copy": "target_copy", "exempt_duplicate": "near_duplicate"}
"""Keys of the metadata, each with the name of a rule. If the value of a key is true, the sample is exempt
from the rule. ``exemptions`` reads these keys only with ``lenient=True``."""


def exemptions(sample: Sample, *, lenient: bool = False) -> frozenset[str]:
    """Return the names of the rules that a sample is exempt from."""
    names = sample.metadata.get("exempt", ())
    if lenient:
        listed = names if isinstance(names, (list, tuple)) else ()
        flagged = {rule for flag, rule in _FLAGS.items() if sample.metadata.get(flag) is True}
        return frozenset(flagged.union(name for name in listed if isinstance(name, str)))
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"metadata.exempt must be a list of rules, got {names!r}")
    if names:
        known = registry.known("rules")
        for name in names:
            if name not in known:
                raise ValueError(f"metadata.exempt: unknown rule {name!r}{did_you_mean(name, known)}")
    return frozenset(names)


class EarlierMatch(NamedTuple):
    """The similarity of an answer to one earlier answer."""

    repeat: int
    """Number (``repeat``) of the earlier answer."""
    similarity: float


class NumberMatch(NamedTuple):
    """The number that a sample expects, and whether the answer gives it."""

    expected: Decimal
    verdict: NumberVerdict


def fold_phrase(text: str) -> str:
    """Return a text in Unicode form NFKC, in lower case, with straight apostrophes and single spaces."""
    return " ".join(normal_form(text).replace("’", "'").casefold().split())


@dataclass(frozen=True, kw_only=True)
class RuleInput:
    """An answer, its sample and the earlier answers, with the properties that are detected in them."""

    sample: Sample
    response: Response
    earlier: Sequence[Response] = ()

    remove_thinking = staticmethod(answer_without_thinking)
    """Function that removes the thinking block before an answer; it returns None if the block is not
    closed."""
    number_keys: ClassVar[tuple[str, ...]] = ("number",)
    """Keys of the metadata that may contain the expected number; the first key that exists is used."""
    ignores_question_numbers: ClassVar[bool] = True
    """Whether an answer that only repeats numbers of the question counts as an answer without numbers.
    An answer that contains the right number is not affected."""

    @cached_property
    def text(self) -> str:
        """The answer without the thinking block before it; empty if the block is not closed."""
        return self.remove_thinking(self.response.text) or ""

    @cached_property
    def exempt(self) -> frozenset[str]:
        """Rules that the sample is exempt from."""
        return exemptions(self.sample)

    @cached_property
    def breakage(self) -> Corruption | None:
        """What is broken in the answer or in its thinking block; None if nothing is broken."""
        return find_breakage(self.response.text)

    @cached_property
    def earlier_matches(self) -> tuple[EarlierMatch, ...]:
        """Similarity of this answer to each earlier answer, in the order of the earlier answers."""
        return tuple(
            EarlierMatch(answer.repeat, self.similarity_to(self.remove_thinking(answer.text) or ""))
            for answer in self.earlier
        )

    @cached_property
    def _prepared(self) -> PreparedText:
        return prepare_text(self.text)

    def similarity_to(self, text: str) -> float:
        """Return the similarity of this answer to another text, in 0..1."""
        return prepared_similarity(prepare_text(text), self._prepared)

    @cached_property
    def reference_copy(self) -> CopyMatch | None:
        """Whether the answer copies a reference; None if no reference contains a letter or digit."""
        return find_copy(self.text, self.sample.references)

    @cached_property
    def number(self) -> NumberMatch | None:
        """The expected number and whether the answer gives it; None if the sample expects no number."""
        metadata = self.sample.metadata
        expected = as_number(next((metadata[key] for key in self.number_keys if key in metadata), None))
        if expected is None:
            return None
        question = self.sample.text if self.ignores_question_numbers else ""
        return NumberMatch(expected, number_verdict(self.text, expected, question=question))

    def markup(self, names: str) -> list[MarkupHit]:
        """Return labels and markup in the answer."""
        return find_markup(self.text, names)

    @classmethod
    def of(cls, sample: Sample, response: Response, earlier: Sequence[Response]) -> RuleInput:
        """Return the input for an answer; rules that check the same answer in turn get the same object."""
        last = _LAST.get(cls)
        if (
            last is None
            or last.sample is not sample
            or last.response is not response
            or len(last.earlier) != len(earlier)
            or any(a is not b for a, b in zip(last.earlier, earlier, strict=True))
        ):
            last = _LAST[cls] = cls(sample=sample, response=response, earlier=earlier)
        return last


_LAST: dict[type[RuleInput], RuleInput] = {}
"""The last input that ``RuleInput.of`` returned."""


@dataclass(frozen=True, kw_only=True)
class ClauseInput(RuleInput):
    """The input of a clause, which is a single check by the rules judge; it includes the rubric's rules.

    The rules judge also works without a plan, so it reads samples that were not checked: it ignores a
    malformed ``metadata.exempt``. It removes only a ``<think>`` block that opens at the start, and treats
    numbers of the question like all others.
    """

    rules: RubricRules
    names: str = ""

    @cached_property
    def folded_text(self) -> str:
        """The answer after ``fold_phrase`` (lower case, NFKC, single spaces), to search it for phrases."""
        return fold_phrase(self.text)

    remove_thinking = staticmethod(strip_thinking)
    number_keys: ClassVar[tuple[str, ...]] = ("number", "answer")
    ignores_question_numbers: ClassVar[bool] = False

    @cached_property
    def exempt(self) -> frozenset[str]:
        """Rules from which the sample is exempt; malformed metadata is ignored."""
        return exemptions(self.sample, lenient=True)


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
