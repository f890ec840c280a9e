"""List all verdicts (values that the judge must give) of an admission test, before any call is made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

from hengwen.io.strict_yaml import StrictModel, load_yaml, parse_model
from hengwen.judges.trust.admission_report import CheckName, Trial
from hengwen.prompts.rubric import Bilingual, Key, Rubric
from hengwen.records import Sample, digest
from hengwen.text.language import Language, check_language

Degradation = Literal["labelled", "off_topic", "truncated", "duplicated", "scrambled"]
DEGRADATIONS: tuple[Degradation, ...] = get_args(Degradation)
"""Ways to make an answer worse under any rubric. ``labelled`` is used only if the rubric asks for plain
text."""

TRUNCATED_SHARE = 0.4
"""Share of the characters that is kept when an answer is truncated."""
DUPLICATE_COUNT = 4
"""Number of copies of the text in a duplicated answer."""
MIN_CUT_LENGTH = 10
"""Answers with fewer characters than this are not truncated or scrambled, because they might not become
worse."""

_LABELLED_TEMPLATES = {
    "zh": "【回答】\n## 正文\n{text}\n\n【分类】日常对话\n【字数】{size}",
    "en": "[Answer]\n## Text\n{text}\n\nCategory: everyday talk\nCharacters: {size}",
}


class AdmissionPersona(StrictModel):
    """A character with a good answer to each input; answers have the keys of ``AdmissionFixtures.inputs``."""

    id: Key
    persona: Bilingual
    answers: dict[Key, Bilingual]


class AdmissionFixtures(StrictModel):
    """The packaged cases; see ``admission_cases.yaml``."""

    version: int
    personas: list[AdmissionPersona]
    inputs: dict[Key, Bilingual]
    off_topic: Bilingual
    padding: Bilingual
    """Sentences without content. An answer to which they are appended becomes no better, and at most a little
    worse."""

    @property
    def hash(self) -> str:
        """Hash of the cases, 8 hex digits. Reports with different hashes are not comparable."""
        return digest(
            self.model_dump(mode="json"),
            TRUNCATED_SHARE,
            DUPLICATE_COUNT,
            MIN_CUT_LENGTH,
            _LABELLED_TEMPLATES,
        )[:8]


@cache
def load_cases() -> AdmissionFixtures:
    """Return the packaged cases."""
    path = Path(str(files("hengwen.judges.trust"))) / "admission_cases.yaml"
    return parse_model(AdmissionFixtures, load_yaml(path))


def degrade(text: str, how: Degradation, language: Language = "zh") -> str | None:
    """Return a spoiled copy of a good answer; the result depends only on the arguments."""
    match how:
        case "labelled":
            copy = _LABELLED_TEMPLATES[language].format(text=text, size=len(text))
        case "off_topic":
            copy = load_cases().off_topic.in_language(language)
        case "truncated":
            kept = text.strip()[: int(TRUNCATED_SHARE * len(text.strip()))]
            copy = kept.rstrip(" ,.;:!?，。；：！？、…\n")
        case "duplicated":
            copy = "\n".join([text] * DUPLICATE_COUNT)
        case "scrambled":
            copy = _scrambled(text)
    if not text.strip() or copy == text:
        return None
    too_short = how in ("truncated", "scrambled") and len("".join(text.split())) < MIN_CUT_LENGTH
    return None if too_short else copy


def _scrambled(text: str) -> str:
    words = text.split()
    parts, separator = (words, " ") if len(words) > 3 else (re.findall(r"\S", text), "")
    shuffled = sorted(
        enumerate(parts), key=lambda item: hashlib.sha256(f"{item[0]}{item[1]}".encode()).digest()
    )
    return separator.join(part for _, part in shuffled)


QueryKey = tuple[int | None, str | None, int, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionItem:
    """An answer for ``admission_test``, besides the rubric's examples and Hengwen's packaged answers."""

    sample: Sample
    text: str
    level: float | None = None
    """Correct level of the answer; None for a good answer whose exact level is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeQuery:
    """One verdict to request from the judge."""

    sample: Sample
    text: str
    hidden_example: int | None = None
    """Index of the example that is removed from the judge's rubric for this query; None to remove none."""
    persona: str | None = None
    """Persona that the judge reads for this query; None for the persona that the judge already has."""
    round_no: int = 0
    """Number of the round if the judge is asked repeatedly; a round must not reuse replies of an earlier
    round."""

    @property
    def key(self) -> QueryKey:
        """Key of the query. Queries with equal keys are asked only once and share the verdict."""
        return (self.hidden_example, self.persona, self.round_no, self.sample.hash, self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionCase:
    """An answer whose correct level or quality is known, and the query for its level."""

    item: str
    query: JudgeQuery
    other_personas: tuple[tuple[str, str], ...] = ()
    """(id, description) of each character that did not give this answer."""
    expected: float | None = None
    good: bool = True


@dataclass(frozen=True, slots=True)
class AdmissionPlan:
    """All trials of an admission test, and the verdicts that they need; trials can share a verdict."""

    queries: dict[QueryKey, JudgeQuery] = field(default_factory=dict)
    trials: list[tuple[Trial, tuple[QueryKey, ...]]] = field(default_factory=list)
    """Each trial without its result, and the keys of the verdicts that decide it."""
    notes: dict[CheckName, str] = field(default_factory=dict)
    not_applicable: set[CheckName] = field(default_factory=set)
    """Names of checks that the decision does not need, because with this rubric they are impossible or always
    passed."""
    bases: set[QueryKey] = field(default_factory=set)
    """Keys of the queries that ask for the level of a good answer as it is, not of a changed copy."""

    def add(
        self,
        check: CheckName,
        case: AdmissionCase,
        *queries: JudgeQuery,
        kind: str = "",
        expected: float | None = None,
    ) -> None:
        """Add a trial and its queries."""
        keys = tuple(query.key for query in queries)
        self.queries.update(zip(keys, queries, strict=True))
        self.trials.append((Trial(check=check, item=case.item, kind=kind, expected=expected), keys))


def plan_admission(
    rubric: Rubric,
    *,
    items: Sequence[AdmissionItem] = (),
    repeats: int = 3,
    language: Language = "zh",
    hidden: bool = True,
) -> AdmissionPlan:
    """Return the plan of an admission test, which needs ``len(plan.queries)`` verdicts."""
    check_language(language)
    if repeats < 2:
        raise ValueError(f"repeats must be at least 2, got {repeats}")
    plan = AdmissionPlan()
    padding = load_cases().padding.in_language(language)
    for case in [
        *_example_cases(rubric, language, hidden),
        *_persona_cases(rubric, language),
        *_item_cases(rubric, items),
    ]:
        query = case.query
        if case.expected is not None:
            plan.add("examples_exact", case, query, expected=case.expected)
            plan.add("examples_near", case, query, expected=case.expected)
        for name, persona in case.other_personas:
            plan.add("persona_swap", case, query, replace(query, persona=persona), kind=f"under {name}")
        for how, copy in _degraded_copies(rubric, case, language):
            plan.add("degraded", case, query, replace(query, text=copy), kind=how)
        if query.text.strip():
            plan.add("padded", case, query, replace(query, text=f"{query.text.rstrip()}\n{padding}"))
        if case.good:
            plan.bases.add(query.key)
        plan.add("repeats", case, *(replace(query, round_no=round_no) for round_no in range(repeats)))
    _add_notes(plan, rubric)
    return plan


def _example_cases(rubric: Rubric, language: Language, hidden: bool) -> Iterator[AdmissionCase]:
    for index, example in enumerate(rubric.examples if hidden else ()):
        reference = example.reference.in_language(language) if example.reference else ""
        yield AdmissionCase(
            item=f"example {index + 1}",
            query=JudgeQuery(
                sample=Sample(
                    id=f"admission.example.{index + 1}",
                    input=example.input.in_language(language),
                    references=(reference,) if reference else (),
                ),
                text=example.response.in_language(language),
                hidden_example=index,
            ),
            expected=example.level,
            good=example.level == rubric.scale.high,
        )


def _persona_cases(rubric: Rubric, language: Language) -> Iterator[AdmissionCase]:
    if not {"persona", "input"} <= set(rubric.uses):
        return
    cases = load_cases()
    personas = {character.id: character.persona.in_language(language) for character in cases.personas}
    for character in cases.personas:
        for question, answer in character.answers.items():
            name = f"{character.id}.{question}"
            yield AdmissionCase(
                item=name,
                query=JudgeQuery(
                    sample=Sample(id=f"admission.{name}", input=cases.inputs[question].in_language(language)),
                    text=answer.in_language(language),
                    persona=personas[character.id],
                ),
                other_personas=tuple(item for item in personas.items() if item[0] != character.id),
            )


def _item_cases(rubric: Rubric, items: Sequence[AdmissionItem]) -> Iterator[AdmissionCase]:
    for item in items:
        if item.level is not None and item.level not in rubric.levels:
            levels = ", ".join(f"{value:g}" for value in rubric.levels)
            raise ValueError(f"item {item.sample.id!r} has level {item.level:g}, which is none of {levels}")
        yield AdmissionCase(
            item=item.sample.id,
            query=JudgeQuery(sample=item.sample, text=item.text),
            expected=item.level,
            good=item.level is None or item.level == rubric.scale.high,
        )


def _degraded_copies(rubric: Rubric, case: AdmissionCase, language: Language) -> Iterator[tuple[str, str]]:
    plain_text = rubric.rules is not None and rubric.rules.plain_text
    for how in DEGRADATIONS if case.good else ():
        copy = degrade(case.query.text, how, language)
        if copy is not None and (plain_text or how != "labelled"):
            yield how, copy


def _add_notes(plan: AdmissionPlan, rubric: Rubric) -> None:
    """Note in the plan which checks of the judge have no trials or are not needed for a decision, and why."""
    tried = {trial.check for trial, _ in plan.trials}

    def note(reason: str, *checks: CheckName, is_needed: bool = False) -> None:
        plan.notes.update(dict.fromkeys(checks, reason))
        plan.not_applicable.update(() if is_needed else checks)

    if "examples_exact" not in tried:
        reason = "the rubric has no examples"
        if rubric.examples:
            reason = "the examples cannot be removed from this judge; pass make= to build it without them"
        note(reason, "examples_exact", "examples_near", is_needed=bool(rubric.examples))
    elif len(rubric.levels) < 3:
        note("with two levels, every answer is at most one level off", "examples_near")
    if "persona_swap" not in tried:
        note("the rubric does not use both persona and input", "persona_swap")
    if "degraded" not in tried:
        reason = "the rubric has no example at its best level; pass good answers as items="
        note(reason, "degraded", is_needed=True)
    checks: tuple[CheckName, ...] = ("padded", "repeats")
    untried = [name for name in checks if name not in tried]
    note("there is nothing to judge; pass answers as items=", *untried, is_needed=True)
