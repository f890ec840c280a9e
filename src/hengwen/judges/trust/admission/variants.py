"""The same judge once more: with another rubric, another persona, or asked anew."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from hengwen.backends.parsing import parsing_backend
from hengwen.judges.panel import Panel
from hengwen.judges.rubric.judge import MAX_SAMPLES, RubricJudge
from hengwen.judges.rules.judge import RulesJudge

if TYPE_CHECKING:
    from collections.abc import Callable

    from hengwen.prompts.rubric import Rubric
    from hengwen.protocols import Backend, Judge, Parsed
    from hengwen.records import Reply, Request


_NOT_KEPT = ("rubric", "evidence_signature")


class JudgeFactory(Protocol):
    """Makes a judge that differs from the tested one in what is named, and in nothing else."""

    def __call__(self, *, rubric: Rubric, persona: str | None, again: int) -> Judge:
        """Return a judge.

        Args:
            rubric: To judge by.
            persona: Text about the character; None: the judge's own.
            again: 0, or the number of a later round, in which nothing may be answered from an earlier one.
        """
        ...


class FreshCallBackend:
    """A backend whose calls count as others than those of the rounds before, so that no ledger answers them.

    Args:
        backend: Who answers.
        again: Number of the round; 0 changes nothing.
    """

    def __init__(self, backend: Backend, again: int) -> None:
        self._backend = backend
        self._parsing_backend = parsing_backend(backend)
        self._shift = again * MAX_SAMPLES

    @property
    def signature(self) -> str:
        """Of the backend behind."""
        return self._backend.signature

    @property
    def endpoint(self) -> str:
        """Of the backend behind."""
        return self._backend.endpoint

    async def complete(self, request: Request) -> Reply:
        """Answer a request under another repeat index."""
        return await self._backend.complete(self._shifted(request))

    async def complete_parsed(
        self, request: Request, parse: Callable[[Reply], Parsed]
    ) -> tuple[Reply, Parsed]:
        """Return a reply with its parsed value, under another repeat index."""
        return await self._parsing_backend.complete_parsed(self._shifted(request), parse)

    def _shifted(self, request: Request) -> Request:
        return replace(request, repeat=request.repeat + self._shift)

    async def close(self) -> None:
        """Close the backend behind."""
        await self._backend.close()


def judge_factory_for(judge: Judge) -> JudgeFactory | None:
    """Return the maker for a judge of this package; None for one whose making is not known.

    A rules judge stays as it is: it reads neither examples nor descriptions, and never says anything else.

    Args:
        judge: A ``RubricJudge``, a ``RulesJudge``, or a ``Panel`` of such.
    """
    if isinstance(judge, RulesJudge):
        return lambda *, rubric, persona, again: judge
    if isinstance(judge, RubricJudge):
        return lambda *, rubric, persona, again: _rubric_judge(judge, rubric, persona, again)
    if isinstance(judge, Panel):
        makers = [judge_factory_for(member) for member in judge.judges]
        known = [maker for maker in makers if maker is not None]
        if len(known) == len(makers):
            return lambda *, rubric, persona, again: Panel(
                judges=[make(rubric=rubric, persona=persona, again=again) for make in known],
                reducer=judge.reducer,
                quorum=judge.quorum,
                name=judge.name,
            )
    return None


def _rubric_judge(judge: RubricJudge, rubric: Rubric, persona: str | None, again: int) -> RubricJudge:
    """Make it from the options of the given one: each is an attribute of the same name.

    But ``evidence_signature``: no rules look at the cases.
    """
    given = inspect.signature(type(judge)).parameters
    options: dict[str, Any] = {name: getattr(judge, name) for name in given if name not in _NOT_KEPT}
    options["backend"] = FreshCallBackend(judge.backend, again)
    if persona is not None:
        options["persona"] = persona
    return type(judge)(rubric=rubric, **options)
