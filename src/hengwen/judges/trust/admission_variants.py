"""Build variants of a judge: with another rubric, another persona, or for another round of calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from hengwen.backends.parsing import WrappedBackend, parsing_backend
from hengwen.judges.panel import Panel
from hengwen.judges.rubric.judge import MAX_SAMPLES, RubricJudge
from hengwen.judges.rules.judge import RulesJudge

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend, Judge, Parsed
    from hengwen.records import Reply, Request


class JudgeFactory(Protocol):
    """Function that builds a variant of the tested judge, which differs only in the given arguments."""

    def __call__(self, *, rubric: Rubric, persona: str | None, round_no: int) -> Judge:
        """Return a variant of the judge."""
        ...


class FreshCallBackend(WrappedBackend):
    """Backend that changes requests, so that a judge that is asked again does not reuse its earlier replies.

    Stored replies are found by a call key that identifies the request. The ``repeat`` of a request is part of
    its call key, so this backend changes ``repeat``.
    """

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
