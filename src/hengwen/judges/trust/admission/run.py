"""May a judge be trusted with a rubric? Questions whose answers are known, put to it before it counts."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from hengwen.judges.rules.capped_judge import CappedJudge
from hengwen.judges.trust.admission.cases import load_cases
from hengwen.judges.trust.admission.plan import (
    AdmissionItem,
    AskKey,
    JudgeQuery,
    PlannedTrial,
    plan_admission,
)
from hengwen.judges.trust.admission.report import NAMES, AdmissionReport, Check, Trial, TrialResult
from hengwen.judges.trust.admission.variants import JudgeFactory, judge_factory_for
from hengwen.judges.trust.canaries import level_of
from hengwen.records import Failure, Response, Sample, Usage, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hengwen.prompts.language import Language
    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Judge

LEAST_DROP = 0.1
"""Share of the smallest step between levels by which a worse answer must lie lower."""
MOST_SPREAD = 0.5
"""Share of that step within which repeats are the same."""

_INTRODUCTIONS = {"zh": "（人设：{persona}）\n{text}", "en": "(Persona: {persona})\n{text}"}


@dataclass(frozen=True, slots=True)
class FixedJudgeFactory:
    """Stands in for a maker where there is none: the description goes before the input."""

    judge: Judge
    language: Language

    def sample(self, ask: JudgeQuery) -> Sample:
        if ask.persona is None:
            return ask.sample
        told = _INTRODUCTIONS[self.language].format(persona=ask.persona, text=ask.sample.text)
        return replace(ask.sample, input=told)


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
    """Try a judge with answers of which it is known how they should fare.

    - ``examples_exact``, ``examples_near``: each example of the rubric is judged by the rubric with all the
      *other* examples (leave one out): shown its own level, a judge could copy it; shown none, it would be
      another judge than the one that will work. Near: at most one level off.
    - ``persona_swap``: an answer in character is judged under the description of another character, and must
      fall. Two small characters, four questions each.
    - ``degraded``: good answers (the rubric's examples at the best level, the characters' answers, ``items``)
      against spoilt copies of them, which must lie lower; see ``spoil``.
    - ``repeats``: each of those answers is judged ``repeats`` times, and must get the same level.

    What the judge does not judge is neither passed nor failed. ``BARS`` says what a check asks for.

    Args:
        judge: Any judge of the rubric. Of a judge under rules, the judge itself is tried: the rules lower a
            level whatever it says.
        rubric: What it judges by.
        make: Makes the judge anew with another rubric or persona, or to be asked again. Default: known for
            the judges of this package. For others, without it: the examples cannot be held out and that
            check stays unclear, descriptions go before the input, and repeats ask the same judge again.
        items: Good answers of your own, or labelled ones.
        repeats: Verdicts on each answer, >= 2.
        language: Of the examples, the characters and the copies: that of the judge's prompt.
        concurrency: Verdicts at the same time, >= 1.

    Raises:
        ValueError: An option is no such value, or the judge gives values beyond the rubric's levels.
        StoreError: What was paid for cannot be kept.

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
    maker = make or judge_factory_for(judge)
    plan = plan_admission(rubric, items=items, repeats=repeats, language=language, hidden=maker is not None)
    said = await _ask_all(plan.asks, maker or FixedJudgeFactory(judge, language), rubric, concurrency)
    levels = {key: level_of(who, rubric, verdict) for key, (who, verdict) in said.items()}
    trials = [_trial(planned, levels, rubric) for planned in plan.trials]
    usage = [verdict.usage for _, verdict in said.values() if isinstance(verdict, Verdict)]
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
                counts=name not in plan.left_out,
            )
            for name in NAMES
        ),
        verdicts=len(plan.asks),
        usage=sum(usage, Usage()),
    )


async def _ask_all(
    asks: Mapping[AskKey, JudgeQuery],
    maker: JudgeFactory | FixedJudgeFactory,
    rubric: Rubric,
    concurrency: int,
) -> dict[AskKey, tuple[Judge, Verdict | BaseException]]:
    slots = asyncio.Semaphore(concurrency)
    judges: dict[tuple[int | None, str | None, int], Judge] = {}

    def judge_for(ask: JudgeQuery) -> Judge:
        if isinstance(maker, FixedJudgeFactory):
            return maker.judge
        key = (ask.without, ask.persona, ask.again)
        if key not in judges:
            judges[key] = maker(
                rubric=without_example(rubric, ask.without), persona=ask.persona, again=ask.again
            )
        return judges[key]

    async def one(ask: JudgeQuery) -> Verdict:
        sample = maker.sample(ask) if isinstance(maker, FixedJudgeFactory) else ask.sample
        async with slots:
            return await judge_for(ask).judge(sample, Response(sample_id=sample.id, text=ask.text))

    said = await asyncio.gather(*map(one, asks.values()), return_exceptions=True)
    return {key: (judge_for(asks[key]), verdict) for key, verdict in zip(asks, said, strict=True)}


def without_example(rubric: Rubric, index: int | None) -> Rubric:
    """Return the rubric without one of its examples; checked anew, so that its hash is its own.

    Args:
        rubric: With examples.
        index: From 0; None: the rubric as it is.

    Examples:
        >>> from hengwen.prompts import load_rubric
        >>> rubric = load_rubric("persona_generic")
        >>> less = without_example(rubric, 0)
        >>> len(rubric.examples) - len(less.examples), less.hash == rubric.hash
        (1, False)
    """
    if index is None:
        return rubric
    written = rubric.model_dump()
    del written["examples"][index]
    return type(rubric).model_validate(written)


def _trial(planned: PlannedTrial, levels: Mapping[AskKey, float | Failure], rubric: Rubric) -> Trial:
    found = [levels[key] for key in planned.keys]
    values = tuple(None if isinstance(value, Failure) else value for value in found)
    missing = [value for value in found if isinstance(value, Failure)]
    known = [value for value in values if value is not None]
    fate: TrialResult = "no_verdict"
    if not missing:
        fate = "passed" if _passes(planned, known, rubric) else "failed"
    return Trial(
        check=planned.check,
        item=planned.item,
        kind=planned.kind,
        fate=fate,
        values=values,
        wanted=planned.wanted,
        message=f"{missing[0].status}: {missing[0].message}" if missing else "",
    )


def _passes(planned: PlannedTrial, values: Sequence[float], rubric: Rubric) -> bool:
    levels = list(rubric.levels)
    step = min(b - a for a, b in pairwise(levels))
    if planned.check == "repeats":
        return max(values) - min(values) < MOST_SPREAD * step
    if planned.wanted is not None:
        off = abs(_nearest(values[0], levels) - _nearest(planned.wanted, levels))
        return off <= (1 if planned.check == "examples_near" else 0)
    return values[0] - values[1] >= LEAST_DROP * step * (1 - 1e-9)


def _nearest(value: float, levels: Sequence[float]) -> int:
    """Place of the level next to a value; of two as near, the lower."""
    return min(range(len(levels)), key=lambda place: abs(levels[place] - value))
