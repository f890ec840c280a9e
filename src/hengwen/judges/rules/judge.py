"""The embedded judge: a rubric's levels by rules alone. No key, no network; a baseline, not a language model.

The ladder, from a rubric's ordered levels:

1. Start from the second best level (with two levels: from the best).
2. Each clause that objects has a cap (worst, second worst, middle, second best); the strictest cap wins.
3. The best level needs that no clause objects, and positive evidence: every clause that can give a credit
   and could look at this answer gives it, and one of them is about what is said (``markers``,
   ``reference_similarity``, ``right_number``). Where a number is asked for, it stands for similarity.

A criterion is weighed in the same way by the clauses that ``rules.criteria`` maps to it, where any credit
will do; one that no clause speaks for is ``not_applicable``. Without a ``rules:`` block (or markers or taboo
given as options) only the clauses in ``ALWAYS`` look: an objection gives its level, silence is
``not_applicable``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hengwen.judges.aspects import aggregate_level, parse_level_from
from hengwen.judges.rules.clauses import CAPS, FUNCTIONS, ClauseInput, ClauseResult
from hengwen.prompts.rubric import RubricRules
from hengwen.records import Failure, Outcome, Score, Verdict, digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.judges.aspects import LevelFrom
    from hengwen.judges.rules.clauses import Cap
    from hengwen.prompts.rubric import ClauseName, Language, Rubric
    from hengwen.records import Response, Sample

VERSION = 1
"""Goes up whenever a clause or the ladder changes a level."""

ALWAYS: tuple[ClauseName, ...] = (
    "empty_or_broken",
    "near_duplicate",
    "copy_of_reference",
    "wrong_number",
    "repeated_lines",
)
"""The clauses that need no ``rules:`` block."""
TELLING: frozenset[ClauseName] = frozenset(("markers", "reference_similarity", "right_number"))
"""The credits that are about what is said; length and format alone earn no best level."""

CREDITABLE: frozenset[ClauseName] = TELLING | {"plain_text", "length"}
"""The clauses that can give a credit."""

Findings = dict["ClauseName", ClauseResult]


class RulesJudge:
    """Judges by what can be decided without a model.

    Args:
        rubric: Whose levels and criteria; its ``rules:`` block says what to look for.
        language: Of the reasons.
        persona: Text about the character; a speaker's name in it makes ``名字：`` at the start a label.
        name: First part of the score names; default: the rubric's name.
        markers: Words that show the persona, besides the rubric's.
        taboo: Phrases that must not occur, besides the rubric's.
        level_from: ``holistic`` (the ladder above), ``min_aspect`` or ``median_aspect`` (of the criteria that
            rules can see).
        leave_out: Clauses that do not look: those that a rule of the task applies after judging.

    Raises:
        ValueError: ``markers`` or ``taboo`` is not a list of texts, or the language is unknown.

    Examples:
        >>> import asyncio
        >>> from hengwen.prompts import load_rubric
        >>> from hengwen.records import Response, Sample
        >>> judge = RulesJudge(rubric=load_rubric("persona_generic"), language="en")
        >>> verdict = asyncio.run(judge.judge(Sample(id="1"), Response(sample_id="1", text="## One\\nTwo")))
        >>> verdict.outcomes[0].value, verdict.reason
        (0.5, 'baseline by rules, not a language model: plain_text (heading ## One)')
    """

    def __init__(
        self,
        *,
        rubric: Rubric,
        language: Language = "zh",
        persona: str = "",
        name: str | None = None,
        markers: Sequence[str] = (),
        taboo: Sequence[str] = (),
        level_from: LevelFrom = "holistic",
        leave_out: Sequence[ClauseName] = (),
    ) -> None:
        if language not in ("zh", "en"):
            raise ValueError(f"language must be 'zh' or 'en', got {language!r}")
        more = {"markers": _texts("markers", markers), "taboo": _texts("taboo", taboo)}
        self.rubric = rubric
        self.language: Language = language
        self.name = name or rubric.name
        self._rules = _effective(rubric.rules, more)
        self._names = " ".join([persona, *(self._rules.markers if self._rules else [])]).strip()
        rules = digest(self._rules.model_dump(mode="json") if self._rules else None, self._names)[:8]
        self.level_from: LevelFrom = parse_level_from(level_from, list(rubric.criteria))
        self.leave_out = tuple(sorted(set(leave_out)))
        level = "" if level_from == "holistic" else f"|level:{level_from}"
        level += f"|without:{','.join(self.leave_out)}" if self.leave_out else ""
        self._signature = (
            f"{self.name}|rubric:{rubric.version}.{rubric.hash}|rules:{rules}{level}|v:{VERSION}"
        )

    def __repr__(self) -> str:
        return f"RulesJudge({self.signature!r})"

    @property
    def signature(self) -> str:
        """Rubric, rules (with the options) and version: all that can move a number."""
        return self._signature

    @property
    def names(self) -> Sequence[str]:
        """The level first, then each criterion."""
        return (f"{self.name}.level", *(f"{self.name}.{criterion}" for criterion in self.rubric.criteria))

    async def judge(self, sample: Sample, response: Response, *, earlier: Sequence[Response] = ()) -> Verdict:
        """Judge an answer.

        Args:
            sample: What was asked; ``metadata`` may hold ``number`` (or ``answer``), ``exempt`` (see the
                clauses), ``exempt_copy`` and ``exempt_duplicate``.
            response: The answer.
            earlier: The answers with a lower ``repeat``, which it must not repeat.
        """
        findings = self._look(sample, response, earlier)
        criteria = [self._criterion(name, findings) for name in self.rubric.criteria]
        level = aggregate_level(self.level_from, self._level(findings), criteria)
        return Verdict(
            outcomes=(level, *criteria),
            reason=level.reason if isinstance(level, Score) else level.message,
        )

    def _look(self, sample: Sample, response: Response, earlier: Sequence[Response]) -> Findings:
        case = ClauseInput(
            sample=sample,
            response=response,
            earlier=earlier,
            rules=self._rules or RubricRules(),
            names=self._names,
        )
        wanted: Sequence[ClauseName] = tuple(FUNCTIONS) if self._rules else ALWAYS
        looked = ((name, FUNCTIONS[name](case)) for name in wanted if name not in self.leave_out)
        return {name: finding for name, finding in looked if finding is not None}

    def _level(self, findings: Findings) -> Outcome:
        name = f"{self.name}.level"
        if self._rules is None and not any(finding.cap for finding in findings.values()):
            return self._blind(name, "this answer: the rubric has no rules block and nothing is broken")
        best = bool(TELLING & {name for name, finding in findings.items() if finding.credit})
        return self._score(name, findings, best_possible=best)

    def _criterion(self, criterion: str, findings: Findings) -> Outcome:
        mapped = self._rules.criteria.get(criterion, []) if self._rules else []
        name = f"{self.name}.{criterion}"
        if not mapped:
            return self._blind(name, f"{criterion}: no clause speaks for it")
        seen: Findings = {clause: finding for clause, finding in findings.items() if clause in mapped}
        if not seen:
            return self._blind(name, f"{criterion} here: {', '.join(mapped)} found nothing to look at")
        return self._score(name, seen, best_possible=True)

    def _score(self, name: str, findings: Findings, *, best_possible: bool) -> Score:
        value = self._value(_strictest(findings), best=best_possible and _all_credited(findings))
        label = next(label for label, at in self.rubric.labels.items() if at == value)
        deciding = {clause: finding for clause, finding in findings.items() if finding.cap or finding.credit}
        return Score(
            name=name,
            value=value,
            signature=self.signature,
            scale=self.rubric.scale,
            kind="judge",
            reason=self._reason(deciding),
            details={
                "label": label,
                "model": "rules",
                "clauses": {clause: finding.en for clause, finding in deciding.items()},
                "caps": {clause: finding.cap for clause, finding in deciding.items() if finding.cap},
                "seen": list(findings),
            },
        )

    def _value(self, cap: Cap | None, *, best: bool) -> float:
        values = list(self.rubric.levels)
        top = len(values) - 1
        second = top - 1 if top > 1 else top
        if cap is None:
            return values[top if best else second]
        places = {"worst": 0, "second_worst": min(1, top - 1), "middle": top // 2, "second_best": second}
        return values[places[cap]]

    def _reason(self, deciding: Mapping[ClauseName, ClauseResult]) -> str:
        objections = [item for item in deciding.items() if item[1].cap]
        objections.sort(key=lambda item: CAPS.index(item[1].cap or "second_best"))
        shown = dict(objections or deciding)
        if self.language == "zh":
            parts = "；".join(f"{name}（{finding.zh}）" for name, finding in shown.items())
            return f"规则基线，并非语言模型：{parts or '规则未见异常'}"
        parts = "; ".join(f"{name} ({finding.en})" for name, finding in shown.items())
        return f"baseline by rules, not a language model: {parts or 'no rule objects'}"

    def _blind(self, name: str, what: str) -> Failure:
        return Failure(
            name=name,
            status="not_applicable",
            message=f"the rules judge cannot see {what}",
            signature=self.signature,
            kind="judge",
        )


def _texts(option: str, values: Sequence[str]) -> list[str]:
    if isinstance(values, str) or not all(isinstance(value, str) and value.strip() for value in values):
        raise ValueError(f"{option} must be a list of texts, got {values!r}")
    return list(values)


def _effective(rules: RubricRules | None, more: Mapping[str, list[str]]) -> RubricRules | None:
    if rules is None and not any(more.values()):
        return None
    base = rules or RubricRules()
    return base.model_copy(update={key: [*getattr(base, key), *values] for key, values in more.items()})


def _strictest(findings: Findings) -> Cap | None:
    caps = [finding.cap for finding in findings.values() if finding.cap is not None]
    return min(caps, key=CAPS.index) if caps else None


def _all_credited(findings: Findings) -> bool:
    """Whether everything that may earn a credit did, at least once."""
    asked = {name for name in findings if name in CREDITABLE}
    if "right_number" in asked:
        asked.discard("reference_similarity")
    return bool(asked) and all(findings[name].credit for name in asked)
