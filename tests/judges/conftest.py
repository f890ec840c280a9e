"""Fixtures: a scripted backend, a judge that calls a function, a small rubric, verdicts by rules."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from hengwen.judges import RulesJudge, admission_test
from hengwen.judges.trust.admission_report import AdmissionReport
from hengwen.prompts import Rubric, load_rubric
from hengwen.protocols import EvaluationContext
from hengwen.records import Failure, Reply, Request, Response, Sample, Scale, Score, Usage, Verdict


class FakeBackend:
    """Answers from a list; an exception in it is raised."""

    signature = "fake/one|temp:0"
    endpoint = "http://fake/v1"

    def __init__(self, *answers: str | Reply | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(text=answer, model="one-2026", usage=Usage(calls=1, input_tokens=5), latency=0.5)

    async def close(self) -> None:
        return None


@pytest.fixture
def fake() -> Callable[..., FakeBackend]:
    return FakeBackend


@pytest.fixture
def small() -> Rubric:
    """Three levels, two criteria; its rules map one of them."""
    both = {"zh": "甲", "en": "x"}
    return Rubric.model_validate(
        {
            "name": "small",
            "version": 2,
            "title": both,
            "instructions": both,
            "levels": {
                value: {"label": label, **both} for value, label in ((1, "Low"), (2, "Mid"), (5, "High"))
            },
            "criteria": {"wit": both, "form": both},
            "uses": ["input", "response", "persona"],
            "rules": {"criteria": {"form": ["empty_or_broken", "length"]}, "length": {"min": 2, "max": 20}},
        }
    )


@pytest.fixture
def judge_by_rules() -> Callable[..., Verdict]:
    """Judge one answer by rules."""

    def judge(
        text: str,
        *,
        rubric: Rubric | str = "persona_generic",
        references: tuple[str, ...] = (),
        metadata: dict[str, Any] | None = None,
        earlier: tuple[str, ...] = (),
        **options: Any,
    ) -> Verdict:
        rules_judge = RulesJudge(
            rubric=load_rubric(rubric) if isinstance(rubric, str) else rubric, **{"language": "en", **options}
        )
        sample = Sample(id="1", input="?", references=references, metadata=metadata or {})
        before = [Response(sample_id="1", text=old, repeat=i) for i, old in enumerate(earlier, 1)]
        answer = Response(sample_id="1", text=text, repeat=len(before) + 1)
        return asyncio.run(rules_judge.judge(sample, answer, EvaluationContext(earlier=before)))

    return judge


class FunctionJudge:
    """Judge that calls ``level_of(text, persona, round_no, sample)`` for a level, a status or an error."""

    names = ("fake.level",)
    signature = "fake|v:1"

    def __init__(self, level_of, persona=None, round_no=0):
        self.level_of = level_of
        self.persona = persona
        self.round_no = round_no
        self.active = self.max_active = 0

    async def judge(self, sample, response):
        self.active += 1
        self.max_active = max(self.max_active, self.active)
        await asyncio.sleep(0)
        self.active -= 1
        level = self.level_of(response.text, self.persona, self.round_no, sample)
        if isinstance(level, Exception):
            raise level
        fields = {"name": "fake.level", "signature": self.signature}
        outcome = (
            Failure(status=level, message="no", **fields)
            if isinstance(level, str)
            else Score(value=level, scale=Scale(low=-9, high=9), **fields)
        )
        return Verdict(outcomes=(outcome,), usage=Usage(calls=1))


@pytest.fixture
def function_judge() -> type[FunctionJudge]:
    return FunctionJudge


@pytest.fixture
def run_admission() -> Callable[..., AdmissionReport]:
    """Run the admission test on a function judge that is rebuilt for each query."""

    def run(level_of: Callable[..., Any], rubric: Rubric | None = None, **options: Any) -> AdmissionReport:
        def make(*, rubric: Rubric, persona: str | None, round_no: int) -> FunctionJudge:
            return FunctionJudge(level_of, persona, round_no)

        tested = load_rubric("persona_generic") if rubric is None else rubric
        return asyncio.run(admission_test(FunctionJudge(level_of), tested, make=make, **options))

    return run
