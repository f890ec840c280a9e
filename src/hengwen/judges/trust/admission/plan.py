"""What an admission test will ask, known before anything is paid for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hengwen.judges.trust.admission.cases import SPOILINGS, degrade, load_cases
from hengwen.prompts.language import check_language
from hengwen.records import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hengwen.judges.trust.admission.report import Name
    from hengwen.prompts.language import Language
    from hengwen.prompts.rubric import Rubric

AskKey = tuple[int | None, str | None, int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionItem:
    """An answer of the caller's own."""

    sample: Sample
    text: str
    level: float | None = None
    """A level of the rubric that it deserves: one more example. None: it is good, no more is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuery:
    """One verdict to ask for."""

    sample: Sample
    text: str
    without: int | None = None
    """The example that the rubric goes without."""
    persona: str | None = None
    """None: the judge's own."""
    again: int = 0

    @property
    def key(self) -> AskKey:
        """Equal for what is asked but once."""
        return (self.without, self.persona, self.again, self.sample.hash, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTrial:
    """A trial with the verdicts that decide it."""

    check: Name
    item: str
    kind: str = ""
    keys: tuple[AskKey, ...]
    wanted: float | None = None


@dataclass(frozen=True, slots=True)
class AdmissionPlan:
    """All trials, and each verdict once."""

    asks: dict[AskKey, JudgeQuery] = field(default_factory=dict)
    trials: list[PlannedTrial] = field(default_factory=list)
    notes: dict[Name, str] = field(default_factory=dict)
    left_out: set[Name] = field(default_factory=set)
    """Checks that have nothing to try with this rubric."""

    def add(
        self, check: Name, base: TestCase, *asks: JudgeQuery, kind: str = "", wanted: float | None = None
    ) -> None:
        """Add a trial with its verdicts."""
        self.asks.update({ask.key: ask for ask in asks})
        keys = tuple(ask.key for ask in asks)
        self.trials.append(PlannedTrial(check=check, item=base.item, kind=kind, keys=keys, wanted=wanted))


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """An answer of which something is known."""

    item: str
    sample: Sample
    text: str
    without: int | None = None
    persona: str | None = None
    others: tuple[tuple[str, str], ...] = ()
    """Names and descriptions of the characters that it is not an answer of."""
    wanted: float | None = None
    good: bool = True

    def ask(self, *, text: str | None = None, persona: str | None = None, again: int = 0) -> JudgeQuery:
        """Return the question for its level, or for that of a variant."""
        return JudgeQuery(
            sample=self.sample,
            text=self.text if text is None else text,
            without=self.without,
            persona=persona or self.persona,
            again=again,
        )


def plan_admission(
    rubric: Rubric,
    *,
    items: Sequence[AdmissionItem] = (),
    repeats: int = 3,
    language: Language = "zh",
    hidden: bool = True,
) -> AdmissionPlan:
    """Return what an admission test asks: ``len(plan.asks)`` verdicts.

    Args:
        rubric: What is judged by.
        items: As in ``admission_test``.
        repeats: Verdicts on each answer, >= 2.
        language: ``zh`` or ``en``.
        hidden: Whether the judge can be kept from seeing an example.

    Raises:
        ValueError: An option is no such value, or an item has a level that the rubric has not.

    Examples:
        >>> from hengwen.prompts import load_rubric
        >>> plan = plan_admission(load_rubric("persona_generic"))
        >>> len(plan.asks), len(plan.trials)
        (86, 70)
    """
    check_language(language)
    if repeats < 2:
        raise ValueError(f"repeats must be at least 2, got {repeats}")
    bases = [*_examples(rubric, language, hidden), *_characters(rubric, language), *_own(rubric, items)]
    plan = AdmissionPlan()
    for base in bases:
        if base.wanted is not None:
            plan.add("examples_exact", base, base.ask(), wanted=base.wanted)
            plan.add("examples_near", base, base.ask(), wanted=base.wanted)
        for name, other in base.others:
            plan.add("persona_swap", base, base.ask(), base.ask(persona=other), kind=f"under {name}")
        for how, copy in _copies(rubric, base, language):
            plan.add("degraded", base, base.ask(), base.ask(text=copy), kind=how)
        plan.add("repeats", base, *(base.ask(again=again) for again in range(repeats)))
    _remark(plan, rubric, hidden)
    return plan


def _examples(rubric: Rubric, language: Language, hidden: bool) -> Iterator[TestCase]:
    for place, example in enumerate(rubric.examples if hidden else ()):
        reference = example.reference.in_language(language) if example.reference else ""
        yield TestCase(
            item=f"example {place + 1}",
            sample=Sample(
                id=f"admission.example.{place + 1}",
                input=example.input.in_language(language),
                references=(reference,) if reference else (),
            ),
            text=example.response.in_language(language),
            without=place,
            wanted=example.level,
            good=example.level == rubric.scale.high,
        )


def _characters(rubric: Rubric, language: Language) -> Iterator[TestCase]:
    if not {"persona", "input"} <= set(rubric.uses):
        return
    cases = load_cases()
    told = {one.id: one.persona.in_language(language) for one in cases.personas}
    for character in cases.personas:
        for question, answer in character.answers.items():
            name = f"{character.id}.{question}"
            yield TestCase(
                item=name,
                sample=Sample(id=f"admission.{name}", input=cases.inputs[question].in_language(language)),
                text=answer.in_language(language),
                persona=told[character.id],
                others=tuple(item for item in told.items() if item[0] != character.id),
            )


def _own(rubric: Rubric, items: Sequence[AdmissionItem]) -> Iterator[TestCase]:
    for item in items:
        if item.level is not None and item.level not in rubric.levels:
            known = ", ".join(f"{value:g}" for value in rubric.levels)
            raise ValueError(f"item {item.sample.id!r} has level {item.level:g}, which is none of {known}")
        yield TestCase(
            item=item.sample.id,
            sample=item.sample,
            text=item.text,
            wanted=item.level,
            good=item.level is None or item.level == rubric.scale.high,
        )


def _copies(rubric: Rubric, base: TestCase, language: Language) -> Iterator[tuple[str, str]]:
    plain = rubric.rules is not None and rubric.rules.plain_text
    for how in SPOILINGS if base.good else ():
        copy = degrade(base.text, how, language)
        if copy is not None and (plain or how != "labelled"):
            yield how, copy


def _remark(plan: AdmissionPlan, rubric: Rubric, hidden: bool) -> None:
    """Say why a check has no trials, and which of them the verdict does without."""
    tried = {trial.check for trial in plan.trials}
    if "examples_exact" not in tried:
        names: tuple[Name, Name] = ("examples_exact", "examples_near")
        why = "the rubric has no examples"
        if rubric.examples and not hidden:
            why = "the examples cannot be hidden from this judge; pass make= to have it made without them"
        plan.notes.update(dict.fromkeys(names, why))
        plan.left_out.update(() if rubric.examples else names)
    elif len(rubric.levels) < 3:
        plan.notes["examples_near"] = "with two levels, every answer is at most one level off"
        plan.left_out.add("examples_near")
    if "persona_swap" not in tried:
        plan.notes["persona_swap"] = "the rubric shows no persona, or no input"
        plan.left_out.add("persona_swap")
    if "degraded" not in tried:
        plan.notes["degraded"] = "the rubric has no example at its best level; pass good answers as items="
    if "repeats" not in tried:
        plan.notes["repeats"] = "there is nothing to judge; pass answers as items="
