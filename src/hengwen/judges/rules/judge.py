"""The rules judge: it gives an answer a level of a rubric by fixed rules, without a model or network.

The rules judge is a simple reference with which other judges are compared. A clause is a single check of the
answer; it may object to the answer or give it a credit. The level is found in three steps:

1. Start from the second best level. (If the rubric has only two levels, start from the best.)
2. Each clause that objects sets a cap, which is the best level that remains possible: worst, second worst,
   middle or second best. The lowest cap is used.
3. An answer gets the best level if three conditions hold: no clause objects; every applicable clause that
   can give a credit gives one; at least one credit is for the content (given by ``markers``,
   ``reference_similarity`` or ``right_number``). If a number is expected, ``right_number`` is used instead
   of ``reference_similarity``.

The level of a criterion is found in the same three steps as the overall level, by the clauses that
``rules.criteria`` lists for the criterion. The best level of a criterion does not require a clause about the
content. A criterion without an applicable clause is ``not_applicable``. If the rubric has no ``rules:`` block
and neither of the options ``markers`` and ``taboo`` is set, only ``DEFAULT_CLAUSES`` are evaluated. If a
default clause objects, the level is its cap; otherwise the level is ``not_applicable``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

from hengwen.judges.panel import LevelFrom, aggregate_level, parse_level_from
from hengwen.judges.rules.rule import ClauseInput, fold_phrase
from hengwen.objective.detectors import find_numbers, repeated_share
from hengwen.objective.duplicates.similarity import THRESHOLD
from hengwen.prompts.rubric import ClauseName, Rubric, RubricRules
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext
from hengwen.records import Failure, Outcome, Response, Sample, Score, Verdict, digest
from hengwen.score_id import LEVEL, score_name
from hengwen.text.language import Language, check_language

Cap = Literal["worst", "second_worst", "middle", "second_best"]
CAPS: tuple[Cap, ...] = ("worst", "second_worst", "middle", "second_best")
"""All caps, the strictest first. A cap is the best level that an answer can still get."""

MIN_SIMILARITY_FOR_CREDIT = 0.3
"""Minimum similarity to a reference at which an answer gets a credit (a reason for the best level)."""
MIN_SIMILARITY = 0.1
"""If an answer's similarity to every reference is below this value, its level is capped."""
MAX_REPEATED_SHARE = 0.7
"""If the share of repeated lines in an answer is at least this value, its level is capped. Songs with a
chorus stay below this value."""
MIN_LINES = 4
"""Repeated lines are counted only in answers with at least this number of lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseResult:
    """Result of one clause (a single check by the rules judge) for one answer."""

    en: str
    cap: Cap | None = None
    """The best level that the answer can still get; None if the clause does not object."""
    credit: bool = False
    """Whether the clause gives a credit, which is a reason for giving the best level."""


def empty_or_broken(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the worst level if it is empty, garbled, a loop or unfinished thinking."""
    breakage = answer.breakage
    if breakage is None:
        return ClauseResult(en="readable")
    return ClauseResult(en=breakage.en, cap="middle" if breakage.slight else "worst")


