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

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from hengwen.judges.aspects import aggregate_level, parse_level_from
from hengwen.judges.rules.input import ClauseInput
from hengwen.judges.rules.judge_clauses import CAPS, CLAUSES_BY_NAME, ClauseResult
from hengwen.prompts.rubric import RubricRules
from hengwen.protocols import NO_CONTEXT, ContextPart, EvaluationContext
from hengwen.records import Failure, Outcome, Score, Verdict, digest
from hengwen.score_id import LEVEL, score_name
from hengwen.text.language import check_language

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.aspects import LevelFrom
    from hengwen.judges.rules.judge_clauses import Cap
    from hengwen.prompts.rubric import ClauseName, Rubric
    from hengwen.records import Response, Sample
    from hengwen.text.language import Language

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
