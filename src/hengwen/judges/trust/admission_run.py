"""The admission test: before a judge is used, it judges answers whose correct level or rank is known."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from hengwen.backends.parameters import WrappedBackend, parsing_backend
from hengwen.judges.panel import Panel
from hengwen.judges.rubric.judge import MAX_SAMPLES, RubricJudge
from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.rules.judge import RulesJudge
from hengwen.judges.trust.admission_plan import (
    AdmissionItem,
    JudgeQuery,
    load_cases,
    plan_admission,
)
from hengwen.judges.trust.admission_report import (
    CHECK_NAMES,
    AdmissionReport,
    Check,
    Trial,
    TrialResult,
)
from hengwen.judges.trust.canaries import level_or_failure
from hengwen.prompts.rubric import Rubric
from hengwen.protocols import Backend, Judge, Parsed
from hengwen.records import Failure, Reply, Request, Response, Sample, Score, Usage, Verdict
from hengwen.results.comparability import provenance_of
from hengwen.text.language import Language

if TYPE_CHECKING:
    VariantFor = Callable[[JudgeQuery], tuple[Judge, Sample]]


class JudgeFactory(Protocol):
    """Function that builds a variant of the tested judge, which differs only in the given arguments."""

    def __call__(self, *, rubric: Rubric, persona: str | None, round_no: int) -> Judge:
        """Return a variant of the judge."""
        ...


class FreshCallBackend(WrappedBackend):
    """Backend that changes ``repeat``, which is part of the call key, so that no earlier reply is reused."""

    def __init__(self, backend: Backend, round_no: int) -> None:
        super().__init__(backend)
        self._parsing_backend = parsing_backend(backend)
        self._offset = round_no * MAX_SAMPLES

    async def complete(self, request: Request) -> Reply:
        """Send a request after changing its ``repeat``, so that no earlier reply is reused."""
        return await self._backend.complete(self._shifted(request))

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Send a request with a changed ``repeat``, so that no earlier reply is reused; parse the reply."""
        return await self._parsing_backend.complete_parsed(self._shifted(request), parse)

    def _shifted(self, request: Request) -> Request:
        return replace(request, repeat=request.repeat + self._offset)


def judge_factory_for(judge: Judge) -> JudgeFactory | None:
    """Return a function that builds variants of a judge of this package; None for any other judge."""
    if isinstance(judge, RulesJudge):
        return lambda **_options: judge
    if isinstance(judge, RubricJudge):
        return lambda *, rubric, persona, round_no: _rubric_judge(judge, rubric, persona, round_no)
    if isinstance(judge, Panel):
        optional = [judge_factory_for(member) for member in judge.judges]
        factories = [factory for factory in optional if factory is not None]
        if len(factories) == len(optional):
            return lambda *, rubric, persona, round_no: replace(
                judge,
                judges=[factory(rubric=rubric, persona=persona, round_no=round_no) for factory in factories],
            )
    return None


def _rubric_judge(judge: RubricJudge, rubric: Rubric, persona: str | None, round_no: int) -> RubricJudge:
    """Return a copy of a judge with another rubric, persona or round of calls."""
    return replace(
        judge,
        rubric=rubric,
        backend=FreshCallBackend(judge.backend, round_no),
        persona=judge.persona if persona is None else persona,
        evidence_signature="",
    )


MIN_DROP = 0.1
"""A spoiled answer must lower the value by at least this share of the smallest distance between levels."""
MAX_SPREAD = 0.5
"""Two values count as equal if they differ by less than this share of the smallest distance between
levels."""

_PERSONA_TEMPLATES = {"zh": "（人设：{persona}）\n{text}", "en": "(Persona: {persona})\n{text}"}