def near_duplicate(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the worst level if it repeats an earlier answer to the same sample."""
    if not answer.earlier or "near_duplicate" in answer.exempt:
        return None
    repeated = next((match for match in answer.earlier_matches if match.similarity >= THRESHOLD), None)
    if repeated is None:
        return ClauseResult(en="unlike earlier answers")
    return ClauseResult(
        en=f"similarity {repeated.similarity:.2f} to repeat {repeated.repeat}",
        cap="worst",
    )


def wrong_number(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the second worst level if it gives another number than ``metadata.number``."""
    if answer.number is None or answer.number.verdict == "unclear":
        return None
    expected, verdict = answer.number
    if verdict == "right":
        return ClauseResult(en="no wrong number")
    if verdict == "none":
        return ClauseResult(en=f"no number, expected {expected}", cap="middle")
    numbers = ", ".join(str(number) for number in find_numbers(answer.text)[:4]) or "another"
    return ClauseResult(en=f"{numbers} instead of {expected}", cap="second_worst")


def right_number(answer: ClauseInput) -> ClauseResult | None:
    """Give a credit (a reason for the best level) if the answer contains the right number."""
    if answer.number is None or answer.number.verdict == "unclear":
        return None
    expected, verdict = answer.number
    if verdict == "right":
        return ClauseResult(en=f"{expected} as expected", credit=True)
    return ClauseResult(en="not the right number")


def copy_of_reference(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the middle level if it equals a reference apart from particles and punctuation."""
    references, metadata = answer.sample.references, answer.sample.metadata
    if not references or "target_copy" in answer.exempt or metadata.keys() & {"number", "answer"}:
        return None
    if answer.reference_copy is not None and answer.reference_copy.normalized:
        return ClauseResult(en="the reference word for word", cap="middle")
    return ClauseResult(en="no copy of the reference")


def plain_text(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the middle level if it has markup although the rubric requires plain text."""
    if not answer.rules.plain_text:
        return None
    hits = answer.markup(answer.names)
    if not hits:
        return ClauseResult(en="plain words", credit=True)
    evidence = "; ".join(hit.evidence for hit in hits)
    return ClauseResult(en=evidence, cap="middle")


def taboo(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the second worst level if it contains a phrase that must not occur."""
    if not answer.rules.taboo:
        return None
    phrase = _first_phrase_in(answer, answer.rules.taboo)
    if phrase is None:
        return ClauseResult(en="no taboo phrase")
    return ClauseResult(en=f"says '{phrase}'", cap="second_worst")


def markers(answer: ClauseInput) -> ClauseResult | None:
    """Give a credit (a reason for the best level) for a word typical of the persona."""
    if not answer.rules.markers:
        return None
    phrase = _first_phrase_in(answer, answer.rules.markers)
    if phrase is None:
        return ClauseResult(en="no persona marker", cap="second_best")
    return ClauseResult(en=f"says '{phrase}'", credit=True)


def length(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the middle level if it is too long or too short."""
    limits = answer.rules.length
    if limits is None:
        return None
    size = len("".join(answer.text.split()))
    if limits.min <= size and (limits.max is None or size <= limits.max):
        return ClauseResult(en=f"{size} characters", credit=True)
    bounds = f"{limits.min}-{limits.max if limits.max is not None else '∞'}"
    is_far = 2 * size < limits.min or (limits.max is not None and size > 2 * limits.max)
    return ClauseResult(
        en=f"{size} characters, wanted {bounds}",
        cap="second_worst" if is_far else "middle",
    )


def reference_similarity(answer: ClauseInput) -> ClauseResult | None:
    """Give a credit (a reason for the best level) if the similarity to a reference is at least 0.3."""
    if not answer.sample.references:
        return None
    closest = max(map(answer.similarity_to, answer.sample.references))
    return ClauseResult(
        en=f"similarity {closest:.2f} to the reference",
        cap="middle" if closest < MIN_SIMILARITY else None,
        credit=closest >= MIN_SIMILARITY_FOR_CREDIT,
    )


def repeated_lines(answer: ClauseInput) -> ClauseResult | None:
    """Cap the answer at the second worst level if 70 % or more of its lines repeat earlier lines."""
    share, lines = repeated_share(answer.text)
    if lines < MIN_LINES:
        return None
    return ClauseResult(
        en=f"{share:.0%} of {lines} lines repeat",
        cap="second_worst" if share >= MAX_REPEATED_SHARE else None,
    )


CLAUSES_BY_NAME: Mapping[ClauseName, Callable[[ClauseInput], ClauseResult | None]] = {
    "empty_or_broken": empty_or_broken,
    "near_duplicate": near_duplicate,
    "wrong_number": wrong_number,
    "right_number": right_number,
    "copy_of_reference": copy_of_reference,
    "plain_text": plain_text,
    "taboo": taboo,
    "markers": markers,
    "length": length,
    "reference_similarity": reference_similarity,
    "repeated_lines": repeated_lines,
}
"""All clauses by name, in the order in which results list them."""


def _first_phrase_in(answer: ClauseInput, phrases: Sequence[str]) -> str | None:
    return next((phrase for phrase in phrases if _folded_phrase(phrase) in answer.folded_text), None)


@lru_cache(maxsize=4096)
def _folded_phrase(phrase: str) -> str:
    return fold_phrase(phrase)


VERSION = 1
"""Version of the clauses (checks of an answer) and of how they lead to a level; part of the signature."""

DEFAULT_CLAUSES: tuple[ClauseName, ...] = (
    "empty_or_broken",
    "near_duplicate",
    "copy_of_reference",
    "wrong_number",
    "repeated_lines",
)
"""Clauses (checks) that are evaluated even if the rubric has no ``rules:`` block."""
CONTENT_CLAUSES: frozenset[ClauseName] = frozenset(("markers", "reference_similarity", "right_number"))
"""Clauses (checks) that give a credit for the content of an answer; the best level requires such a credit.
Credits for length and format alone are not enough for the best level."""

CREDIT_CLAUSES: frozenset[ClauseName] = CONTENT_CLAUSES | {"plain_text", "length"}
"""Clauses (checks) that can give a credit, which is a reason for the best level."""

ClauseResults = dict["ClauseName", ClauseResult]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RulesJudge:
    """Judge answers by fixed rules, without a model; the module's docstring explains how a level is found.

    Args:
        rubric: Levels and criteria; its ``rules:`` block configures the clauses (checks of an answer).
        language: Language of the judgments, which every judge of a plan takes. The reasons of this judge
            are stored in English; reports put them into their own language.
        persona: Description of the character. If the description contains the speaker's name, an answer that
            begins with this name and a colon (``名字：``) counts as an answer with markup.
        name: First part of the score names; default: the rubric's name.
        markers: Words that are typical of the persona, in addition to the rubric's ``markers``.
        taboo: Phrases that an answer must not contain, in addition to the rubric's ``taboo``.
        level_from: Source of the overall level. ``holistic``: the level that results from all clauses.
            ``min_aspect``: the lowest level of a criterion. ``median_aspect``: the median of the criteria's
            levels (the lower of two middle levels). Criteria without a level are skipped.
        exclude_clauses: Names of clauses to skip, because a rule of the task makes the same check after
            judging.

    Raises:
        ValueError: ``markers`` or ``taboo`` is not a list of texts, the language or ``level_from`` is
            unknown, or ``level_from`` needs criteria but the rubric has none.

    Examples:
        >>> import asyncio
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.records import Response, Sample
        >>> judge = RulesJudge(rubric=load_rubric("persona_generic"))
        >>> verdict = asyncio.run(judge.judge(Sample(id="1"), Response(sample_id="1", text="## One\\nTwo")))
        >>> verdict.outcomes[0].value, verdict.reason
        (0.5, 'baseline by rules, not a language model: plain_text (heading ## One)')
    """

    rubric: Rubric
    language: Language = "zh"
    persona: str = ""
    name: str = ""
    markers: Sequence[str] = ()
    taboo: Sequence[str] = ()
    level_from: LevelFrom = "holistic"
    exclude_clauses: Sequence[ClauseName] = ()
    _rules: RubricRules | None = field(init=False)

    reads: ClassVar[tuple[ContextPart, ...]] = ("earlier",)
    is_local: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_language(self.language)
        parse_level_from(self.level_from, list(self.rubric.criteria))
        object.__setattr__(self, "name", self.name or self.rubric.name)
        object.__setattr__(self, "exclude_clauses", tuple(sorted(set(self.exclude_clauses))))
        phrases = {"markers": _texts("markers", self.markers), "taboo": _texts("taboo", self.taboo)}
        object.__setattr__(self, "_rules", _with_phrases(self.rubric.rules, phrases))

    @cached_property
    def _speaker_names(self) -> str:
        return " ".join([self.persona, *(self._rules.markers if self._rules else [])]).strip()

    def __repr__(self) -> str:
        return f"RulesJudge({self.signature!r})"

    @cached_property
    def signature(self) -> str:
        """Text with everything that can change a score: the rubric, its rules, options and version."""
        rules = digest(self._rules.model_dump(mode="json") if self._rules else None, self._speaker_names)[:8]
        level = "" if self.level_from == "holistic" else f"|level:{self.level_from}"
        level += f"|without:{','.join(self.exclude_clauses)}" if self.exclude_clauses else ""
        return f"{self.name}|rubric:{self.rubric.version}.{self.rubric.hash}|rules:{rules}{level}|v:{VERSION}"

    @property
    def names(self) -> Sequence[str]:
        """Names of the judge's scores: first the overall level, then each criterion."""
        return tuple(score_name(self.name, part) for part in (LEVEL, *self.rubric.criteria))

    async def judge(
        self, sample: Sample, response: Response, context: EvaluationContext = NO_CONTEXT
    ) -> Verdict:
        """Judge an answer; the level of a copy of an earlier answer to the sample is capped.

        ``metadata.number`` (or ``metadata.answer``) is the right number. If ``metadata.exempt`` contains
        ``target_copy`` (or ``exempt_copy`` is true), the answer may copy a reference; with ``near_duplicate``
        (or ``exempt_duplicate``), an earlier answer.
        """
        results = self._evaluate(sample, response, context.earlier)
        criteria = [self._criterion(name, results) for name in self.rubric.criteria]
        level = aggregate_level(self.level_from, self._level(results), criteria)
        return Verdict(
            outcomes=(level, *criteria),
            reason=level.reason if isinstance(level, Score) else level.message,
        )

    def _evaluate(self, sample: Sample, response: Response, earlier: Sequence[Response]) -> ClauseResults:
        answer = ClauseInput(
            sample=sample,
            response=response,
            earlier=earlier,
            rules=self._rules or RubricRules(),
            names=self._speaker_names,
        )
        clauses: Sequence[ClauseName] = tuple(CLAUSES_BY_NAME) if self._rules else DEFAULT_CLAUSES
        results = {
            name: CLAUSES_BY_NAME[name](answer) for name in clauses if name not in self.exclude_clauses
        }
        return {name: result for name, result in results.items() if result is not None}

    def _level(self, results: ClauseResults) -> Outcome:
        name = score_name(self.name, LEVEL)
        if self._rules is None and not any(result.cap for result in results.values()):
            return self._not_applicable(
                name, "this answer: the rubric has no rules block and nothing is broken"
            )
        credited = {clause for clause, result in results.items() if result.credit}
        return self._score(name, results, best_possible=bool(CONTENT_CLAUSES & credited))

    def _criterion(self, criterion: str, results: ClauseResults) -> Outcome:
        clauses = self._rules.criteria.get(criterion, []) if self._rules else []
        name = score_name(self.name, criterion)
        if not clauses:
            return self._not_applicable(name, f"{criterion}: no clause speaks for it")
        applicable: ClauseResults = {
            clause: result for clause, result in results.items() if clause in clauses
        }
        if not applicable:
            return self._not_applicable(
                name, f"{criterion} here: {', '.join(clauses)} found nothing to look at"
            )
        return self._score(name, applicable, best_possible=True)

    def _score(self, name: str, results: ClauseResults, *, best_possible: bool) -> Score:
        value = self._value(_strictest_cap(results), best=best_possible and _all_credited(results))
        deciding = {clause: result for clause, result in results.items() if result.cap or result.credit}
        return Score(
            name=name,
            value=value,
            signature=self.signature,
            scale=self.rubric.scale,
            kind="judge",
            reason=self._reason(deciding),
            details={
                "label": next(label for label, level in self.rubric.labels.items() if level == value),
                "model": "rules",
                "clauses": {clause: result.en for clause, result in deciding.items()},
                "caps": {clause: result.cap for clause, result in deciding.items() if result.cap},
                "seen": list(results),
            },
        )

    def _value(self, cap: Cap | None, *, best: bool) -> float:
        values = list(self.rubric.levels)
        top = len(values) - 1
        second = top - 1 if top > 1 else top
        if cap is None:
            return values[top if best else second]
        indexes = {"worst": 0, "second_worst": min(1, top - 1), "middle": top // 2, "second_best": second}
        return values[indexes[cap]]

    def _reason(self, deciding: Mapping[ClauseName, ClauseResult]) -> str:
        objections = [(clause, result) for clause, result in deciding.items() if result.cap]
        objections.sort(key=lambda item: CAPS.index(item[1].cap or "second_best"))
        causes = dict(objections or deciding)
        parts = "; ".join(f"{clause} ({result.en})" for clause, result in causes.items())
        return f"baseline by rules, not a language model: {parts or 'no rule is broken'}"

    def _not_applicable(self, name: str, subject: str) -> Failure:
        return Failure(
            name=name,
            status="not_applicable",
            message=f"the rules judge cannot see {subject}",
            signature=self.signature,
            kind="judge",
        )


def _texts(option: str, values: Sequence[str]) -> list[str]:
    if isinstance(values, str) or not all(isinstance(value, str) and value.strip() for value in values):
        raise ValueError(f"{option} must be a list of texts, got {values!r}")
    return list(values)


def _with_phrases(rules: RubricRules | None, phrases: Mapping[str, list[str]]) -> RubricRules | None:
    """Return the rubric's rules with the added phrases; None if there are neither rules nor phrases."""
    if rules is None and not any(phrases.values()):
        return None
    base = rules or RubricRules()
    return base.model_copy(update={key: [*getattr(base, key), *texts] for key, texts in phrases.items()})


def _strictest_cap(results: ClauseResults) -> Cap | None:
    caps = [result.cap for result in results.values() if result.cap is not None]
    return min(caps, key=CAPS.index) if caps else None


def _all_credited(results: ClauseResults) -> bool:
    """Return whether all clauses (checks) that can give a credit (a reason for the best level) gave one."""
    clauses = {clause for clause in results if clause in CREDIT_CLAUSES}
    if "right_number" in clauses:
        clauses.discard("reference_similarity")
    return bool(clauses) and all(results[clause].credit for clause in clauses)
