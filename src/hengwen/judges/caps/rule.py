"""Rules beside a judge: each says what it found about an answer, and may cap the level that a judge gave it.

A rule decides what can be decided without a model. What it finds is a code score of its own, a sentence that
the judge is shown (ours: it never quotes the answer, and holds no threshold, so that a threshold can move
without a new verdict), and sometimes a cap. A cap is a share of the judge's scale: 0.5 is its middle, 0 its
low end; where the scale has levels, a cap between two of them is the lower one.

``metadata.exempt`` of a sample is a list of rules that do not apply to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from hengwen.errors import did_you_mean
from hengwen.objective.detectors.thinking import answer_without_thinking
from hengwen.records import Failure, Outcome, Scale, Score, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hengwen.prompts.rubric import Language
    from hengwen.records import Response, Sample

RULES = ("broken", "near_duplicate", "target_copy", "leakage", "plain_text", "number")
"""The rules that come with the package."""

YES_IS_GOOD = Scale(low=0, high=1, levels=(0, 1))
YES_IS_BAD = Scale(low=0, high=1, levels=(0, 1), higher_is_better=False)
LESS_IS_GOOD = Scale(low=0, high=1, higher_is_better=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What one rule found about one answer."""

    value: float | None
    """Of the code score; None: the rule does not apply."""
    en: str
    zh: str
    """What the judge is shown, in its language; why the rule does not apply, where it does not."""
    aside: tuple[str, str] = ("", "")
    """What else the judge is told, in English and Chinese."""
    shown: bool = True
    """Whether the judge is told."""
    reason: str = ""
    """Of the code score, which may quote the answer; default: ``en``."""
    cap: float | None = None
    """The best share of the scale that is still possible; None: no cap."""
    also: Mapping[float, float | None] = field(default_factory=dict)
    """The cap at other thresholds."""
    flags: tuple[str, ...] = ()
    """What deserves a look, such as ``leak_suspect``."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInput:
    """All that the rules look at."""

    sample: Sample
    response: Response
    earlier: Sequence[Response] = ()

    @property
    def spoken(self) -> str:
        """The answer without the thought before it; empty where that is never closed."""
        return answer_without_thinking(self.response.text) or ""


class Rule(Protocol):
    """What a rule must match; its fields are its options in a plan."""

    @property
    def name(self) -> str:
        """As plans and ``metadata.exempt`` call it."""
        ...

    @property
    def score_name(self) -> str:
        """Of its code score."""
        ...

    @property
    def scale(self) -> Scale:
        """Of its code score."""
        ...

    @property
    def also(self) -> Sequence[float]:
        """Other thresholds at which the final score is given as well."""
        ...

    @property
    def measures(self) -> str:
        """Everything that can move what the judge is shown; no threshold and no cap."""
        ...

    @property
    def signature(self) -> str:
        """Everything that can move its code score, its flags and its caps."""
        ...

    def look(self, seen: RuleInput) -> RuleResult:
        """Say what is found."""
        ...

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Yield warnings; raise ValueError where the sample is wrong."""
        ...


def not_applicable(en: str, zh: str, *, shown: bool = False) -> RuleResult:
    """Return the fact that a rule cannot say anything about an answer.

    Args:
        en: Why.
        zh: The same in Chinese.
        shown: Whether the judge is told.
    """
    return RuleResult(value=None, en=en, zh=zh, shown=shown)


def look_by(rule: Rule, seen: RuleInput) -> RuleResult:
    """Return what a rule finds, or that the sample is exempt from it."""
    if rule.name in exemptions(seen.sample):
        return not_applicable("the sample is exempt from this rule", "此题不受这条规则约束")
    return rule.look(seen)


def exemptions(sample: Sample) -> tuple[str, ...]:
    """Return the rules that a sample is exempt from.

    Raises:
        ValueError: ``metadata.exempt`` is not a list of rules.

    Examples:
        >>> from hengwen.records import Sample
        >>> exemptions(Sample(id="13", metadata={"exempt": ["target_copy"]})), exemptions(Sample(id="1"))
        (('target_copy',), ())
    """
    given = sample.metadata.get("exempt", ())
    if not isinstance(given, (list, tuple)) or not all(isinstance(name, str) for name in given):
        raise ValueError(f"metadata.exempt must be a list of rules, got {given!r}")
    for name in given:
        if name not in RULES:
            raise ValueError(f"metadata.exempt: unknown rule {name!r}{did_you_mean(name, RULES)}")
    return tuple(given)


def check_share(name: str, value: object, *, above_zero: bool = False) -> float:
    """Return a threshold or a cap from a plan as a number.

    Args:
        name: Of the option.
        value: As given.
        above_zero: Whether 0 is refused.

    Raises:
        ValueError: It is not a number from 0 to 1.
    """
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1 or (above_zero and not value):  # type: ignore[operator]
        raise ValueError(
            f"{name} must be a number {'above 0' if above_zero else 'from 0'} to 1, got {value!r}"
        )
    return float(value)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class RuleScorer:
    """A rule as a scorer: its code score in the report."""

    rule: Rule

    @property
    def signature(self) -> str:
        """Of the rule."""
        return self.rule.signature

    @property
    def names(self) -> tuple[str, ...]:
        """One score."""
        return (self.rule.score_name,)

    def score(self, sample: Sample, response: Response) -> list[Outcome]:
        """Score an answer that has none before it."""
        return self.score_after(sample, response, ())

    def score_after(self, sample: Sample, response: Response, earlier: Sequence[Response]) -> list[Outcome]:
        """Score an answer."""
        fact = look_by(self.rule, RuleInput(sample=sample, response=response, earlier=earlier))
        name, signature = self.rule.score_name, self.signature
        if fact.value is None:
            return [Failure(name=name, status="not_applicable", message=fact.en, signature=signature)]
        flags = {"flags": list(fact.flags)} if fact.flags else {}
        shown = f" [{', '.join(fact.flags)}]" if fact.flags else ""
        return [
            Score(
                name=name,
                value=fact.value,
                signature=signature,
                scale=self.rule.scale,
                reason=(fact.reason or fact.en) + shown,
                details={**fact.details, **flags},
            )
        ]

    def check_sample(self, sample: Sample) -> Iterable[str]:
        """Look at what the rule, and every rule, wants of a sample."""
        exemptions(sample)
        return self.rule.check_sample(sample)


@dataclass(frozen=True)
class RuleSet:
    """The rules of a task, in the order of the plan."""

    rules: tuple[Rule, ...]

    @cached_property
    def signature(self) -> str:
        """Everything that can move a cap."""
        return "; ".join(rule.signature for rule in self.rules)

    @cached_property
    def measures(self) -> str:
        """Eight hex digits of everything that can move what a judge is shown."""
        return digest([rule.measures for rule in self.rules])[:8]

    @property
    def also(self) -> tuple[float, ...]:
        """Other thresholds at which the final score is given."""
        return tuple(threshold for rule in self.rules for threshold in rule.also)

    def look(
        self, sample: Sample, response: Response, earlier: Sequence[Response] = ()
    ) -> dict[str, RuleResult]:
        """Return what each rule found, by its name."""
        seen = RuleInput(sample=sample, response=response, earlier=earlier)
        return {rule.name: look_by(rule, seen) for rule in self.rules}


def told(facts: Mapping[str, RuleResult], language: Language) -> list[str]:
    """Return the sentences that a judge is shown."""
    zh = language == "zh"
    return [
        (fact.zh if zh else fact.en) + fact.aside[1 if zh else 0] for fact in facts.values() if fact.shown
    ]