async def admission_test(
    judge: Judge,
    rubric: Rubric,
    *,
    make: JudgeFactory | None = None,
    items: Sequence[AdmissionItem] = (),
    repeats: int = 3,
    language: Language = "zh",
    concurrency: int = 8,
) -> AdmissionReport:
    """Test a judge on answers whose correct level or rank is known.

    - ``examples_exact``: an answer with a known level must get this level. These answers are the examples of
      the rubric and the ``items`` with a level. An example is removed from the judge's prompt while it is
      judged, because the judge could copy its level; all other examples stay.
    - ``examples_near``: the same answers must get their level or one of its two neighbours.
    - ``persona_swap``: an answer that fits its character must get a lower value if the judge reads the
      description of another character. There are two characters with four inputs each.
    - ``degraded``: a copy that ``degrade`` made worse must get a lower value than the original. Originals are
      good answers: the characters' answers, examples at the best level, and ``items`` at the best level or
      without a level.
    - ``padded``: an answer followed by sentences without content must not get a higher value, and its value
      may drop by at most one level.
    - ``repeats``: if the judge is asked several times about one answer (argument ``repeats``), it must give
      the same level.

    A trial with a missing verdict is neither passed nor failed. ``CRITERIA`` contains the thresholds of the
    checks. If fewer than six good answers have a verdict, the result is at best ``inconclusive``. Attacks are
    tested separately by ``run_canaries``; ``dataclasses.replace(report, attacks=...)`` adds the report on the
    attacks to the decision.

    Args:
        judge: A judge that uses the rubric. A ``CappedJudge`` is tested without its caps, because caps lower
            levels whatever the wrapped judge says.
        rubric: The rubric of the judge.
        make: Function that rebuilds the judge with another rubric or persona, or for another round (calls
            that do not reuse stored replies). The judges of this package need no ``make``. If ``make`` is
            missing for another kind of judge, examples cannot be removed from the prompt of this judge, so
            the checks with examples stay unclear. For a judge that cannot be rebuilt, the persona is put
            before the input, and repeats call the unchanged judge again.
        items: Additional answers: good answers, or answers with a known level.
        repeats: How often the judge is asked about each answer in the check ``repeats``, >= 2.
        language: Language of the judge's prompt; used for examples, characters and degraded copies.
        concurrency: Maximum number of concurrent verdicts, >= 1.

    Raises:
        ValueError: An option is invalid, or the judge gives values outside the rubric's levels.
        StoreError: The store cannot save a paid reply of the judge.

    Examples:
        >>> from hengwen.judges import RulesJudge
        >>> from hengwen.prompts import load_rubric
        >>> rubric = load_rubric("persona_generic")
        >>> report = asyncio.run(admission_test(RulesJudge(rubric=rubric), rubric))
        >>> report.verdict, report["persona_swap"].passed, report["persona_swap"].n
        ('not admitted', 0, 8)
    """
    if concurrency < 1:
        raise ValueError(f"concurrency must be at least 1, got {concurrency}")
    while isinstance(judge, CappedJudge):
        judge = judge.inner
    factory = make or judge_factory_for(judge)
    plan = plan_admission(rubric, items=items, repeats=repeats, language=language, hidden=factory is not None)
    variant_for = _rebuilt(factory, rubric) if factory else _with_personas(judge, language)
    slots = asyncio.Semaphore(concurrency)

    async def judge_query(query: JudgeQuery) -> Verdict:
        variant, sample = variant_for(query)
        async with slots:
            return await variant.judge(sample, Response(sample_id=sample.id, text=query.text))

    results = await asyncio.gather(*map(judge_query, plan.queries.values()), return_exceptions=True)
    levels = {
        key: level_or_failure(variant_for(query)[0], rubric, result)
        for (key, query), result in zip(plan.queries.items(), results, strict=True)
    }
    trials = [_decided(trial, [levels[key] for key in keys], rubric) for trial, keys in plan.trials]
    verdicts = [result for result in results if isinstance(result, Verdict)]
    return AdmissionReport(
        judge=judge.signature,
        rubric=f"{rubric.name} {rubric.version}.{rubric.hash}",
        cases=load_cases().hash,
        language=language,
        checks=tuple(
            Check(
                name=name,
                trials=tuple(trial for trial in trials if trial.check == name),
                note=plan.notes.get(name, ""),
                required=name not in plan.not_applicable,
            )
            for name in CHECK_NAMES
        ),
        verdicts=len(plan.queries),
        bases=sum(not isinstance(levels[key], Failure) for key in plan.bases),
        usage=sum((verdict.usage for verdict in verdicts), Usage()),
        models=_models(verdicts),
    )


def _models(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    """Return the names of the models, as their server returned them."""
    names = {
        value
        for verdict in verdicts
        for outcome in verdict.outcomes
        if isinstance(outcome, Score)
        for part, value in provenance_of(outcome.details)
        if part == "model"
    }
    return tuple(sorted(names))


def _rebuilt(factory: JudgeFactory, rubric: Rubric) -> VariantFor:
    """Return a function that gives each query the judge that is built for it."""

    @cache
    def judge_for(hidden_example: int | None, persona: str | None, round_no: int) -> Judge:
        return factory(rubric=without_example(rubric, hidden_example), persona=persona, round_no=round_no)

    return lambda query: (judge_for(query.hidden_example, query.persona, query.round_no), query.sample)


def _with_personas(judge: Judge, language: Language) -> VariantFor:
    """Return a function that puts the persona of a query before the input, as the judge cannot be rebuilt."""

    def variant(query: JudgeQuery) -> tuple[Judge, Sample]:
        if query.persona is None:
            return judge, query.sample
        text = _PERSONA_TEMPLATES[language].format(persona=query.persona, text=query.sample.text)
        return judge, replace(query.sample, input=text)

    return variant


def without_example(rubric: Rubric, index: int | None) -> Rubric:
    """Return a copy of a rubric without one of its examples; its hash differs from the rubric's."""
    if index is None:
        return rubric
    fields = rubric.model_dump()
    del fields["examples"][index]
    return type(rubric).model_validate(fields)


def _decided(trial: Trial, results: Sequence[float | Failure], rubric: Rubric) -> Trial:
    values = [value for value in results if not isinstance(value, Failure)]
    failures = [failure for failure in results if isinstance(failure, Failure)]
    passed: TrialResult = "passed" if not failures and _passes(trial, values, rubric) else "failed"
    return replace(
        trial,
        outcome="no_verdict" if failures else passed,
        values=tuple(None if isinstance(result, Failure) else result for result in results),
        message=f"{failures[0].status}: {failures[0].message}" if failures else "",
    )


def _passes(trial: Trial, values: Sequence[float], rubric: Rubric) -> bool:
    levels = list(rubric.levels)
    step = min(upper - lower for lower, upper in pairwise(levels))
    if trial.check == "repeats":
        return max(values) - min(values) < MAX_SPREAD * step
    if trial.expected is not None:
        distance = abs(_nearest(values[0], levels) - _nearest(trial.expected, levels))
        return distance <= (1 if trial.check == "examples_near" else 0)
    if trial.check == "padded":
        change = values[1] - values[0]
        lowered = _nearest(values[0], levels) - _nearest(values[1], levels)
        return change < MAX_SPREAD * step and lowered <= 1
    return values[0] - values[1] >= MIN_DROP * step * (1 - 1e-9)


def _nearest(value: float, levels: Sequence[float]) -> int:
    """Return the index of the level nearest to a value; of two equally near levels, the lower one."""
    return min(range(len(levels)), key=lambda index: abs(levels[index] - value))
